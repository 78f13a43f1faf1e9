package timeline

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Engine applies events to a queue and emits the resulting changes of the board. It is in the state of one moment and only
// moves forward.
type Engine struct {
	Queue   *queue.Queue
	plugins queue.Plugins
	// Config is the configuration of the scheduler that runs at the engine's moment.
	Config  *schedulerconfig.Config
	Objects cluster.Objects
	Ticks   queue.Ticks
	// Board has the state of every pod. The engine only reads it: Emit must apply each change to it.
	Board *board.Board
	Emit  func(board.Change)
	// moves and changes count what was passed to Emit.
	moves, changes int

	unemitted []queue.Transition // the queue's transitions since the last EmitMoves

	// forwardOnly is true if nobody seeks back: then moves are not linked to the pod's move before, and pods that left the
	// queue are dropped. lastDrop is when they were last dropped.
	forwardOnly bool
	lastDrop    time.Time
	// shortenMoves is true if nobody seeks back, but pods are explained: see board.Transition.Shorten.
	shortenMoves bool

	attached    time.Time                    // when the source attached to a running scheduler, or zero
	triedBefore map[types.UID]*sources.Tried // attempts before that, by pod
	// creationAhead is how far the source's clock is ahead of the clock that sets creation timestamps.
	creationAhead time.Duration

	// actions collects what the injection being performed does to the cluster and the queue. Nil outside of one.
	actions *[]sources.Fact

	// whatIf is true of a what-if, in which the real scheduler does nothing.
	whatIf bool
	// Driver is the local scheduler of a what-if, nil while the user decides. resourceVersion is the newest of its objects.
	Driver          *shadow.Driver
	resourceVersion int64
	watch           func(*cycle.Scheduler, *queue.PodInfo) // called before each of its attempts; may be nil
}

func newEngine(cfg *schedulerconfig.Config, plugins queue.Plugins, start time.Time) *Engine {
	e := &Engine{plugins: plugins, Config: cfg, Objects: cluster.NewObjects(), Ticks: queue.NewTicks(cfg.Queue, start)}
	e.Ticks.LeftoverUnknown = true // until the scheduler's start is known
	e.Queue = queue.New(cfg.Queue, plugins, e)
	return e
}

// Clone returns an independent copy of the engine, without Board and Emit.
func (e *Engine) Clone() *Engine {
	c := &Engine{plugins: e.plugins, Config: e.Config, Objects: e.Objects.Copy(), Ticks: e.Ticks, moves: e.moves, changes: e.changes, attached: e.attached, creationAhead: e.creationAhead, watch: e.watch, whatIf: e.whatIf}
	c.Queue = e.Queue.Clone(c.plugins, c)
	return c
}

// Moved implements queue.Observer.
func (e *Engine) Moved(t queue.Transition) { e.unemitted = append(e.unemitted, t) }

// Failed implements queue.Observer. Upstream logs these errors and continues, so the engine ignores them.
func (e *Engine) Failed(error) {}

