package manifest

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LikeNode returns a new node like n, as an autoscaler would add: ready, with n's labels, taints and resources, and
// without n's images, cordon, and taints of a node in trouble. In labels, n's name is replaced. n is not changed; name must
// be a Kubernetes object name (see sources.CheckName).
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

// UID returns the UID for an object without one. It is the same for the same object in every file.
func UID(kind, namespace, name string) types.UID {
	b := sha256.Sum256([]byte(kind + "/" + namespace + "/" + name))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16]))
}

// nodeDefaults sets the defaults of the API server and the kubelet (pkg/apis/core/v1/defaults.go, SetDefaults_NodeStatus
// and SetDefaults_ResourceList).
func nodeDefaults(n *corev1.Node) {
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = n.Status.Capacity
	}
	for _, list := range []*corev1.ResourceList{&n.Status.Capacity, &n.Status.Allocatable} {
		if _, ok := (*list)[corev1.ResourcePods]; !ok {
			all := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")} // a kubelet's default
			maps.Copy(all, *list)
			*list = all
		}
		for name, q := range *list {
			q.RoundUp(resource.Milli)
			(*list)[name] = q
		}
	}
	if n.Labels[corev1.LabelHostname] == "" {
		labels := map[string]string{}
		maps.Copy(labels, n.Labels)
		labels[corev1.LabelHostname] = n.Name
		n.Labels = labels
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return
		}
	}
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
}
