package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// In a what-if a local kube-scheduler can take the person's place: its plugins decide, in model time, over
// the objects there are, and what it writes changes those.

// StartScheduler has a local kube-scheduler take the person's place at now: the spare one, or a new one. It fails if none
// can be set up.
func (e *Engine) StartScheduler(now time.Time, spare *Spare) error {
	cfg := e.Config
	sched, err := spare.takeScheduler(cfg, e.Objects)
	if err != nil {
		return err
	}
	sched.WatchAttempts(e.watch)
	e.Objects.Each("", func(obj runtime.Object) bool {
		if v, err := strconv.ParseInt(obj.(metav1.Object).GetResourceVersion(), 10, 64); err == nil {
			e.version = max(e.version, v)
		}
		return true
	})
	e.Queue = e.Queue.Clone(sched.Plugins(), e)
	if cfg.Queue.GenericWorkload {
		var groups []*schedulingv1beta1.PodGroup
		e.Objects.Each("PodGroup", func(obj runtime.Object) bool {
			groups = append(groups, obj.(*schedulingv1beta1.PodGroup))
			return true
		})
		e.Queue.Regroup(groups)
	}
	e.Driver = shadow.NewDriver(cfg, sched, e.Queue, e.Ticks, now, e.settleAttempt)
	e.Driver.Cluster = e
	var flying []*v1.Pod
	for info := range e.Queue.InFlight() {
		flying = append(flying, info.Pod)
	}
	for _, pod := range flying { // nobody knows what became of these attempts: it makes them anew
		if e.Driver.AttemptOf(now, pod) != nil {
			e.Driver.Conclude(now)
		}
	}
	return nil
}

// StopScheduler ends the local scheduler, if one runs: the person decides again.
func (e *Engine) StopScheduler() {
	if e.Driver != nil {
		e.Driver.Scheduler.Close()
		e.Driver = nil
	}
}

// Note remembers that f is what the person does, for a scenario of the what-if.
func (e *Engine) Note(f sources.Fact) {
	if e.noted != nil {
		*e.noted = append(*e.noted, f)
	}
}

// PutObject has the cluster hold obj from now on by the person's hand, in place of what had its name, and tells the local
// scheduler, if one runs.
func (e *Engine) PutObject(now time.Time, obj runtime.Object) {
	e.Note(&sources.ObjectChange{Verb: sources.Updated, Object: obj})
	e.putObject(now, obj)
}

func (e *Engine) putObject(now time.Time, obj runtime.Object) {
	e.version++
	obj.(metav1.Object).SetResourceVersion(strconv.FormatInt(e.version, 10))
	e.Objects.Put(obj)
	if e.Driver != nil {
		_ = e.Driver.Scheduler.Put(now, obj)
		e.Driver.CollectEvictions()
	}
	e.Settle(now, nil)
	if pod, ok := obj.(*v1.Pod); ok {
		e.refreshPod(now, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod, nil)
	}
}

// RemoveObject has obj gone from the cluster by the person's hand, and tells the local scheduler, if one runs.
func (e *Engine) RemoveObject(now time.Time, obj runtime.Object) {
	e.Note(&sources.ObjectChange{Verb: sources.Deleted, Object: obj})
	e.removeObject(now, obj)
}

func (e *Engine) removeObject(now time.Time, obj runtime.Object) {
	e.Objects.Remove(obj)
	if e.Driver != nil {
		_ = e.Driver.Scheduler.Remove(now, obj)
		if pod, ok := obj.(*v1.Pod); ok {
			e.Driver.Unbind(now, pod.UID, shadow.ErrNotSeen) // its binding finds no pod
		}
		e.Driver.CollectEvictions()
	}
	e.Settle(now, nil)
}

