package facts

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	v1 "k8s.io/api/core/v1"
)

// raw is the content of a recording, read without schedq's readers.
type raw struct {
	objects     []change
	moves       map[string][]line // by pod, namespace/name
	release     string
	pops        bool // SchedulerPopFromBackoffQ
	first, last time.Time
}

// change is an object at a time; nil if it was deleted.
type change struct {
	at        time.Time
	kind, key string
	pod       *v1.Pod
	node      *v1.Node
	claim     *v1.PersistentVolumeClaim
}

// line is a line of the scheduler's log about a pod.
type line struct {
	at       time.Time
	to       string // active, backoff, unschedulable, gated, inflight, gone; empty if the pod does not move
	event    string
	message  string   // of a failed attempt
	plugins  []string // that rejected it
	assumed  string   // the node to which it is being bound
	added    bool
	rejected bool // a failed attempt
}

var (
	logLine  = regexp.MustCompile(`^[IEW](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+) .*?\] "((?:[^"\\]|\\.)*)" ?(.*)$`)
	logValue = regexp.MustCompile(`(?:^| )(pod|entity|event|queue|err|node|unschedulable plugins|version)=("(?:[^"\\]|\\.)*"|\{.*?\}(?: |$)|\S+)`)
)

// eachLine calls do with the lines of a file.
func eachLine(t *testing.T, path string, do func(string)) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s *bufio.Scanner
	if strings.HasSuffix(path, ".zst") {
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		s = bufio.NewScanner(z)
	} else {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		s = bufio.NewScanner(z)
	}
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		do(s.Text())
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
}

