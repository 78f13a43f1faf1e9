package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NearestShown limits how many of the nearest nodes are shown for a pod.
const NearestShown = 5

// Needs is what a pod needs to fit, computed by kube-scheduler's own plugins from the objects at one
// moment. It is never modified.
type Needs struct {
	// Pod is the pod, and At the moment.
	Pod types.NamespacedName `json:"-"`
	At  time.Time            `json:"-"`
	// Unknown says why the other fields are unknown. Empty if they are known.
	Unknown string `json:"-"`
	// Nodes counts all nodes. Fits are the nodes on which the pod fits.
	Nodes int                `json:"nodes"`
	Fits  []sources.SafeText `json:"fits"`
	// Everywhere is what the pod lacks regardless of the node, such as a bound claim.
	Everywhere []Lack `json:"everywhere,omitempty"`
	// Nearest are the nodes on which the pod does not fit, the one that would have to change least first.
	Nearest []NodeNeeds `json:"nearest"`
	// Victims are the pods that are being evicted for the pod from its nominated node.
	Victims []sources.SafeText `json:"victims,omitempty"`
	// Cause says why the pod fits nowhere. Zero if it fits.
	Cause Cause `json:"-"`
}

// NodeNeeds is what the pod lacks on a node.
type NodeNeeds struct {
	Node  sources.SafeText `json:"node"`
	Lacks []Lack           `json:"lacks"`
	// Never is true if the pod can't run on the node whatever changes there.
	Never bool `json:"never,omitempty"`
}

// Lack is the rejection of one plugin.
type Lack struct {
	Plugin string `json:"plugin"`
	// Reasons are upstream's messages. Details are what they omit: which taint, which label.
	Reasons []sources.SafeText `json:"reasons"`
	Details []sources.SafeText `json:"details,omitempty"`
	// Final is true if no preemption can help.
	Final     bool       `json:"final,omitempty"`
	Resources []Shortage `json:"resources,omitempty"`
}

// Shortage is a resource of which a node has too little left. Lacks is Needs − Free.
type Shortage struct {
	Resource    sources.SafeText  `json:"resource"`
	Needs       resource.Quantity `json:"needs"`
	Free        resource.Quantity `json:"free"`
	Allocatable resource.Quantity `json:"allocatable"`
	Lacks       resource.Quantity `json:"lacks"`
}

// FindNeeds computes what pod needs at a moment, given the objects, a scheduler that has them, and the queue at that
// moment. It lists up to most nodes on which the pod does not fit.
func FindNeeds(sched *cycle.Scheduler, of cluster.Objects, q *queue.Queue, pod *v1.Pod, at time.Time, most int) (*Needs, error) {
	sched.Drive(q) // for the nominated pods
	d, err := sched.Diagnose(pod)
	if err != nil {
		return nil, err
	}
	n := &Needs{
		Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, At: at,
		Nodes: d.Nodes, Fits: safeTexts(d.Fits), Everywhere: newLacks(d.Everywhere), Nearest: []NodeNeeds{},
	}
	for _, node := range d.Rejected[:min(most, len(d.Rejected))] {
		n.Nearest = append(n.Nearest, NodeNeeds{sources.Sanitize(node.Node), newLacks(node.Lacks), node.Never})
	}
	if node := pod.Status.NominatedNodeName; node != "" {
		of.Each("Pod", func(obj runtime.Object) bool {
			victim := obj.(*v1.Pod)
			if victim.Spec.NodeName == node && victim.DeletionTimestamp != nil && cluster.Preempted(victim) {
				n.Victims = append(n.Victims, sources.Sanitize(victim.Namespace+"/"+victim.Name))
			}
			return true
		})
	}
	if len(d.Fits) == 0 {
		n.Cause = findCause(pod, d)
	}
	return n, nil
}

func newLacks(all []cycle.Lack) []Lack {
	lacks := make([]Lack, 0, len(all))
	for _, l := range all {
		lack := Lack{Plugin: l.Plugin, Reasons: safeTexts(l.Reasons), Final: l.Final}
		for _, label := range l.Labels {
			lack.Details = append(lack.Details, sources.Sanitize("no label "+label))
		}
		for _, t := range l.Taints {
			lack.Details = append(lack.Details, sources.Sanitize("taint "+t.ToString()))
		}
		for _, p := range l.Pods {
			lack.Details = append(lack.Details, sources.Sanitize("pod "+p.Namespace+"/"+p.Name))
		}
		for _, v := range l.Volumes {
			if where := volumePlace(v); where != "" {
				lack.Details = append(lack.Details, sources.Sanitize(fmt.Sprintf("volume %s: %s", v.Name, where)))
			}
		}
		for _, r := range l.Resources {
			lack.Resources = append(lack.Resources, Shortage{sources.Sanitize(string(r.Resource)), r.Needs, r.Free, r.Allocatable, r.Lacks})
		}
		lacks = append(lacks, lack)
	}
	return lacks
}

