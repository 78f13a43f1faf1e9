package workload

import (
	"context"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Action changes one object of the cluster.
type Action interface {
	do(ctx context.Context, client kubernetes.Interface) error
}

type (
	createPod  struct{ pod *corev1.Pod }
	deletePod  struct{ name string }
	openGate   struct{ pod string }
	labelPod   struct{ name, version string }
	addNode    struct{ node *corev1.Node }
	deleteNode struct{ name string }
	cordon     struct {
		node string
		on   bool
	}
	taint struct {
		node string
		on   bool
	}
	labelNode    struct{ name, disk string }
	createClaim  struct{ name, class string }
	createVolume struct{ name string }
	createJob    struct{ job *batchv1.Job }
	// several runs actions one after the other.
	several []Action
)

func (d createPod) do(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().Pods(Namespace).Create(ctx, d.pod, metav1.CreateOptions{})
	return err
}

func (d deletePod) do(ctx context.Context, client kubernetes.Interface) error {
	return client.CoreV1().Pods(Namespace).Delete(ctx, d.name, metav1.DeleteOptions{})
}

func (d openGate) do(ctx context.Context, client kubernetes.Interface) error {
	return patchPod(ctx, client, d.pod, `{"spec":{"schedulingGates":null}}`)
}

func (d labelPod) do(ctx context.Context, client kubernetes.Interface) error {
	return patchPod(ctx, client, d.name, fmt.Sprintf(`{"metadata":{"labels":{"version":%q}}}`, d.version))
}

// do adds a node like a kubelet: it creates the node, makes it ready, and removes the not-ready taint. (The
// controller that normally does the last would also delete nodes without a kubelet.)
func (d addNode) do(ctx context.Context, client kubernetes.Interface) error {
	nodes := client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, d.node, metav1.CreateOptions{}); err != nil {
		return err
	}
	ready := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`
	if _, err := nodes.Patch(ctx, d.node.Name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	return setTaints(ctx, client, d.node.Name, d.node.Spec.Taints)
}

// do drains a node and deletes it.
func (d deleteNode) do(ctx context.Context, client kubernetes.Interface) error {
	if err := (cordon{d.name, true}).do(ctx, client); err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(Namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + d.name})
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		if err := (deletePod{p.Name}).do(ctx, client); err != nil && !isStale(err) {
			return err
		}
	}
	return client.CoreV1().Nodes().Delete(ctx, d.name, metav1.DeleteOptions{})
}

func (d cordon) do(ctx context.Context, client kubernetes.Interface) error {
	return patchNode(ctx, client, d.node, fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, d.on))
}

func (d taint) do(ctx context.Context, client kubernetes.Interface) error {
	if d.on {
		return setTaints(ctx, client, d.node, []corev1.Taint{dedicated})
	}
	return setTaints(ctx, client, d.node, nil)
}

func (d labelNode) do(ctx context.Context, client kubernetes.Interface) error {
	return patchNode(ctx, client, d.name, fmt.Sprintf(`{"metadata":{"labels":{"disk":%q}}}`, d.disk))
}

func (d createClaim) do(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().PersistentVolumeClaims(Namespace).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: d.name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &d.class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: storage()},
		},
	}, metav1.CreateOptions{})
	return err
}

func (d createVolume) do(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: d.name},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              StorageClass,
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:                      storage(),
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/" + d.name}},
		},
	}, metav1.CreateOptions{})
	return err
}

func (d createJob) do(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.BatchV1().Jobs(Namespace).Create(ctx, d.job, metav1.CreateOptions{})
	return err
}

func (d several) do(ctx context.Context, client kubernetes.Interface) error {
	for _, one := range d {
		if err := one.do(ctx, client); err != nil && !isStale(err) {
			return err
		}
	}
	return nil
}

// setTaints replaces a node's taints.
func setTaints(ctx context.Context, client kubernetes.Interface, node string, taints []corev1.Taint) error {
	text, err := json.Marshal(taints)
	if err != nil {
		return err
	}
	return patchNode(ctx, client, node, fmt.Sprintf(`{"spec":{"taints":%s}}`, text))
}

func patchNode(ctx context.Context, client kubernetes.Interface, name, patch string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func patchPod(ctx context.Context, client kubernetes.Interface, name, patch string) error {
	_, err := client.CoreV1().Pods(Namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// isStale reports whether an error only means that the object has changed: the pod was preempted, the node
// is gone, or another client wrote the object.
func isStale(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err)
}