// apply applies one event of the source or the model.
func (e *Engine) apply(ev sources.Event) {
	switch f := ev.Fact.(type) {
	case *sources.Move:
		e.applyMove(ev.Time, f, nil)
	case *shadow.Move:
		if f.Estimate != nil {
			e.restore(ev.Time, f.Estimate)
			return
		}
		e.applyMove(ev.Time, f.Move, f)
	case *sources.Tried:
		if e.triedBefore == nil {
			e.triedBefore = map[types.UID]*sources.Tried{}
		}
		e.triedBefore[f.UID] = f
	case *sources.Attached:
		e.attach(ev.Time, f.Began, e.triedBefore)
		e.triedBefore = nil
	case *shadow.Attached:
		e.setAttached(ev.Time, f.Began)
	case *sources.ObjectChange:
		e.Objects.Apply(f)
		if pod, ok := f.Object.(*v1.Pod); ok {
			e.onPodChange(ev.Time, f.Verb, pod)
		}
	case *sources.SchedulerStarted:
		if !f.ReleaseInferred {
			e.setRelease(ev.Time, f.Release)
		}
		e.Ticks = queue.NewTicks(e.Queue.Options(), ev.Time)
	case *verdict.Absent:
		if p := e.Board.Get(f.Pod); p != nil {
			e.refreshPod(ev.Time, f.Pod, p.PodInfo.Pod, func(p *board.Pod) { p.GoneSince = f.Since })
		}
	case *opinion.Given:
		if p := e.Board.Get(f.Pod); p != nil && p.PodInfo.Pod.UID == f.UID {
			e.refreshPod(ev.Time, f.Pod, p.PodInfo.Pod, func(p *board.Pod) { p.Opinion = f.Verdict })
		}
	case *sources.Discarded:
		if e.Board.Get(f.Pod) == nil && e.Objects.Pod(f.Pod) == nil { // it was in activeQ
			e.applyMove(ev.Time, &sources.Move{Pod: f.Pod, To: sources.TierActive}, nil)
		}
	case *sources.SchedulerRunning:
		if !f.ReleaseInferred {
			e.setRelease(ev.Time, f.Release)
		}
	case *sources.Clocks:
		e.setClockOffset(ev.Time, f.Ahead)
	}
}

// setClockOffset sets how far the source's clock is ahead of the scheduler's. Backoffs end at whole seconds of the
// scheduler's clock, so the expiries of pods in backoffQ change; a new offset of creation timestamps changes the arrival
// of every queued pod.
func (e *Engine) setClockOffset(now time.Time, ahead time.Duration) {
	e.Queue.Realign(ahead)
	e.Ticks.Realign(e.Queue.Options())
	affected := func(t queue.Tier) bool { return t == queue.Backoff }
	before := e.creationAhead
	if moved := ahead - before; moved.Abs() >= time.Second { // creation timestamps have a precision of one second
		e.creationAhead, affected = ahead, queue.Tier.Queued
	}
	for info := range e.Queue.Pods(affected) {
		created := info.Pod.CreationTimestamp
		e.refreshPod(now, types.NamespacedName{Namespace: info.Pod.Namespace, Name: info.Pod.Name}, info.Pod, func(p *board.Pod) {
			if p.Arrived.Equal(created.Add(before)) {
				p.Arrived = created.Add(e.creationAhead).UTC()
			}
		})
	}
}

// setRelease makes the queue follow the rules of a scheduler of that version. If they differ from the rules so far, the
// engine gets a new queue with the same pods; the moves that follow move them as the new scheduler did.
func (e *Engine) setRelease(now time.Time, version sources.SafeText) {
	cfg, differs := e.Config.WithVersion(string(version))
	if !differs {
		return
	}
	before := e.Queue
	opts := cfg.Queue
	opts.ClockAhead = before.Options().ClockAhead
	e.Config, e.Queue, e.Ticks = cfg, queue.New(opts, e.plugins, e), queue.NewTicks(opts, now)
	e.Ticks.LeftoverUnknown = true
	e.Objects.Each("PodGroup", func(obj runtime.Object) bool {
		e.Queue.AddPodGroup(now, obj.(*schedulingv1beta1.PodGroup))
		return true
	})
	for info := range before.Pods(queue.Tier.Queued) {
		e.Queue.Restore(now, info)
	}
	for info := range before.InFlight() {
		e.Queue.Observe(now, queue.Observation{Pod: info.Pod, To: queue.InFlight, Inferred: true})
	}
	e.unemitted = nil
}

