// Package gaps knows when a cluster that a session is attached to was not heard, as a whole or by one of its watches. It draws no
// conclusion: what a silence means, package model knows.
package gaps

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Gaps are the times in which something was not heard, lately. A recording has none. Its zero value is ready for use.
type Gaps struct {
	of map[string][]sources.Gap // by resource, in order. The whole cluster's are those of ""
}

// kept is for how long a gap that is over may be asked for: longer than a session is behind the clock.
const kept = time.Minute

// Note takes in how a stream stands at now.
func (g *Gaps) Note(now time.Time, status sources.Status) {
	switch stale, last := status.StaleSince, g.last(""); {
	case !stale.IsZero() && (last == nil || !last.Lasts()):
		g.note(now, "", sources.Gap{Since: stale})
	case !stale.IsZero() && stale.Before(last.Since):
		last.Since = stale
	case stale.IsZero() && last != nil && last.Lasts():
		last.Until = now
	}
	for _, r := range status.Resources {
		if r.Unheard.Since.IsZero() {
			continue
		}
		if last := g.last(r.Name); last != nil && last.Since.Equal(r.Unheard.Since) {
			last.Until = r.Unheard.Until
		} else {
			g.note(now, r.Name, r.Unheard)
		}
	}
}

// last returns the last gap of a resource, or nil.
func (g *Gaps) last(resource string) *sources.Gap {
	all := g.of[resource]
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// note adds a gap, and forgets those that are long over.
func (g *Gaps) note(now time.Time, resource string, gap sources.Gap) {
	if g.of == nil {
		g.of = map[string][]sources.Gap{}
	}
	g.of[resource] = append(slices.DeleteFunc(g.of[resource], func(old sources.Gap) bool {
		return !old.Lasts() && now.Sub(old.Until) > kept
	}), gap)
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
