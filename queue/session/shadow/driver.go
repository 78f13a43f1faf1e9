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
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/queue/session/reason"
)

// Driver runs a local kube-scheduler in model time: the scheduling loop, one pod after the other; the
// bindings and evictions beside it; the two flushes. It does nothing by itself: whoever owns it lets time
// pass by Advance, and tells it what the source saw.
//
// It has either a Cluster or an oracle. In a what-if and in a rerun it has a Cluster, in which what the scheduler writes
// becomes so after a request's time. In a shadow it has an oracle: the real scheduler wrote, and the driver waits until
// that is seen. For a status patch the whole loop waits, as the real one does; for a binding only its pod does.
type Driver struct {
	Scheduler *cycle.Scheduler
	queue     *queue.Queue
	ticks     flush.Ticks
	// onSettled is called whenever the queue may have told moves. attempt is the one whose end caused them, or nil.
	onSettled func(now time.Time, attempt *cycle.Attempt)
	Cluster   writeTarget // nil in a shadow
	oracle    *oracle     // nil but in a shadow
	unsettled *unsettled  // moves that the queue told and nobody handed on yet. Nil but in a shadow

	now          time.Time
	AttemptBegan time.Time      // when the last attempt began
	LoopFree     time.Time      // the scheduling loop does nothing else until then
	endsOnMove   bool           // the loop is waiting, and stops as soon as a pod moves, even before LoopFree
	UnderWay     *cycle.Attempt // the attempt that ends at LoopFree, or nil
	AwaitedPatch *statusPatch   // whose answer the loop waits for, or nil
	limiter      *rate.Limiter  // of the scheduler's client
	// asyncAPICalls is true if the loop does not wait for the answers to its patches.
	asyncAPICalls bool
	endsAsSeen    bool         // the attempt under way ends when it is seen to
	because       reason.Cause // why the moves that come next are made. Handing moves on sets it back
	stopped       func() bool  // reports whether nobody wants to know what follows. Nil if somebody does
	Bindings      []*binding   // under way, beside the loop
	Evictions     []*eviction
	Dying         []dying // in a Cluster: victims whose containers are being stopped
}

// writeTarget is a cluster in which what the scheduler writes becomes so.
type writeTarget interface {
	// ApplyWrite is called when a write of the scheduler is done. One of a pod that is gone is refused.
	ApplyWrite(now time.Time, obj runtime.Object)
	// RemoveVictim is called when a victim has ended, if not before by other means.
	RemoveVictim(now time.Time, victim *v1.Pod)
}

// unsettled gathers the moves that a queue told and nobody has handed on yet. It is the queue's observer.
type unsettled struct{ moves []queue.Transition }

// Moved implements queue.Observer.
func (u *unsettled) Moved(m queue.Transition) { u.moves = append(u.moves, m) }

// Failed implements queue.Observer: what upstream logs and goes on from, so does the model.
func (u *unsettled) Failed(error) {}

// NewDriver returns a driver of sched and q, which it connects, from now on. It has yet to be given a cluster or an
// oracle.
func NewDriver(cfg *schedulerconfig.Config, sched *cycle.Scheduler, q *queue.Queue, k flush.Ticks, now time.Time, settled func(time.Time, *cycle.Attempt)) *Driver {
	d := &Driver{Scheduler: sched, queue: q, ticks: k, now: now, onSettled: settled, limiter: cfg.ClientLimiter(1),
		asyncAPICalls: cfg.AsyncAPICalls}
	sched.Drive(q)
	return d
}

// Due returns the first moment at which something happens by itself. It is never in the past of the driver.
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

// LongestGap is how much quiet time is played second by second. In a longer one nothing is left to happen
// but flushes of the same pods.
const LongestGap = 24 * time.Hour

// Advance lets everything happen that is due up to and at to.
func (d *Driver) Advance(to time.Time) {
	if begin := to.Add(-LongestGap); d.now.Before(begin) { // not by Sub, which knows no more than 292 years
		d.now = begin
	}
	for at := d.Due(); !at.After(to) && !d.isStopped(); at = d.Due() {
		d.runDue(at)
	}
	if d.now.Before(to) {
		d.now = to
	}
}

