package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// What-ifs remain after the user leaves them, as a tree whose root is the recording, so that they can
// be revisited and compared.

// maxForks limits the number of what-ifs.
const maxForks = 32

// TheRecording is the ID of the recording among the what-ifs.
const TheRecording = 0

// ForkInfo describes one of the what-ifs.
type ForkInfo struct {
	// ID identifies it, and Parent the what-if that it left, or TheRecording.
	ID, Parent int
	Name       sources.SafeText
	// From is when it left its parent, Now the time shown in it, and Injected the actions in it,
	// including those inherited from its parent.
	From, Now time.Time
	Injected  []string
	// Current is true for the one shown, Compared for the one that it is compared with.
	Current, Compared bool
}

// forkHere starts a what-if at the time shown.
func (o *owner) forkHere() {
	if o.fork != nil {
		o.refuse("this is already a what-if")
		return
	}
	if o.tooManyForks() || !o.ensureEngine() {
		return
	}
	o.returnTo, o.returnCursor = o.now, o.recording.Cursor
	o.adopt(o.recording.Fork(o.now), TheRecording)
	o.say("what-if from %s: you make the scheduling decisions", o.zone.Clock(o.now))
}

// inFork starts a what-if unless one is shown. It returns false if that was refused.
func (o *owner) inFork() bool {
	if o.fork == nil {
		o.forkHere()
	}
	return o.fork != nil
}

// branchHere starts a what-if that begins as the one shown.
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
	o.suspend(parent)
	o.adopt(t, parent.Branch.ID)
	o.say("%s branches off %s at %s", t.Branch.Name, parent.Branch.Name, o.zone.Clock(o.now))
}

func (o *owner) tooManyForks() bool {
	if len(o.forks) < maxForks {
		return false
	}
	o.refuse("there are %d what-ifs: close one first", maxForks)
	return true
}

// adopt adds the new fork t to the tree and shows it.
func (o *owner) adopt(t *timeline.Timeline, parent int) {
	o.forkCount++
	t.Branch.ID, t.Branch.Parent = o.forkCount, parent
	t.Branch.Name = sources.SafeText(fmt.Sprintf("what-if %d", o.forkCount))
	o.forks = append(o.forks, t)
	o.fork = t
	o.timelineChanged()
}

// timelineChanged drops state that belongs to the timeline shown before.
func (o *owner) timelineChanged() {
	o.endPreview()
	o.skipped, o.search, o.changed = QuietTime{}, nil, true
}

// leaveFork returns to the recording, to the time at which it was left.
func (o *owner) leaveFork() {
	if o.fork == nil {
		o.refuse("this is the recording")
		return
	}
	v := o.fork.Shown.View
	o.suspend(o.fork)
	o.fork, o.playing, o.now = nil, false, o.returnTo
	o.recording.SetCursor(o.returnCursor)
	o.recording.SetView(o.recording.Shown, v, o.now)
	o.timelineChanged()
	o.say("back in the recording at %s", o.zone.Clock(o.now))
}

// suspend keeps t for later. An unused what-if is dropped.
func (o *owner) suspend(t *timeline.Timeline) {
	t.Branch.Now, t.Branch.Cursor = o.now, t.Cursor
	if o.compared != t {
		t.Suspend()
	}
	used := len(t.Injected) > t.Branch.Inherited || len(t.Branch.Undone) > 0 || len(t.Marks) > 0
	if !used && o.compared != t && !slices.ContainsFunc(o.forks, func(f *timeline.Timeline) bool { return f.Branch.Parent == t.Branch.ID }) {
		o.drop(t)
	}
}

// drop discards t. Its children become children of its parent.
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

// forkOf returns the what-if with that ID, or nil.
func (o *owner) forkOf(id int) *timeline.Timeline {
	i := slices.IndexFunc(o.forks, func(f *timeline.Timeline) bool { return f.Branch.ID == id })
	if i < 0 {
		return nil
	}
	return o.forks[i]
}

