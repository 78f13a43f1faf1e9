package explain

import (
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
)

// Moment is the queue at one moment, with all that says why a pod is where it is and when it moves next. It is
// never modified.
type Moment struct {
	Now time.Time
	// Board is every pod in its tier.
	Board *board.Board
	// Options are the settings that the local queue runs with.
	Options queue.Options
	// Stages are those of the pods in flight, in a what-if with a local scheduler.
	Stages []model.Stage
	// Ticks are the queue's flushes, and Hints what plugins registered for.
	Ticks model.Ticks
	Hints Hints
	// Silent is that no scheduler is heard to work. Nil if one is, and in a what-if.
	Silent *timeline.Silence
	// Zone is the one in which sentences tell times of day.
	Zone words.Zone
}