func safeTexts(texts []string) []sources.SafeText {
	safe := make([]sources.SafeText, 0, len(texts))
	for _, t := range texts {
		safe = append(safe, sources.Sanitize(t))
	}
	return safe
}

// Sentences says where the pod fits, and what it lacks on every node.
func (n *Needs) Sentences() []string {
	var lines []string
	switch fits := len(n.Fits); {
	case n.Unknown != "":
		return []string{"What it needs is unknown: " + n.Unknown + "."}
	case n.Nodes == 0:
		return []string{"There are no nodes."}
	case fits > 0:
		lines = append(lines, fmt.Sprintf("It fits on %d of %s: %s.", fits, words.Plural(n.Nodes, "node"), firstNames(n.Fits)))
	case n.Nodes == 1:
		lines = append(lines, "It does not fit on the only node.")
	default:
		lines = append(lines, fmt.Sprintf("It fits on none of the %d nodes.", n.Nodes))
	}
	if slices.ContainsFunc(n.Nearest, func(n NodeNeeds) bool {
		return slices.ContainsFunc(n.Lacks, func(l Lack) bool { return len(l.Resources) > 0 })
	}) {
		lines = append(lines, "Free is allocatable minus what pods request; actual usage is ignored.")
	}
	for i, l := range n.Everywhere {
		same := false // several plugins check a claim
		for _, before := range n.Everywhere[:i] {
			same = same || before.String() == l.String()
		}
		if !same {
			lines = append(lines, fmt.Sprintf("On any node, %s: %s.", l.Plugin, l))
		}
	}
	return lines
}

// String formats n on one line: "TaintToleration: ...; NodeResourcesFit: needs 2 cpu, ...".
func (n NodeNeeds) String() string {
	var lacks []string
	for _, l := range n.Lacks {
		lacks = append(lacks, l.Plugin+": "+l.String())
	}
	if len(lacks) == 0 {
		return "would fit otherwise"
	}
	return strings.Join(lacks, "; ")
}

// firstNames joins the first few names.
func firstNames(names []sources.SafeText) string {
	const most = 5
	var shown []string
	for _, n := range names[:min(most, len(names))] {
		shown = append(shown, string(n))
	}
	s := strings.Join(shown, ", ")
	if left := len(names) - most; left > 0 {
		s += fmt.Sprintf(" and %d more", left)
	}
	return s
}

// String describes the lack without the plugin: amounts if there are any, otherwise upstream's message.
func (l Lack) String() string {
	var parts []string
	for _, r := range l.Resources {
		parts = append(parts, r.String())
	}
	if len(parts) == 0 {
		for _, r := range l.Reasons {
			parts = append(parts, string(r))
		}
	}
	s := strings.Join(parts, "; ")
	if len(l.Details) > 0 {
		var details []string
		for _, d := range l.Details {
			details = append(details, string(d))
		}
		s += " (" + strings.Join(details, ", ") + ")"
	}
	return s
}

// String includes the arithmetic: "needs 2 cpu, free 500m of 4: lacks 1500m".
func (s Shortage) String() string {
	text := fmt.Sprintf("needs %s %s, free %s of %s: lacks %s", plain(s.Needs), s.Resource, plain(s.Free), plain(s.Allocatable), plain(s.Lacks))
	if s.Needs.Cmp(s.Allocatable) > 0 {
		text += ", too small even when empty"
	}
	return text
}

// plain formats an amount with a readable unit, to one decimal.
func plain(q resource.Quantity) string {
	n, sign := q.Value(), ""
	if q.Format != resource.BinarySI {
		return q.String()
	}
	if n < 0 {
		n, sign = -n, "-"
	}
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	size, i := float64(n), 0
	for size >= 1024 && i < len(units)-1 {
		size, i = size/1024, i+1
	}
	return sign + strings.TrimSuffix(fmt.Sprintf("%.1f", size), ".0") + units[i]
}
