package timeline

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
)

// BranchOff returns a fork that begins as the fork t is at the moment shown, now.
func (t *Timeline) BranchOff(now time.Time) *Timeline {
	f := &Timeline{History: t.History, Start: t.Start, Forked: t.Forked, Injected: t.Injected,
		Engine: t.Forked.engine.Clone(), Marks: slices.Clip(t.Marks), Branch: &branch{From: now}}
	f.rewind(now)
	f.Branch.Inherited = len(f.Injected)
	return f
}

// Reinject takes a fork back to where it began, does those injections again, and goes on to until.
func (t *Timeline) Reinject(injected []injection, until time.Time) {
	view := t.Shown.View
	t.History, t.Injected = t.Forked.History.Fork(), nil
	t.SetView(t.Shown, view, t.Start)
	t.Executed = t.Start
	t.Close()
	t.SetEngine(t.Forked.engine.Clone())
	for _, in := range injected {
		t.Execute(in.At)
		t.carryOut(in)
	}
	if n := len(injected); n == 0 || injected[n-1].At.Before(until) {
		t.Execute(until) // what follows at the moment of an injection is not seen with it
	}
	t.SetCursor(t.ChangeCount())
	t.Branch.Inherited = min(t.Branch.Inherited, len(t.Injected))
}

// Origin returns the engine as it was where a fork left the recording. It is only cloned, never run.
func (t *Timeline) Origin() *Engine { return t.Forked.engine }

// DescribeLast says what the last injection is called, until when it was followed, and whether it is part of what the
// one before is called.
func (t *Timeline) DescribeLast(what string, until time.Time, joined bool) {
	in := &t.Injected[len(t.Injected)-1]
	in.What, in.Until, in.Joined = what, until, joined
}

// Settled returns when the effects of the last thing done in a fork had settled. It is zero if nothing was done.
func (t *Timeline) Settled() (at time.Time) {
	for _, in := range t.Injected {
		if in.Until.After(at) {
			at = in.Until
		}
	}
	return at
}

// CountDeeds returns how many things a person did in a fork, each counted once, whatever it was made of.
func (t *Timeline) CountDeeds() int {
	n := 0
	for _, in := range t.Injected {
		if !in.Joined {
			n++
		}
	}
	return n
}

// Deeds returns what was done in a fork, in order, each by what it is called.
func (t *Timeline) Deeds() []string {
	var all []string
	for _, in := range t.Injected {
		if !in.Joined {
			all = append(all, in.What)
		}
	}
	return all
}

// Done returns what was done in a fork to the cluster and to the queue, in order. What a person decided in the scheduler's
// place is neither.
func (t *Timeline) Done() (facts []sources.Event) {
	for _, in := range t.Injected {
		for _, f := range in.facts {
			facts = append(facts, sources.Event{Time: in.At, Fact: f})
		}
	}
	return facts
}

// ObjectsAtFork returns the objects that there were when the fork began, the pods last, in the order in which they were
// created.
func (t *Timeline) ObjectsAtFork() []runtime.Object {
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
