package timeline

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// forkStart is the state in which a fork left the recording. The engine is cloned, never run.
type forkStart struct {
	engine  *Engine
	History *history.History
}

// injection is one step of a user's action in a fork, which can be repeated.
type injection struct {
	At time.Time
	do func(*Engine)
	// before and after are the numbers of changes before and after it, and facts what it did to the cluster and the queue.
	before, after int
	facts         []sources.Fact

	// What names the action, and Until is when its effects had settled. A Joined injection belongs to the action of the
	// injection before it.
	What   string
	Until  time.Time
	Joined bool
}

// branch is a fork's place in the tree of forks.
type branch struct {
	ID, Parent int
	Name       sources.SafeText
	// From is when it left its parent, and Inherited how many of its injections were made in the parent.
	From      time.Time
	Inherited int
	// Undone are the undone actions, the next one to redo last. Each consists of one or more injections.
	Undone [][]injection
	// Now and Cursor are the moment that was shown when the user left it. suspended is true if its scheduler was closed then.
	Now       time.Time
	Cursor    int
	suspended bool
}

// Fork returns a fork of the recording t that starts at now, the moment shown.
func (t *Timeline) Fork(now time.Time) *Timeline {
	e := t.EngineShown(now)
	e.whatIf = true
	f := &Timeline{Executed: now, Start: now, Forked: &forkStart{engine: e, History: t.History.Fork()}, Branch: &branch{From: now}}
	f.History = t.History.Fork()
	f.setEngine(e.Clone())
	return f
}

// BranchOff returns a copy of the fork t up to now, the moment shown.
func (t *Timeline) BranchOff(now time.Time) *Timeline {
	f := &Timeline{History: t.History, Start: t.Start, Forked: t.Forked, Injected: t.Injected,
		Engine: t.Forked.engine.Clone(), Marks: slices.Clip(t.Marks), Branch: &branch{From: now}}
	f.rewind(now)
	f.Branch.Inherited = len(f.Injected)
	return f
}

// Origin returns the engine in the state in which a fork left the recording. It must not be run.
func (t *Timeline) Origin() *Engine { return t.Forked.engine }

// Inject performs an action in a fork at now, the moment shown, and returns the moves that it causes. It drops what was
// executed after now, and the actions that could be redone.
func (t *Timeline) Inject(now time.Time, do func(*Engine)) []*board.Transition {
	if t.Cursor < t.ChangeCount() || now.Before(t.Executed) {
		t.rewind(now)
	}
	t.Execute(now)
	t.Branch.Undone = nil
	before := t.MoveCount()
	t.perform(injection{At: now, Until: now, do: do})
	t.SetCursor(t.ChangeCount())
	return t.MovesFrom(before)
}

// perform performs in and appends it to the injections.
func (t *Timeline) perform(in injection) {
	in.before, in.facts = t.ChangeCount(), nil
	t.Engine.actions = &in.facts
	in.do(t.Engine)
	t.Engine.actions = nil
	in.after = t.ChangeCount()
	t.Injected = append(t.Injected, in)
}

// RunUntilIdle runs the scheduler of a fork until it has nothing to do, but for at most limit, and returns the time then.
func (t *Timeline) RunUntilIdle(limit time.Duration) time.Time {
	for until := t.Executed.Add(limit); t.Engine.busy() && t.Executed.Before(until); {
		t.Executed = t.Engine.Driver.Due()
		t.Engine.Driver.Advance(t.Executed)
	}
	t.SetCursor(t.ChangeCount())
	return t.Executed
}

// rewind resets a fork to now, the moment shown, by repeating the injections up to then.
func (t *Timeline) rewind(now time.Time) {
	n := 0
	for _, in := range t.Injected {
		// It is repeated if any of its changes is shown, or if it made none and all before it are shown.
		if shown := in.before < t.Cursor || in.after <= t.Cursor; !shown || in.At.After(now) {
			break
		}
		n++
	}
	t.Reinject(t.Injected[:n:n], now)
}

// Reinject resets a fork to its start, performs those injections again, and executes up to until.
func (t *Timeline) Reinject(injected []injection, until time.Time) {
	view := t.Shown.View
	t.History, t.Injected = t.Forked.History.Fork(), nil
	t.SetView(t.Shown, view, t.Start)
	t.Executed = t.Start
	t.Close()
	t.setEngine(t.Forked.engine.Clone())
	for _, in := range injected {
		t.Execute(in.At)
		t.perform(in)
	}
	if n := len(injected); n == 0 || injected[n-1].At.Before(until) {
		t.Execute(until) // at the time of an injection, what follows it is not shown yet
	}
	t.SetCursor(t.ChangeCount())
	t.Branch.Inherited = min(t.Branch.Inherited, len(t.Injected))
}

