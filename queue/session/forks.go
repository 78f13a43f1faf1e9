package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// What-ifs stay when one leaves them, as a tree whose root is the recording, so that one can return to them
// and compare them.

// maxForks bounds how many what-ifs there are.
const maxForks = 32

// TheRecording is the ID of the recording among the what-ifs.
const TheRecording = 0

// ForkInfo is a what-if among the others.
type ForkInfo struct {
	// ID names it, Parent the one that it left, or TheRecording.
	ID, Parent int
	Name       sources.SafeText
	// From is when it left its parent, Now the moment shown of it, Injected what was done in it, what its
	// parent had done included.
	From, Now time.Time
	Injected  []string
	// Current is true for the one that is shown, Compared for the one beside it.
	Current, Compared bool
}

// forkHere leaves the recording at the moment shown.
func (o *owner) forkHere() {
	if o.fork != nil {
		o.refuse("this is a what-if already")
		return
	}
	if o.tooManyForks() {
		return
	}
	o.left, o.leftAt = o.now, o.recording.cursor
	o.adopt(o.recording.fork(o.now), TheRecording)
	o.say("what-if from %s on: you are the scheduler", clock(o.now))
}

// inFork makes a what-if unless one is shown. It reports false if that was refused.
func (o *owner) inFork() bool {
	if o.fork == nil {
		o.forkHere()
	}
	return o.fork != nil
}

// branchHere leaves the what-if at the moment shown for another, which begins as this one.
func (o *owner) branchHere() {
	if o.fork == nil {
		o.forkHere()
		return
	}
	if o.tooManyForks() {
		return
	}
	parent := o.fork
	t := parent.branchOff(o.now)
	o.rest(parent)
	o.adopt(t, parent.branch.id)
	o.say("%s goes on from %s at %s", t.branch.name, parent.branch.name, clock(o.now))
}

func (o *owner) tooManyForks() bool {
	if len(o.forks) < maxForks {
		return false
	}
	o.refuse("there are %d what-ifs: close one first", maxForks)
	return true
}

// adopt makes the new fork t one of the tree, and shows it.
func (o *owner) adopt(t *timeline, parent int) {
	o.forked++
	t.branch.id, t.branch.parent = o.forked, parent
	t.branch.name = sources.SafeText(fmt.Sprintf("what-if %d", o.forked))
	o.forks = append(o.forks, t)
	o.fork = t
	o.changedLine()
}

// changedLine forgets what belonged to the timeline that was shown before.
func (o *owner) changedLine() {
	o.skipped, o.search, o.previews, o.changed = Gap{}, nil, nil, true
}

// leaveFork returns to the recording, to the moment where it was left.
func (o *owner) leaveFork() {
	if o.fork == nil {
		o.refuse("this is the recording")
		return
	}
	v := o.fork.shown.view
	o.rest(o.fork)
	o.fork, o.playing, o.now = nil, false, o.left
	o.recording.show(o.leftAt)
	o.recording.see(o.recording.shown, v, o.now)
	o.changedLine()
	o.say("back in the recording at %s", clock(o.now))
}

// rest leaves t as it is until it is gone back to. One in which nothing was done is forgotten.
func (o *owner) rest(t *timeline) {
	t.branch.now = o.now
	if o.compared != t {
		t.sleep()
	}
	used := len(t.injected) > t.branch.inherited || len(t.branch.undone) > 0 || len(t.marks) > 0
	if !used && o.compared != t && !slices.ContainsFunc(o.forks, func(f *timeline) bool { return f.branch.parent == t.branch.id }) {
		o.drop(t)
	}
}

// drop forgets t. What left it now left its parent.
func (o *owner) drop(t *timeline) {
	t.close()
	o.forks = slices.DeleteFunc(slices.Clone(o.forks), func(f *timeline) bool { return f == t })
	for _, f := range o.forks {
		if f.branch.parent == t.branch.id {
			f.branch.parent = t.branch.parent
		}
	}
	if o.compared == t {
		o.compared, o.comparison = nil, nil
	}
}

// forkOf returns the what-if of that ID, or nil.
func (o *owner) forkOf(id int) *timeline {
	i := slices.IndexFunc(o.forks, func(f *timeline) bool { return f.branch.id == id })
	if i < 0 {
		return nil
	}
	return o.forks[i]
}

// goToFork shows a what-if, at the moment at which it was left, or the recording.
func (o *owner) goToFork(id int) {
	if id == TheRecording {
		o.leaveFork()
		return
	}
	t := o.forkOf(id)
	switch {
	case t == nil:
		o.refuse("there is no such what-if")
		return
	case t == o.fork:
		o.refuse("this is %s", t.branch.name)
		return
	}
	v := o.shownLine().shown.view
	if o.fork == nil {
		o.left, o.leftAt = o.now, o.recording.cursor
	} else {
		o.rest(o.fork)
	}
	t.wake()
	o.fork, o.playing, o.now = t, false, t.branch.now
	t.see(t.shown, v, o.now)
	o.changedLine()
	o.say("%s at %s", t.branch.name, clock(o.now))
}

// nameFork gives the what-if that is shown a name.
func (o *owner) nameFork(text string) {
	name := sources.Sanitize(strings.TrimSpace(text))
	switch {
	case o.fork == nil:
		o.refuse("this is the recording")
	case name == "":
		o.refuse("a what-if needs a name")
	case slices.ContainsFunc(o.forks, func(f *timeline) bool { return f != o.fork && f.branch.name == name }):
		o.refuse("another what-if is called %s", name)
	default:
		o.say("%s is now called %s", o.fork.branch.name, name)
		o.fork.branch.name = name
	}
}

// closeFork forgets a what-if. From the one that is shown it goes back to the recording.
func (o *owner) closeFork(id int) {
	t := o.forkOf(id)
	if t == nil {
		o.refuse("there is no such what-if")
		return
	}
	if t == o.fork {
		o.leaveFork()
	}
	o.drop(t)
	o.say("%s is closed", t.branch.name)
}

// forkInfos tells of all what-ifs, each behind the one that it left.
func (o *owner) forkInfos() []ForkInfo {
	if len(o.forks) == 0 {
		return nil
	}
	all := make([]ForkInfo, 0, len(o.forks))
	var add func(parent int)
	add = func(parent int) {
		for _, t := range o.forks {
			b := t.branch
			if b.parent != parent {
				continue
			}
			info := ForkInfo{ID: b.id, Parent: b.parent, Name: b.name, From: b.from, Now: b.now, Injected: t.deeds(),
				Current: t == o.fork, Compared: t == o.compared}
			if t == o.fork {
				info.Now = o.now
			}
			all = append(all, info)
			add(b.id)
		}
	}
	add(TheRecording)
	return all
}