// isStopped reports whether nobody wants to know what follows.
func (d *Driver) isStopped() bool { return d.stopped != nil && d.stopped() }

// runDue runs what is due at now: the flushes, then the end of the patch, of bindings and of evictions, then the
// loop.
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

// flush runs those of the two flushes that are due at now.
func (d *Driver) flush(now time.Time, backoff, leftover bool) {
	if backoff {
		d.queue.FlushBackoffCompleted(now)
	}
	if leftover {
		d.queue.FlushUnschedulableLeftover(now)
	}
	d.onSettled(now, nil)
}

// attempt has the loop take one pod. Its attempt is under way until LoopFree, when Conclude ends it. It returns nil
// if the loop takes none.
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
		if does := d.oracle.insteadOf(now, a); does.do != takeNext {
			d.undoAttempt(a)
			if d.because = does.because; does.do == takePod {
				return d.AttemptOf(now, does.pod)
			}
			d.LoopFree = does.until
			return nil
		}
	}
	return d.beginAttempt(now, a, false)
}

// decide asks the oracle what the loop does now, and puts back each pod that the oracle says was not woken.
func (d *Driver) decide(now time.Time) decision {
	d.endsOnMove = false
	does := d.oracle.decide(now)
	for ; does.do == putBack; does = d.oracle.decide(now) {
		d.because = does.because
		d.queue.Observe(now, queue.Observation{Pod: does.pod, To: queue.Unschedulable, Inferred: true})
		d.onSettled(now, nil)
	}
	if does.inTurn {
		d.oracle.presence.NotTried(now, does.untried)
	}
	d.because = does.because
	return does
}

// undoAttempt takes attempt a back, which has just begun, as if it had not been made: nobody was told yet that its
// pod was popped.
func (d *Driver) undoAttempt(a *cycle.Attempt) {
	d.Scheduler.Undo(a)
	last := len(d.unsettled.moves) - 1
	from := d.unsettled.moves[last].From
	d.unsettled.moves = d.unsettled.moves[:last]
	d.queue.Unpop(a.Pod.UID, from)
}

// AttemptOf has the loop take pod, whether it is its turn or not; a pod in flight is tried anew. It returns nil if
// the scheduler can't try it.
func (d *Driver) AttemptOf(now time.Time, pod *v1.Pod) *cycle.Attempt {
	return d.attemptOf(now, pod, false, "")
}

// attemptOf is AttemptOf for an attempt that may be over now, as was seen, and may have placed pod on the node that is named.
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

// beginAttempt makes a the attempt under way from now on, and works out when it ends. Of one that is over now nothing else shows the end:
// the next failure of its pod is another attempt's.
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
		// A failed attempt that is seen where the model places the pod is this one all the same.
		if at, ok := d.oracle.failsAt(now, a); ok && fails {
			d.LoopFree, d.endsAsSeen = at, true
		}
	}
	if !d.LoopFree.After(now) {
		d.LoopFree = now.Add(time.Microsecond) // whatever else is wrong, time goes on
	}
	d.CollectEvictions()
	if !d.endsAsSeen {
		d.awaitEvictions(now, a)
	}
	d.onSettled(now, nil)
	return a
}

// timeFor returns how long an attempt that takes nominal by package pace takes the scheduler: in a shadow, at the real one's pace.
func (d *Driver) timeFor(nominal time.Duration) time.Duration {
	if d.oracle == nil {
		return nominal
	}
	return d.oracle.pace.Attempt(nominal)
}

// Conclude ends the attempt under way. What it writes, a patch or bindings, is under way from now on.
func (d *Driver) Conclude(now time.Time) { d.conclude(now, d.endsAsSeen) }

