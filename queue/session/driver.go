package session

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
)

// How long the modelled scheduler takes: averages measured on real ones that logged at -v=6. Attempts took
// 0.7 ms with 10 nodes, 0.8 ms with 28, 2.2 ms with 180 and 3.6 ms with 255, and 0.3 ms where a PreFilter
// plugin rejected the pod before any node was looked at; requests to the API server 3 to 8 ms.
const (
	attemptTime        = 650 * time.Microsecond
	attemptTimePerNode = 11500 * time.Nanosecond
	preFilterTime      = 350 * time.Microsecond
	requestTime        = 5 * time.Millisecond
	// moveTime is for how long an event keeps the loop off the queue with each pod that it moves.
	moveTime = 40 * time.Microsecond
)

// driver runs a local kube-scheduler in model time: the scheduling loop, one pod after the other; the
// bindings and evictions beside it; the two flushes. It does nothing by itself: whoever owns it lets time
// pass by wake, and tells it what the source saw.
//
// In a what-if what the scheduler writes becomes so after a request's time. In a shadow the real
// scheduler wrote, and the driver waits to see it: of a status patch the whole loop, as in the real one,
// of a binding only the pod.
type driver struct {
	sched  *cycle.Scheduler
	queue  *queue.Queue
	ticks  ticks
	shadow bool
	owner  driven

	now      time.Time
	began    time.Time      // when the last attempt began
	free     time.Time      // the scheduling loop is busy until then
	trying   *cycle.Attempt // under way until free
	awaits   *statusPatch   // what the loop waits for
	limiter  *rate.Limiter  // of the scheduler's client
	bindings []*binding
	evicting []*eviction
	dying    []dying
}

// driven is whom a driver tells what happened.
type driven interface {
	// settled is called whenever the queue may have told something; attempt is the cause, or nil.
	settled(now time.Time, attempt *cycle.Attempt)
	// endsAt tells when the attempt of pod that begins now ends, if that is known.
	endsAt(now time.Time, pod *v1.Pod) (time.Time, bool)
	// takes tells which pod the loop takes now, out of its turn, if that is known; or until when it takes
	// none.
	takes(now time.Time) (pod *v1.Pod, until time.Time)
	// doubts tells which pod the loop takes now in place of a's. If there is none, a stands; if there is
	// one, a was taken back.
	doubts(now time.Time, a *cycle.Attempt) *v1.Pod
	// ends tells whether victim will be seen to end, as far as that is known.
	ends(now time.Time, victim *v1.Pod) bool
	// binds tells whether a's pod will be seen bound or gone, as far as that is known.
	binds(now time.Time, a *cycle.Attempt) bool
	// patchedAt tells when the patch of pod's status that is made now was answered. If nobody knows, that
	// is until; if it is known that none was made, it is now.
	patchedAt(now time.Time, pod *v1.Pod, until time.Time) time.Time
	// wrote is called in a what-if when a write of the scheduler is done.
	wrote(now time.Time, obj runtime.Object)
	// gone is called in a what-if when a victim has ended.
	gone(now time.Time, victim *v1.Pod)
}

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
	since time.Time
	// until is when it is bound, or when a shadow gives it up.
	until time.Time
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

// terminationTime is how long a victim takes to end in a what-if, if its grace period is not shorter.
const terminationTime = time.Second

var errNotSeen = errors.New("its binding was not seen")

// A shadow gives a write that it expects this much longer than the model does.
const (
	patchPatience = 200 * time.Millisecond
	writePatience = 2 * time.Second
)

// newDriver returns a driver of sched and q, which it connects, from now on.
func newDriver(cfg *cycle.Config, sched *cycle.Scheduler, q *queue.Queue, k ticks, now time.Time, owner driven) *driver {
	d := &driver{sched: sched, queue: q, ticks: k, now: now, owner: owner, limiter: clientLimiter(cfg, 1)}
	sched.Drive(q)
	return d
}

// clientLimiter returns the rate limiter of the scheduler's client (clientConnection), at that share of its rate.
func clientLimiter(cfg *cycle.Config, share rate.Limit) *rate.Limiter {
	limit := share * rate.Limit(cfg.ClientQPS)
	if limit <= 0 {
		limit = rate.Inf
	}
	return rate.NewLimiter(limit, int(cfg.ClientBurst))
}

// due returns the first moment at which something happens by itself.
func (d *driver) due() time.Time {
	at, _, _ := d.ticks.next(d.now)
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	switch {
	case d.awaits != nil:
		sooner(d.awaits.until)
	case d.trying != nil, d.ready():
		sooner(d.free)
	}
	for _, b := range d.bindings {
		sooner(b.until)
	}
	for _, e := range d.evicting {
		sooner(e.until)
	}
	for _, v := range d.dying {
		sooner(v.until)
	}
	if at.Before(d.now) {
		return d.now
	}
	return at
}

