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

// Users that play others than kube-scheduler. The names of the second and the third are those under which they write Events, too.
const (
	ProvisionerUser     = "provisioner"
	AutoscalerUser      = "karpenter"
	SecondSchedulerUser = SecondScheduler
)

// Users are those that PlayOthers needs.
var Users = []string{ProvisionerUser, AutoscalerUser, SecondSchedulerUser}

const provisionerName = "slow.example.com"

// How long the others take. Each is between the first and the second.
var (
	provisioning = [2]time.Duration{3 * time.Second, 7 * time.Second}
	secondWaits  = [2]time.Duration{0, 20 * time.Second} // until the second scheduler binds a pod
)

// How often the others look, and say again what they have said of a pod. Karpenter says the same again after five minutes.
const (
	look  = 100 * time.Millisecond
	again = 10 * time.Second
)

// Others are those in a cluster beside kube-scheduler that a field workload has: a provisioner of volumes, which takes its
// time, an autoscaler and a second scheduler, which say FailedScheduling, too. The nodes that the autoscaler would
// add are in the plan.
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
	due, said            map[types.UID]time.Time // when a claim is provisioned or a pod bound; when a pod was last told of
}

// PlayOthers plays them until Stop is called. client returns a client that is a user.
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
			case <-time.After(look):
				if err := o.turn(ctx, time.Now()); ctx.Err() == nil { // what Stop cuts short has not failed
					o.err = err
				}
			}
		}
	}()
	return o, nil
}

// newRecorder returns a recorder of Events as controllers have it: of core/v1, not of events.k8s.io as kube-scheduler's.
func newRecorder(ctx context.Context, client kubernetes.Interface, name string) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name})
}

// Stop ends them, and returns what they failed at.
func (o *Others) Stop() error {
	o.stop()
	<-o.done
	return o.err
}

func (o *Others) between(span [2]time.Duration) time.Duration {
	return span[0] + time.Duration(o.random.Int64N(int64(span[1]-span[0])))
}

// isDue reports whether the time has come that was drawn for an object when it was first asked for.
func (o *Others) isDue(uid types.UID, now time.Time, span [2]time.Duration) bool {
	at, drawn := o.due[uid]
	if !drawn {
		at = now.Add(o.between(span))
		o.due[uid] = at
	}
	return !now.Before(at)
}

// turn has each of them do what is due.
func (o *Others) turn(ctx context.Context, now time.Time) error {
	claims, err := o.claims.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, c := range claims {
		if err := o.provision(ctx, c, now); err != nil && !passedOver(err) {
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
			if err := o.schedule(ctx, p, now); err != nil && !passedOver(err) {
				return fmt.Errorf("the second scheduler, of %s: %w", p.Name, err)
			}
		} else if condition := scheduled(p); condition != nil && condition.Reason == corev1.PodReasonUnschedulable && o.mayTell(p, now) {
			o.autoscaler.Eventf(p, corev1.EventTypeWarning, "FailedScheduling",
				`Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"pods":"3"}, no instance type has enough resources`)
		}
	}
	return nil
}

// mayTell reports whether it is time to write an Event of a pod, and notes that it was written.
func (o *Others) mayTell(p *corev1.Pod, now time.Time) bool {
	if now.Sub(o.said[p.UID]) < again {
		return false
	}
	o.said[p.UID] = now
	return true
}

// scheduled returns what a pod's status says of its scheduling, or nil.
func scheduled(p *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	if i < 0 {
		return nil
	}
	return &p.Status.Conditions[i]
}

// provision makes the volume that a claim waits for, some seconds after kube-scheduler has chosen a node for it. The
// volume controller binds the two.
func (o *Others) provision(ctx context.Context, c *corev1.PersistentVolumeClaim, now time.Time) error {
	const selected = "volume.kubernetes.io/selected-node"
	if c.Spec.StorageClassName == nil || *c.Spec.StorageClassName != SlowClass || c.Spec.VolumeName != "" || c.Annotations[selected] == "" ||
		!o.isDue(c.UID, now, provisioning) {
		return nil
	}
	_, err := o.provisioner.CoreV1().PersistentVolumes().Create(ctx, volumeFor(c, c.Annotations[selected]), metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		o.due[c.UID] = now.Add(time.Hour) // once is enough, however long it takes to be bound
		return nil
	}
	return err
}

// volumeFor returns a volume for a claim, which only one node reaches.
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

// schedule is the second scheduler's turn at a pod of its own: it says that the pod does not fit, until it binds it.
func (o *Others) schedule(ctx context.Context, p *corev1.Pod, now time.Time) error {
	if !o.isDue(p.UID, now, secondWaits) {
		if !o.mayTell(p, now) {
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
	o.due[p.UID] = now.Add(time.Minute) // the lister shows the binding a little later
	return o.second.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodes[o.random.IntN(len(nodes))].Name},
	}, metav1.CreateOptions{})
}
