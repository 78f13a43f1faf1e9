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
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// This file handles the scheduler's writes: patches of pods' status, bindings and deletions of
// victims.

// statusPatch is a patch of a pod's status by a failed attempt. It precedes the next attempt.
type statusPatch struct {
	uid types.UID
	// until is when the loop continues: when the patch is done, or when a shadow stops waiting for
	// its trace.
	until  time.Time
	object runtime.Object
}

// binding is the binding of a placed pod that is not observed to be bound yet.
type binding struct {
	*cycle.Binding
	Since time.Time
	// Until is when the pod is bound, or when a shadow gives the binding up.
	Until time.Time
	// timesOut is the error with which the binding fails at Until: the scheduler gives up waiting
	// for the pod's prerequisites, or they are refused. Otherwise it is nil.
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

// ErrNotSeen fails a binding of the model that the real scheduler was not observed to make.
var ErrNotSeen = errors.New("its binding was not seen")

// errRefused fails a binding that the API server refused.
var errRefused = errors.New("its binding was refused")

// answerTime returns when the API server answers a request that the scheduler makes at now:
// requestTime after the client's rate limiter lets it through. The request counts against that
// limit.
func (d *Driver) answerTime(now time.Time) time.Time {
	return now.Add(d.limiter.ReserveN(now, 1).DelayFrom(now) + requestTime)
}

// CollectEvictions adds the victims that the scheduler currently wants deleted, and drops those
// that it has given up.
func (d *Driver) CollectEvictions() {
	d.Evictions = slices.DeleteFunc(d.Evictions, func(e *eviction) bool { return !slices.Contains(d.Scheduler.Evictions(), e.Eviction) })
	for evictions := d.Scheduler.Evictions(); len(evictions) > 0; {
		e := evictions[0]
		evictions = evictions[1:]
		if slices.ContainsFunc(d.Evictions, func(have *eviction) bool { return have.Eviction == e }) {
			continue
		}
		if d.oracle != nil && (d.Scheduler.Ending(e.Victim) || !d.oracle.seesDeletion(d.now, e.Victim.UID)) {
			// The real scheduler deletes all victims but the last at the same time, or had other
			// victims.
			d.Scheduler.Evicted(e)
			evictions = d.Scheduler.Evictions()
			continue
		}
		until := d.answerTime(d.answerTime(d.now)) // the victim's condition, then its deletion
		if d.oracle != nil {
			until = until.Add(writePatience)
		}
		d.Evictions = append(d.Evictions, &eviction{Eviction: e, until: until})
	}
}

// awaitEvictions delays the end of attempt a until the victims that it waits for are deleted; in a
// shadow, until they are observed to be deleted.
func (d *Driver) awaitEvictions(now time.Time, a *cycle.Attempt) {
	for _, e := range d.Evictions {
		if !slices.Contains(a.Evictions, e.Eviction) {
			continue
		}
		ends := e.until
		if d.oracle != nil {
			if seen, ok := d.oracle.future.PodEndsAt(e.Victim.UID, now, writePatience); ok {
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

// finishBindings binds the pods whose bindings are due. In a shadow, a binding that is due was not
// observed in time and is undone.
func (d *Driver) finishBindings(now time.Time) {
	for _, b := range slices.Clone(d.Bindings) {
		if b.Until.After(now) {
			continue
		}
		if d.oracle != nil && !d.oracle.channels.WatchesPods(now) && (b.timesOut == nil || !d.oracle.awaits(now, b.Pod)) {
			// It may have been bound, which shows when the watch of pods works again.
			b.Until = now.Add(writePatience)
			continue
		}
		d.dropBinding(b)
		switch {
		case d.oracle != nil && b.timesOut != nil:
			d.Scheduler.Fail(now, b.Binding, b.timesOut)
			_ = d.Scheduler.Writes()
			d.onMoves(now, nil)
			continue
		case d.oracle != nil:
			d.takeBackBinding(now, b)
			continue
		}
		// The pod's return to the queue reports a failed binding.
		_ = d.Scheduler.Bind(now, b.Binding)
		d.onMoves(now, &cycle.Attempt{Pod: b.Pod, Node: b.Node})
		for _, w := range d.Scheduler.Writes() {
			d.Cluster.ApplyWrite(now, w.Object)
		}
	}
}

// failBindings fails the bindings that wait for a device of claim that can't be provided, at the
// scheduler's next check.
func (d *Driver) failBindings(now time.Time, claim *resourcev1.ResourceClaim) {
	for _, b := range d.Bindings {
		if errors.Is(b.timesOut, cycle.ErrDeviceTimeout) && cycle.AwaitsDevices(claim, b.Pod.UID) && cycle.DevicesFailed(claim) {
			b.Until, b.timesOut = cycle.DeviceCheckAt(b.Since, now), cycle.ErrDeviceBindingFailed
		}
	}
}

// finishEvictions deletes the victims whose deletions are due, and removes those whose containers
// have stopped. In a shadow, a deletion that is due was not observed in time and is given up.
func (d *Driver) finishEvictions(now time.Time) {
	for _, e := range slices.Clone(d.Evictions) {
		if e.until.After(now) {
			continue
		}
		// Another pod's preemption may have chosen it, too.
		if d.Cluster != nil && !d.Scheduler.Ending(e.Victim) {
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

// finishEviction ends e and starts on the next victim.
func (d *Driver) finishEviction(e *eviction) {
	d.Scheduler.Evicted(e.Eviction)
	d.CollectEvictions()
}

// takeBackBinding returns b's pod to the queue as rejected, because the real scheduler did not bind
// it. The rejecting plugins are unknown; the plugins that rejected the pod's previous attempt are
// the most likely.
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
	d.onMoves(now, nil)
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

// isTrying reports whether the pod with that UID has an attempt in progress that was not skipped,
// or a binding in progress.
func (d *Driver) isTrying(uid types.UID) bool {
	return d.UnderWay != nil && d.UnderWay.Pod.UID == uid && !d.UnderWay.Skipped || d.bindingOf(uid) != nil
}

// Unbind fails the binding of the pod with that UID for that reason. It reports whether one was in
// progress.
func (d *Driver) Unbind(now time.Time, uid types.UID, reason error) bool {
	b := d.bindingOf(uid)
	if b != nil {
		d.dropBinding(b)
		d.Scheduler.Fail(now, b.Binding, reason)
	}
	return b != nil
}

// dropBinding removes b from the bindings in progress.
func (d *Driver) dropBinding(b *binding) {
	d.Bindings = slices.DeleteFunc(d.Bindings, func(other *binding) bool { return other == b })
}

// ErrBindTimeout fails the binding of a pod whose volumes were not provided in time
// (volumebinding/binder.go, BindPodVolumes).
var ErrBindTimeout = errors.New("binding volumes: context deadline exceeded")

// preBindWaits answers what placed pods wait for before they are bound.
type preBindWaits struct {
	Future *evidence.Future
	// Patience limits the time until the scheduler's writes are observed.
	Patience time.Duration
	// AwaitsVolume reports whether a volume of a pod still has to be provided.
	AwaitsVolume func(*v1.Pod) bool
	// UnreadyClaim returns a claim of a pod with a device that is not ready, or nil.
	UnreadyClaim func(*v1.Pod) *resourcev1.ResourceClaim
	// Claimed reports whether the scheduler has written a claim of the pod.
	Claimed func(*v1.Pod) bool
}

// selectedNode returns the node that the scheduler chose for the pod of claim, if the change from
// old shows the choice (volumebinding/binder.go, bindAPIUpdate). Otherwise it returns "".
func selectedNode(old runtime.Object, claim *v1.PersistentVolumeClaim) string {
	before, _ := old.(*v1.PersistentVolumeClaim)
	if node := claim.Annotations[sources.AnnSelectedNode]; before != nil && before.Annotations[sources.AnnSelectedNode] != node {
		return node
	}
	return ""
}

// Device returns the claim of pod with an allocated device that is not ready, if the scheduler has
// written the allocation by now or is observed to do so within Patience. Otherwise it returns nil.
func (w *preBindWaits) Device(now time.Time, pod *v1.Pod) *resourcev1.ResourceClaim {
	if !cluster.MayHaveDevices(pod) {
		return nil
	}
	if claim := w.UnreadyClaim(pod); claim != nil {
		return claim
	}
	_, claim := w.Future.Claim(now, w.Patience, func(c *resourcev1.ResourceClaim) bool { return cycle.AwaitsDevices(c, pod.UID) })
	return claim
}

// ClaimedAt returns when the scheduler, which has placed pod, is observed within Patience to write
// the first of its claims. It returns false if there is no such write or it has already happened.
func (w *preBindWaits) ClaimedAt(now time.Time, pod *v1.Pod) (time.Time, bool) {
	if !cluster.MayHaveDevices(pod) || w.Claimed(pod) {
		return now, false
	}
	at, claim := w.Future.Claim(now, w.Patience, func(c *resourcev1.ResourceClaim) bool { return cycle.IsClaimFor(c, pod.UID) })
	return at, claim != nil
}

// Deadline returns when a scheduler with that configuration, which placed pod by now, stops waiting
// for the pod's prerequisites, and the error with which the binding then fails. The error is nil if
// the scheduler waits for nothing.
func (w *preBindWaits) Deadline(now time.Time, cfg *schedulerconfig.Config, pod *v1.Pod) (time.Time, error) {
	profile := pod.Spec.SchedulerName
	if w.AwaitsVolume(pod) {
		return now.Add(cfg.BindTimeout(profile)), ErrBindTimeout
	}
	if claim := w.Device(now, pod); claim != nil {
		return cycle.DeviceDeadline(claim, now, cfg.DeviceBindTimeout(profile)), cycle.ErrDeviceTimeout
	}
	return now, nil
}
