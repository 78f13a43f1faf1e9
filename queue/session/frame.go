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

// Frame is all that a screen shows, at one moment. It is never modified, and holds no more than what
// changed since the frame before: its cost does not depend on the number of pods.
type Frame struct {
	// Version grows with every frame. Two frames of one version are the same.
	Version uint64

	// Live is how the cluster stands that is shown. Nil for a recording.
	Live *Live
	// Reading is how far the recording is read that is shown, if there is more of it: End is that of what is read then. Nil once all is.
	Reading *Reading
	// Name, Formats and Notices describe the source.
	Name    sources.SafeText
	Formats []string
	Notices []string
	// Scheduler is what is known of the scheduler that was recorded. It is never nil.
	Scheduler *sources.SchedulerStarted
	// Moment is what is shown: the time, the pods in their tiers, the queue's settings and its flushes.
	explain.Moment

	// Start and End are what the time can be set to: those of the recording; in a fork, where it left the
	// recording, and some hours on.
	Start, End time.Time
	// Playing is true while time passes, at Speed model seconds a second (0.1 to 1000).
	Playing bool
	Speed   float64
	// AtEnd is true if nothing is left to play.
	AtEnd bool
	// Squeeze is true if quiet time is skipped while playing. Skipped is the last stretch that was, and
	// SkippedAt the time shown at which it ended; all zero if none was, or if it is long past.
	Squeeze bool
	Skipped QuietTime

	// Fork is nil while the recording is shown, and otherwise says what the what-if is. Forks are all
	// what-ifs that there are, each behind the one that it left.
	Fork  *Fork
	Forks []ForkInfo
	// Comparison is how the timeline shown differs from another, if one is compared.
	Comparison *board.Comparison
	// Previews say what injections would do, as far as that is worked out: see Session.Preview.
	Previews []timeline.Preview

	// Filter is the text of the filter that the board is seen through.
	Filter string
	// Log are the moves up to Now, oldest first. Known counts the moves that have been worked out so
	// far, also those after Now.
	Log   history.Log
	Known int
	// SchedulerCounts are the scheduler's own numbers at SchedulerCountsAt, and LocalCounts those of the
	// local queue at that moment. All unset if the recording has none up to Now.
	SchedulerCounts, LocalCounts *sources.Counts
	SchedulerCountsAt            time.Time
	// Series is what each second up to Now came to, and Measured the scheduler's own counts.
	Series   history.Series
	Measured timeline.Measured
	// Marks are the named moments, in the order of time, and OwnMarks those of the recording that the person set. If Stops,
	// playing stops at each.
	Marks    []timeline.Mark
	OwnMarks []timeline.Mark
	Stops    bool
	// Searching says what is looked for and where, while a search is under way.
	Searching sources.SafeText
	// Mark is the last named moment, at MarkAt.
	Mark   sources.SafeText
	MarkAt time.Time

	// Said is the answer to the person's last command, if it had one.
	Said Said
	// Needs are what Diagnose found last on the timeline shown, at its own moment. Nil if it was not asked.
	Needs *explain.Needs
	// Cluster is what Survey found last, at its own moment. Nil if it was not asked.
	Cluster *explain.Cluster

	size int64 // see Session.Size
}

// QuietTime is a stretch of quiet time that was skipped.
type QuietTime struct{ From, To time.Time }

// Empty reports whether nothing was skipped.
func (q QuietTime) Empty() bool { return q.To.IsZero() }

// Fork is a what-if: a simulated future that a person made, in which that person is the scheduler.
type Fork struct {
	// ID and Name are what it is called.
	ID   int
	Name sources.SafeText
	// From is where it left the recording.
	From time.Time
	// Injected counts what the person did in it, Undo how much of that can be taken back, and Redo what was
	// taken back and can be done again.
	Injected, Undo, Redo int
	// Scheduling is true if a local scheduler decides, false if a person does.
	Scheduling bool
	// Hints says in a few words how the fork decides which pods an event moves.
	Hints string
}

// Said is an answer to a person.
type Said struct {
	// Number tells answers apart: it grows with each.
	Number uint64
	Text   string
	// Refused is true if the command could not be carried out. Text then says what and why, to be read
	// after "can't:".
	Refused bool
	// Pod is the one that a search stopped for: see Session.Find. Text is empty then.
	Pod types.NamespacedName
	// Moved are the pods whose places changed by what was asked in a what-if, as they are then, in the order in which
	// they moved last.
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
