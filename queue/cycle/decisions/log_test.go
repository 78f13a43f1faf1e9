package decisions

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/lines"
)

// Messages of relevant lines in a scheduler's log at -v=6.
const (
	addPod           = "Add event for unscheduled pod"
	updatePod        = "Update event for unscheduled pod"
	deletePod        = "Delete event for unscheduled pod"
	addAssigned      = "Add event for scheduled pod"
	updateAssigned   = "Update event for scheduled pod"
	deleteAssigned   = "Delete event for scheduled pod"
	addNode          = "Add event for node"
	updateNode       = "Update event for node"
	deleteNode       = "Delete event for node"
	attempting       = "Attempting to schedule pod"
	noFit            = "Unable to schedule pod; no fit; waiting"
	noNodes          = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
	retrying         = "Error scheduling pod; retrying"
	requeued         = "Pod moved to an internal scheduling queue"
	updatesCondition = "Updating pod condition and nominated node name"
	binding          = "Attempting to bind pod to node"
	bound            = "Successfully bound pod to node"

	// Short names of the hints' messages about claims.
	addClaim    = "PVC was created"
	updateClaim = "PVC was created or updated"
)

// wanted maps the beginnings of relevant lines to short names.
var wanted = map[string]string{
	"PVC that is referred from the pod was created, which might make this pod schedulable":                         addClaim,
	"PVC irrelevant to the Pod was created, which doesn't make this pod schedulable":                               addClaim,
	"PersistentVolumeClaim the pod requires was created or updated, potentially making the target Pod schedulable": updateClaim,
	"PersistentVolumeClaim was created or updated, but it doesn't make this pod schedulable":                       updateClaim,
}

func init() {
	for _, s := range []string{addPod, updatePod, deletePod, addAssigned, updateAssigned, deleteAssigned, addNode, updateNode, deleteNode,
		attempting, noFit, noNodes, retrying, requeued, updatesCondition, binding, bound} {
		wanted[s] = s
	}
}

// line is a line of the scheduler's log.
type line struct {
	at   time.Time
	kind string
	// pod is who it is about; of a node's line, the node's name alone.
	pod types.NamespacedName
	// The rest are fields of the line, where it has them.
	plugins   []string
	node, err string
	claim     string // namespace/name
	overrides bool   // nominatingMode is 1: node counts, even if it is empty
}

// readLog returns the relevant lines. near is a time of the run, because klog's times have no year.
func readLog(t *testing.T, path string, near time.Time) []line {
	r, err := lines.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var log []line
	for {
		raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			return log
		}
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := parse(t, string(raw), near.Year()); ok {
			log = append(log, l)
		}
	}
}

func parse(t *testing.T, raw string, year int) (line, bool) {
	const stamp = len("I1121 10:51:26.203425")
	header, rest, ok := strings.Cut(raw, "] \"")
	if !ok || len(header) < stamp {
		return line{}, false
	}
	kind, fields, _ := strings.Cut(rest, "\"")
	if kind, ok = wanted[kind]; !ok {
		return line{}, false
	}
	at, err := time.Parse("0102 15:04:05.000000", header[1:stamp])
	if err != nil {
		return line{}, false
	}
	l := line{at: at.AddDate(year, 0, 0), kind: kind, pod: key(field(fields, "pod")), node: field(fields, "node"), err: field(fields, "err")}
	switch kind {
	case addNode, updateNode, deleteNode:
		l.pod = types.NamespacedName{Name: l.node}
	case addClaim:
		l.claim = field(fields, "PVC")
	case updateClaim:
		l.claim, l.pod = field(fields, "PersistentVolumeClaim"), key(field(fields, "Pod"))
	case updatesCondition:
		l.node, l.overrides = field(fields, "nominatedNodeName"), strings.HasSuffix(fields, "nominatingMode=1")
	case requeued:
		if field(fields, "event") != "ScheduleAttemptFailure" {
			return line{}, false
		}
		_, set, _ := strings.Cut(fields, "unschedulable plugins=")
		var plugins map[string]struct{}
		if err := json.Unmarshal([]byte(set), &plugins); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		l.plugins = slices.Sorted(maps.Keys(plugins))
	}
	return l, true
}

// field returns a string field of a line.
func field(fields, name string) string {
	_, value, ok := strings.Cut(fields, " "+name+"=")
	if !ok {
		return ""
	}
	quoted, err := strconv.QuotedPrefix(value)
	if err != nil {
		return ""
	}
	s, _ := strconv.Unquote(quoted)
	return s
}

func key(name string) (k types.NamespacedName) {
	k.Namespace, k.Name, _ = strings.Cut(name, "/")
	return k
}
