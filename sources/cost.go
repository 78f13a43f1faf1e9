package sources

// The memory of an event in bytes, including what a replay adds to it and garbage. Measured as the growth of the
// resident memory of watch and report: 0.3 KB for a mark or counts, 2.6 KB for a move, and for a change of an object
// about twice its size plus 0.6 KB.
const (
	costEvent  = 300
	costMove   = 2500
	costObject = 600
	// CostEntry is the memory of a change of which only the object's name is known.
	CostEntry = 1200
	// costText is the memory of each byte of text.
	costText = 2
)

// Cost returns about how many bytes of memory f takes, without the object of a change, which Decoder.Keep counts.
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
	case *Bound, *Dumped, *Discarded:
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