// ready reports whether the loop has a pod to take.
func (d *driver) ready() bool { return d.queue.CanPop() }

// longestGap is how much quiet time is played second by second. In a longer one nothing is left to happen
// but flushes of the same pods.
const longestGap = 24 * time.Hour

// advance lets everything happen that is due up to and at to.
func (d *driver) advance(to time.Time) {
	if to.Sub(d.now) > longestGap {
		d.now = to.Add(-longestGap)
	}
	for at := d.due(); !at.After(to); at = d.due() {
		d.wake(at)
	}
	if d.now.Before(to) {
		d.now = to
	}
}

// wake lets happen what is due at now.
func (d *driver) wake(now time.Time) {
	tick, backoff, leftover := d.ticks.next(d.now)
	d.now = now
	if !tick.After(now) {
		d.flush(now, backoff, leftover)
	}
	d.finishPatch(now)
	d.finishBindings(now)
	d.finishEvictions(now)
	if d.trying != nil && !d.free.After(now) {
		d.conclude(now)
	}
	if d.trying == nil && d.awaits == nil && d.ready() && !d.free.After(now) {
		d.attempt(now)
	}
}

func (d *driver) flush(now time.Time, backoff, leftover bool) {
	if backoff {
		d.queue.FlushBackoffCompleted(now)
	}
	if leftover {
		d.queue.FlushUnschedulableLeftover(now)
	}
	d.owner.settled(now, nil)
}

// attempt lets the loop take one pod. Its attempt takes a while; then comes conclude.
func (d *driver) attempt(now time.Time) *cycle.Attempt {
	pod, until := d.owner.takes(now)
	switch {
	case pod != nil:
		return d.attemptOf(now, pod)
	case until.After(now):
		d.free = until
		return nil
	}
	a, ok := d.sched.Schedule(now)
	if !ok {
		return nil
	}
	if pod := d.owner.doubts(now, a); pod != nil {
		return d.attemptOf(now, pod)
	}
	return d.try(now, a)
}

// attemptOf lets the loop take that pod, whether it is its turn or not. In flight it may be already.
func (d *driver) attemptOf(now time.Time, pod *v1.Pod) *cycle.Attempt {
	if info, ok := d.queue.Get(pod.Namespace, pod.Name); !ok || info.Tier != queue.InFlight {
		d.queue.Observe(now, queue.Observation{Pod: pod, To: queue.InFlight, Inferred: true})
	}
	a, ok := d.sched.Resume(now, pod)
	if !ok {
		return nil
	}
	return d.try(now, a)
}

func (d *driver) try(now time.Time, a *cycle.Attempt) *cycle.Attempt {
	d.trying, d.began = a, now
	d.free = now.Add(attemptTime + time.Duration(a.Evaluated)*attemptTimePerNode)
	if a.Evaluated == 0 {
		d.free = now.Add(preFilterTime)
	}
	// A failed attempt that is seen where the model places the pod is this one all the same.
	if at, ok := d.owner.endsAt(now, a.Pod); ok && a.Binding == nil && !a.Skipped {
		d.free = at
	}
	if !d.free.After(now) {
		d.free = now.Add(time.Microsecond) // whatever else is wrong, time goes on
	}
	d.collectEvictions()
	d.owner.settled(now, nil)
	return a
}

// conclude ends the attempt under way and takes over what it left to do.
func (d *driver) conclude(now time.Time) {
	a := d.trying
	d.trying = nil
	d.sched.Conclude(now, a)
	for _, w := range d.sched.Writes() {
		if pod, ok := w.Object.(*v1.Pod); ok && pod.UID == a.Pod.UID {
			until := d.request(now)
			if d.shadow {
				until = d.owner.patchedAt(now, pod, until.Add(patchPatience))
			}
			d.awaits = &statusPatch{uid: pod.UID, until: until, object: w.Object}
		} else if !d.shadow {
			d.owner.wrote(now, w.Object)
		}
	}
	placed := a.Bindings // of a pod group
	if a.Binding != nil && a.Group == nil {
		placed = []*cycle.Binding{a.Binding}
	}
	for _, b := range placed {
		until := d.request(now)
		if d.shadow && d.owner.binds(now, a) {
			until = until.Add(writePatience)
		}
		d.bindings = append(d.bindings, &binding{Binding: b, since: now, until: until})
	}
	d.owner.settled(now, a)
}

// request returns when a request to the API server is answered that is made at now, after the client's
// own rate limit let it through.
func (d *driver) request(now time.Time) time.Time {
	return now.Add(d.limiter.ReserveN(now, 1).DelayFrom(now) + requestTime)
}

