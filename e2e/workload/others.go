package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
)

// The users of other components. The autoscaler and the second scheduler write Events under these names.
const (
	ProvisionerUser     = "provisioner"
	AutoscalerUser      = "karpenter"
	SecondSchedulerUser = SecondScheduler
)

// Users are the users that PlayOthers needs.
var Users = []string{ProvisionerUser, AutoscalerUser, SecondSchedulerUser}

const provisionerName = "slow.example.com"

// Minimum and maximum durations.
var (
	provisioning = [2]time.Duration{3 * time.Second, 7 * time.Second}
	secondWaits  = [2]time.Duration{0, 20 * time.Second} // until the second scheduler binds a pod
)

// The polling interval, and the interval of repeated Events about a pod. Karpenter repeats after five minutes.
const (
	pollInterval  = 100 * time.Millisecond
	eventInterval = 10 * time.Second
)

// Others are the other components of a field workload: a slow volume provisioner, and an autoscaler and a
// second scheduler, which write FailedScheduling Events, too. The autoscaler's nodes are part of the plan.
type Others struct {
	stop context.CancelFunc
	done chan struct{}
	err  error // when done

	random               *rand.Rand
	provisioner, second  kubernetes.Interface
	autoscaler, recorder record.EventRecorder // the second scheduler's is the second
	pods                 corelisters.PodLister
	claims               corelisters.PersistentVolumeClaimLister
	nodes                corelisters.NodeLister
	due, said            map[types.UID]time.Time // when a claim is provisioned or a pod bound; the last Event about a pod
}

// PlayOthers runs the components until Stop is called. client returns a client for a user.
func PlayOthers(client func(user string) (kubernetes.Interface, error), seed uint64) (*Others, error) {
	o := &Others{
		done: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 2)),
		due: map[types.UID]time.Time{}, said: map[types.UID]time.Time{},
	}
	var autoscaler kubernetes.Interface
	for user, c := range map[string]*kubernetes.Interface{
		ProvisionerUser: &o.provisioner, AutoscalerUser: &autoscaler, SecondSchedulerUser: &o.second,
	} {
		var err error
		if *c, err = client(user); err != nil {
			return nil, err
		}
	}
	var ctx context.Context
	ctx, o.stop = context.WithCancel(context.Background())
	o.autoscaler, o.recorder = newRecorder(ctx, autoscaler, AutoscalerUser), newRecorder(ctx, o.second, SecondSchedulerUser)
	factory := informers.NewSharedInformerFactory(o.provisioner, 0)
	core := factory.Core().V1()
	o.pods, o.claims, o.nodes = core.Pods().Lister(), core.PersistentVolumeClaims().Lister(), core.Nodes().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go func() {
		defer close(o.done)
		defer factory.Shutdown()
		defer o.stop()
		for o.err == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pollInterval):
				if err := o.turn(ctx, time.Now()); ctx.Err() == nil { // ignore errors caused by Stop
					o.err = err
				}
			}
		}
	}()
	return o, nil
}

// newRecorder returns an Event recorder for core/v1, as controllers use it; kube-scheduler uses events.k8s.io.
func newRecorder(ctx context.Context, client kubernetes.Interface, name string) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name})
}

// Stop stops the components, and returns their first error.
func (o *Others) Stop() error {
	o.stop()
	<-o.done
	return o.err
}

func (o *Others) between(span [2]time.Duration) time.Duration {
	return span[0] + time.Duration(o.random.Int64N(int64(span[1]-span[0])))
}

// isDue reports whether an object's random delay, drawn on the first call, has passed.
func (o *Others) isDue(uid types.UID, now time.Time, span [2]time.Duration) bool {
	at, drawn := o.due[uid]
	if !drawn {
		at = now.Add(o.between(span))
		o.due[uid] = at
	}
	return !now.Before(at)
}

// turn performs all actions that are due.
func (o *Others) turn(ctx context.Context, now time.Time) error {
	claims, err := o.claims.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, c := range claims {
		if err := o.provision(ctx, c, now); err != nil && !isStale(err) {
			return fmt.Errorf("provision %s: %w", c.Name, err)
		}
	}
	pods, err := o.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, p := range pods {
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		if p.Spec.SchedulerName == SecondScheduler {
			if err := o.schedule(ctx, p, now); err != nil && !isStale(err) {
				return fmt.Errorf("second scheduler: %s: %w", p.Name, err)
			}
		} else if condition := scheduled(p); condition != nil && condition.Reason == corev1.PodReasonUnschedulable && o.eventDue(p, now) {
			o.autoscaler.Eventf(p, corev1.EventTypeWarning, "FailedScheduling",
				`Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"pods":"3"}, no instance type has enough resources`)
		}
	}
	return nil
}

// eventDue reports whether it is time for an Event about a pod, and records it.
func (o *Others) eventDue(p *corev1.Pod, now time.Time) bool {
	if now.Sub(o.said[p.UID]) < eventInterval {
		return false
	}
	o.said[p.UID] = now
	return true
}

// scheduled returns a pod's PodScheduled condition, or nil.
func scheduled(p *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	if i < 0 {
		return nil
	}
	return &p.Status.Conditions[i]
}

// provision creates the volume for a claim, some seconds after kube-scheduler has selected a node. The
// volume controller binds them.
func (o *Others) provision(ctx context.Context, c *corev1.PersistentVolumeClaim, now time.Time) error {
	const selected = "volume.kubernetes.io/selected-node"
	if c.Spec.StorageClassName == nil || *c.Spec.StorageClassName != SlowClass || c.Spec.VolumeName != "" || c.Annotations[selected] == "" ||
		!o.isDue(c.UID, now, provisioning) {
		return nil
	}
	_, err := o.provisioner.CoreV1().PersistentVolumes().Create(ctx, volumeFor(c, c.Annotations[selected]), metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		o.due[c.UID] = now.Add(time.Hour) // only once, however long binding takes
		return nil
	}
	return err
}

// volumeFor returns a volume for a claim, with affinity to one node.
func volumeFor(c *corev1.PersistentVolumeClaim, node string) *corev1.PersistentVolume {
	onNode := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: "pvc-" + string(c.UID), Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": provisionerName},
		},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: SlowClass, AccessModes: c.Spec.AccessModes, Capacity: storage(),
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef: &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: provisionerName, VolumeHandle: string(c.UID),
			}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{onNode}}},
			}},
		},
	}
}

// schedule handles a pod of the second scheduler: it reports that the pod does not fit until it binds it.
func (o *Others) schedule(ctx context.Context, p *corev1.Pod, now time.Time) error {
	if !o.isDue(p.UID, now, secondWaits) {
		if !o.eventDue(p, now) {
			return nil
		}
		const message = "0/5 nodes are unavailable: 5 Insufficient cpu."
		o.recorder.Event(p, corev1.EventTypeWarning, "FailedScheduling", message)
		changed := p.DeepCopy()
		if scheduled(changed) == nil {
			changed.Status.Conditions = append(changed.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled})
		}
		*scheduled(changed) = corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
			LastTransitionTime: metav1.NewTime(now),
		}
		_, err := o.second.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
		return err
	}
	nodes, err := o.nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	nodes = slices.DeleteFunc(nodes, func(n *corev1.Node) bool { return n.Spec.Unschedulable || len(n.Spec.Taints) > 0 })
	if len(nodes) == 0 {
		return nil
	}
	o.due[p.UID] = now.Add(time.Minute) // the lister is slightly behind
	return o.second.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodes[o.random.IntN(len(nodes))].Name},
	}, metav1.CreateOptions{})
}