// applyMove applies move m. modelled is nil for a move in the scheduler's log, and otherwise what the model adds to m.
func (e *Engine) applyMove(now time.Time, m *sources.Move, modelled *shadow.Move) {
	to, err := queue.ParseTier(string(m.To))
	if err != nil {
		return // readers reject unknown tiers
	}
	pod := e.Objects.Pod(m.Pod)
	if pod == nil {
		pod = cluster.Placeholder(m.Pod)
	}
	event := m.Event
	if to == queue.Deleted && modelled == nil { // the model distinguishes deleted from bound pods itself
		if to = e.endTier(m, pod); to == queue.InFlight {
			return
		}
		event = ""
	}
	if m.Event == queue.BackoffComplete && !e.Queue.Options().PopFromBackoffQ {
		e.Ticks.Backoff = now // without windows, only such a move shows when the flush runs
	}
	plugins := m.Plugins
	if plugins == nil && m.Event == queue.ScheduleAttemptFailure { // v1.31 and older releases log them only with queueing hints
		plugins = verdict.PluginsOf(string(m.Message), e.Config.Release)
	}
	var expiry time.Time // zero: the queue computes it
	if modelled != nil {
		expiry = modelled.Expiry
	}
	observation := queue.Observation{
		Pod: pod, To: to, Event: event,
		UnschedulablePlugins: plugins, GatingPlugin: m.GatingPlugin,
		Inferred: m.Unplaced || modelled != nil && !modelled.Observed, BackoffExpiry: expiry,
	}
	if m.Restated {
		e.Moved(e.Queue.Restated(now, observation))
	} else {
		e.Queue.Observe(now, observation)
	}
	if m.Node != "" && m.Event == queue.ScheduleAttemptFailure {
		e.Queue.AddNominatedPod(pod, m.Node)
	}
	e.EmitMoves(now, func(p *board.Pod) {
		switch {
		case m.Message != "" && to == queue.Gated && m.Event != queue.ScheduleAttemptFailure:
			p.GateMessage = m.Message
		case m.Message != "":
			p.Message = m.Message
		}
		if modelled != nil && now.Equal(e.attached) {
			p.Since = p.Arrived // it has been in no other tier
		}
		if p.Cause = nil; modelled != nil {
			p.Cause = modelled.Because
		}
		switch {
		case modelled != nil && modelled.Verdict != nil:
			p.Verdict = modelled.Verdict
		case m.Event == queue.ScheduleAttemptFailure:
			p.Verdict = nil // that of an earlier attempt
		}
		if m.Node != "" && to == queue.Scheduled {
			p.Node = m.Node
		}
	})
}

// endTier returns where m, which removes a pod from the queue, leaves the pod: Scheduled, Deleted, or InFlight if its
// attempt continues. pod is its newest object.
//
// Upstream's delete handler logs the same line for a deleted pod and for one that it sees bound, at times before the
// attempt logs the binding. A pod in flight stays in flight until its attempt ends (v1.37: eventhandlers.go,
// deletePodFromSchedulingQueue; scheduling_queue.go, Delete and Done).
func (e *Engine) endTier(m *sources.Move, pod *v1.Pod) queue.Tier {
	before := e.Board.Get(m.Pod)
	switch {
	case pod.Spec.NodeName != "", before != nil && before.PodInfo.Pod.Spec.NodeName != "":
		return queue.Scheduled
	case before == nil || before.Tier != queue.InFlight:
		return queue.Deleted
	case m.Event == queue.ScheduleAttemptFailure || pod.DeletionTimestamp != nil:
		return queue.Deleted
	case pod.UID != before.PodInfo.Pod.UID:
		return queue.Deleted // it is gone from the cluster
	}
	return queue.InFlight
}

// staysPut reports whether t, which should take a pod out of the queue, changes nothing: the pod left earlier, or its
// attempt continues. A bound pod stays Scheduled when it is deleted later.
func (e *Engine) staysPut(t queue.Transition, before *board.Pod) bool {
	if t.To != queue.Scheduled && t.To != queue.Deleted || before == nil {
		return false
	}
	if before.Tier == queue.Scheduled || before.Tier == t.To {
		return true
	}
	now, ok := e.Queue.Get(t.Pod.Namespace, t.Pod.Name)
	return ok && now.Tier == queue.InFlight && now.Pod.UID == t.Pod.UID
}