// Stages returns how far the pods in flight have come with the local scheduler. It is nil if none runs.
func (e *Engine) Stages() []board.Stage {
	d := e.Driver
	if d == nil {
		return nil
	}
	var stages []board.Stage
	name := func(pod *v1.Pod) types.NamespacedName {
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	if d.UnderWay != nil {
		stages = append(stages, board.Stage{Pod: name(d.UnderWay.Pod), Name: "schedule", Node: d.UnderWay.Node, Since: d.AttemptBegan, Until: d.LoopFree})
	}
	for _, b := range d.Bindings {
		stages = append(stages, board.Stage{Pod: name(b.Pod), Name: "bind", Node: b.Node, Since: b.Since, Until: b.Until})
	}
	return stages
}

// settleAttempt turns what the queue told into changes. a is the attempt whose end caused them, or nil.
func (e *Engine) settleAttempt(now time.Time, a *cycle.Attempt) {
	e.Settle(now, func(p *board.Pod) {
		switch {
		case a == nil || p.PodInfo.Pod.UID != a.Pod.UID:
		case a.Message != "":
			p.Verdict = verdict.New(e.Driver.AttemptBegan, now, a)
			p.Message = sources.Sanitize(a.Message)
		case p.Tier == queue.Scheduled:
			p.Node = a.Node
		}
	})
}

// ApplyWrite has what the scheduler wrote become so in the cluster, for the driver.
func (e *Engine) ApplyWrite(now time.Time, obj runtime.Object) {
	if !e.Objects.LacksPod(obj) {
		e.putObject(now, obj)
	}
}

// RemoveVictim has a victim that has ended gone from the cluster, for the driver.
func (e *Engine) RemoveVictim(now time.Time, victim *v1.Pod) {
	if !e.Objects.LacksPod(victim) {
		e.removeObject(now, victim)
	}
}

// busy reports whether anything is under way that goes on without an event from outside.
func (e *Engine) busy() bool {
	d := e.Driver
	return d != nil && (e.Queue.PendingPods(queue.Active)+e.Queue.PendingPods(queue.Backoff)+e.Queue.PendingPods(queue.InFlight) > 0 ||
		d.AwaitedPatch != nil || d.UnderWay != nil || len(d.Bindings)+len(d.Evictions)+len(d.Dying) > 0)
}

// Deed returns what the injectable does, or nil if there is none of that name.
func Deed(name string) func(e *Engine, now time.Time) {
	do := cluster.Injection(name)
	if do == nil {
		return nil
	}
	return func(e *Engine, now time.Time) {
		e.Note(&sources.Injected{What: name})
		do(e.Queue, now)
	}
}

// Preview is what an injection would do at the moment shown, at once.
type Preview struct {
	What string
	// Of is how many pods it could move, Moved how many it would.
	Of, Moved int
	// To is how many would go to each tier.
	To [queue.Pending + 1]int
}

// String says "would move 12 of 37: 9 to backoff, 3 to active".
func (p Preview) String() string {
	if p.Moved == 0 {
		return fmt.Sprintf("would move none of %d", p.Of)
	}
	return fmt.Sprintf("would move %d of %d: %s", p.Moved, p.Of, strings.Join(toTiers(&p.To), ", "))
}

// toTiers says how many pods go to each tier, most first.
func toTiers(to *[queue.Pending + 1]int) []string {
	var tiers []queue.Tier
	for t := queue.Active; t <= queue.Pending; t++ {
		if to[t] > 0 {
			tiers = append(tiers, t)
		}
	}
	slices.SortStableFunc(tiers, func(a, b queue.Tier) int { return to[b] - to[a] })
	var said []string
	for _, t := range tiers {
		said = append(said, fmt.Sprintf("%d to %s", to[t], words.TierWord(t)))
	}
	return said
}

// Previews are worked out one after the other, at one moment.
type Previews struct {
	// Close ends what they are worked out on.
	Close func()

	wanted []string
	done   []Preview // as many of wanted; never modified but by appending
	base   *Engine
	board  *board.Board
	now    time.Time
}

// NewPreviews returns previews of what each of the injectables would do at the moment shown, now.
func (t *Timeline) NewPreviews(wanted []string, now time.Time) *Previews {
	p := &Previews{wanted: slices.Clone(wanted), now: now, Close: func() {}}
	switch {
	case t.Forked == nil:
		p.base = t.EngineShown(now)
	case t.IsAtEngine(now):
		t.Execute(now)
		p.base = t.Engine
	default: // the past of a what-if
		then := t.BranchOff(now)
		p.base, p.Close = then.Engine, then.Close
	}
	p.board = t.Shown.Unfiltered()
	return p
}

// Done are those that are worked out.
func (p *Previews) Done() []Preview { return p.done[:len(p.done):len(p.done)] }

// WorkOutNext works out the next preview, of which there must be one.
func (p *Previews) WorkOutNext() {
	name := p.wanted[len(p.done)]
	would := Preview{What: name, Of: p.board.Total(queue.Unschedulable) + p.board.Total(queue.Gated)}
	if name == queue.BackoffFlush {
		would.Of = p.board.Total(queue.Backoff)
	}
	if do := Deed(name); do != nil {
		e := p.base.Clone()
		if d := p.base.Driver; d != nil {
			e.Queue = p.base.Queue.Clone(d.Scheduler.Plugins(), e)
		}
		e.Board = p.board.Copy()
		e.Emit = func(c board.Change) {
			e.Board.Replace(c.Before, c.After)
			if c.Move != nil && c.Move.From != c.Move.To {
				would.Moved++
				would.To[c.Move.To]++
			}
		}
		do(e, p.now)
		e.Settle(p.now, nil)
	}
	p.done = append(p.done, would)
}

// Unfinished reports whether previews are still to be worked out.
func (p *Previews) Unfinished() bool { return p != nil && len(p.done) < len(p.wanted) }
