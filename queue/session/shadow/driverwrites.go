package shadow

import (
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
)

// What a driver's scheduler writes: patches of pods' status, bindings, deletions of victims.

// statusPatch is a patch of a pod's status that a failed attempt makes before the next one begins.
type statusPatch struct {
	uid types.UID
	// until is when the loop goes on: when the patch is done, or when a shadow has not seen it.
	until  time.Time
	object runtime.Object
}

// binding is a pod that was placed and is not seen bound.
type binding struct {
	*cycle.Binding
	Since time.Time
	// Until is when it is bound, or when a shadow gives it up.
	Until time.Time
	// timesOut is why it fails then, if Until is when the scheduler gives up waiting for what the pod needs, or it is refused. Otherwise nil.
	timesOut error
}

// eviction is a victim's deletion.
type eviction struct {
	*cycle.Eviction
	until time.Time
}

// dying is a victim whose containers are being stopped.
type dying struct {
	pod   *v1.Pod
	until time.Time
}

// ErrNotSeen is why a binding of the model fails that the real scheduler was never seen to make.
var ErrNotSeen = errors.New("its binding was not seen")

// errRefused is why a binding fails that the API server refused.
var errRefused = errors.New("its binding was refused")

// answerTime returns when the API server answers a request that the scheduler makes at now: once the client's own
// rate limit lets it through, which this counts against, and after requestTime.
func (d *Driver) answerTime(now time.Time) time.Time {
	return now.Add(d.limiter.ReserveN(now, 1).DelayFrom(now) + requestTime)
}

// CollectEvictions takes over the victims that the scheduler wants deleted by now, and drops those that it has given
// up.
func (d *Driver) CollectEvictions() {
	d.Evictions = slices.DeleteFunc(d.Evictions, func(e *eviction) bool { return !slices.Contains(d.Scheduler.Evictions(), e.Eviction) })
	for evictions := d.Scheduler.Evictions(); len(evictions) > 0; {
		e := evictions[0]
		evictions = evictions[1:]
		if slices.ContainsFunc(d.Evictions, func(have *eviction) bool { return have.Eviction == e }) {
			continue
		}
		if d.oracle != nil && (d.Scheduler.Ending(e.Victim) || !d.oracle.seesDeletion(d.now, e.Victim.UID)) {
			// The real scheduler deletes all victims but the last at the same time, or had other victims.
			d.Scheduler.Evicted(e)
			evictions = d.Scheduler.Evictions()
			continue
		}
		until := d.answerTime(d.answerTime(d.now)) // the condition of the victim, then its deletion
		if d.oracle != nil {
			until = until.Add(writePatience)
		}
		d.Evictions = append(d.Evictions, &eviction{Eviction: e, until: until})
	}
}

// awaitEvictions has attempt a end no sooner than the victims are deleted for which it waits: in a shadow, are seen to be.
func (d *Driver) awaitEvictions(now time.Time, a *cycle.Attempt) {
	for _, e := range d.Evictions {
		if !slices.Contains(a.Evictions, e.Eviction) {
			continue
		}
		ends := e.until
		if d.oracle != nil {
			if seen, told := d.oracle.future.PodEndsAt(e.Victim.UID, now, writePatience); told {
				ends = seen
			} else {
				ends = ends.Add(-writePatience)
			}
		}
		if ends.After(d.LoopFree) {
			d.LoopFree = ends
		}
	}
}

// finishPatch ends the loop's wait for a status patch.
func (d *Driver) finishPatch(now time.Time) {
	if d.AwaitedPatch == nil || d.AwaitedPatch.until.After(now) {
		return
	}
	p := d.AwaitedPatch
	d.AwaitedPatch = nil
	d.LoopFree = now
	if d.Cluster != nil {
		d.Cluster.ApplyWrite(now, p.object)
	}
}

// finishBindings binds the pods whose bindings are due. In a shadow a binding that is due was not seen in time: it is
// taken back.
func (d *Driver) finishBindings(now time.Time) {
	for _, b := range slices.Clone(d.Bindings) {
		if b.Until.After(now) {
			continue
		}
		if d.oracle != nil && !d.oracle.channels.WatchesPods(now) && (b.timesOut == nil || !d.oracle.awaits(now, b.Pod)) {
			b.Until = now.Add(writePatience) // it may have been bound, and that shows when pods are heard again
			continue
		}
		d.dropBinding(b)
		switch {
		case d.oracle != nil && b.timesOut != nil:
			d.Scheduler.Fail(now, b.Binding, b.timesOut)
			_ = d.Scheduler.Writes()
			d.onSettled(now, nil)
			continue
		case d.oracle != nil:
			d.takeBackBinding(now, b)
			continue
		}
		// A binding that fails is told by the pod's way back into the queue.
		_ = d.Scheduler.Bind(now, b.Binding)
		d.onSettled(now, &cycle.Attempt{Pod: b.Pod, Node: b.Node})
		for _, w := range d.Scheduler.Writes() {
			d.Cluster.ApplyWrite(now, w.Object)
		}
	}
}