// readRaw reads the logs of a folder.
func readRaw(t *testing.T, dir string) *raw {
	r := &raw{moves: map[string][]line{}, pops: true}
	pods := map[string]*v1.Pod{}
	versions := map[string]int{}
	year := 0
	eachLine(t, filepath.Join(dir, "audit.log.gz"), func(text string) {
		var e struct {
			Level, Stage, Verb string
			StageTimestamp     time.Time
			ObjectRef          struct{ Resource, Subresource, Namespace, Name string }
			ResponseStatus     struct{ Code int }
			RequestObject      json.RawMessage
			ResponseObject     json.RawMessage
		}
		if !strings.Contains(text, `"ResponseComplete"`) || json.Unmarshal([]byte(text), &e) != nil || e.Level != "RequestResponse" || e.ResponseStatus.Code >= 300 {
			return
		}
		year = e.StageTimestamp.Year()
		verb, ref := e.Verb, e.ObjectRef
		if verb != "create" && verb != "update" && verb != "patch" && verb != "delete" {
			return
		}
		c := change{at: e.StageTimestamp, kind: ref.Resource}
		switch ref.Resource {
		case "pods":
			pod := &v1.Pod{}
			if ref.Subresource == "binding" {
				var b v1.Binding
				before := pods[ref.Namespace+"/"+ref.Name]
				if before == nil || json.Unmarshal(e.RequestObject, &b) != nil {
					return
				}
				pod = before.DeepCopy()
				pod.Spec.NodeName = b.Target.Name
			} else if json.Unmarshal(e.ResponseObject, pod) != nil || pod.Name == "" {
				return
			}
			c.key = pod.Namespace + "/" + pod.Name
			grace := pod.DeletionGracePeriodSeconds
			if verb != "delete" || grace != nil && *grace > 0 || len(pod.Finalizers) > 0 {
				c.pod = pod
			}
			if pod.DeletionTimestamp != nil && (grace == nil || *grace == 0) && len(pod.Finalizers) == 0 {
				c.pod = nil
			}
			if c.pod == nil || versionOf(c) >= versions[c.kind+c.key] {
				pods[c.key] = c.pod
			}
		case "nodes":
			c.key = ref.Name
			node := &v1.Node{}
			if verb != "delete" && json.Unmarshal(e.ResponseObject, node) == nil && node.Name != "" {
				c.node, c.key = node, node.Name
			} else if verb != "delete" {
				return
			}
		case "persistentvolumeclaims":
			claim := &v1.PersistentVolumeClaim{}
			if json.Unmarshal(e.ResponseObject, claim) != nil {
				return
			}
			c.key = ref.Namespace + "/" + ref.Name
			if verb != "delete" || len(claim.Finalizers) > 0 {
				c.claim = claim
			}
		default:
			return
		}
		// Answers to concurrent requests are logged in any order.
		if version := versionOf(c); version != 0 {
			if version < versions[c.kind+c.key] {
				return
			}
			versions[c.kind+c.key] = version
		}
		r.add(c)
	})
	eachLine(t, filepath.Join(dir, "sched.log.gz"), func(text string) {
		if strings.Contains(text, "SchedulerPopFromBackoffQ=false") {
			r.pops = false
		}
		if !strings.Contains(text, `chedul`) && !strings.Contains(text, "bind") && !strings.Contains(text, "bound") && !strings.Contains(text, "Entity moved") {
			return
		}
		m := logLine.FindStringSubmatch(text)
		if m == nil {
			return
		}
		at, err := time.Parse("2006-01-02 15:04:05.999999", strconv.Itoa(year)+"-"+m[1]+"-"+m[2]+" "+m[3])
		if err != nil {
			return
		}
		values := map[string]string{}
		for _, v := range logValue.FindAllStringSubmatch(m[5], -1) {
			if _, have := values[v[1]]; !have {
				values[v[1]] = strings.TrimSpace(v[2])
				if s, err := strconv.Unquote(values[v[1]]); err == nil {
					values[v[1]] = s
				}
			}
		}
		l := line{at: at, event: values["event"]}
		pod := values["pod"]
		switch msg := m[4]; {
		case msg == "Starting Kubernetes Scheduler":
			r.release = values["version"]
			return
		case strings.Contains(msg, "moved to an internal scheduling queue"):
			pod = firstOf(pod, values["entity"])
			l.to = strings.ToLower(values["queue"])
			if strings.Contains(msg, "gated") {
				l.to = "gated"
			}
			if p := values["unschedulable plugins"]; p != "" {
				var set map[string]any
				if json.Unmarshal([]byte(p), &set) == nil {
					l.plugins = slices.Sorted(maps.Keys(set))
				}
			}
		case msg == "Attempting to schedule pod":
			l.to = "inflight"
		case strings.HasPrefix(msg, "Unable to schedule pod; no fit"), strings.HasPrefix(msg, "Error scheduling pod"):
			l.message, l.rejected = values["err"], true
		case strings.HasPrefix(msg, "Unable to schedule pod; no nodes"):
			l.message, l.rejected = "no nodes are registered to the cluster", true
		case msg == "Successfully bound pod to node", msg == "Delete event for unscheduled pod":
			l.to = "gone"
		case msg == "Add event for unscheduled pod":
			l.added = true
		case msg == "Attempting to bind pod to node":
			l.assumed = values["node"]
		default:
			return
		}
		if pod != "" {
			r.moves[pod] = append(r.moves[pod], l)
		}
		r.last = at
	})
	minor, _ := strconv.Atoi(strings.Split(r.release+"..", ".")[1])
	if minor > 0 && minor < 33 {
		r.pops = false
	}
	return r
}

