package session

import (
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources/manifest"
)

// Changes to the cluster of a what-if, to see how a real scheduler reacts. Each starts a local
// scheduler, lets it run until nothing is in progress, and replies with the result.

// settleLimit limits how long the scheduler runs after a change: the longest backoff and a bit more.
const settleLimit = time.Minute

// errNoNodesKnown is why no scheduler can run.
var errNoNodesKnown = errors.New("no nodes are known: use an audit log or a trace of one; a scheduler log contains no nodes")

// toggleScheduler starts or stops a local scheduler in the what-if.
func (o *owner) toggleScheduler() {
	if o.scheduling() {
		o.inject("stop the local scheduler", func(e *timeline.Engine, _ time.Time) { e.StopScheduler() })
		return
	}
	o.change("start a local scheduler", func(*timeline.Engine, time.Time) error { return nil })
}

// change makes a change in a what-if with a scheduler running, waits for it to settle, and replies with
// the result.
func (o *owner) change(what string, do func(e *timeline.Engine, now time.Time) error) {
	if o.shownTimeline().Engine.Objects.Count("Node") == 0 {
		why := errNoNodesKnown
		if o.rec.Live() {
			why = errNoNodesRead
		}
		o.refuse("%s: %s", what, why)
		return
	}
	if !o.inFork() {
		return
	}
	now, joined := o.now, false
	if !o.scheduling() {
		if err := o.try(now, func(e *timeline.Engine) error { return e.StartScheduler(now, &o.spare) }); err != nil {
			o.refuse("%s: %s", what, err)
			return
		}
		o.fork.DescribeLast("start a local scheduler", now, false)
		joined = true
	}
	before := o.fork.MoveCount()
	if err := o.try(now, func(e *timeline.Engine) error { return do(e, now) }); err != nil {
		o.refuse("%s: %s", what, err)
		return
	}
	o.now = o.fork.RunUntilIdle(settleLimit)
	o.fork.DescribeLast(what, o.now, joined)
	if joined {
		o.fork.Injected[len(o.fork.Injected)-2].What = what
	}
	o.playing, o.previews = false, nil
	moves := o.fork.MovesFrom(min(before, o.fork.MoveCount()))
	o.say("%s: %s", what, explain.Outcome(moves, o.fork.Shown, o.now.Sub(now)))
	o.reply.Moved = board.LastStates(moves)
}

// prepare loads a scheduler for a possible next what-if.
func (o *owner) prepare() {
	resting := !o.working() && (!o.playing || o.speed <= 1)
	o.spare.Prepare(o.shownTimeline(), resting)
}

// try injects a change that may fail. A failed change is not recorded.
func (o *owner) try(now time.Time, do func(e *timeline.Engine) error) error {
	var failed error
	o.fork.Inject(now, func(e *timeline.Engine) {
		failed = do(e)
		e.EmitMoves(now, nil)
	})
	if failed != nil {
		o.fork.Injected = o.fork.Injected[:len(o.fork.Injected)-1]
	}
	return failed
}

// addNodeLike adds a copy of the node like. An empty name picks the next free one.
func (o *owner) addNodeLike(like, name string) {
	if name != "" {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			o.refuse("add a node: invalid node name %q: use a-z, 0-9, - and .", name)
			return
		}
	}
	what := "a node like " + like
	if name != "" {
		what = "node " + name + " like " + like
	}
	o.change(what, func(e *timeline.Engine, now time.Time) error {
		n := e.Objects.Node(like)
		if n == nil {
			return fmt.Errorf("node %s not found", like)
		}
		to := name
		for i := 2; to == ""; i++ {
			if free := fmt.Sprintf("%s-%d", like, i); e.Objects.Node(free) == nil {
				to = free
			}
		}
		if e.Objects.Node(to) != nil {
			return fmt.Errorf("node %s already exists", to)
		}
		added := manifest.LikeNode(n, to)
		added.CreationTimestamp = metav1.NewTime(now)
		e.PutObject(now, added)
		return nil
	})
}

// editNode edits a node as kubectl label, taint, cordon and uncordon would.
func (o *owner) editNode(name string, edits []string) {
	o.change(fmt.Sprintf("node %s %s", name, strings.Join(edits, " ")), func(e *timeline.Engine, now time.Time) error {
		n := e.Objects.Node(name)
		if n == nil {
			return fmt.Errorf("node %s not found", name)
		}
		n = n.DeepCopy()
		for _, edit := range edits {
			if err := cluster.EditNode(n, edit); err != nil {
				return err
			}
		}
		e.PutObject(now, n)
		return nil
	})
}

