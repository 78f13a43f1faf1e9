package objects

// kube-apiserver copies topology labels to a pod when it is bound. The response to a binding contains no pod.

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Assigned reports whether obj is a pod that has a node.
func Assigned(obj any) bool {
	pod, ok := obj.(*corev1.Pod)
	return ok && pod.Spec.NodeName != ""
}

// Bound returns the pod as a binding leaves it that gives it those labels (kubernetes v1.37, pkg/registry/core/pod/storage).
func Bound(pod *corev1.Pod, node string, labels map[string]string, at time.Time) *corev1.Pod {
	out := *pod
	out.Spec.NodeName = node
	out.Labels = withLabels(pod.Labels, labels)
	out.Status.NominatedNodeName = ""
	out.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions),
		func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled,
		Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at.Truncate(time.Second))})
	return &out
}

// Zones are what kube-apiserver copies to a pod's labels from the node that it is bound to: the node's zone and region, by default since
// v1.35, earlier never (kubernetes v1.37, plugin/pkg/admission/podtopologylabels; registry/core/pod/storage/storage.go,
// copyLabelsWithOverwriting). Whether an API server does it shows in the first answer behind a binding that holds the pod, and what
// is found so holds until another pod shows otherwise.
type Zones struct {
	copied bool // by what was found last
	found  bool // anything was
	first  bool // what was found first

	ofNodes map[string]map[string]string    // of the nodes that have some
	own     map[types.UID]map[string]string // of the pods that have some before they are bound
	bound   map[types.UID]map[string]string // what pods get, if they get it, that were bound and not shown since
}

// NewZones returns those of an API server of which nothing is known.
func NewZones() *Zones {
	return &Zones{ofNodes: map[string]map[string]string{}, own: map[types.UID]map[string]string{}, bound: map[types.UID]map[string]string{}}
}

// BeginAs has z begin with an API server that copies labels if the one of found was found to at first.
func (z *Zones) BeginAs(found *Zones) { z.copied = found.first }

// Given returns the labels that a pod gets that is bound to node now, none if it gets none.
func (z *Zones) Given(node string) map[string]string {
	if !z.copied {
		return nil
	}
	return z.ofNodes[node]
}

// Before returns the labels that a pod had before it was bound to node, if it has these now and was among the first to be.
func (z *Zones) Before(labels map[string]string, node string) map[string]string {
	if node == "" || !z.first {
		return labels
	}
	return withoutLabels(labels, z.ofNodes[node])
}

// Gone takes in that an object was removed: of a node its name counts, of a pod its UID.
func (z *Zones) Gone(kind, name string, uid types.UID) {
	delete(z.own, uid)
	delete(z.bound, uid)
	if kind == "Node" {
		delete(z.ofNodes, name)
	}
}

// Bind takes in that a pod was bound to that node.
func (z *Zones) Bind(uid types.UID, node string) {
	if labels := z.ofNodes[node]; uid != "" && !hasAll(z.own[uid], labels) {
		z.bound[uid] = labels
	}
	delete(z.own, uid)
}

// Show takes in a state of a node or of a pod. Others it leaves alone.
func (z *Zones) Show(obj any) {
	switch o := obj.(type) {
	case *corev1.Node:
		z.Label(o.Name, o.Labels)
	case *corev1.Pod:
		if labels := topologyOf(o.Labels); o.Spec.NodeName == "" && len(labels) > 0 {
			z.own[o.UID] = labels
		}
		if given, is := z.bound[o.UID]; is && o.Spec.NodeName != "" {
			delete(z.bound, o.UID)
			if z.copied = hasAll(o.Labels, given); !z.found {
				z.found, z.first = true, z.copied
			}
		}
	}
}

// Label takes in which labels a node has.
func (z *Zones) Label(node string, labels map[string]string) {
	if labels = topologyOf(labels); len(labels) > 0 {
		z.ofNodes[node] = labels
	} else {
		delete(z.ofNodes, node)
	}
}

// topologyOf returns those of the labels that are copied (kubernetes v1.37, podtopologylabels/admission.go, defaultConfig).
func topologyOf(labels map[string]string) map[string]string {
	var some map[string]string
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if value, has := labels[key]; has {
			if some == nil {
				some = map[string]string{}
			}
			some[key] = value
		}
	}
	return some
}

// hasAll reports whether labels holds all of those.
func hasAll(labels, those map[string]string) bool {
	for key, value := range those {
		if have, has := labels[key]; !has || have != value {
			return false
		}
	}
	return true
}

// withLabels returns labels and those that are given, which count where both have one.
func withLabels(labels, given map[string]string) map[string]string {
	if len(given) == 0 {
		return labels
	}
	out := make(map[string]string, len(labels)+len(given))
	maps.Copy(out, labels)
	maps.Copy(out, given)
	return out
}

// withoutLabels returns labels but for those that were given.
func withoutLabels(labels, given map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(key, value string) bool {
		was, is := given[key]
		return is && was == value
	})
	return out
}