// onPodChange updates the queue and the board after a change of a pod's object.
func (e *Engine) onPodChange(now time.Time, verb sources.Verb, pod *v1.Pod) {
	if verb != sources.Deleted {
		e.Queue.Refresh(pod)
	}
	e.EmitMoves(now, func(p *board.Pod) { p.ReadObject(pod) })
	e.refreshPod(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod, nil)
}

// runFlushes runs the flushes that are due at now.
func (e *Engine) runFlushes(now time.Time, backoff, leftover bool) {
	if backoff {
		e.Queue.FlushBackoffCompleted(now)
	}
	if leftover {
		e.Queue.FlushUnschedulableLeftover(now)
	}
	e.EmitMoves(now, nil)
}

// EmitMoves emits a change for each transition of the queue since the last call. update, unless nil, modifies the new
// state of each pod that moved.
func (e *Engine) EmitMoves(now time.Time, update func(*board.Pod)) {
	for _, t := range e.unemitted {
		key := types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}
		before := e.Board.Get(key)
		if e.staysPut(t, before) {
			continue
		}
		if t.From == queue.None && before != nil && !queue.IsPodAdd(t.Event) && !isOtherPod(t, before) {
			t.From = before.Tier // the queue dropped the pod, the board did not
		}
		move := &board.Transition{Transition: t, Seq: e.moves}
		e.moves++
		after := e.boardPod(key, before)
		after.GoneSince = time.Time{}
		if p := after.Opinion; p != nil && (e.whatIf || p.Code != opinion.MissedWakeUp && (t.To == queue.Scheduled || t.To == queue.Deleted || t.Observed && (p.Code == opinion.Lost || p.Code == opinion.Starved || p.Code == opinion.NoScheduler))) {
			after.Opinion = nil
		}
		if restated := t.From == t.To && t.Observed && t.To != queue.Gated; !restated || before == nil {
			after.Tier, after.Observed = t.To, t.Observed
			if t.From != t.To {
				after.Since = t.Time
			}
		}
		if queue.IsPodAdd(t.Event) || before != nil && t.From == queue.None {
			after.Message, after.GateMessage, after.Node = "", "", ""
		}
		if queue.IsPodAdd(t.Event) || !t.To.Queued() || t.Event == queue.ScheduleAttemptFailure {
			after.Estimated, after.FailedBy = false, time.Time{}
		}
		if before == nil || t.From == queue.None {
			after.Arrived = e.arrivalTime(t.Time, after.PodInfo.Pod)
			after.Attempts += after.Uncounted
			after.Uncounted, after.AttemptsAtLeast = 0, t.Observed && !queue.IsPodAdd(t.Event) // its arrival is not recorded
		}
		if t.From == queue.Gated && t.To != queue.Gated {
			after.GateMessage = ""
		}
		if t.Event == queue.ScheduleAttemptFailure && after.AttemptsAtLeast && !t.Observed && t.Time.Sub(e.attached) < e.Queue.Options().PodMaxBackoff {
			// Its backoff was estimated, so the scheduler may not have tried it yet.
			after.Uncounted++
			after.Attempts--
		}
		if update != nil {
			update(after)
		}
		if before != nil && !e.forwardOnly {
			if e.shortenMoves {
				before.Last.Shorten()
			}
			move.SetPrev(before.Last)
		}
		move.Pod, after.Last = after, move
		e.emitChange(board.Change{At: now, Before: before, After: after, Move: move})
	}
	e.unemitted = e.unemitted[:0]
}

// isOtherPod reports whether t, from a scheduler's log without the pod's object, moves a pod that reuses the name of
// before: a bound or deleted pod is not tried again.
func isOtherPod(t queue.Transition, before *board.Pod) bool {
	return t.Observed && t.Pod.CreationTimestamp.IsZero() && (before.Tier == queue.Scheduled || before.Tier == queue.Deleted) &&
		t.To != queue.Scheduled && t.To != queue.Deleted
}

// dropLeft drops the pods that left the queue more than history.LeftRetention ago.
func (e *Engine) dropLeft(now time.Time) {
	if now.Sub(e.lastDrop) > history.LeftRetention {
		e.Board.DropLeft(now.Add(-history.LeftRetention), nil)
		e.lastDrop = now
	}
}

