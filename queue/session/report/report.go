package report

import (
	"context"
	"encoding/json"
	"time"

	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Report sums a recording up: how long pods stayed in each tier, how many attempts they took, which
// events woke them, and which plugins rejected them.
type Report struct {
	Source sources.SafeText `json:"source"`
	Start  time.Time        `json:"start"`
	End    time.Time        `json:"end"`
	// Scheduler is the one that was recorded first. Nil if nothing tells its release, or another one made the moves.
	Scheduler *SchedulerReport `json:"scheduler,omitempty"`
	// LeftOut is a sentence about pods of other schedulers. Empty if there are none.
	LeftOut string `json:"leftOut,omitempty"`
	// Pods is how many pods were seen, Moves how many moves, and Modelled how many of those were not
	// observed.
	Pods     int `json:"pods"`
	Moves    int `json:"moves"`
	Modelled int `json:"modelled"`

	Tiers    []TierReport   `json:"tiers"`
	Attempts AttemptReport  `json:"attempts"`
	Wakes    []WakeReport   `json:"wakes"`
	Plugins  []PluginReport `json:"plugins"`
	// Longest are the pods that were in the queue for longest, of those that waited for the scheduler.
	Longest []LongestReport `json:"longest"`
	// Silences are the times in which no scheduler was heard to work.
	Silences []SilenceReport `json:"silences,omitempty"`
}

// SilenceReport is a time in which no scheduler was heard to work, Until is nil if that lasted to the end, and Profile is empty if
// no profile was heard.
type SilenceReport struct {
	Since   time.Time        `json:"since"`
	Until   *time.Time       `json:"until,omitempty"`
	Profile sources.SafeText `json:"profile,omitempty"`
	// Said is all that as a sentence.
	Said string `json:"-"`
}

// LongestReport is about the time that one pod was in the queue, from when it came until it left, or the recording
// ended.
type LongestReport struct {
	Pod    sources.SafeText `json:"pod"`
	Waited Seconds          `json:"waitedSeconds"`
	// Tier is where it was at last: scheduled or deleted, or a tier of the queue if it waits still.
	Tier     string `json:"tier"`
	Attempts int    `json:"attempts"`
	// Plugins are those that rejected its last failed attempt.
	Plugins []string `json:"plugins,omitempty"`
}

// TierReport is about the stays of pods in one tier. Left is how many of them had not ended when the
// recording did; they count up to there.
type TierReport struct {
	Tier   string  `json:"tier"`
	Stays  int     `json:"stays"`
	Left   int     `json:"left"`
	Total  Seconds `json:"totalSeconds"`
	Median Seconds `json:"medianSeconds"`
	P90    Seconds `json:"p90Seconds"`
	Max    Seconds `json:"maxSeconds"`
}

// AttemptReport is about the scheduling attempts that were begun.
type AttemptReport struct {
	Total    int `json:"total"`
	Rejected int `json:"rejected"`
	Errors   int `json:"errors"`
	Bound    int `json:"bound"`
	// Median and Max are the attempts that a bound pod took.
	Median int `json:"medianPerBoundPod"`
	Max    int `json:"maxPerBoundPod"`
}

// WakeReport counts the moves that an event made out of the unschedulable or gated pods, or out of
// backoffQ.
type WakeReport struct {
	Event     string `json:"event"`
	ToActive  int    `json:"toActive"`
	ToBackoff int    `json:"toBackoff"`
	ToGated   int    `json:"toGated"`
	// Helped is how many of them were bound in the attempt that followed.
	Helped int `json:"helped"`
}

// Total is how many moves the event made.
func (w WakeReport) Total() int { return w.ToActive + w.ToBackoff + w.ToGated }

// PluginReport is about the attempts that a plugin rejected, alone or with others.
type PluginReport struct {
	Plugin   string `json:"plugin"`
	Attempts int    `json:"attempts"`
	Pods     int    `json:"pods"`
	// Waited is the time that pods then spent until they were in activeQ again or left, or the recording
	// ended.
	Waited Seconds `json:"waitedSeconds"`
}

// Seconds is a duration that JSON shows in seconds.
type Seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// SchedulerReport says of which release a scheduler is, and what tells that: see docs/reference/trace-format.md.
type SchedulerReport struct {
	Release sources.SafeText      `json:"release"`
	From    sources.ReleaseSource `json:"from,omitempty"`
}

// Summarize replays rec and reports on it: on all pods, or on those that opts.Filter selects after any of their
// moves.
func Summarize(ctx context.Context, rec *sources.Recording, opts timeline.Options) (*Report, error) {
	r := newReporter(rec)
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, err
	}
	r.report.LeftOut = OthersPods(rec.Tells(), cfg)
	r.selects = opts.Selects
	all := opts
	all.Filter = filter.Filter{} // a stay or an attempt is more than one move, so what counts are pods
	silences, err := timeline.ReplayHearing(ctx, rec, all, r.add)
	if err != nil {
		return nil, err
	}
	r.addSilences(silences)
	return r.finish(), nil
}

func (r *reporter) addSilences(silences timeline.Silences) {
	for _, q := range silences {
		made := SilenceReport{Since: q.Since.UTC(), Profile: sources.Sanitize(q.Profile), Said: q.Sentence(words.Zone{})}
		if !q.Until.IsZero() {
			until := q.Until.UTC()
			made.Until = &until
		}
		r.report.Silences = append(r.report.Silences, made)
	}
}
