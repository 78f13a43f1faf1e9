package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// reporter gathers a report, move by move, on the pods that selects selects after any of their moves.
type reporter struct {
	report   Report
	selects  func(*board.Transition) bool
	stays    [queue.Deleted + 1][]time.Duration
	pods     map[types.NamespacedName]*podReport
	wakes    map[string]*WakeReport
	plugins  map[string]*PluginReport
	rejected map[string]sets.Set[*podReport] // by plugin
	bound    []int
	// events and rejections are what moves name, and each rejection's plugins are in lists.
	events, rejections numbers[string]
	lists              [][]string
}

// podReport is what a reporter remembers of a pod.
type podReport struct {
	key types.NamespacedName
	// selected is true once the pod is reported on, and moved once it was somewhere. Until it is selected, passed is what is to be
	// counted if it will be.
	selected, moved bool
	passed          []countedMove

	tier            queue.Tier
	since, failedAt moment
	wokenBy         string
	plugins         []string // of the last failed attempt, until the pod is in activeQ again
	// last is the pod as it was told last, until it left: what is known of the pods that left would be most of a long
	// recording. Then left is what can be said of it but for its name, or nil if it did not wait.
	last *board.Pod
	left *LongestReport
}

// countedMove is what is counted of a move, in 32 bytes: those of pods that a filter does not select are kept to the end, since it
// may select them with their last.
type countedMove struct {
	at                 moment
	attempts           int
	event, rejection   uint32 // their numbers; rejection is that of a failed attempt
	from, to           queue.Tier
	observed, restated bool
}

func newReporter(rec *sources.Recording) *reporter {
	r := &reporter{
		selects: timeline.Options{}.Selects, pods: map[types.NamespacedName]*podReport{},
		wakes: map[string]*WakeReport{}, plugins: map[string]*PluginReport{}, rejected: map[string]sets.Set[*podReport]{},
	}
	r.report.Source = rec.Name
	r.report.Start, r.report.End = timeline.Span(rec)
	if s := timeline.RecordedScheduler(rec); s != nil && s.Release != "" && !rec.Rerun {
		r.report.Scheduler = &SchedulerReport{s.Release, s.From}
	}
	return r
}

func (r *reporter) add(t *board.Transition) error {
	p := r.pods[t.Pod.Key]
	if p == nil {
		p = &podReport{key: ownName(t.Pod.Key)}
		r.pods[p.key] = p
	}
	m := r.counted(t)
	if !m.restated {
		if p.last, p.left = t.Pod, nil; board.HasLeft(t.Pod) {
			p.last, p.left = nil, r.longestOf(t.Pod, t.Pod.Since)
		}
	}
	if !p.selected && !r.selects(t) {
		p.passed = append(p.passed, m)
		return nil
	}
	p.selected = true
	for _, before := range p.passed {
		r.count(p, before)
	}
	p.passed = nil
	r.count(p, m)
	return nil
}

// counted returns what is counted of t.
func (r *reporter) counted(t *board.Transition) countedMove {
	m := countedMove{
		at: momentOf(t.Time), attempts: t.Pod.Attempts, event: r.events.number(t.Event, strings.Clone),
		from: t.From, to: t.To, observed: t.Observed, restated: t.Restated(),
	}
	if failsAttempt(t.Event, t.From) {
		m.rejection = r.rejection(slices.DeleteFunc(slices.Clone(t.Pod.RejectorPlugins()), func(name string) bool { return name == t.GatingPlugin }))
	}
	return m
}

// failsAttempt reports whether a move ends an attempt that failed: its group's attempt ends after its own.
func failsAttempt(event string, from queue.Tier) bool {
	return event == queue.ScheduleAttemptFailure && from != queue.Pending
}

// rejection returns the number of these plugins.
func (r *reporter) rejection(plugins []string) uint32 {
	n := r.rejections.number(strings.Join(plugins, "\x00"), strings.Clone)
	if int(n) == len(r.lists) {
		own := make([]string, len(plugins))
		for i, name := range plugins {
			own[i] = strings.Clone(name)
		}
		r.lists = append(r.lists, own)
	}
	return n
}

