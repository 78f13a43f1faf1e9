package sources

import "reflect"

// What an event costs of memory, in bytes, with what a replay adds to it and what is not collected yet. Measured
// as the growth of the resident memory of watch and report: 0.3 KB for a mark or counts, 2.6 KB for a move, and
// for a change of an object about twice its size and 0.6 KB.
const (
	costEvent  = 300
	costMove   = 2500
	costObject = 600
	// CostEntry is what a change costs that is known by its object's name alone.
	CostEntry = 1200
	// costText is for each byte of text.
	costText = 2
)

// Cost is about how many bytes of memory f takes, but for the object of a change, which its Decoder tells.
func Cost(f Fact) int {
	switch f := f.(type) {
	case *Move:
		text := len(f.Message) + len(f.Event) + len(f.Node) + len(f.GatingPlugin) + len(f.Pod.Name) + len(f.Pod.Namespace)
		for _, p := range f.Plugins {
			text += len(p)
		}
		return costMove + costText*text
	case *Mark:
		return costEvent + costText*len(f.Text)
	case *FailedAttempt:
		return CostEntry + costText*len(f.Message)
	case *Bound, *Dumped:
		return CostEntry
	case *Tried:
		return CostEntry + costText*len(f.Message)
	case *SchedulerStarted:
		return costEvent + 100*len(f.Gates)
	}
	return costEvent
}

// measured is what is beyond a value itself: the bytes that it points to.
type measured int

// add counts n values of a type.
func (m *measured) add(n int, t reflect.Type) { *m += measured(n * int(t.Size())) }

// mapOf counts a map: tables of eight members at least, which are seldom full.
func (m *measured) mapOf(v reflect.Value) {
	if v.Len() > 0 {
		*m += 48 + measured((v.Len()+7)/8*8*int(v.Type().Key().Size()+v.Type().Elem().Size()+1))
	}
}
