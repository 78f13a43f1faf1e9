package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// reporter builds a report, move by move, on the pods that selects selects after any of their moves.
type reporter struct {
	report   Report
	selects  func(*board.Transition) bool
	stays    [queue.Deleted + 1]distribution // in nanoseconds
	names    podNames
	pods     map[uint32]*podReport // unfinished pods
	finished []finishedPod         // by the pods' numbers; for unfinished pods it contains older state
	wakes    map[string]*WakeReport
	plugins  map[string]*PluginReport
	rejected map[string]*podSet       // by plugin
	bound    distribution             // attempts
	standing map[sources.SafeText]int // the verdicts that pods have, as indices into those of the report
	// events and rejections number what moves refer to; lists contains the plugins of each rejection.
	events, rejections numbers[string]
	lists              [][]string
}

func newReporter(rec *sources.Recording) *reporter {
	r := &reporter{
		selects: timeline.Options{}.Selects, pods: map[uint32]*podReport{},
		wakes: map[string]*WakeReport{}, standing: map[sources.SafeText]int{}, plugins: map[string]*PluginReport{}, rejected: map[string]*podSet{},
	}
	r.events.number("", strings.Clone) // so that it is 0
	r.report.Source = rec.Name
	r.report.Start, r.report.End = timeline.Span(rec)
	if ended, known := timeline.SchedulerEnd(rec); known && !rec.Rerun {
		ended = ended.UTC()
		r.report.SchedulerEnded = &ended
		r.report.Ended = fmt.Sprintf("The scheduler shut down at %s, according to its log: the report ends there, and the recording at %s.",
			words.Zone{}.Precise(ended), words.Zone{}.Precise(r.report.End))
		r.report.End = ended
	}
	if s := timeline.RecordedScheduler(rec); s != nil && s.Release != "" && !rec.Rerun {
		r.report.Scheduler = &SchedulerReport{s.Release, s.From}
	}
	if !rec.Rerun {
		r.report.Assumed = timeline.Assumed(timeline.RecordedScheduler(rec))
	}
	return r
}

func (r *reporter) add(t *board.Transition) error {
	if t.Time.After(r.report.End) {
		return nil
	}
	p := r.podOf(t.Pod.Key)
	m := r.counted(t)
	if !m.restated {
		if p.last = t.Pod; board.HasLeft(t.Pod) {
			p.last, p.longest = nil, r.longestOf(t.Pod, t.Pod.Since)
		}
	}
	if p.selected || r.selects(t) {
		p.selected = true
		for before := range p.skipped.all() {
			r.count(p, before)
		}
		p.skipped = skippedMoves{}
		r.count(p, m)
	} else {
		p.skipped.add(m)
	}
	r.compact(p)
	return nil
}

// podOf returns the pod with that name, which may have left or be new.
func (r *reporter) podOf(key types.NamespacedName) *podReport {
	number := r.names.number(key)
	p := r.pods[number]
	if p == nil {
		p = &podReport{number: number}
		if int(number) < len(r.finished) {
			switch o := r.finished[number]; {
			case o.skipped != nil:
				p.skipped, p.longest = *o.skipped, o.longest
			case o.known:
				p.selected, p.moved, p.longest, p.wokenBy = true, true, o.longest, o.wokenBy
			}
		}
		r.pods[number] = p
	}
	return p
}

// compact reduces p to a finishedPod if it is finished.
func (r *reporter) compact(p *podReport) {
	if p.last != nil || p.selected && !p.moved || p.tier.Queued() || p.tier == queue.InFlight || len(p.plugins) > 0 {
		return
	}
	if more := int(p.number) + 1 - len(r.finished); more > 0 {
		r.finished = append(r.finished, make([]finishedPod, more)...)
	}
	o := finishedPod{longest: p.longest, wokenBy: p.wokenBy, known: true}
	if !p.selected {
		passed := p.skipped
		o.skipped = &passed
	}
	r.finished[p.number] = o
	delete(r.pods, p.number)
}

