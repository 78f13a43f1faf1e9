package session

import (
	"slices"
	"time"
)

// branchOff returns a fork that begins as the fork t is at the moment shown, now.
func (t *timeline) branchOff(now time.Time) *timeline {
	f := &timeline{history: t.history, start: t.start, forked: t.forked, injected: t.injected,
		engine: t.forked.engine.clone(), marks: slices.Clip(t.marks), branch: &branch{from: now}}
	f.rewind(now)
	f.branch.inherited = len(f.injected)
	return f
}

// rerun takes a fork to a moment by doing again what was injected.
func (t *timeline) rerun(injected []injection, until time.Time) {
	view := t.shown.view
	t.history, t.injected = t.forked.history.fork(), nil
	t.see(t.shown, view, t.start)
	t.executed = t.start
	t.close()
	t.run(t.forked.engine.clone())
	for _, in := range injected {
		t.execute(in.at)
		t.do(in)
	}
	if n := len(injected); n == 0 || injected[n-1].at.Before(until) {
		t.execute(until) // what follows at the moment of an injection is not seen with it
	}
	t.show(len(t.changes))
	t.branch.inherited = min(t.branch.inherited, len(t.injected))
}

// entitle says what the last injection was, up to when it was followed, and whether it belongs to the one
// before.
func (t *timeline) entitle(what string, until time.Time, joined bool) {
	in := &t.injected[len(t.injected)-1]
	in.what, in.until, in.joined = what, until, joined
}

// deeds says what was done in a fork, in order.
func (t *timeline) deeds() []string {
	var all []string
	for _, in := range t.injected {
		if !in.joined {
			all = append(all, in.what)
		}
	}
	return all
}
