package timeline

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Engine feeds events to a queue and turns what the queue tells into changes. It is at one moment, and
// only goes forward.
type Engine struct {
	Queue   *queue.Queue
	plugins queue.Plugins
	// Config is that of the scheduler that runs at the engine's moment.
	Config  *schedulerconfig.Config
	Objects cluster.Objects
	Ticks   flush.Ticks
	// Board is where every pod is. The engine reads it, and Emit changes it.
	Board *board.Board
	Emit  func(board.Change)
	// moves and changes count what was handed to Emit.
	moves, changes int

	unsettled []queue.Transition // what the queue told during the present call

	// forgets is true if nobody goes back: then a move is not linked to the one before it, and who left the queue is
	// forgotten. swept is when that was last done.
	forgets bool
	swept   time.Time
	// shortens is true if nobody goes back, and pods are explained: of a pod's moves before its last two only the one is linked that
	// explanations speak of.
	shortens bool

	before   map[types.UID]*sources.Tried // what is known of attempts before the source came to the scheduler
	attached time.Time                    // when the source came to it, or zero
	// createdAhead is how far the stream's clock is ahead of the clock of creation timestamps.
	createdAhead time.Duration

	// noted is what the present call of a person's does to the cluster and the queue. Nil outside of one.
	noted *[]sources.Fact

	// whatIf is true of a what-if, in which the real scheduler does nothing.
	whatIf bool
	// Of a what-if: the local scheduler, unless a person is the scheduler, and the newest resource version.
	Driver  *shadow.Driver
	version int64
}

func newEngine(cfg *schedulerconfig.Config, plugins queue.Plugins, start time.Time) *Engine {
	e := &Engine{plugins: plugins, Config: cfg, Objects: cluster.NewObjects(), Ticks: flush.NewTicks(cfg.Queue, start)}
	e.Ticks.LeftoverUnknown = true // until the scheduler's start is known
	e.Queue = queue.New(cfg.Queue, plugins, e)
	return e
}

// Clone returns an engine that goes on from here on its own. Its Board and Emit are not set.
func (e *Engine) Clone() *Engine {
	c := &Engine{plugins: e.plugins, Config: e.Config, Objects: e.Objects.Copy(), Ticks: e.Ticks, moves: e.moves, changes: e.changes, whatIf: e.whatIf, attached: e.attached, createdAhead: e.createdAhead}
	c.Queue = e.Queue.Clone(c.plugins, c)
	return c
}

// Moved implements queue.Observer.
func (e *Engine) Moved(t queue.Transition) { e.unsettled = append(e.unsettled, t) }

// Failed implements queue.Observer: what upstream logs and goes on from, so does the model.
func (e *Engine) Failed(error) {}

// apply carries out one event of the source.
func (e *Engine) apply(ev sources.Event) {
	switch f := ev.Fact.(type) {
	case *sources.Move:
		e.observe(ev.Time, f, nil)
	case *shadow.Move:
		if f.Estimate != nil {
			e.restore(ev.Time, f.Estimate)
			return
		}
		e.observe(ev.Time, f.Move, f)
	case *sources.Tried:
		if e.before == nil {
			e.before = map[types.UID]*sources.Tried{}
		}
		e.before[f.UID] = f
	case *sources.Attached:
		e.attach(ev.Time, f.Began, e.before)
		e.before = nil
	case *shadow.Attached:
		e.attachedTo(ev.Time, f.Began)
	case *sources.ObjectChange:
		e.Objects.Apply(f)
		if pod, ok := f.Object.(*v1.Pod); ok {
			e.podChanged(ev.Time, f.Verb, pod)
		}
	case *sources.SchedulerStarted:
		if !f.ReleaseInferred {
			e.hearRelease(ev.Time, f.Release)
		}
		e.Ticks = flush.NewTicks(e.Queue.Options(), ev.Time)
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
			e.observe(ev.Time, &sources.Move{Pod: f.Pod, To: sources.TierActive}, nil)
		}
	case *sources.SchedulerHeard:
		if !f.ReleaseInferred {
			e.hearRelease(ev.Time, f.Release)
		}
	case *sources.Clocks:
		e.realign(ev.Time, f.Ahead)
	}
}