// Close stops the scheduler of a fork, if one runs.
func (t *Timeline) Close() { t.Engine.StopScheduler() }

// Suspend stops the scheduler of a fork that is no longer shown, if one runs. Resume restores it.
func (t *Timeline) Suspend() {
	if t.Branch != nil && t.Engine.Driver != nil {
		t.Branch.suspended = true
		t.Close()
	}
}

// Resume restores the scheduler of a suspended fork by repeating the injections.
func (t *Timeline) Resume() {
	if t.Branch == nil || !t.Branch.suspended {
		return
	}
	t.Branch.suspended = false
	cursor := t.Cursor
	t.Reinject(t.Injected, t.Executed)
	t.SetCursor(min(cursor, t.ChangeCount()))
}

// DescribeLast sets What, Until and Joined of the last injection.
func (t *Timeline) DescribeLast(what string, until time.Time, joined bool) {
	in := &t.Injected[len(t.Injected)-1]
	in.What, in.Until, in.Joined = what, until, joined
}

// SettledAt returns when the effects of all actions in a fork had settled, or zero if there were none.
func (t *Timeline) SettledAt() (at time.Time) {
	for _, in := range t.Injected {
		if in.Until.After(at) {
			at = in.Until
		}
	}
	return at
}

// Actions returns the names of the user's actions in a fork, in order.
func (t *Timeline) Actions() []string {
	var all []string
	for _, in := range t.Injected {
		if !in.Joined {
			all = append(all, in.What)
		}
	}
	return all
}

// scenarioTail is how long a scenario of a fork continues after the moment shown.
const scenarioTail = 30 * time.Second

// Scenario makes a scenario of the fork t: the cluster as it was at its start, and the actions since. now is the moment
// shown. It returns nil if the cluster had no nodes.
func (t *Timeline) Scenario(name sources.SafeText, now time.Time) *scenario.Scenario {
	objects := t.objectsAtFork()
	if !slices.ContainsFunc(objects, func(obj runtime.Object) bool { _, is := obj.(*v1.Node); return is }) {
		return nil
	}
	made := &scenario.Scenario{Name: name, Start: t.Start.UTC(), PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
	defaults, err := queue.ForRelease(t.Engine.Config.Release)
	if err != nil { // a release that scenarios can't name: they use the newest
		defaults = queue.Defaults()
	} else {
		made.Release = t.Engine.Config.Release
	}
	opts := t.Options()
	for _, setting := range [...]struct {
		to               *time.Duration
		value, byDefault time.Duration
	}{
		{&made.PodInitialBackoff, opts.PodInitialBackoff, defaults.PodInitialBackoff},
		{&made.PodMaxBackoff, opts.PodMaxBackoff, defaults.PodMaxBackoff},
		{&made.PodMaxInUnschedulablePods, opts.PodMaxInUnschedulablePods, defaults.PodMaxInUnschedulablePods},
	} {
		if setting.value != setting.byDefault {
			*setting.to = setting.value
		}
	}
	// What the user decided in place of the scheduler is no fact: in the scenario a scheduler decides.
	var actions []sources.Event
	for _, in := range t.Injected {
		for _, f := range in.facts {
			actions = append(actions, sources.Event{Time: in.At, Fact: f})
		}
	}
	until := now
	if n := len(actions); n > 0 && actions[n-1].Time.After(until) {
		until = actions[n-1].Time
	}
	made.End = max(time.Minute, until.Sub(t.Start)+scenarioTail)
	made.Continue(objects, actions)
	return made
}

// objectsAtFork returns the objects at a fork's start, the pods last, by creation.
func (t *Timeline) objectsAtFork() []runtime.Object {
	var others []runtime.Object
	var pods []*v1.Pod
	t.Forked.engine.Objects.Each("", func(obj runtime.Object) bool {
		if pod, ok := obj.(*v1.Pod); ok {
			pods = append(pods, pod)
		} else {
			others = append(others, obj)
		}
		return true
	})
	slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for _, pod := range pods {
		others = append(others, pod)
	}
	return others
}
