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

// Bound returns the pod after a binding that adds those labels (kubernetes v1.37, pkg/registry/core/pod/storage).
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

// Zones models the labels that kube-apiserver copies to a pod from its node: zone and region, by default since v1.35,
// earlier never (kubernetes v1.37, plugin/pkg/admission/podtopologylabels; registry/core/pod/storage/storage.go,
// copyLabelsWithOverwriting). The first response after a binding that contains the pod shows whether an API server does
// this. That is assumed until another pod shows the opposite.
type Zones struct {
	copied bool // the latest finding
	found  bool // there is a finding
	first  bool // the first finding

	ofNodes map[string]map[string]string    // topology labels of nodes
	own     map[types.UID]map[string]string // topology labels of pods before their binding
	bound   map[types.UID]map[string]string // labels that bound pods get if they are copied, until the pod is observed
}

// NewZones returns the Zones of an unknown API server.
func NewZones() *Zones {
	return &Zones{ofNodes: map[string]map[string]string{}, own: map[types.UID]map[string]string{}, bound: map[types.UID]map[string]string{}}
}

// BeginAs makes z start with the first finding of found.
func (z *Zones) BeginAs(found *Zones) { z.copied = found.first }

// Given returns the labels that a pod gets when it is bound to node now.
func (z *Zones) Given(node string) map[string]string {
	if !z.copied {
		return nil
	}
	return z.ofNodes[node]
}

// Before returns the labels that a pod with these labels had before its binding to node. It applies to the first pods that
// were bound.
func (z *Zones) Before(labels map[string]string, node string) map[string]string {
	if node == "" || !z.first {
		return labels
	}
	return withoutLabels(labels, z.ofNodes[node])
}

// Gone records the deletion of a node, by its name, or of a pod, by its UID.
func (z *Zones) Gone(kind, name string, uid types.UID) {
	delete(z.own, uid)
	delete(z.bound, uid)
	if kind == "Node" {
		delete(z.ofNodes, name)
	}
}

// Bind records that a pod was bound to node.
func (z *Zones) Bind(uid types.UID, node string) {
	if labels := z.ofNodes[node]; uid != "" && !hasAll(z.own[uid], labels) {
		z.bound[uid] = labels
	}
	delete(z.own, uid)
}

// Show records the state of a node or a pod. It ignores other objects.
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

// Label records the labels of a node.
func (z *Zones) Label(node string, labels map[string]string) {
	if labels = topologyOf(labels); len(labels) > 0 {
		z.ofNodes[node] = labels
	} else {
		delete(z.ofNodes, node)
	}
}

// topologyOf returns the labels that are copied (kubernetes v1.37, podtopologylabels/admission.go, defaultConfig).
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

// hasAll reports whether labels contains all of those.
func hasAll(labels, those map[string]string) bool {
	for key, value := range those {
		if have, has := labels[key]; !has || have != value {
			return false
		}
	}
	return true
}

// withLabels returns labels overwritten with given.
func withLabels(labels, given map[string]string) map[string]string {
	if len(given) == 0 {
		return labels
	}
	out := make(map[string]string, len(labels)+len(given))
	maps.Copy(out, labels)
	maps.Copy(out, given)
	return out
}

// withoutLabels returns labels without those in given.
func withoutLabels(labels, given map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(key, value string) bool {
		was, is := given[key]
		return is && was == value
	})
	return out
}
