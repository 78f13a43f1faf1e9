package report

import (
	"context"
	"encoding/json"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Report summarizes a recording: how long pods stayed in each tier, how many attempts they took, which
// events woke them, and which plugins rejected them.
type Report struct {
	Source sources.SafeText `json:"source"`
	Start  time.Time        `json:"start"`
	End    time.Time        `json:"end"`
	// Scheduler is the first recorded scheduler. Nil if its release is unknown, or if another one made
	// the moves.
	Scheduler *SchedulerReport `json:"scheduler,omitempty"`
	// Assumed says which release's rules are assumed, as a sentence. Empty if those of the scheduler are known.
	Assumed string `json:"assumed,omitempty"`
	// LeftOut is a notice about pods of other schedulers. Empty if there are none.
	LeftOut string `json:"leftOut,omitempty"`
	// Pods counts the pods, Moves the moves, and Modelled those moves that were not observed.
	Pods     int `json:"pods"`
	Moves    int `json:"moves"`
	Modelled int `json:"modelled"`

	Tiers    []TierReport   `json:"tiers"`
	Attempts AttemptReport  `json:"attempts"`
	Wakes    []WakeReport   `json:"wakes"`
	Plugins  []PluginReport `json:"plugins"`
	// Longest are the pods that waited longest for the scheduler in the queue.
	Longest []LongestReport `json:"longest"`
	// Verdicts are the second opinion on pods, in the order in which they were given.
	Verdicts []VerdictReport `json:"verdicts,omitempty"`
	// Silences are the times without any scheduler activity.
	Silences []SilenceReport `json:"silences,omitempty"`
	// SchedulerEnded is when the last scheduler shut down, according to its log. End is that time then: what
	// follows does not count. Nil if it is unknown.
	SchedulerEnded *time.Time `json:"schedulerEnded,omitempty"`
	// Ended says so in a sentence.
	Ended string `json:"-"`
}

// SilenceReport is a time without any scheduler activity. Until is nil if it lasted to the end, and Profile
// is empty if no profile was active.
type SilenceReport struct {
	Since   time.Time        `json:"since"`
	Until   *time.Time       `json:"until,omitempty"`
	Profile sources.SafeText `json:"profile,omitempty"`
	// Sentence says the same in words.
	Sentence string `json:"-"`
}

// VerdictReport is a verdict on a pod.
type VerdictReport struct {
	Pod sources.SafeText `json:"pod"`
	// At is when it was given. Until is when it was taken back or the pod left, nil if neither.
	At    time.Time  `json:"at"`
	Until *time.Time `json:"until,omitempty"`
	*opinion.Shown
}

// mostVerdicts limits how many verdicts a report has.
const mostVerdicts = 1000

// judged notes that p has another verdict since then, or none any more.
func (r *reporter) judged(at time.Time, p *board.Pod) {
	pod := sources.Sanitize(p.Key.String())
	if i, has := r.standing[pod]; has {
		until := at.UTC()
		r.report.Verdicts[i].Until = &until
		delete(r.standing, pod)
	}
	if p.Opinion == nil || at.After(r.report.End) || len(r.report.Verdicts) >= mostVerdicts {
		return
	}
	r.standing[pod] = len(r.report.Verdicts)
	r.report.Verdicts = append(r.report.Verdicts, VerdictReport{Pod: pod, At: at.UTC(), Shown: p.Opinion.Of(p.Key, words.Zone{})})
}

// LongestReport describes the time that one pod was in the queue: from its arrival until it left, or the
// recording ended.
type LongestReport struct {
	Pod    sources.SafeText `json:"pod"`
	Waited Seconds          `json:"waitedSeconds"`
	// Tier is the last tier: scheduled or deleted, or a tier of the queue if it still waits.
	Tier     string `json:"tier"`
	Attempts int    `json:"attempts"`
	// WaitedAtLeast and AttemptsAtLeast are true if Waited and Attempts are lower bounds.
	WaitedAtLeast   bool `json:"waitedAtLeast,omitempty"`
	AttemptsAtLeast bool `json:"attemptsAtLeast,omitempty"`
	// GoneSince is since when the pod is probably gone: Waited ends with its last attempt. Nil for others.
	GoneSince *time.Time `json:"probablyGoneSince,omitempty"`
	// Plugins are those that rejected its last failed attempt.
	Plugins []string `json:"plugins,omitempty"`
}

// TierReport describes the stays of pods in one tier. Left counts the stays that had not ended when the
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

// AttemptReport describes the scheduling attempts that were started.
type AttemptReport struct {
	Total    int `json:"total"`
	Rejected int `json:"rejected"`
	Errors   int `json:"errors"`
	Bound    int `json:"bound"`
	// Median and Max are the attempts that a bound pod took. AtLeast is true if they are lower bounds: some of the pods are
	// older than the source.
	Median  int  `json:"medianPerBoundPod"`
	Max     int  `json:"maxPerBoundPod"`
	AtLeast bool `json:"perBoundPodAtLeast,omitempty"`
}

// WakeReport counts the moves that an event caused out of the unschedulable or gated pods, or out of
// backoffQ.
type WakeReport struct {
	Event     string `json:"event"`
	ToActive  int    `json:"toActive"`
	ToBackoff int    `json:"toBackoff"`
	ToGated   int    `json:"toGated"`
	// Helped counts those that were bound in the following attempt.
	Helped int `json:"helped"`
}

// Total returns how many moves the event caused.
func (w WakeReport) Total() int { return w.ToActive + w.ToBackoff + w.ToGated }

// PluginReport describes the attempts that a plugin rejected, alone or with others.
type PluginReport struct {
	Plugin   string `json:"plugin"`
	Attempts int    `json:"attempts"`
	Pods     int    `json:"pods"`
	// Waited is the time that pods spent afterwards until they returned to activeQ or left, or the
	// recording ended.
	Waited Seconds `json:"waitedSeconds"`
}

// Seconds is a duration that JSON contains in seconds.
type Seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// SchedulerReport is a scheduler's release, and how it is known: see docs/reference/trace-format.md.
type SchedulerReport struct {
	Release sources.SafeText      `json:"release"`
	From    sources.ReleaseSource `json:"from,omitempty"`
}

// Summarize replays rec and reports on it: on all pods, or on those that opts.Filter selects after any of
// their moves.
func Summarize(ctx context.Context, rec *sources.Recording, opts timeline.Options) (*Report, error) {
	r := newReporter(rec)
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, err
	}
	r.report.LeftOut = OtherSchedulers(rec.Events, cfg)
	r.selects = opts.Selects
	all := opts
	all.Filter = filter.Filter{} // stays and attempts span several moves, so the filter selects pods
	replayed, err := timeline.ReplayWith(ctx, rec, all, timeline.ReplayHandlers{Move: r.add, Verdict: func(at time.Time, p *board.Pod) error {
		if opts.Filter.Empty() || opts.Filter.Match(p.Facts(at)) {
			r.judged(at, p)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	r.noteGone(replayed.Board)
	for _, p := range replayed.Unserved {
		r.judged(p.Since, p)
	}
	r.addSilences(replayed.Silences)
	return r.finish(), nil
}

func (r *reporter) addSilences(silences timeline.Silences) {
	for _, q := range silences {
		if !q.Since.Before(r.report.End) {
			continue // after what is reported, or its end
		}
		made := SilenceReport{Since: q.Since.UTC(), Profile: sources.Sanitize(q.Profile), Sentence: q.Sentence(words.Zone{})}
		if !q.Until.IsZero() {
			until := q.Until.UTC()
			made.Until = &until
		}
		r.report.Silences = append(r.report.Silences, made)
	}
}