// realign has backoffs end with the seconds of the scheduler's clock, which is so far behind, and shows when those of the pods do that wait.
func (e *Engine) realign(now time.Time, ahead time.Duration) {
	e.Queue.Realign(ahead)
	e.Ticks.Realign(e.Queue.Options())
	shows := func(t queue.Tier) bool { return t == queue.Backoff }
	before := e.createdAhead
	if moved := ahead - before; moved.Abs() >= time.Second { // creation is known to the second
		e.createdAhead, shows = ahead, queue.Tier.Queued
	}
	for info := range e.Queue.Pods(shows) {
		created := info.Pod.CreationTimestamp
		e.refreshPod(now, types.NamespacedName{Namespace: info.Pod.Namespace, Name: info.Pod.Name}, info.Pod, func(p *board.Pod) {
			if p.Arrived.Equal(created.Add(before)) {
				p.Arrived = created.Add(e.createdAhead).UTC()
			}
		})
	}
}

// hearRelease has the queue follow the rules of the scheduler that runs from now on, if it is of another release. Where the
// pods are, those moves tell which follow from its beginning.
func (e *Engine) hearRelease(now time.Time, version sources.SafeText) {
	cfg, other := e.Config.WithVersion(string(version))
	if !other {
		return
	}
	before := e.Queue
	opts := cfg.Queue
	opts.ClockAhead = before.Options().ClockAhead
	e.Config, e.Queue, e.Ticks = cfg, queue.New(opts, e.plugins, e), flush.NewTicks(opts, now)
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
	e.unsettled = nil
}

// observe carries out move m. The scheduler reported it if modelled is nil; otherwise a local scheduler made it, and
// modelled is what that says of it.
func (e *Engine) observe(now time.Time, m *sources.Move, modelled *shadow.Move) {
	to, err := queue.ParseTier(string(m.To))
	if err != nil {
		return // readers let no other tier through
	}
	pod := e.Objects.Pod(m.Pod)
	if pod == nil {
		pod = cluster.Placeholder(m.Pod)
	}
	event := m.Event
	if to == queue.Deleted && modelled == nil { // the model says so of pods that are gone, and of a bound one after that
		if to = e.endOf(m, pod); to == queue.InFlight {
			return
		}
		event = ""
	}
	if m.Event == queue.BackoffComplete && !e.Queue.Options().PopFromBackoffQ {
		e.Ticks.Backoff = now // without windows, only such a move tells when the flush runs
	}
	plugins := m.Plugins
	if plugins == nil && m.Event == queue.ScheduleAttemptFailure { // v1.31 and older releases log them only with queueing hints
		plugins = verdict.PluginsOf(string(m.Message), e.Config.Release)
	}
	seen := queue.Observation{
		Pod: pod, To: to, Event: event,
		UnschedulablePlugins: plugins, GatingPlugin: m.GatingPlugin,
		Inferred: m.Unplaced || modelled != nil && !modelled.Observed, BackoffExpiry: expiryOf(modelled),
	}
	if m.Restated {
		e.Moved(e.Queue.Restated(now, seen))
	} else {
		e.Queue.Observe(now, seen)
	}
	if m.Node != "" && m.Event == queue.ScheduleAttemptFailure {
		e.Queue.AddNominatedPod(pod, m.Node)
	}
	e.Settle(now, func(p *board.Pod) {
		switch {
		case m.Message != "" && to == queue.Gated && m.Event != queue.ScheduleAttemptFailure:
			p.GateMessage = m.Message
		case m.Message != "":
			p.Message = m.Message
		}
		if modelled != nil && now.Equal(e.attached) {
			p.Since = p.Arrived // a new pod's only place so far
		}
		if p.Because = nil; modelled != nil {
			p.Because = modelled.Because
		}
		if modelled != nil && modelled.Verdict != nil {
			p.Verdict = modelled.Verdict
		}
		if m.Node != "" && to == queue.Scheduled {
			p.Node = m.Node
		}
	})
}

// endOf returns where m, which takes a pod out of the queue, leaves it: Scheduled, Deleted, or InFlight if its attempt
// goes on. Upstream's delete handler speaks of a pod that it sees bound as of one that is gone, at times before the
// attempt says that it bound the pod, and a pod in flight stays in flight until its attempt ends (v1.37: eventhandlers.go,
// deletePodFromSchedulingQueue; scheduling_queue.go, Delete and Done). pod is the newest object.
func (e *Engine) endOf(m *sources.Move, pod *v1.Pod) queue.Tier {
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

// hasStayed reports whether t, by which a pod is to leave the queue, moves none: it has left before, or its attempt goes
// on. A pod that was bound stays so, whatever became of it later.
func (e *Engine) hasStayed(t queue.Transition, before *board.Pod) bool {
	if t.To != queue.Scheduled && t.To != queue.Deleted || before == nil {
		return false
	}
	if before.Tier == queue.Scheduled || before.Tier == t.To {
		return true
	}
	now, ok := e.Queue.Get(t.Pod.Namespace, t.Pod.Name)
	return ok && now.Tier == queue.InFlight && now.Pod.UID == t.Pod.UID
}

// expiryOf returns when the backoff ends, as far as a modelled move tells: zero is that it is worked out. m may be
// nil.
func expiryOf(m *shadow.Move) time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.Expiry
}