func versionOf(c change) int {
	version := ""
	switch {
	case c.pod != nil:
		version = c.pod.ResourceVersion
	case c.node != nil:
		version = c.node.ResourceVersion
	case c.claim != nil:
		version = c.claim.ResourceVersion
	}
	n, _ := strconv.Atoi(version)
	return n
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// readTrace reads a recording of schedq's own format, such as those that are embedded.
func readTrace(t *testing.T, path string, pops bool) *raw {
	r := &raw{moves: map[string][]line{}, pops: pops}
	eachLine(t, path, func(text string) {
		var e struct {
			Time      time.Time
			Verb      string
			Object    json.RawMessage
			Scheduler struct{ Release string }
			Move      *struct {
				Pod, To, Event, Message string
				Plugins                 []string
				Restated                bool
			}
		}
		if json.Unmarshal([]byte(text), &e) != nil {
			return
		}
		r.release = firstOf(r.release, e.Scheduler.Release)
		if m := e.Move; m != nil {
			l := line{at: e.Time, to: m.To, event: m.Event, plugins: m.Plugins, message: m.Message, rejected: m.Event == "ScheduleAttemptFailure"}
			if m.To == "scheduled" || m.To == "deleted" {
				l.to = "gone"
			}
			before := r.moves[m.Pod]
			l.added = len(before) == 0 || before[len(before)-1].to == "gone"
			if !m.Restated {
				r.moves[m.Pod] = append(before, l)
			}
			r.last = e.Time
			return
		}
		var kind struct{ Kind string }
		if e.Verb == "" || json.Unmarshal(e.Object, &kind) != nil {
			return
		}
		c := change{at: e.Time}
		gone := e.Verb == "deleted"
		switch kind.Kind {
		case "Pod":
			pod := &v1.Pod{}
			if json.Unmarshal(e.Object, pod) == nil {
				c.kind, c.key, c.pod = "pods", pod.Namespace+"/"+pod.Name, pod
			}
		case "Node":
			node := &v1.Node{}
			if json.Unmarshal(e.Object, node) == nil {
				c.kind, c.key, c.node = "nodes", node.Name, node
			}
		case "PersistentVolumeClaim":
			claim := &v1.PersistentVolumeClaim{}
			if json.Unmarshal(e.Object, claim) == nil {
				c.kind, c.key, c.claim = "persistentvolumeclaims", claim.Namespace+"/"+claim.Name, claim
			}
		default:
			return
		}
		if gone {
			c.pod, c.node, c.claim = nil, nil, nil
		}
		r.add(c)
	})
	return r
}

func (r *raw) add(c change) {
	if r.first.IsZero() && c.kind == "pods" {
		r.first = c.at
	}
	r.objects = append(r.objects, c)
}

// state is a pod's state at a time, according to the log.
type state struct {
	tier, before       string
	arrived, since     time.Time
	attempts, failures int
	failed             time.Time // when the last attempt failed
	message            string
	plugins            []string
	woken              time.Time
	wokenBy            string
	leaves             time.Time // when it next leaves the tier; zero if the recording ends before
	near               bool      // a line is too close to the time
	assumed            string
}

// at returns a pod's state at a time.
func (r *raw) at(pod string, now time.Time) state {
	var s state
	for _, l := range r.moves[pod] {
		if d := l.at.Sub(now).Abs(); d < 5*time.Millisecond {
			s.near = true
		}
		if l.at.After(now) {
			if l.to != "" && l.to != s.tier && s.leaves.IsZero() {
				s.leaves = l.at
			}
			continue
		}
		if l.added && (s.tier == "" || s.tier == "gone") {
			s = state{arrived: l.at, near: s.near}
		}
		if l.rejected {
			s.failures++
			s.failed, s.message = l.at, l.message
		}
		if l.assumed != "" {
			s.assumed = l.assumed
		}
		if l.plugins != nil {
			s.plugins = l.plugins
		}
		if l.to == "" || l.to == s.tier {
			continue
		}
		if l.to == "inflight" {
			s.attempts++
			s.assumed = ""
		}
		if l.event == "ScheduleAttemptFailure" {
			s.failed, s.assumed = l.at, ""
		}
		if (s.tier == "unschedulable" || s.tier == "gated") && (l.to == "active" || l.to == "backoff") {
			s.woken, s.wokenBy = l.at, l.event
		}
		s.before, s.tier, s.since = s.tier, l.to, l.at
	}
	return s
}

// cluster is the objects at a time.
type cluster struct {
	pods   map[string]*v1.Pod
	nodes  map[string]*v1.Node
	claims map[string]*v1.PersistentVolumeClaim
}

// transit is how much later than the API server's answer an object may reach the scheduler.
const transit = 100 * time.Millisecond

// clusters returns the cluster at a time, and then at the times within transit of it.
func (r *raw) clusters(now time.Time) []*cluster {
	w := &cluster{map[string]*v1.Pod{}, map[string]*v1.Node{}, map[string]*v1.PersistentVolumeClaim{}}
	copied := func() *cluster { return &cluster{maps.Clone(w.pods), maps.Clone(w.nodes), maps.Clone(w.claims)} }
	var exact *cluster
	var near []*cluster
	for _, c := range r.objects {
		if c.at.After(now) && exact == nil {
			exact = copied()
		}
		if c.at.After(now.Add(transit)) {
			break
		}
		if c.at.After(now.Add(-transit)) {
			near = append(near, copied())
		}
		switch {
		case c.pod != nil:
			w.pods[c.key] = c.pod
		case c.node != nil:
			w.nodes[c.key] = c.node
		case c.claim != nil:
			w.claims[c.key] = c.claim
		case c.kind == "pods":
			delete(w.pods, c.key)
		case c.kind == "nodes":
			delete(w.nodes, c.key)
		default:
			delete(w.claims, c.key)
		}
	}
	if exact == nil {
		exact = w
	}
	return append(append([]*cluster{exact}, near...), w)
}