// failBindings has the bindings fail that wait for a device of claim which can't be had, when the scheduler looks next.
func (d *Driver) failBindings(now time.Time, claim *resourcev1.ResourceClaim) {
	for _, b := range d.Bindings {
		if errors.Is(b.timesOut, cycle.ErrDeviceTimeout) && cycle.AwaitsDevices(claim, b.Pod.UID) && cycle.DevicesFailed(claim) {
			b.Until, b.timesOut = cycle.DeviceCheckAt(b.Since, now), cycle.ErrDeviceBindingFailed
		}
	}
}

// finishEvictions deletes the victims whose deletions are due, and has those gone whose containers have stopped. In a
// shadow a deletion that is due was not seen in time: it is given up.
func (d *Driver) finishEvictions(now time.Time) {
	for _, e := range slices.Clone(d.Evictions) {
		if e.until.After(now) {
			continue
		}
		if d.Cluster != nil && !d.Scheduler.Ending(e.Victim) { // another pod's preemption may have chosen it, too
			victim := e.Victim.DeepCopy()
			victim.DeletionTimestamp = &metav1.Time{Time: now}
			d.Cluster.ApplyWrite(now, victim)
			d.Dying = append(d.Dying, dying{victim, now.Add(cluster.GracePeriod(victim, terminationTime))})
		}
		d.finishEviction(e)
	}
	for _, v := range slices.Clone(d.Dying) {
		if !v.until.After(now) {
			d.Dying = slices.DeleteFunc(d.Dying, func(other dying) bool { return other == v })
			d.Cluster.RemoveVictim(now, v.pod)
		}
	}
}

// finishEviction ends e and takes over the next victim.
func (d *Driver) finishEviction(e *eviction) {
	d.Scheduler.Evicted(e.Eviction)
	d.CollectEvictions()
}

// takeBackBinding puts b's pod back into the queue as one that was rejected: the real scheduler did not bind it. By
// which plugins is not known; those that rejected its attempt before are the likeliest.
func (d *Driver) takeBackBinding(now time.Time, b *binding) {
	d.because = reason.Cause{Rule: reason.NotBound}
	d.Scheduler.Forget(b.Binding)
	if !d.Scheduler.Waits(b.Pod) {
		d.queue.Done(now, b.Pod.UID)
	} else if info, ok := d.queue.Get(b.Pod.Namespace, b.Pod.Name); ok && info.Tier == queue.InFlight {
		plugins := info.UnschedulablePlugins
		if len(plugins) == 0 {
			plugins = []string{verdict.UnknownPlugin}
		}
		// It is in flight, so nothing else of its name is queued.
		_ = d.queue.AddUnschedulableIfNotPresent(now, info.Pod, queue.Rejection{UnschedulablePlugins: plugins})
	}
	d.onSettled(now, nil)
}

// eachBinding yields the pods that are being bound.
func (d *Driver) eachBinding(yield func(*v1.Pod) bool) {
	for _, b := range d.Bindings {
		if !yield(b.Pod) {
			return
		}
	}
}

// bindingOf returns the binding of the pod with that UID, or nil.
func (d *Driver) bindingOf(uid types.UID) *binding {
	for _, b := range d.Bindings {
		if b.Pod.UID == uid {
			return b
		}
	}
	return nil
}

// isTrying reports whether an attempt of the pod with that UID is under way, and was not skipped, or its binding.
func (d *Driver) isTrying(uid types.UID) bool {
	return d.UnderWay != nil && d.UnderWay.Pod.UID == uid && !d.UnderWay.Skipped || d.bindingOf(uid) != nil
}

// Unbind has the binding of the pod with that UID fail for that reason, if one is under way, and reports whether one
// was.
func (d *Driver) Unbind(now time.Time, uid types.UID, reason error) bool {
	b := d.bindingOf(uid)
	if b != nil {
		d.dropBinding(b)
		d.Scheduler.Fail(now, b.Binding, reason)
	}
	return b != nil
}

// dropBinding takes b out of those that are waited for.
func (d *Driver) dropBinding(b *binding) {
	d.Bindings = slices.DeleteFunc(d.Bindings, func(other *binding) bool { return other == b })
}
