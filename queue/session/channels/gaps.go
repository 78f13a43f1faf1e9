package channels

// Gaps are the times without news of an attached cluster, as a whole or from one of its watches. What a silence means is
// decided elsewhere.

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Gaps are the times in which something was not heard, lately. Its zero value is ready for use.
type Gaps struct {
	of      map[string][]sources.Gap // by resource, in order. The whole cluster's are those of ""
	hearing sources.Hearing
}

// kept is for how long a gap that is over may be asked for: longer than a session is behind the clock.
const kept = time.Minute

// Note takes in how a stream stands at now.
func (g *Gaps) Note(now time.Time, status sources.Status) {
	for _, ev := range g.hearing.Tell(now, status) {
		g.Told(ev.Fact.(*sources.Unheard))
	}
	g.Forget(now)
}

// Told takes in what a source tells, or is going to.
func (g *Gaps) Told(u *sources.Unheard) {
	all := g.of[u.Resource]
	if n := len(all); n > 0 && (all[n-1].Lasts() || all[n-1].Since.Equal(u.Since)) {
		if all[n-1].Until = u.Until; u.Since.Before(all[n-1].Since) {
			all[n-1].Since = u.Since
		}
		return
	}
	if g.of == nil {
		g.of = map[string][]sources.Gap{}
	}
	g.of[u.Resource] = append(all, u.Gap)
}

// Ahead returns more, whose events are looked at before their time comes: the gaps among them are known then.
func (g *Gaps) Ahead(more func() (sources.Event, bool)) func() (sources.Event, bool) {
	if more == nil {
		return nil
	}
	return func() (sources.Event, bool) {
		ev, some := more()
		switch f := ev.Fact.(type) {
		case *sources.Unheard:
			g.Told(f)
		case *sources.Attached:
			g.end(ev.Time)
		}
		return ev, some
	}
}

// end ends what lasts: from at on, another source tells.
func (g *Gaps) end(at time.Time) {
	for _, all := range g.of {
		if n := len(all); n > 0 && all[n-1].Lasts() {
			all[n-1].Until = at
		}
	}
}

// Forget forgets the gaps that are long over at now.
func (g *Gaps) Forget(now time.Time) {
	for resource, all := range g.of {
		if len(all) > 0 && !all[0].Lasts() && now.Sub(all[0].Until) > kept {
			g.of[resource] = slices.DeleteFunc(all, func(gap sources.Gap) bool { return !gap.Lasts() && now.Sub(gap.Until) > kept })
		}
	}
}

// Next returns the first gap of any of resources, or of the whole cluster, that covers at or begins later. It returns false if there
// is none.
func (g *Gaps) Next(at time.Time, resources ...string) (first sources.Gap, some bool) {
	consider := func(resource string) {
		for _, gap := range g.of[resource] {
			if (gap.Covers(at) || gap.Since.After(at)) && (!some || gap.Since.Before(first.Since)) {
				first, some = gap, true
			}
		}
	}
	consider("")
	for _, r := range resources {
		consider(r)
	}
	return first, some
}

// Missed reports whether what a resource's watch tells at that moment may be what it did not hear before, and since when it may be.
func (g *Gaps) Missed(at time.Time, resource string) (since time.Time, may bool) {
	gap, some := g.Next(at, resource)
	return gap.Since, some && !gap.Since.After(at)
}

// Hears reports whether all of resources are heard from at on for that long: what comes of them comes when it happens.
func (g *Gaps) Hears(at time.Time, long time.Duration, resources ...string) bool {
	gap, some := g.Next(at, resources...)
	return !some || gap.Since.After(at.Add(long))
}

// HearsAllBut is Hears of all resources but those.
func (g *Gaps) HearsAllBut(at time.Time, long time.Duration, but ...string) bool {
	for resource := range g.of {
		if !slices.Contains(but, resource) && !g.Hears(at, long, resource) {
			return false
		}
	}
	return true
}