// deleteObject deletes a pod, queued or running, or a node.
func (o *owner) deleteObject(kind string, key types.NamespacedName) {
	o.change(fmt.Sprintf("delete %s %s", kind, strings.TrimPrefix(key.String(), "/")), func(e *timeline.Engine, now time.Time) error {
		var obj runtime.Object
		if kind == "node" {
			if n := e.Objects.Node(key.Name); n != nil {
				obj = n
			}
		} else if p := e.Objects.Pod(key); p != nil {
			obj = p
		}
		if obj == nil {
			return fmt.Errorf("%s not found", kind)
		}
		e.RemoveObject(now, obj)
		return nil
	})
}

// apply adds or changes objects as kubectl apply would. name is the file they were read from.
func (o *owner) apply(name string, objs []runtime.Object) {
	o.change("apply "+name, func(e *timeline.Engine, now time.Time) error {
		for _, obj := range objs {
			obj = obj.DeepCopyObject()
			m := obj.(metav1.Object)
			if pod, ok := obj.(*v1.Pod); ok {
				if old := e.Objects.Pod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}); old != nil {
					return fmt.Errorf("pod %s/%s already exists, and a pod's spec can't be changed", pod.Namespace, pod.Name)
				}
				if err := manifest.ResolvePriority(pod, priorityClass(e.Objects), defaultPriorityClass(e.Objects)); err != nil {
					return err
				}
			}
			if created := m.GetCreationTimestamp(); created.IsZero() {
				m.SetCreationTimestamp(metav1.NewTime(now))
			}
			e.PutObject(now, obj)
		}
		return nil
	})
}

// bindClaim binds a claim to a volume as the volume controller would: to the smallest free one that
// fits, or to a new one, as a provisioner would.
func (o *owner) bindClaim(key types.NamespacedName) {
	o.change("bind claim "+key.String(), func(e *timeline.Engine, now time.Time) error {
		claim, ok := e.Objects.Get(&v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}).(*v1.PersistentVolumeClaim)
		if !ok {
			return fmt.Errorf("claim not found")
		}
		if claim.Spec.VolumeName != "" {
			return fmt.Errorf("it is already bound to volume %s", claim.Spec.VolumeName)
		}
		volume := volumeFor(e.Objects, claim)
		volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
		volume.Status.Phase = v1.VolumeBound
		e.PutObject(now, volume)
		claim = claim.DeepCopy()
		claim.Spec.VolumeName = volume.Name
		claim.Status.Phase = v1.ClaimBound
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[manifest.BindCompleted] = "yes"
		e.PutObject(now, claim)
		return nil
	})
}

// volumeFor returns a copy of the free volume that fits claim best, or a new one.
func volumeFor(objects cluster.Objects, claim *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	var all []*v1.PersistentVolume
	objects.Each("PersistentVolume", func(obj runtime.Object) bool {
		all = append(all, obj.(*v1.PersistentVolume))
		return true
	})
	if best := cycle.MatchingVolume(claim, all); best != nil {
		return best.DeepCopy()
	}
	class := ""
	if claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	size, ok := claim.Spec.Resources.Requests[v1.ResourceStorage]
	if !ok {
		size = resource.MustParse("1Gi")
	}
	return &v1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: "what-if-" + claim.Namespace + "-" + claim.Name, UID: "what-if-" + claim.UID},
		Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{v1.ResourceStorage: size}, AccessModes: claim.Spec.AccessModes,
			StorageClassName: class, VolumeMode: claim.Spec.VolumeMode,
		},
	}
}

// priorityClass returns a function that returns the priority class with a name, if it exists.
func priorityClass(objects cluster.Objects) func(name string) (*schedulingv1.PriorityClass, bool) {
	return func(name string) (*schedulingv1.PriorityClass, bool) {
		class, ok := objects.Get(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}).(*schedulingv1.PriorityClass)
		return class, ok
	}
}

// defaultPriorityClass returns a function that returns a default priority class, or nil if there is none.
func defaultPriorityClass(objects cluster.Objects) func() *schedulingv1.PriorityClass {
	return func() (class *schedulingv1.PriorityClass) {
		objects.Each("PriorityClass", func(obj runtime.Object) bool {
			if c := obj.(*schedulingv1.PriorityClass); c.GlobalDefault {
				class = c
			}
			return class == nil
		})
		return class
	}
}
