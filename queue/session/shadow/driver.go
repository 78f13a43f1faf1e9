package shadow

import (
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
)

// Driver runs a local kube-scheduler in model time: the scheduling loop, which handles one pod
// after another; the concurrent bindings and evictions; the two flushes. It is passive: its owner
// advances time with Advance and reports the observations of the source.
//
// It has either a Cluster or an oracle. In a what-if and in a rerun it has a Cluster, which applies
// the scheduler's writes after the time of a request. In a shadow it has an oracle: the real
// scheduler made the writes, and the driver waits until they are observed. A status patch blocks
// the whole loop, as in the real scheduler; a binding blocks only its pod.
type Driver struct {
	Scheduler *cycle.Scheduler
	queue     *queue.Queue
	ticks     queue.Ticks
	// onMoves is called whenever the queue may have made moves. attempt is the one whose end
	// caused them, or nil.
	onMoves func(now time.Time, attempt *cycle.Attempt)
	Cluster writeTarget   // nil in a shadow
	oracle  *oracle       // nil except in a shadow
	pending *pendingMoves // moves of the queue that are not emitted yet; nil except in a shadow

	now          time.Time
	AttemptBegan time.Time      // when the last attempt began
	LoopFree     time.Time      // the scheduling loop is busy or waits until then
	endsOnMove   bool           // the loop waits until LoopFree or until a pod moves
	UnderWay     *cycle.Attempt // the attempt that ends at LoopFree, or nil
	AwaitedPatch *statusPatch   // the patch whose answer the loop waits for, or nil
	limiter      *rate.Limiter  // the rate limiter of the scheduler's client
	// asyncAPICalls is true if the loop does not wait for the answers to its patches.
	asyncAPICalls bool
	endsAsSeen    bool         // the end of the attempt in progress is observed
	because       reason.Cause // the cause of the next moves; reset when moves are emitted
	stopped       func() bool  // reports whether to stop early; nil means never
	Bindings      []*binding   // in progress, concurrent with the loop
	Evictions     []*eviction
	Dying         []dying // victims whose containers are being stopped; only with a Cluster
}

// writeTarget is a cluster that applies the scheduler's writes.
type writeTarget interface {
	// ApplyWrite is called when a write of the scheduler completes. It refuses writes to pods that
	// no longer exist.
	ApplyWrite(now time.Time, obj runtime.Object)
	// RemoveVictim is called when a victim has terminated. The victim may already be gone.
	RemoveVictim(now time.Time, victim *v1.Pod)
}

// pendingMoves collects the moves of a queue that are not emitted yet. It is the queue's observer.
type pendingMoves struct{ moves []queue.Transition }

// Moved implements queue.Observer.
func (u *pendingMoves) Moved(m queue.Transition) { u.moves = append(u.moves, m) }

// Failed implements queue.Observer. The model ignores errors that upstream only logs.
func (u *pendingMoves) Failed(error) {}

// NewDriver connects sched and q and returns a driver that runs them from now on. The caller must
// set a cluster or an oracle.
func NewDriver(cfg *schedulerconfig.Config, sched *cycle.Scheduler, q *queue.Queue, k queue.Ticks, now time.Time, moved func(time.Time, *cycle.Attempt)) *Driver {
	d := &Driver{Scheduler: sched, queue: q, ticks: k, now: now, onMoves: moved, limiter: cfg.ClientLimiter(1),
		asyncAPICalls: cfg.AsyncAPICalls}
	sched.Drive(q)
	return d
}

// Due returns when the next internal event is due, which is never before the driver's current time.
func (d *Driver) Due() time.Time {
	at, _, _ := d.ticks.Next(d.now)
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	switch {
	case d.AwaitedPatch != nil:
		sooner(d.AwaitedPatch.until)
	case d.UnderWay != nil, d.queue.CanPop():
		sooner(d.LoopFree)
	}
	for _, b := range d.Bindings {
		sooner(b.Until)
	}
	for _, e := range d.Evictions {
		sooner(e.until)
	}
	for _, v := range d.Dying {
		sooner(v.until)
	}
	if at.Before(d.now) {
		return d.now
	}
	return at
}

