package report

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
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

// reporter gathers a report, move by move.
type reporter struct {
	report   Report
	stays    map[queue.Tier][]time.Duration
	pods     map[types.NamespacedName]*podReport
	wakes    map[string]*WakeReport
	plugins  map[string]*PluginReport
	rejected map[string]sets.Set[types.NamespacedName] // by plugin
	bound    []int
}

// podReport is what a reporter remembers of a pod.
type podReport struct {
	tier     queue.Tier
	since    time.Time
	wokenBy  string
	failedAt time.Time
	plugins  []string // of the last failed attempt, until the pod is in activeQ again
	key      types.NamespacedName
	// last is the pod as it was told last, until it left: what is known of the pods that left would be most of a long
	// recording. Then left is what can be said of it, or nil if it did not wait.
	last *board.Pod
	left *LongestReport
}

// SchedulerReport says of which release a scheduler is, and what tells that: see docs/trace-format.md.
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
	if opts.Filter.Empty() {
		silences, err := timeline.ReplayHearing(ctx, rec, opts, r.add)
		if err != nil {
			return nil, err
		}
		r.addSilences(silences)
		return r.finish(), nil
	}
	// A stay or an attempt is more than one move, so what counts are pods.
	var moves []*board.Transition
	matched := map[types.NamespacedName]bool{}
	all := opts
	all.Filter = filter.Filter{}
	silences, err := timeline.ReplayHearing(ctx, rec, all, func(t *board.Transition) error {
		moves = append(moves, t)
		if opts.Selects(t) {
			matched[t.Pod.Key] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.addSilences(silences)
	for _, t := range moves {
		if matched[t.Pod.Key] {
			if err := r.add(t); err != nil {
				return nil, err
			}
		}
	}
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

func newReporter(rec *sources.Recording) *reporter {
	r := &reporter{
		stays: map[queue.Tier][]time.Duration{}, pods: map[types.NamespacedName]*podReport{},
		wakes: map[string]*WakeReport{}, plugins: map[string]*PluginReport{},
		rejected: map[string]sets.Set[types.NamespacedName]{},
	}
	r.report.Source = rec.Name
	r.report.Start, r.report.End = timeline.Span(rec)
	if s := timeline.RecordedScheduler(rec); s != nil && s.Release != "" && !rec.Rerun {
		r.report.Scheduler = &SchedulerReport{s.Release, s.From}
	}
	return r
}

func (r *reporter) add(t *board.Transition) error {
	r.report.Moves++
	if !t.Observed {
		r.report.Modelled++
	}
	if t.Restated() {
		return nil
	}
	p := r.pods[t.Pod.Key]
	if p == nil {
		key := t.Pod.Key
		p = &podReport{key: types.NamespacedName{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}} // not the object's text
		r.pods[p.key] = p
	}
	if p.last, p.left = t.Pod, nil; board.HasLeft(t.Pod) {
		p.last, p.left = nil, longestOf(t.Pod, t.Pod.Since)
	}
	r.wake(p, t)
	r.attempt(p, t)
	if p.tier != t.To { // a gated pod that is gated again has not moved
		r.stay(p, t.Time)
		p.tier, p.since = t.To, t.Time
	}
	return nil
}

// stay ends p's stay where it is.
func (r *reporter) stay(p *podReport, at time.Time) {
	if p.tier.Queued() || p.tier == queue.InFlight {
		r.stays[p.tier] = append(r.stays[p.tier], at.Sub(p.since))
	}
}

// waited ends what p waits for because of the plugins that rejected it.
func (r *reporter) waited(p *podReport, at time.Time) {
	for _, name := range p.plugins {
		r.plugins[name].Waited += Seconds(at.Sub(p.failedAt))
	}
	p.plugins = nil
}

// wake counts a move that an event made.
func (r *reporter) wake(p *podReport, t *board.Transition) {
	waiting := t.From == queue.Unschedulable || t.From == queue.Gated || t.From == queue.Backoff
	if !waiting || t.Event == "" {
		return
	}
	w := r.wakes[t.Event]
	if w == nil {
		w = &WakeReport{Event: t.Event}
		r.wakes[t.Event] = w
	}
	switch t.To {
	case queue.Active:
		w.ToActive++
	case queue.Backoff:
		w.ToBackoff++
	case queue.Gated:
		w.ToGated++
	}
	if t.Event != queue.BackoffComplete {
		p.wokenBy = t.Event
	}
}

// attempt counts what a move says of attempts and their plugins.
func (r *reporter) attempt(p *podReport, t *board.Transition) {
	a := &r.report.Attempts
	switch {
	case t.To == queue.InFlight:
		a.Total++
	case t.Event == queue.ScheduleAttemptFailure && t.From != queue.Pending: // its group's attempt ends after its own
		p.wokenBy = ""
		p.failedAt = t.Time
		p.plugins = slices.DeleteFunc(slices.Clone(t.Pod.RejectorPlugins()), func(name string) bool { return name == t.GatingPlugin })
		if len(p.plugins) == 0 {
			a.Errors++
		} else {
			a.Rejected++
		}
		for _, name := range p.plugins {
			if r.plugins[name] == nil {
				r.plugins[name] = &PluginReport{Plugin: name}
				r.rejected[name] = sets.New[types.NamespacedName]()
			}
			r.plugins[name].Attempts++
			r.rejected[name].Insert(p.key)
		}
	case t.To == queue.Scheduled:
		a.Bound++
		r.bound = append(r.bound, t.Pod.Attempts)
		if w := r.wakes[p.wokenBy]; w != nil {
			w.Helped++
		}
		p.wokenBy = ""
	}
	if t.To == queue.Active || t.To == queue.InFlight || t.To == queue.Deleted {
		r.waited(p, t.Time)
	}
}

func (r *reporter) finish() *Report {
	rep := &r.report
	rep.Pods = len(r.pods)
	left := map[queue.Tier]int{}
	for _, p := range r.pods {
		left[p.tier]++
		r.stay(p, rep.End)
		r.waited(p, rep.End)
	}
	for _, tier := range board.Tiers {
		stays := r.stays[tier]
		slices.Sort(stays)
		t := TierReport{Tier: tier.String(), Stays: len(stays), Left: left[tier]}
		for _, d := range stays {
			t.Total += Seconds(d)
		}
		t.Median, t.P90, t.Max = Seconds(quantile(stays, 50)), Seconds(quantile(stays, 90)), Seconds(quantile(stays, 100))
		rep.Tiers = append(rep.Tiers, t)
	}
	rep.Longest = r.longest()
	slices.Sort(r.bound)
	rep.Attempts.Median, rep.Attempts.Max = quantile(r.bound, 50), quantile(r.bound, 100)
	for w := range maps.Values(r.wakes) {
		rep.Wakes = append(rep.Wakes, *w)
	}
	slices.SortFunc(rep.Wakes, func(a, b WakeReport) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Event, b.Event))
	})
	for name, p := range r.plugins {
		p.Pods = r.rejected[name].Len()
		rep.Plugins = append(rep.Plugins, *p)
	}
	slices.SortFunc(rep.Plugins, func(a, b PluginReport) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Plugin, b.Plugin))
	})
	return rep
}

// mostLongest is how many pods a report names.
const mostLongest = 5

// longest returns the pods that were in the queue for longest, those first. Gated ones wait for something else.
func (r *reporter) longest() []LongestReport {
	all := []LongestReport{}
	for _, p := range r.pods {
		l := p.left
		if p.last != nil {
			l = longestOf(p.last, r.report.End)
		}
		if l != nil {
			all = append(all, *l)
		}
	}
	slices.SortFunc(all, func(a, b LongestReport) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Pod, b.Pod))
	})
	return slices.Clip(all[:min(mostLongest, len(all))])
}

// longestOf says how long p was in the queue until then, or until it left. Nil of a pod that waits for something else, or never came.
func longestOf(p *board.Pod, until time.Time) *LongestReport {
	if p.Tier == queue.Gated || p.Arrived.IsZero() {
		return nil
	}
	return &LongestReport{
		Pod: sources.Sanitize(p.Key.String()), Waited: Seconds(until.Sub(p.Arrived)), Tier: p.Tier.String(),
		Attempts: p.Attempts, Plugins: p.RejectorPlugins(),
	}
}

// quantile returns the value below which percent of sorted lie: the nearest rank. It is 0 of nothing.
func quantile[T cmp.Ordered](sorted []T, percent int) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
