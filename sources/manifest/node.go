package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LikeNode returns a new node like n, as an autoscaler adds one: with n's labels, taints and resources,
// ready, and without what is of n alone: its images, being cordoned, and the taints of a node in
// trouble. Labels that hold n's name hold the new one. n is not changed; name must be a Kubernetes object
// name (see sources.CheckName).
func LikeNode(n *corev1.Node, name string) *corev1.Node {
	out := n.DeepCopy()
	out.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	out.ObjectMeta = metav1.ObjectMeta{Name: name, UID: UID("Node", "", name), Labels: out.Labels}
	for k, v := range out.Labels {
		if v == n.Name {
			out.Labels[k] = name
		}
	}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	out.Labels[corev1.LabelHostname] = name
	out.Spec.Unschedulable = false
	out.Spec.Taints = nil
	for _, t := range n.Spec.Taints {
		if !strings.HasPrefix(t.Key, "node.kubernetes.io/") && t.Key != "node.cloudprovider.kubernetes.io/uninitialized" {
			t.TimeAdded = nil
			out.Spec.Taints = append(out.Spec.Taints, t)
		}
	}
	out.Status.Images = nil
	out.Status.Conditions = nil
	nodeDefaults(out)
	return out
}