// LongestGap limits how much quiet time is played second by second. In a longer quiet time only
// flushes of the same pods are left.
const LongestGap = 24 * time.Hour

// Advance runs everything that is due up to and including to.
func (d *Driver) Advance(to time.Time) {
	if begin := to.Add(-LongestGap); d.now.Before(begin) { // Sub would saturate at 292 years
		d.now = begin
	}
	for at := d.Due(); !at.After(to) && !d.isStopped(); at = d.Due() {
		d.runDue(at)
	}
	if d.now.Before(to) {
		d.now = to
	}
}

// isStopped reports whether to stop early.
func (d *Driver) isStopped() bool { return d.stopped != nil && d.stopped() }

// runDue runs everything that is due at now: flushes, then the ends of the patch, of bindings and
// of evictions, then the loop.
func (d *Driver) runDue(now time.Time) {
	tick, backoff, leftover := d.ticks.Next(d.now)
	d.now = now
	if !tick.After(now) {
		d.flush(now, backoff, leftover)
	}
	d.finishPatch(now)
	d.finishBindings(now)
	d.finishEvictions(now)
	if d.UnderWay != nil && !d.LoopFree.After(now) {
		d.Conclude(now)
	}
	if d.UnderWay == nil && d.AwaitedPatch == nil && d.queue.CanPop() && !d.LoopFree.After(now) {
		d.attempt(now)
	}
}

// flush runs the flushes that are due at now.
func (d *Driver) flush(now time.Time, backoff, leftover bool) {
	if backoff {
		d.queue.FlushBackoffCompleted(now)
	}
	if leftover {
		d.queue.FlushUnschedulableLeftover(now)
	}
	d.onMoves(now, nil)
}

// attempt lets the loop take one pod. The attempt is in progress until LoopFree, when Conclude ends
// it. attempt returns nil if the loop takes no pod.
func (d *Driver) attempt(now time.Time) *cycle.Attempt {
	if d.oracle != nil {
		switch does := d.decide(now); {
		case does.do == takePod:
			return d.AttemptOf(now, does.pod)
		case does.do == wait && does.until.After(now):
			d.LoopFree, d.endsOnMove = does.until, does.endsOnMove
			return nil
		}
	}
	a, ok := d.Scheduler.Schedule(now)
	if !ok {
		return nil
	}
	if d.oracle != nil {
		if other, because := d.oracle.insteadOf(now, a); other != nil {
			d.undoAttempt(a)
			d.because = because
			return d.AttemptOf(now, other)
		}
	}
	return d.beginAttempt(now, a, false)
}

// decide asks the oracle what the loop does now, and puts back each pod that, according to the
// oracle, was not woken.
func (d *Driver) decide(now time.Time) decision {
	d.endsOnMove = false
	does := d.oracle.decide(now)
	for ; does.do == putBack; does = d.oracle.decide(now) {
		d.because = does.because
		d.queue.Observe(now, queue.Observation{Pod: does.pod, To: queue.Unschedulable, Inferred: true})
		d.onMoves(now, nil)
	}
	if does.inOrder {
		d.oracle.presence.NotTried(now, does.unseen)
	}
	d.because = does.because
	return does
}

// undoAttempt undoes attempt a, which has just begun. The pop of its pod is not emitted yet.
func (d *Driver) undoAttempt(a *cycle.Attempt) {
	d.Scheduler.Undo(a)
	last := len(d.pending.moves) - 1
	from := d.pending.moves[last].From
	d.pending.moves = d.pending.moves[:last]
	d.queue.Unpop(a.Pod.UID, from)
}

// AttemptOf lets the loop take pod, whether or not it is next in the queue; a pod in flight is
// tried again. It returns nil if the scheduler can't try the pod.
func (d *Driver) AttemptOf(now time.Time, pod *v1.Pod) *cycle.Attempt {
	return d.attemptOf(now, pod, false, "")
}

