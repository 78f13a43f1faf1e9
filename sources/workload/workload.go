// Package workload makes scenarios of what other tools recorded of a cluster's work: which nodes there were, and which pods were asked for
// when. No scheduler's doing is in it; a local one decides.
//
// The tables of Alibaba's open GPU trace are read by ReadOpenb, SimKube's traces by ReadSimKube.
package workload

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// rest is how long a scenario goes on behind its last moment.
const rest = 30 * time.Second

// Part is what one file tells.
type Part struct {
	// Objects are there from the start: nodes.
	Objects []runtime.Object
	// Moments are what happens, in the order of time.
	Moments []scenario.Moment
	// Start is when the first of them is. Zero if there is none.
	Start time.Time
	// Notices are sentences for the person.
	Notices []string
}

// HasNodes reports whether the part tells of nodes.
func (p *Part) HasNodes() bool { return len(p.Objects) > 0 }

// Scenario puts parts together, with objects that are there from the start beside theirs.
func Scenario(name sources.SafeText, parts []*Part, beside []runtime.Object) *scenario.Scenario {
	s := &scenario.Scenario{Name: name, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1, Objects: slices.Clone(beside)}
	for _, p := range parts {
		if !p.Start.IsZero() && (s.Start.IsZero() || p.Start.Before(s.Start)) {
			s.Start = p.Start
		}
	}
	for _, p := range parts {
		s.Objects = append(s.Objects, p.Objects...)
		for _, m := range p.Moments {
			m.At += p.Start.Sub(s.Start)
			s.Moments = append(s.Moments, m)
			s.End = max(s.End, m.At+rest)
		}
	}
	slices.SortStableFunc(s.Moments, func(a, b scenario.Moment) int { return cmp.Compare(a.At, b.At) })
	return s
}

// moments gathers what happens, by seconds from the start.
type moments map[int64]*scenario.Moment

// at returns the moment of that second.
func (m moments) at(second int64) *scenario.Moment {
	if m[second] == nil {
		m[second] = &scenario.Moment{At: time.Duration(second) * time.Second}
	}
	return m[second]
}

// list returns them in the order of time.
func (m moments) list() []scenario.Moment {
	var all []scenario.Moment
	for _, moment := range m {
		all = append(all, *moment)
	}
	slices.SortFunc(all, func(a, b scenario.Moment) int { return cmp.Compare(a.At, b.At) })
	return all
}