func (e *Engine) emitChange(c board.Change) {
	e.changes++
	e.Emit(c)
}

// refreshPod emits a change of the named pod's state without a move, unless the pod is not on the board. pod is its newest
// object; update, unless nil, modifies the new state.
func (e *Engine) refreshPod(now time.Time, key types.NamespacedName, pod *v1.Pod, update func(*board.Pod)) {
	before := e.Board.Get(key)
	if before == nil {
		return
	}
	after := e.boardPod(key, before)
	after.ReadObject(pod)
	if before.PodInfo.Pod.CreationTimestamp.IsZero() {
		after.Arrived = e.arrivalTime(before.Arrived, pod)
	}
	if update != nil {
		update(after)
	}
	if c := cluster.Unscheduled(pod); c != nil && after.Tier.Queued() {
		after.Message = sources.Sanitize(c.Message)
	}
	e.emitChange(board.Change{At: now, Before: before, After: after})
}

// boardPod returns the state of the named pod: the queue's, with the fields that only the board has from before, which may
// be nil. The state of a pod that left the queue does not change.
func (e *Engine) boardPod(key types.NamespacedName, before *board.Pod) *board.Pod {
	p := &board.Pod{Key: key}
	if before != nil {
		*p = *before
	}
	if info, ok := e.Queue.Get(key.Namespace, key.Name); ok {
		p.PodInfo = info
		p.Attempts -= p.Uncounted
		if before != nil {
			p.Tier = before.Tier
		}
	} else if p.PodInfo.Pod == nil {
		p.PodInfo.Pod = cluster.Placeholder(key)
	}
	p.ReadObject(p.PodInfo.Pod)
	group, _ := e.Queue.Options().GroupOf(p.PodInfo.Pod)
	p.Group = group.Name
	return p
}

// attach starts with a scheduler that has been running since began, zero if unknown, whose moves the source reports from
// now on. It puts each waiting pod where it probably is, given its earlier attempts in tried, or where a new pod goes if it
// shows no attempt.
func (e *Engine) attach(now, began time.Time, tried map[types.UID]*sources.Tried) {
	e.setAttached(now, began)
	g := shadow.Estimator{Opts: e.Queue.Options(), Tried: tried}
	e.Objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		if !cluster.Waiting(pod) {
			return true
		}
		if estimate, ok := g.Estimate(now, pod); ok && len(pod.Spec.SchedulingGates) == 0 {
			e.restore(now, &estimate)
			return true
		}
		m := &sources.Move{Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, To: sources.TierActive, Event: cluster.UnscheduledPodAdd}
		if len(pod.Spec.SchedulingGates) > 0 {
			m.To, m.GatingPlugin = sources.TierGated, "SchedulingGates"
		}
		e.applyMove(now, m, &shadow.Move{Move: m})
		return true
	})
}

// setAttached records that the source attached at now to a scheduler running since began, which is zero if unknown.
func (e *Engine) setAttached(now, began time.Time) {
	if e.attached = now; !began.IsZero() {
		e.Ticks = queue.NewTicks(e.Queue.Options(), began)
	}
}

// restore puts a pod where it probably is.
func (e *Engine) restore(now time.Time, estimate *shadow.Estimate) {
	e.Queue.Restore(now, estimate.PodInfo)
	e.EmitMoves(now, func(p *board.Pod) {
		p.Estimated, p.AttemptsAtLeast, p.Message = true, true, estimate.Message
		p.Since, p.FailedBy = estimate.Timestamp, now
	})
}

// arrivalTime returns when pod arrived, given that it entered the queue at now: its creation, or now if that is within the
// same second, to which creation timestamps are truncated.
func (e *Engine) arrivalTime(now time.Time, pod *v1.Pod) time.Time {
	created := pod.CreationTimestamp.Add(e.creationAhead)
	if pod.CreationTimestamp.IsZero() || now.Sub(created) < time.Second {
		return now
	}
	return created.UTC()
}