// counted returns the part of t that is counted.
func (r *reporter) counted(t *board.Transition) countedMove {
	attempts := t.AttemptCount()
	m := countedMove{
		at: momentOf(t.Time), attempts: attempts.N, atLeast: attempts.AtLeast, event: r.events.number(t.Event, strings.Clone),
		from: t.From, to: t.To, observed: t.Observed, restated: t.Restated(),
	}
	if failsAttempt(t.Event, t.From) {
		m.rejection = r.rejection(slices.DeleteFunc(slices.Clone(t.Pod.RejectorPlugins()), func(name string) bool { return name == t.GatingPlugin }))
	}
	return m
}

// failsAttempt reports whether a move ends a failed attempt. The attempt of a pod's group ends separately.
func failsAttempt(event string, from queue.Tier) bool {
	return event == queue.ScheduleAttemptFailure && from != queue.Pending
}

// rejection returns the number of a list of plugins.
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

// count counts a move of p, after all moves before it.
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

// stay ends p's stay in its tier.
func (r *reporter) stay(p *podReport, at moment) {
	if p.tier.Queued() || p.tier == queue.InFlight {
		r.stays[p.tier].add(int64(at - p.since))
	}
}

// waited ends p's wait for the plugins that rejected it.
func (r *reporter) waited(p *podReport, at moment) {
	for _, name := range p.plugins {
		r.plugins[name].Waited += Seconds(at - p.failedAt)
	}
	p.plugins = nil
}

// wake counts a move that an event caused.
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
		p.wokenBy = m.event
	}
}

// attempt counts what a move shows about attempts and their plugins.
func (r *reporter) attempt(p *podReport, m countedMove, event string) {
	a := &r.report.Attempts
	switch {
	case m.to == queue.InFlight:
		a.Total++
	case failsAttempt(event, m.from):
		p.wokenBy = 0
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
				r.rejected[name] = &podSet{}
			}
			r.plugins[name].Attempts++
			r.rejected[name].add(p.number)
		}
	case m.to == queue.Scheduled:
		a.Bound++
		r.bound.add(int64(m.attempts))
		a.AtLeast = a.AtLeast || m.atLeast
		if w := r.wakes[r.events.values[p.wokenBy]]; w != nil {
			w.Helped++
		}
		p.wokenBy = 0
	}
	if m.to == queue.Active || m.to == queue.InFlight || m.to == queue.Deleted {
		r.waited(p, m.at)
	}
}

// noteGone updates the pods that are probably gone at the end.
func (r *reporter) noteGone(end *board.Board) {
	for _, p := range r.pods {
		if p.last == nil {
			continue
		}
		if now := end.Get(p.last.Key); now != nil && !now.GoneSince.IsZero() {
			p.last = now
		}
	}
}

// endOf returns when the waiting time of p, a pod still in the queue at the end, ends: at the end, or when it was probably gone.
func (r *reporter) endOf(p *podReport) time.Time {
	if p.last != nil && !p.last.GoneSince.IsZero() && p.last.GoneSince.Before(r.report.End) {
		return p.last.GoneSince
	}
	return r.report.End
}

func (r *reporter) finish() *Report {
	rep := &r.report
	left := map[queue.Tier]int{}
	for _, p := range r.pods {
		if p.selected {
			end := momentOf(r.endOf(p))
			left[p.tier]++
			r.stay(p, end)
			r.waited(p, end)
		}
	}
	for _, tier := range board.Tiers {
		s := r.stays[tier].spread()
		rep.Tiers = append(rep.Tiers, TierReport{
			Tier: tier.String(), Stays: s.count, Left: left[tier],
			Total: Seconds(s.total), Median: Seconds(s.median), P90: Seconds(s.p90), Max: Seconds(s.max),
		})
	}
	rep.Longest = r.longest()
	attempts := r.bound.spread()
	rep.Attempts.Median, rep.Attempts.Max = int(attempts.median), int(attempts.max)
	for w := range maps.Values(r.wakes) {
		rep.Wakes = append(rep.Wakes, *w)
	}
	slices.SortFunc(rep.Wakes, func(a, b WakeReport) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Event, b.Event))
	})
	for name, p := range r.plugins {
		p.Pods = r.rejected[name].count
		rep.Plugins = append(rep.Plugins, *p)
	}
	slices.SortFunc(rep.Plugins, func(a, b PluginReport) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Plugin, b.Plugin))
	})
	return rep
}