// conclude is Conclude for an attempt that is observed to fail now, or not.
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
			} else if d.Cluster != nil {
				d.Cluster.ApplyWrite(now, w.Object)
			}
		} else if d.Cluster != nil {
			d.Cluster.ApplyWrite(now, w.Object)
		}
	}
	if d.oracle != nil && d.AwaitedPatch == nil {
		if patch := d.oracle.waitingPatch(now); patch != nil && patch.UID == a.Pod.UID { // it came out otherwise
			patch.Used = true
			d.AwaitedPatch = &statusPatch{uid: a.Pod.UID, until: patch.Time}
		}
	}
	placed := a.Bindings // of a pod group
	if a.Binding != nil && a.Group == nil {
		placed = []*cycle.Binding{a.Binding}
	}
	for _, p := range placed {
		b := &binding{Binding: p, Since: now, Until: d.answerTime(now)}
		if d.oracle != nil && (d.oracle.seesBinding(now, b.Pod) || d.oracle.bindingOutlasts(now, b.Until)) {
			b.Until = b.Until.Add(writePatience)
			if seen := d.oracle.future.BindingOutcome(b.Pod.UID, now, bindPatience); seen != nil && seen.RateLimited {
				b.Until = now.Add(bindPatience)
			} else if seen != nil {
				d.oracle.turns().Take(now)
			}
			if deadline, err := d.oracle.preBind.Deadline(now, d.oracle.channels.Config, b.Pod); err != nil {
				b.Until, b.timesOut = deadline, err
			}
		}
		d.Bindings = append(d.Bindings, b)
	}
	d.onSettled(now, a)
}

// resumeAt has the loop begin anew at now, with nothing under way: what happened meanwhile, others have told.
func (d *Driver) resumeAt(now time.Time) {
	d.now, d.LoopFree, d.endsOnMove, d.UnderWay, d.AwaitedPatch = now, now, false, nil, nil
}

// delayLoop keeps the loop busy for that much longer: from now, or from LoopFree if that is later.
func (d *Driver) delayLoop(now time.Time, by time.Duration) {
	if d.LoopFree.Before(now) {
		d.LoopFree = now
	}
	d.LoopFree = d.LoopFree.Add(by)
}

// endPatchWait ends the loop's wait for the patch of that pod, if it waits for that one, and has the loop go on at
// goesOn: the real loop was seen to be there, or past it.
func (d *Driver) endPatchWait(uid types.UID, goesOn time.Time) {
	if d.AwaitedPatch != nil && d.AwaitedPatch.uid == uid {
		d.AwaitedPatch, d.LoopFree = nil, goesOn
	}
}

// endWaitOnMove ends the loop's wait if it lasts only until a pod moves: one has moved.
func (d *Driver) endWaitOnMove(now time.Time) {
	if d.endsOnMove {
		d.endsOnMove, d.LoopFree = false, now
	}
}

// catchUp has the loop take pod because the real loop was seen to: first those before it for whose attempts there was
// time since the loop was free, then pod itself. All these attempts end at once. It reports whether it could, which
// it can't if pod waits in a tier from which the loop takes none. It is called while a sighting is taken in: the
// oracle is asked as of now, when that sighting is no longer in its future.
//
// told is true if that sighting is of a failure. If it is what a log says, as it does of each, the next one is of another attempt.
func (d *Driver) catchUp(now time.Time, pod *v1.Pod, told bool) bool {
	if !d.oracle.seesNodes() {
		return false
	}
	at, each := d.LoopFree, d.timeFor(attemptTime)
	if longest := now.Add(-catchUpLimit * each); at.Before(longest) {
		at = longest
	}
	if awaited := d.AwaitedPatch; awaited != nil && (d.oracle.channels.Exact || d.oracle.channels.Saturated(now)) {
		// The loop makes no attempt while it waits: this one was before, and the loop goes on waiting.
		at = now
		defer func() { d.AwaitedPatch = awaited }()
	}
	for ; ; at = at.Add(each) {
		if a := d.UnderWay; a != nil {
			if a.Pod.UID == pod.UID {
				d.conclude(now, told || d.endsAsSeen)
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
	if d.attemptOf(now, pod, told && d.oracle.channels.Logged(), "") == nil {
		return false
	}
	d.conclude(now, told)
	d.LoopFree = earlier(d.LoopFree, now.Add(each)) // whatever is seen later of an attempt of the pod
	return true
}

// takesFrom reports whether the loop takes pods from tier.
func (d *Driver) takesFrom(tier queue.Tier) bool {
	return tier == queue.Active || tier == queue.Backoff && d.queue.Options().PopFromBackoffQ
}
