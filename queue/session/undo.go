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
	n := len(t.injected)
	for n > t.branch.inherited {
		n--
		if !t.injected[n].joined {
			break
		}
	}
	if n == len(t.injected) {
		o.refuse("there is nothing to undo in this what-if")
		return
	}
	deed := slices.Clone(t.injected[n:])
	t.rerun(t.injected[:n:n], deed[0].at)
	t.branch.undone = append(t.branch.undone, deed)
	o.now, o.playing = deed[0].at, false
	o.changedLine()
	o.say("undone: %s", deed[0].what)
}

// redo does again what was undone last.
func (o *owner) redo() {
	if o.fork == nil || len(o.fork.branch.undone) == 0 {
		o.refuse("nothing was undone")
		return
	}
	t := o.fork
	last := len(t.branch.undone) - 1
	deed := t.branch.undone[last]
	t.branch.undone = t.branch.undone[:last]
	until := deed[len(deed)-1].until
	t.rerun(append(slices.Clip(t.injected), deed...), until)
	o.now, o.playing = until, false
	o.changedLine()
	o.say("done again: %s", deed[0].what)
}