// count counts a move of p, of which all before it were counted.
func (r *reporter) count(p *podReport, m countedMove) {
	r.report.Moves++
	if !m.observed {
		r.report.Modelled++
	}
	if m.restated {
		return
	}
	if !p.moved {
		p.moved = true
		r.report.Pods++
	}
	event := r.events.values[m.event]
	r.wake(p, m, event)
	r.attempt(p, m, event)
	if p.tier != m.to { // a gated pod that is gated again has not moved
		r.stay(p, m.at)
		p.tier, p.since = m.to, m.at
	}
}

// stay ends p's stay where it is.
func (r *reporter) stay(p *podReport, at moment) {
	if p.tier.Queued() || p.tier == queue.InFlight {
		r.stays[p.tier] = append(r.stays[p.tier], time.Duration(at-p.since))
	}
}

// waited ends what p waits for because of the plugins that rejected it.
func (r *reporter) waited(p *podReport, at moment) {
	for _, name := range p.plugins {
		r.plugins[name].Waited += Seconds(at - p.failedAt)
	}
	p.plugins = nil
}

// wake counts a move that an event made.
func (r *reporter) wake(p *podReport, m countedMove, event string) {
	waiting := m.from == queue.Unschedulable || m.from == queue.Gated || m.from == queue.Backoff
	if !waiting || event == "" {
		return
	}
	w := r.wakes[event]
	if w == nil {
		w = &WakeReport{Event: event}
		r.wakes[event] = w
	}
	switch m.to {
	case queue.Active:
		w.ToActive++
	case queue.Backoff:
		w.ToBackoff++
	case queue.Gated:
		w.ToGated++
	}
	if event != queue.BackoffComplete {
		p.wokenBy = event
	}
}

// attempt counts what a move says of attempts and their plugins.
func (r *reporter) attempt(p *podReport, m countedMove, event string) {
	a := &r.report.Attempts
	switch {
	case m.to == queue.InFlight:
		a.Total++
	case failsAttempt(event, m.from):
		p.wokenBy = ""
		p.failedAt = m.at
		p.plugins = r.lists[m.rejection]
		if len(p.plugins) == 0 {
			a.Errors++
		} else {
			a.Rejected++
		}
		for _, name := range p.plugins {
			if r.plugins[name] == nil {
				r.plugins[name] = &PluginReport{Plugin: name}
				r.rejected[name] = sets.New[*podReport]()
			}
			r.plugins[name].Attempts++
			r.rejected[name].Insert(p)
		}
	case m.to == queue.Scheduled:
		a.Bound++
		r.bound = append(r.bound, m.attempts)
		if w := r.wakes[p.wokenBy]; w != nil {
			w.Helped++
		}
		p.wokenBy = ""
	}
	if m.to == queue.Active || m.to == queue.InFlight || m.to == queue.Deleted {
		r.waited(p, m.at)
	}
}

func (r *reporter) finish() *Report {
	rep := &r.report
	left, end := map[queue.Tier]int{}, momentOf(rep.End)
	for _, p := range r.pods {
		if p.selected {
			left[p.tier]++
			r.stay(p, end)
			r.waited(p, end)
		}
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
			l = r.longestOf(p.last, r.report.End)
		}
		if l == nil || !p.selected {
			continue
		}
		named := *l
		named.Pod = sources.Sanitize(p.key.String())
		at, _ := slices.BinarySearchFunc(all, named, func(a, b LongestReport) int {
			return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Pod, b.Pod))
		})
		all = slices.Insert(all, at, named)
		all = all[:min(mostLongest, len(all))]
	}
	return slices.Clip(all)
}

// longestOf says how long p was in the queue until then, or until it left, but not its name. Nil of a pod that waits for something
// else, or never came.
func (r *reporter) longestOf(p *board.Pod, until time.Time) *LongestReport {
	if p.Tier == queue.Gated || p.Arrived.IsZero() {
		return nil
	}
	l := &LongestReport{Waited: Seconds(until.Sub(p.Arrived)), Tier: p.Tier.String(), Attempts: p.Attempts}
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		l.Plugins = r.lists[r.rejection(plugins)]
	}
	return l
}

// quantile returns the value below which percent of sorted lie: the nearest rank. It is 0 of nothing.
func quantile[T cmp.Ordered](sorted []T, percent int) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