// mostLongest limits how many pods a report names.
const mostLongest = 5

// longest returns the pods that were in the queue longest, those first. Gated pods wait for something else.
func (r *reporter) longest() []LongestReport {
	all := []LongestReport{}
	add := func(pod uint32, l longest) {
		if !l.known || len(all) == mostLongest && l.waited < all[mostLongest-1].Waited && all[mostLongest-1].GoneSince == nil {
			return
		}
		named := LongestReport{Pod: sources.Sanitize(r.names.name(pod).String()), Waited: l.waited, Tier: l.tier.String(), Attempts: l.attempts, WaitedAtLeast: l.waitedAtLeast, AttemptsAtLeast: l.attemptsAtLeast}
		if !l.gone.IsZero() {
			named.GoneSince = &l.gone
		}
		if l.plugins > 0 {
			named.Plugins = r.lists[l.plugins-1]
		}
		at, _ := slices.BinarySearchFunc(all, named, compareLongest)
		all = slices.Insert(all, at, named)
		all = all[:min(mostLongest, len(all))]
	}
	for number, o := range r.finished {
		if r.pods[uint32(number)] == nil && o.skipped == nil {
			add(uint32(number), o.longest)
		}
	}
	for number, p := range r.pods {
		if p.last != nil {
			p.longest = r.longestOf(p.last, r.endOf(p))
		}
		if p.selected {
			add(number, p.longest)
		}
	}
	return slices.Clip(all)
}

// compareLongest orders pods by how long they waited, the longest first, and those that are probably gone last.
func compareLongest(a, b LongestReport) int {
	gone := func(l LongestReport) int {
		if l.GoneSince != nil {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(gone(a), gone(b)), cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Pod, b.Pod))
}

// longestOf describes how long p was in the queue until then, or until it left. It is zero for a pod that
// waits for something else or never arrived.
func (r *reporter) longestOf(p *board.Pod, until time.Time) longest {
	if p.Tier == queue.Gated || p.Arrived.IsZero() {
		return longest{}
	}
	l := longest{waited: Seconds(p.WaitedAt(until)), attempts: p.Attempts, tier: p.Tier, known: true,
		waitedAtLeast: p.WaitIsAtLeast(), attemptsAtLeast: p.AttemptsAtLeast, gone: p.GoneSince}
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		l.plugins = r.rejection(plugins) + 1
	}
	return l
}

// podReport is a reporter's state of a pod. Successive pods with one name share it.
type podReport struct {
	number uint32
	// selected is true once the pod is selected, and moved once it has moved. Until it is selected,
	// skipped contains the moves to count if it will be.
	selected, moved bool
	skipped         skippedMoves

	tier            queue.Tier
	since, failedAt moment
	wokenBy         uint32   // the event's number
	plugins         []string // of the last failed attempt, until the pod returns to activeQ
	// last is the pod's last state, until it leaves. Then longest is set.
	last    *board.Pod
	longest longest
}

// finishedPod is the small state that a reporter keeps of a pod that left and has nothing left to count,
// unless a later pod with its name is selected. Most pods of a long recording are finished. The rest of
// its podReport is that of a new pod.
type finishedPod struct {
	longest longest
	wokenBy uint32
	known   bool          // the pod is finished, or was before
	skipped *skippedMoves // nil if the pod is selected
}

// longest is a LongestReport without the name. The zero value is that of a pod that did not wait.
type longest struct {
	waited   Seconds
	attempts int
	plugins  uint32 // the number of the rejection plus 1, or 0 for no plugins
	tier     queue.Tier
	known    bool
	// waitedAtLeast and attemptsAtLeast are true if waited and attempts are lower bounds.
	waitedAtLeast, attemptsAtLeast bool
	gone                           time.Time // since when it is probably gone, or zero
}

// countedMove is the part of a move that is counted.
type countedMove struct {
	at                 moment
	attempts           int
	event, rejection   uint32 // numbers; rejection is set for a failed attempt
	from, to           queue.Tier
	observed, restated bool
	atLeast            bool // attempts is a lower bound
}