// attemptOf is like AttemptOf. If over is true, the attempt is observed to be over now, and it placed
// the pod on node if the model places it nowhere.
func (d *Driver) attemptOf(now time.Time, pod *v1.Pod, over bool, node string) *cycle.Attempt {
	if info, ok := d.queue.Get(pod.Namespace, pod.Name); !ok || info.Tier != queue.InFlight {
		d.queue.Observe(now, queue.Observation{Pod: pod, To: queue.InFlight, Inferred: true})
	}
	a, ok := d.Scheduler.Resume(now, pod)
	if !ok {
		return nil
	}
	if over && a.Binding == nil {
		d.Scheduler.PlaceOn(a, node)
	}
	return d.beginAttempt(now, a, over)
}

// beginAttempt makes a the attempt in progress and determines when it ends. If over is true, it is
// over now, and no other observation shows its end: the next failure of its pod belongs to another
// attempt.
func (d *Driver) beginAttempt(now time.Time, a *cycle.Attempt, over bool) *cycle.Attempt {
	d.UnderWay, d.AttemptBegan, d.endsAsSeen = a, now, false
	takes := d.timeFor(nominalTime(a.Evaluated))
	if d.oracle != nil {
		takes = min(takes, d.oracle.share(now))
	}
	d.LoopFree = now.Add(takes)
	fails := a.Binding == nil && !a.Skipped
	if over {
		d.endsAsSeen = fails
	} else if d.oracle != nil {
		// An observed failure belongs to this attempt even if the model places or skips the pod.
		if at, ok := d.oracle.failsAt(now, a); ok && fails {
			d.LoopFree, d.endsAsSeen = at, true
		}
	}
	if !d.LoopFree.After(now) {
		d.LoopFree = now.Add(time.Microsecond) // guarantee progress
	}
	d.CollectEvictions()
	if !d.endsAsSeen {
		d.awaitEvictions(now, a)
	}
	d.onMoves(now, nil)
	return a
}

// timeFor scales the nominal duration of an attempt: in a shadow, to the real scheduler's pace.
func (d *Driver) timeFor(nominal time.Duration) time.Duration {
	if d.oracle == nil {
		return nominal
	}
	return d.oracle.pace.Attempt(nominal)
}

// Conclude ends the attempt in progress and starts its writes: a patch or bindings.
func (d *Driver) Conclude(now time.Time) { d.conclude(now, d.endsAsSeen) }

// conclude is like Conclude. observed is true if the attempt is observed to fail now.
func (d *Driver) conclude(now time.Time, observed bool) {
	a := d.UnderWay
	d.UnderWay = nil
	if d.endsAsSeen {
		d.because = reason.Cause{Rule: reason.ByOutcome, Seen: evidence.Failed, At: now}
	}
	if d.oracle != nil {
		if message, plugins, ok := d.oracle.observedFailure(now, a); ok {
			d.Scheduler.FailWith(a, message, plugins)
		}
	}
	d.Scheduler.Conclude(now, a)
	for _, w := range d.Scheduler.Writes() {
		if pod, ok := w.Object.(*v1.Pod); ok && pod.UID == a.Pod.UID {
			until := d.answerTime(now)
			if d.oracle != nil {
				if d.oracle.channels.WatchesPods(now) {
					until = until.Add(patchPatience)
				}
				message := ""
				if observed {
					message = a.Message
				}
				until = d.oracle.patchedAt(now, pod.UID, message, until)
			}
			if !d.asyncAPICalls {
				d.AwaitedPatch = &statusPatch{uid: pod.UID, until: until, object: w.Object}
				continue
			}
		}
		if d.Cluster != nil {
			d.Cluster.ApplyWrite(now, w.Object)
		}
	}
	if d.oracle != nil && d.AwaitedPatch == nil {
		if patch := d.oracle.waitingPatch(now); patch != nil && patch.UID == a.Pod.UID {
			// The real attempt had another outcome.
			patch.Used = true
			d.AwaitedPatch = &statusPatch{uid: a.Pod.UID, until: patch.Time}
		}
	}
	placed := a.Bindings // for a pod group
	if a.Binding != nil && a.Group == nil {
		placed = []*cycle.Binding{a.Binding}
	}
	for _, p := range placed {
		b := &binding{Binding: p, Since: now, Until: d.answerTime(now)}
		if d.oracle != nil && d.oracle.seesBinding(now, b.Pod) {
			b.Until = b.Until.Add(writePatience)
			if seen := d.oracle.future.BindingOutcome(b.Pod.UID, now, bindPatience); seen != nil && seen.RateLimited {
				b.Until = now.Add(bindPatience)
			}
			if deadline, err := d.oracle.preBind.Deadline(now, d.oracle.channels.Config, b.Pod); err != nil {
				b.Until, b.timesOut = deadline, err
			}
		}
		d.Bindings = append(d.Bindings, b)
	}
	d.onMoves(now, a)
}

