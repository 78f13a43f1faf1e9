package session

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Frame is everything a screen shows at one moment. It is immutable and shares unchanged data with the
// frame before it: its cost does not depend on the number of pods.
type Frame struct {
	// Version grows with every frame. Frames with the same version are equal.
	Version uint64

	// Live is the state of the live source. Nil for a recording.
	Live *Live
	// Reading is the progress of reading the recording; End is the end of the part read so far. Nil
	// once the whole recording is read.
	Reading *Reading
	// Name, Formats and Notices describe the source.
	Name    sources.SafeText
	Formats []string
	Notices []string
	// Scheduler is what is known about the recorded scheduler. It is never nil.
	Scheduler *sources.SchedulerStarted
	// Moment holds the time, the pods in their tiers, the queue's settings and its flushes.
	explain.Moment

	// Start and End limit the time: those of the recording, or in a what-if where it left the recording
	// and some hours later.
	Start, End time.Time
	// Playing is true while time advances, at Speed model seconds per second (0.1 to 1000).
	Playing bool
	Speed   float64
	// AtEnd is true if nothing is left to play.
	AtEnd bool
	// Squeeze is true if playback skips quiet time. Skipped is the last stretch that was skipped, zero
	// if none was or if it is long past.
	Squeeze bool
	Skipped QuietTime

	// Fork describes the what-if shown, nil for the recording. Forks are all what-ifs, each after its
	// parent.
	Fork  *Fork
	Forks []ForkInfo
	// Comparison compares the timeline shown with another, if one was chosen.
	Comparison *board.Comparison
	// Previews are the effects of injections computed so far: see Session.Preview.
	Previews []timeline.Preview

	// Filter is the text of the board's filter.
	Filter string
	// Log holds the moves up to Now, oldest first. Known counts all moves computed so far, including
	// those after Now.
	Log   history.Log
	Known int
	// SchedulerCounts are the scheduler's own counts at SchedulerCountsAt, and LocalCounts those of the
	// local queue at that time. All are unset if the recording has none up to Now.
	SchedulerCounts, LocalCounts *sources.Counts
	SchedulerCountsAt            time.Time
	// Series summarizes each second up to Now, and Measured holds the scheduler's own counts.
	Series   history.Series
	Measured timeline.Measured
	// Marks are the named moments in time order, and OwnMarks those that the user set in the recording.
	// Playback stops at each if Stops is set.
	Marks    []timeline.Mark
	OwnMarks []timeline.Mark
	Stops    bool
	// Searching describes the running search and its progress.
	Searching sources.SafeText
	// Mark is the last named moment, at MarkAt.
	Mark   sources.SafeText
	MarkAt time.Time

	// Reply is the reply to the user's last command, if there was one.
	Reply Reply
	// Needs is the last result of Diagnose on the timeline shown, for its own time. May be nil.
	Needs *explain.Needs
	// Cycle is the last result of Inspect on the timeline shown, for its own time. May be nil.
	Cycle *explain.Cycle
	// Cluster is the last result of Survey, for its own time. May be nil.
	Cluster *explain.Cluster
	// Siblings is the last result of FindSiblings, for its own time. May be nil.
	Siblings *explain.Siblings

	size int64 // see Session.Size
}

// QuietTime is a stretch of quiet time that was skipped.
type QuietTime struct{ From, To time.Time }

// Empty reports whether nothing was skipped.
func (q QuietTime) Empty() bool { return q.To.IsZero() }

// Fork is a what-if: a simulated future in which the user makes the scheduling decisions.
type Fork struct {
	// ID and Name identify it.
	ID   int
	Name sources.SafeText
	// From is when it left the recording.
	From time.Time
	// Injected counts the user's actions in it, Undo those that can be undone, and Redo those that can
	// be repeated.
	Injected, Undo, Redo int
	// Scheduling is true if a local scheduler makes the decisions instead of the user.
	Scheduling bool
	// Hints describes how the what-if decides which pods an event moves.
	Hints string
}

// Reply is the reply to a command.
type Reply struct {
	// Number grows with each reply.
	Number uint64
	Text   string
	// Refused is true if the command could not be carried out. Text then says what and why, and follows
	// "can't: ", or "not found: " if NotFound.
	Refused, NotFound bool
	// Pod is the pod that a search stopped for: see Session.Find. Text is empty then.
	Pod types.NamespacedName
	// Moved are the pods that an action in a what-if moved, as they are afterwards, in the order of
	// their last moves.
	Moved []*board.Pod
}

// Gates returns the feature gates that the scheduler was started with, as "Name=false", sorted.
func (f *Frame) Gates() []string {
	var gates []string
	for name, on := range f.Scheduler.Gates {
		if on {
			gates = append(gates, name+"=true")
		} else {
			gates = append(gates, name+"=false")
		}
	}
	slices.Sort(gates)
	return gates
}