// goToFork shows a what-if, at the time at which it was left, or the recording.
func (o *owner) goToFork(id int) {
	if id == TheRecording {
		o.leaveFork()
		return
	}
	t := o.forkOf(id)
	switch {
	case t == nil:
		o.refuse("no such what-if")
		return
	case t == o.fork:
		o.refuse("%s is already shown", t.Branch.Name)
		return
	}
	v := o.shownTimeline().Shown.View
	if o.fork == nil {
		o.returnTo, o.returnCursor = o.now, o.recording.Cursor
	} else {
		o.suspend(o.fork)
	}
	t.Resume()
	t.SetCursor(min(t.Branch.Cursor, t.ChangeCount())) // a comparison may have moved it
	o.fork, o.playing, o.now = t, false, t.Branch.Now
	t.SetView(t.Shown, v, o.now)
	o.timelineChanged()
	o.say("%s at %s", t.Branch.Name, o.zone.Clock(o.now))
}

// nameFork names the what-if shown.
func (o *owner) nameFork(text string) {
	name := sources.Sanitize(strings.TrimSpace(text))
	switch {
	case o.fork == nil:
		o.refuse("this is the recording")
	case name == "":
		o.refuse("a what-if needs a name")
	case slices.ContainsFunc(o.forks, func(f *timeline.Timeline) bool { return f != o.fork && f.Branch.Name == name }):
		o.refuse("another what-if is named %s", name)
	default:
		o.say("%s renamed to %s", o.fork.Branch.Name, name)
		o.fork.Branch.Name = name
	}
}

// closeFork discards a what-if. If it is the one shown, the recording is shown instead.
func (o *owner) closeFork(id int) {
	t := o.forkOf(id)
	if t == nil {
		o.refuse("no such what-if")
		return
	}
	if t == o.fork {
		o.leaveFork()
	}
	o.drop(t)
	o.say("closed %s", t.Branch.Name)
}

// forkInfos returns all what-ifs, each after its parent.
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
			info := ForkInfo{ID: b.ID, Parent: b.Parent, Name: b.Name, From: b.From, Now: b.Now, Injected: t.Actions(),
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

// undo undoes the last action in the what-if, and goes to its time.
func (o *owner) undo() {
	if o.fork == nil {
		o.refuse("nothing to undo in the recording")
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
		o.refuse("nothing to undo in this what-if")
		return
	}
	action := slices.Clone(t.Injected[n:])
	t.Reinject(t.Injected[:n:n], action[0].At)
	t.Branch.Undone = append(t.Branch.Undone, action)
	o.now, o.playing = action[0].At, false
	o.timelineChanged()
	o.say("undone: %s", action[0].What)
}

// redo repeats the action that was undone last.
func (o *owner) redo() {
	if o.fork == nil || len(o.fork.Branch.Undone) == 0 {
		o.refuse("nothing to redo")
		return
	}
	t := o.fork
	last := len(t.Branch.Undone) - 1
	action := t.Branch.Undone[last]
	t.Branch.Undone = t.Branch.Undone[:last]
	until := action[len(action)-1].Until
	t.Reinject(append(slices.Clip(t.Injected), action...), until)
	o.now, o.playing = until, false
	o.timelineChanged()
	o.say("redone: %s", action[0].What)
}

// errNoFork is why there is no scenario.
var errNoFork = errors.New("no what-if is shown")

// ForkScenario makes a scenario of the what-if shown: the cluster as it was when the what-if left the
// recording, and the actions since. Pods that were waiting then start as new pods, and a local
// scheduler makes the decisions when the scenario is played. Its objects have no UIDs, which follow
// from the names when it is written or played. ForkScenario may also be called after Run has returned.
func (s *Session) ForkScenario() (made *scenario.Scenario, err error) {
	ready := make(chan struct{})
	collect := func(o *owner) { made, err = o.forkScenario() }
	s.do(func(o *owner) {
		collect(o)
		close(ready)
	})
	select {
	case <-ready:
	case <-s.done:
		select {
		case <-ready:
		default:
			collect(s.owner) // Run has returned, so nobody else uses it
		}
	}
	return made, err
}

func (o *owner) forkScenario() (*scenario.Scenario, error) {
	if o.fork == nil {
		return nil, errNoFork
	}
	if made := o.fork.Scenario(o.rec.Name, o.now); made != nil {
		return made, nil
	}
	return nil, errNoNodesKnown
}