// podChanged shows a change of a pod's object.
func (e *Engine) podChanged(now time.Time, verb sources.Verb, pod *v1.Pod) {
	if verb != sources.Deleted {
		e.Queue.Refresh(pod)
	}
	e.Settle(now, func(p *board.Pod) { p.ReadObject(pod) })
	e.refreshPod(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod, nil)
}

// tick runs the flushes that are due at now.
func (e *Engine) tick(now time.Time, backoff, leftover bool) {
	if backoff {
		e.Queue.FlushBackoffCompleted(now)
	}
	if leftover {
		e.Queue.FlushUnschedulableLeftover(now)
	}
	e.Settle(now, nil)
}

// Settle turns what the queue told since the last call into changes, and emits them. with, unless nil, adds details
// to each pod that moved.
func (e *Engine) Settle(now time.Time, with func(*board.Pod)) {
	for _, t := range e.unsettled {
		key := types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}
		before := e.Board.Get(key)
		if e.hasStayed(t, before) {
			continue
		}
		if t.From == queue.None && before != nil && !queue.IsPodAdd(t.Event) && !isAnother(t, before) {
			t.From = before.Tier // gone from the queue, but not forgotten here
		}
		move := &board.Transition{Transition: t, Seq: e.moves}
		e.moves++
		after := e.podShown(key, before)
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
			after.Arrived = e.arrival(t.Time, after.PodInfo.Pod)
			after.Attempts += after.Uncounted
			after.Uncounted, after.AttemptsAtLeast = 0, t.Observed && !queue.IsPodAdd(t.Event) // its arrival is not recorded
		}
		if t.From == queue.Gated && t.To != queue.Gated {
			after.GateMessage = ""
		}
		if t.Event == queue.ScheduleAttemptFailure && after.AttemptsAtLeast && !t.Observed && t.Time.Sub(e.attached) < e.Queue.Options().PodMaxBackoff {
			// Its backoff rested on an estimate, so the scheduler may not have tried it yet.
			after.Uncounted++
			after.Attempts--
		}
		if with != nil {
			with(after)
		}
		if before != nil && !e.forgets {
			if e.shortens {
				before.Last.Shorten()
			}
			move.SetPrev(before.Last)
		}
		move.Pod, after.Last = after, move
		e.emitChange(board.Change{At: now, Before: before, After: after, Move: move})
	}
	e.unsettled = e.unsettled[:0]
}

// isAnother reports whether a scheduler's log, without the pod's object, moves another pod of the name: one that was bound or
// deleted is not tried again.
func isAnother(t queue.Transition, before *board.Pod) bool {
	return t.Observed && t.Pod.CreationTimestamp.IsZero() && (before.Tier == queue.Scheduled || before.Tier == queue.Deleted) &&
		t.To != queue.Scheduled && t.To != queue.Deleted
}

// forget forgets those that left the queue a while ago.
func (e *Engine) forget(now time.Time) {
	if now.Sub(e.swept) > history.LeftRetention {
		e.Board.DropLeft(now.Add(-history.LeftRetention), nil)
		e.swept = now
	}
}

// emitChange counts c and hands it to Emit.
func (e *Engine) emitChange(c board.Change) {
	e.changes++
	e.Emit(c)
}

// refreshPod emits a change of what the board shows of the named pod, of which pod is the newest object. A pod that
// is not on the board is left alone.
func (e *Engine) refreshPod(now time.Time, key types.NamespacedName, pod *v1.Pod, with func(*board.Pod)) {
	before := e.Board.Get(key)
	if before == nil {
		return
	}
	after := e.podShown(key, before)
	after.ReadObject(pod)
	if before.PodInfo.Pod.CreationTimestamp.IsZero() {
		after.Arrived = e.arrival(before.Arrived, pod)
	}
	if with != nil {
		with(after)
	}
	if c := cluster.Unscheduled(pod); c != nil && after.Tier.Queued() {
		after.Message = sources.Sanitize(c.Message)
	}
	e.emitChange(board.Change{At: now, Before: before, After: after})
}

// podShown returns the named pod as the queue now has it. What the queue does not keep is taken from before, which
// may be nil; a pod that left the queue stays as it was.
func (e *Engine) podShown(key types.NamespacedName, before *board.Pod) *board.Pod {
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
