package evidence

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Gaps are the recent times in which the source's watches, or the connection to the cluster, did not work. The
// zero value is ready to use.
type Gaps struct {
	byResource map[string][]sources.Gap // in order of time. "" is the whole cluster
	tracker    sources.GapTracker
}

// keepGaps is how long a gap is kept after its end: longer than a session is behind the clock.
const keepGaps = time.Minute

// Update adds the gaps in the status of a stream at now.
func (g *Gaps) Update(now time.Time, status sources.Status) {
	for _, ev := range g.tracker.Update(now, status) {
		g.Add(ev.Fact.(*sources.WatchGap))
	}
	g.Forget(now)
}

// Add adds a gap, or the end of the last one.
func (g *Gaps) Add(u *sources.WatchGap) {
	all := g.byResource[u.Resource]
	if n := len(all); n > 0 && (all[n-1].Lasts() || all[n-1].Since.Equal(u.Since)) {
		if all[n-1].Until = u.Until; u.Since.Before(all[n-1].Since) {
			all[n-1].Since = u.Since
		}
		return
	}
	if g.byResource == nil {
		g.byResource = map[string][]sources.Gap{}
	}
	g.byResource[u.Resource] = append(all, u.Gap)
}

// Collect wraps next, and adds the gaps among the events that it returns. It returns nil if next is nil.
func (g *Gaps) Collect(next func() (sources.Event, bool)) func() (sources.Event, bool) {
	if next == nil {
		return nil
	}
	return func() (sources.Event, bool) {
		ev, ok := next()
		switch f := ev.Fact.(type) {
		case *sources.WatchGap:
			g.Add(f)
		case *sources.Attached:
			g.end(ev.Time)
		}
		return ev, ok
	}
}

// end ends all gaps at that time, when another source begins.
func (g *Gaps) end(at time.Time) {
	for _, all := range g.byResource {
		if n := len(all); n > 0 && all[n-1].Lasts() {
			all[n-1].Until = at
		}
	}
}

// Forget drops the gaps that ended more than keepGaps before now.
func (g *Gaps) Forget(now time.Time) {
	for resource, all := range g.byResource {
		if len(all) > 0 && !all[0].Lasts() && now.Sub(all[0].Until) > keepGaps {
			g.byResource[resource] = slices.DeleteFunc(all, func(gap sources.Gap) bool { return !gap.Lasts() && now.Sub(gap.Until) > keepGaps })
		}
	}
}

// Next returns the first gap of any of the resources, or of the whole cluster, that covers at or begins later.
func (g *Gaps) Next(at time.Time, resources ...string) (first sources.Gap, ok bool) {
	consider := func(resource string) {
		for _, gap := range g.byResource[resource] {
			if (gap.Covers(at) || gap.Since.After(at)) && (!ok || gap.Since.Before(first.Since)) {
				first, ok = gap, true
			}
		}
	}
	consider("")
	for _, r := range resources {
		consider(r)
	}
	return first, ok
}

// Missed reports whether a change that the resource's watch delivers at that time may be older, and since
// when.
func (g *Gaps) Missed(at time.Time, resource string) (since time.Time, missed bool) {
	gap, ok := g.Next(at, resource)
	return gap.Since, ok && !gap.Since.After(at)
}

// Working reports whether the watches of all the resources work from at until at+long, so that they deliver
// changes when they happen.
func (g *Gaps) Working(at time.Time, long time.Duration, resources ...string) bool {
	gap, ok := g.Next(at, resources...)
	return !ok || gap.Since.After(at.Add(long))
}

// WorkingExcept is Working for all resources except those.
func (g *Gaps) WorkingExcept(at time.Time, long time.Duration, except ...string) bool {
	for resource := range g.byResource {
		if !slices.Contains(except, resource) && !g.Working(at, long, resource) {
			return false
		}
	}
	return true
}