// collectEvictions takes over the victims whose deletion is asked for, and lets go of those given up.
func (d *driver) collectEvictions() {
	d.evicting = slices.DeleteFunc(d.evicting, func(e *eviction) bool { return !slices.Contains(d.sched.Evictions(), e.Eviction) })
	for evictions := d.sched.Evictions(); len(evictions) > 0; {
		e := evictions[0]
		evictions = evictions[1:]
		if slices.ContainsFunc(d.evicting, func(have *eviction) bool { return have.Eviction == e }) {
			continue
		}
		if d.shadow && (d.sched.Ending(e.Victim) || !d.owner.ends(d.now, e.Victim)) {
			// The real scheduler deletes all victims but the last at the same time, or had other victims.
			d.sched.Evicted(e)
			evictions = d.sched.Evictions()
			continue
		}
		until := d.request(d.request(d.now)) // the condition of the victim, then its deletion
		if d.shadow {
			until = until.Add(writePatience)
		}
		d.evicting = append(d.evicting, &eviction{Eviction: e, until: until})
	}
}

// finishPatch ends the loop's wait for a status patch.
func (d *driver) finishPatch(now time.Time) {
	if d.awaits == nil || d.awaits.until.After(now) {
		return
	}
	p := d.awaits
	d.awaits = nil
	d.free = now
	if !d.shadow {
		d.owner.wrote(now, p.object)
		d.owner.settled(now, nil)
	}
}

// finishBindings binds the pods whose time has come. In a shadow their binding was not seen in time.
func (d *driver) finishBindings(now time.Time) {
	var left, done []*binding
	for _, b := range d.bindings {
		if b.until.After(now) {
			left = append(left, b)
		} else {
			done = append(done, b)
		}
	}
	d.bindings = left
	for _, b := range done {
		if d.shadow {
			d.takeBack(now, b)
			continue
		}
		// A binding that fails is told by the pod's way back into the queue.
		_ = d.sched.Bind(now, b.Binding)
		d.owner.settled(now, &cycle.Attempt{Pod: b.Pod, Node: b.Node})
		for _, w := range d.sched.Writes() {
			d.owner.wrote(now, w.Object)
			d.owner.settled(now, nil)
		}
	}
}

// finishEvictions ends the deletions whose time has come. In a shadow they were not seen in time.
func (d *driver) finishEvictions(now time.Time) {
	for _, e := range slices.Clone(d.evicting) {
		if e.until.After(now) {
			continue
		}
		if !d.shadow {
			victim := e.Victim.DeepCopy()
			victim.DeletionTimestamp = &metav1.Time{Time: now}
			d.owner.wrote(now, victim)
			d.dying = append(d.dying, dying{victim, now.Add(grace(victim))})
		}
		d.evicted(e)
		d.owner.settled(now, nil)
	}
	for _, v := range slices.Clone(d.dying) {
		if !v.until.After(now) {
			d.dying = slices.DeleteFunc(d.dying, func(other dying) bool { return other == v })
			d.owner.gone(now, v.pod)
			d.owner.settled(now, nil)
		}
	}
}

// evicted ends e and takes over the next victim.
func (d *driver) evicted(e *eviction) {
	d.evicting = slices.DeleteFunc(d.evicting, func(other *eviction) bool { return other == e })
	d.sched.Evicted(e.Eviction)
	d.collectEvictions()
}

// grace is how long a victim takes to end.
func grace(victim *v1.Pod) time.Duration {
	if s := victim.Spec.TerminationGracePeriodSeconds; s != nil {
		return min(terminationTime, time.Duration(*s)*time.Second)
	}
	return terminationTime
}

// takeBack has it that b's pod was rejected: the real scheduler did not bind it. By which plugins is not
// known; those of the time before are the likeliest.
func (d *driver) takeBack(now time.Time, b *binding) {
	d.sched.Forget(b.Binding)
	if !d.sched.Waits(b.Pod) {
		d.queue.Done(now, b.Pod.UID)
	} else if info, ok := d.queue.Get(b.Pod.Namespace, b.Pod.Name); ok && info.Tier == queue.InFlight {
		plugins := info.UnschedulablePlugins
		if len(plugins) == 0 {
			plugins = []string{unknownPlugin}
		}
		// It is in flight, so nothing else of its name is queued.
		_ = d.queue.AddUnschedulableIfNotPresent(now, info.Pod, queue.Rejection{UnschedulablePlugins: plugins})
	}
	d.owner.settled(now, nil)
}

// placed returns the binding of the pod with that UID, or nil.
func (d *driver) placed(uid types.UID) *binding {
	for _, b := range d.bindings {
		if b.Pod.UID == uid {
			return b
		}
	}
	return nil
}

// drop takes b out of those that are waited for.
func (d *driver) drop(b *binding) {
	d.bindings = slices.DeleteFunc(d.bindings, func(other *binding) bool { return other == b })
}

// delay keeps the loop from going on for so long from now, or from when it is free.
func (d *driver) delay(now time.Time, by time.Duration) {
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(by)
}
