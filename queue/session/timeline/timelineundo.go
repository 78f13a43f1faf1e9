package timeline

import (
	"slices"
	"time"
)

// BranchOff returns a fork that begins as the fork t is at the moment shown, now.
func (t *Timeline) BranchOff(now time.Time) *Timeline {
	f := &Timeline{history: t.history, Start: t.Start, Forked: t.Forked, Injected: t.Injected,
		Engine: t.Forked.engine.Clone(), Marks: slices.Clip(t.Marks), Branch: &branch{From: now}}
	f.rewind(now)
	f.Branch.Inherited = len(f.Injected)
	return f
}

// Reinject takes a fork back to where it began, does those injections again, and goes on to until.
func (t *Timeline) Reinject(injected []injection, until time.Time) {
	view := t.Shown.View
	t.history, t.Injected = t.Forked.History.fork(), nil
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
	t.SetCursor(len(t.Changes))
	t.Branch.Inherited = min(t.Branch.Inherited, len(t.Injected))
}

// DescribeLast says what the last injection is called, until when it was followed, and whether it is part of what the
// one before is called.
func (t *Timeline) DescribeLast(what string, until time.Time, joined bool) {
	in := &t.Injected[len(t.Injected)-1]
	in.What, in.Until, in.Joined = what, until, joined
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
