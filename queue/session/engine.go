package session

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// change is what happened to one pod: it moved, or its details did.
type change struct {
	at            time.Time
	before, after *Pod
	move          *Transition // nil if only details changed
}

// engine feeds events to a queue and turns what the queue tells into changes. It is at one moment, and
// only goes forward.
type engine struct {
	queue   *queue.Queue
	plugins queue.Plugins
	objects objects
	ticks   ticks
	// board is where every pod is. The engine reads it, and emit changes it.
	board *Board
	emit  func(change)
	// moves and changes count what was emitted.
	moves, changes int

	told []queue.Transition // by the queue, during the present call

	before map[types.UID]*sources.Tried // from before the source came to the scheduler

	// Of a what-if: the local scheduler, unless a person is the scheduler, and the newest resource version.
	driver  *driver
	version int64
}

func newEngine(opts queue.Options, plugins queue.Plugins, start time.Time) *engine {
	e := &engine{plugins: plugins, objects: newObjects(), ticks: newTicks(opts, start)}
	e.queue = queue.New(opts, plugins, e)
	return e
}

// clone returns an engine that goes on from here on its own. Its board and emit are not set.
func (e *engine) clone() *engine {
	c := &engine{plugins: e.plugins, objects: e.objects.copy(), ticks: e.ticks, moves: e.moves, changes: e.changes}
	c.queue = e.queue.Clone(c.plugins, c)
	return c
}

// Moved implements queue.Observer.
func (e *engine) Moved(t queue.Transition) { e.told = append(e.told, t) }

// Failed implements queue.Observer: what upstream logs and goes on from, so does the model.
func (e *engine) Failed(error) {}

// apply carries out one event of the source.
func (e *engine) apply(ev sources.Event) {
	switch f := ev.Fact.(type) {
	case *sources.Move:
		e.observe(ev.Time, f, nil)
	case *modelledMove:
		if f.estimate != nil {
			e.restore(ev.Time, f.estimate)
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
	case *sources.ObjectChange:
		if f.Verb == sources.Deleted {
			e.objects.remove(f.Object)
		} else {
			e.objects.put(f.Object)
		}
		if pod, ok := f.Object.(*v1.Pod); ok {
			e.podChanged(ev.Time, f.Verb, pod)
		}
	case *sources.SchedulerStarted:
		e.ticks = newTicks(e.queue.Options(), ev.Time)
	}
}

// observe carries out a move that the scheduler reported, or that modelled worked out.
func (e *engine) observe(now time.Time, m *sources.Move, modelled *modelledMove) {
	to, err := queue.ParseTier(string(m.To))
	if err != nil {
		return // readers let no other tier through
	}
	pod := e.objects.pod(m.Pod)
	if pod == nil {
		pod = placeholder(m.Pod)
	}
	if m.Event == queue.BackoffComplete && !e.queue.Options().PopFromBackoffQ {
		e.ticks.backoff = now // without windows, only such a move tells when the flush runs
	}
	e.queue.Observe(now, queue.Observation{
		Pod: pod, To: to, Event: m.Event,
		UnschedulablePlugins: m.Plugins, GatingPlugin: m.GatingPlugin, Restated: m.Restated,
		Inferred: modelled != nil && !modelled.observed, BackoffExpiry: expiryOf(modelled),
	})
	if m.Node != "" && m.Event == queue.ScheduleAttemptFailure {
		e.queue.AddNominatedPod(pod, m.Node)
	}
	e.settle(now, func(p *Pod) {
		if m.Message != "" {
			p.Message = m.Message
		}
		if modelled != nil && modelled.verdict != nil {
			p.Verdict = modelled.verdict
		}
		if m.Node != "" && to == queue.Scheduled {
			p.Node = m.Node
		}
	})
}

// expiryOf is what a modelled move tells of the backoff, or zero.
func expiryOf(m *modelledMove) time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.expiry
}

// podChanged takes in a change of a pod's object.
func (e *engine) podChanged(now time.Time, verb sources.Verb, pod *v1.Pod) {
	if verb != sources.Deleted {
		e.queue.Refresh(pod)
	}
	e.settle(now, func(p *Pod) { p.readObject(pod) })
	e.refresh(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod)
}

// tick runs the flushes that are due at now.
func (e *engine) tick(now time.Time, backoff, leftover bool) {
	if backoff {
		e.queue.FlushBackoffCompleted(now)
	}
	if leftover {
		e.queue.FlushUnschedulableLeftover(now)
	}
	e.settle(now, nil)
}

// settle turns what the queue told during a call into changes. with, unless nil, adds details.
func (e *engine) settle(now time.Time, with func(*Pod)) {
	for _, t := range e.told {
		key := types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}
		before := e.board.Get(key)
		if t.From == queue.None && before != nil && t.Event != unscheduledPodAdd {
			t.From = before.Tier // gone from the queue, but not forgotten here
		}
		move := &Transition{Transition: t, Seq: e.moves}
		e.moves++
		after := e.view(key, before)
		if restated := t.From == t.To && t.Observed && t.To != queue.Gated; !restated || before == nil {
			after.Tier, after.Observed = t.To, t.Observed
			if t.From != t.To {
				after.Since = t.Time
			}
		}
		if t.Event == unscheduledPodAdd {
			after.Message, after.Node = "", ""
		}
		if t.Event == unscheduledPodAdd || !t.To.Queued() || t.Event == queue.ScheduleAttemptFailure {
			after.Estimated = false
		}
		if before == nil || t.From == queue.None {
			after.Arrived = t.Time
		}
		if t.From == queue.Gated && t.To != queue.Gated {
			after.Message = "" // it spoke of the gate
		}
		if with != nil {
			with(after)
		}
		if before != nil {
			move.Prev = before.Last
		}
		move.Pod, after.Last = after, move
		e.changed(change{at: now, before: before, after: after, move: move})
	}
	e.told = e.told[:0]
}

func (e *engine) changed(c change) {
	e.changes++
	e.emit(c)
}

// refresh shows the details that a pod's object brings, if they differ from those shown.
func (e *engine) refresh(now time.Time, key types.NamespacedName, pod *v1.Pod) {
	before := e.board.Get(key)
	if before == nil {
		return
	}
	after := e.view(key, before)
	after.readObject(pod)
	if c := unscheduled(pod); c != nil && after.Tier.Queued() {
		after.Message = sources.Sanitize(c.Message)
	}
	e.changed(change{at: now, before: before, after: after})
}

// view is the named pod as the queue now has it. What the queue does not keep is taken from before; a
// pod that left the queue stays as it was.
func (e *engine) view(key types.NamespacedName, before *Pod) *Pod {
	p := &Pod{Key: key}
	if before != nil {
		*p = *before
	}
	if info, ok := e.queue.Get(key.Namespace, key.Name); ok {
		p.PodInfo = info
		if before != nil {
			p.Tier = before.Tier
		}
	} else if p.PodInfo.Pod == nil {
		p.PodInfo.Pod = placeholder(key)
	}
	p.readObject(p.PodInfo.Pod)
	group, _ := e.queue.Options().GroupOf(p.PodInfo.Pod)
	p.Group = group.Name
	return p
}
