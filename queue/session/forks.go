package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session/timeline"
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
	if o.tooManyForks() || !o.hasEngine() {
		return
	}
	o.left, o.leftAt = o.now, o.recording.Cursor
	o.adopt(o.recording.Fork(o.now), TheRecording)
	o.say("what-if from %s on: you are the scheduler", o.zone.Clock(o.now))
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
	t := parent.BranchOff(o.now)
	o.rest(parent)
	o.adopt(t, parent.Branch.ID)
	o.say("%s goes on from %s at %s", t.Branch.Name, parent.Branch.Name, o.zone.Clock(o.now))
}

func (o *owner) tooManyForks() bool {
	if len(o.forks) < maxForks {
		return false
	}
	o.refuse("there are %d what-ifs: close one first", maxForks)
	return true
}

// adopt makes the new fork t one of the tree, and shows it.
func (o *owner) adopt(t *timeline.Timeline, parent int) {
	o.forked++
	t.Branch.ID, t.Branch.Parent = o.forked, parent
	t.Branch.Name = sources.SafeText(fmt.Sprintf("what-if %d", o.forked))
	o.forks = append(o.forks, t)
	o.fork = t
	o.changedLine()
}

// changedLine forgets what belonged to the timeline that was shown before.
func (o *owner) changedLine() {
	o.skipped, o.search, o.previews, o.changed = QuietTime{}, nil, nil, true
}

// leaveFork returns to the recording, to the moment where it was left.
func (o *owner) leaveFork() {
	if o.fork == nil {
		o.refuse("this is the recording")
		return
	}
	v := o.fork.Shown.View
	o.rest(o.fork)
	o.fork, o.playing, o.now = nil, false, o.left
	o.recording.SetCursor(o.leftAt)
	o.recording.SetView(o.recording.Shown, v, o.now)
	o.changedLine()
	o.say("back in the recording at %s", o.zone.Clock(o.now))
}

// rest leaves t as it is until it is gone back to. One in which nothing was done is forgotten.
func (o *owner) rest(t *timeline.Timeline) {
	t.Branch.Now = o.now
	if o.compared != t {
		t.Suspend()
	}
	used := len(t.Injected) > t.Branch.Inherited || len(t.Branch.Undone) > 0 || len(t.Marks) > 0
	if !used && o.compared != t && !slices.ContainsFunc(o.forks, func(f *timeline.Timeline) bool { return f.Branch.Parent == t.Branch.ID }) {
		o.drop(t)
	}
}

// drop forgets t. What left it now left its parent.
func (o *owner) drop(t *timeline.Timeline) {
	t.Close()
	o.forks = slices.DeleteFunc(slices.Clone(o.forks), func(f *timeline.Timeline) bool { return f == t })
	for _, f := range o.forks {
		if f.Branch.Parent == t.Branch.ID {
			f.Branch.Parent = t.Branch.Parent
		}
	}
	if o.compared == t {
		o.compared, o.comparison = nil, nil
	}
}

// forkOf returns the what-if of that ID, or nil.
func (o *owner) forkOf(id int) *timeline.Timeline {
	i := slices.IndexFunc(o.forks, func(f *timeline.Timeline) bool { return f.Branch.ID == id })
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
		o.refuse("this is %s", t.Branch.Name)
		return
	}
	v := o.shownLine().Shown.View
	if o.fork == nil {
		o.left, o.leftAt = o.now, o.recording.Cursor
	} else {
		o.rest(o.fork)
	}
	t.Resume()
	o.fork, o.playing, o.now = t, false, t.Branch.Now
	t.SetView(t.Shown, v, o.now)
	o.changedLine()
	o.say("%s at %s", t.Branch.Name, o.zone.Clock(o.now))
}

// nameFork gives the what-if that is shown a name.
func (o *owner) nameFork(text string) {
	name := sources.Sanitize(strings.TrimSpace(text))
	switch {
	case o.fork == nil:
		o.refuse("this is the recording")
	case name == "":
		o.refuse("a what-if needs a name")
	case slices.ContainsFunc(o.forks, func(f *timeline.Timeline) bool { return f != o.fork && f.Branch.Name == name }):
		o.refuse("another what-if is called %s", name)
	default:
		o.say("%s is now called %s", o.fork.Branch.Name, name)
		o.fork.Branch.Name = name
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
	o.say("%s is closed", t.Branch.Name)
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
			b := t.Branch
			if b.Parent != parent {
				continue
			}
			info := ForkInfo{ID: b.ID, Parent: b.Parent, Name: b.Name, From: b.From, Now: b.Now, Injected: t.Deeds(),
				Current: t == o.fork, Compared: t == o.compared}
			if t == o.fork {
				info.Now = o.now
			}
			all = append(all, info)
			add(b.ID)
		}
	}
	add(TheRecording)
	return all
}

// undo takes the last deed of the what-if back, and goes to where it was done.
func (o *owner) undo() {
	if o.fork == nil {
		o.refuse("there is nothing to undo in the recording")
		return
	}
	t := o.fork
	n := len(t.Injected)
	for n > t.Branch.Inherited {
		n--
		if !t.Injected[n].Joined {
			break
		}
	}
	if n == len(t.Injected) {
		o.refuse("there is nothing to undo in this what-if")
		return
	}
	deed := slices.Clone(t.Injected[n:])
	t.Reinject(t.Injected[:n:n], deed[0].At)
	t.Branch.Undone = append(t.Branch.Undone, deed)
	o.now, o.playing = deed[0].At, false
	o.changedLine()
	o.say("undone: %s", deed[0].What)
}

// redo does again what was undone last.
func (o *owner) redo() {
	if o.fork == nil || len(o.fork.Branch.Undone) == 0 {
		o.refuse("nothing was undone")
		return
	}
	t := o.fork
	last := len(t.Branch.Undone) - 1
	deed := t.Branch.Undone[last]
	t.Branch.Undone = t.Branch.Undone[:last]
	until := deed[len(deed)-1].Until
	t.Reinject(append(slices.Clip(t.Injected), deed...), until)
	o.now, o.playing = until, false
	o.changedLine()
	o.say("done again: %s", deed[0].What)
}
