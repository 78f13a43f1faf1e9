package session

import (
	"slices"
)

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
	t.Rerun(t.Injected[:n:n], deed[0].At)
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
	t.Rerun(append(slices.Clip(t.Injected), deed...), until)
	o.now, o.playing = until, false
	o.changedLine()
	o.say("done again: %s", deed[0].What)
}