// resumeAt restarts the loop at now without an attempt or a patch in progress. The log contains what
// happened in the meantime. Bindings and evictions continue.
func (d *Driver) resumeAt(now time.Time) {
	d.now, d.LoopFree, d.endsOnMove, d.UnderWay, d.AwaitedPatch = now, now, false, nil, nil
}

// delayLoop keeps the loop busy longer by that duration, from now or from LoopFree, whichever is
// later.
func (d *Driver) delayLoop(now time.Time, by time.Duration) {
	if d.LoopFree.Before(now) {
		d.LoopFree = now
	}
	d.LoopFree = d.LoopFree.Add(by)
}

// endPatchWait ends the loop's wait for the patch of that pod, if it is waiting for that patch. The
// loop continues at goesOn: the real loop was observed to be at that point or past it.
func (d *Driver) endPatchWait(uid types.UID, goesOn time.Time) {
	if d.AwaitedPatch != nil && d.AwaitedPatch.uid == uid {
		d.AwaitedPatch, d.LoopFree = nil, goesOn
	}
}

// endWaitOnMove ends a wait that lasts only until a pod moves, because a pod has moved.
func (d *Driver) endWaitOnMove(now time.Time) {
	if d.endsOnMove {
		d.endsOnMove, d.LoopFree = false, now
	}
}

// catchUp lets the loop take pod because the real loop was observed to take it. First it takes the
// preceding pods for whose attempts there was time since the loop became free, then pod itself. All
// these attempts are made at now and end at once; at counts how many there was time for. It returns false if pod is in a tier from which the loop takes no
// pods. It is called while an observation is applied: the oracle answers as of now, when that
// observation is no longer in its future.
//
// failed is true if that observation is a failure. If it comes from a log, which contains every
// failure, the next failure belongs to another attempt.
func (d *Driver) catchUp(now time.Time, pod *v1.Pod, failed bool) bool {
	if !d.oracle.seesNodes() {
		return false
	}
	at, each := d.LoopFree, d.timeFor(attemptTime)
	if longest := now.Add(-catchUpLimit * each); at.Before(longest) {
		at = longest
	}
	if awaited := d.AwaitedPatch; awaited != nil && (d.oracle.channels.Exact || d.oracle.channels.Saturated(now)) {
		// The loop makes no attempt while it waits. So this attempt preceded the wait, and the loop
		// continues to wait afterwards.
		at = now
		defer func() { d.AwaitedPatch = awaited }()
	}
	for ; ; at = at.Add(each) {
		if a := d.UnderWay; a != nil {
			if a.Pod.UID == pod.UID {
				d.conclude(now, failed || d.endsAsSeen)
				return true
			}
			d.Conclude(now)
		}
		if info, ok := d.queue.Get(pod.Namespace, pod.Name); !ok || !d.takesFrom(info.Tier) {
			return false
		}
		if now.Sub(at) < soon {
			break
		}
		if d.attempt(now) == nil {
			return false
		}
	}
	d.because = reason.Cause{Rule: reason.ByCatchingUp}
	if d.attemptOf(now, pod, failed && d.oracle.channels.Logged(), "") == nil {
		return false
	}
	d.conclude(now, failed)
	// Do not let a later observation of this attempt block the loop.
	d.LoopFree = earlier(d.LoopFree, now.Add(each))
	return true
}

// takesFrom reports whether the loop takes pods from tier.
func (d *Driver) takesFrom(tier queue.Tier) bool {
	return tier == queue.Active || tier == queue.Backoff && d.queue.Options().PopFromBackoffQ
}
