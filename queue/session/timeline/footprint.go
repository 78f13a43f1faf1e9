package timeline

import (
	"github.com/schedq/schedq/sources"
	"unsafe"
)

// What things take beside their own size, in bytes, measured as the heap's growth (TestSizeIsWhatTheHeapHolds).
const (
	// podCopy is for the pod's object that a local scheduler in a what-if writes with a change.
	podCopy = 900
	// enginePerPod is for each pod of a queue that is kept to fork from, and enginePerObject for each object.
	enginePerPod    = 400
	enginePerObject = 100
	// factOfLong is for the fact of an event of a long recording, which nobody else keeps, and objectOfLong for its object.
	factOfLong   = 250
	objectOfLong = 2200
	// schedulerPerObject is for each object that a local scheduler has taken in.
	schedulerPerObject = 2500
	// schedulerItself is for a local scheduler without any.
	schedulerItself = 400 << 10
)

// factSize is about how many bytes of memory the fact of an event of t's recording takes, if the recording does not keep it itself.
func (t *Timeline) factSize(ev sources.Event) int {
	if t.made.rec == nil || t.made.rec.Reread == nil {
		return 0
	}
	if _, is := ev.Fact.(*sources.ObjectChange); is {
		return factOfLong + objectOfLong
	}
	return factOfLong
}

// Size is about how many bytes of memory the timeline holds, beside the recording's own objects: of a long one it has those itself.
func (t *Timeline) Size() int64 {
	pods, objects := t.Head().Pods.Len(), t.Engine.Objects.Tree.Len()
	engine := pods*enginePerPod + objects*enginePerObject
	n := 0
	if t.Forked != nil { // what it began with is the recording's, too
		n += t.History.Size(t.Forked.History) + (t.ChangeCount()-t.Forked.History.ChangeCount())*podCopy + 2*engine
	} else {
		n += t.History.Size(nil) + len(t.checkpoints)*engine
		n += t.facts
	}
	if t.Feed != nil && t.Feed.Shadow != nil {
		n += cap(t.Feed.Events) * int(unsafe.Sizeof(sources.Event{}))
	}
	if t.Engine.Driver != nil {
		n += schedulerItself + objects*schedulerPerObject
	}
	return int64(n)
}
