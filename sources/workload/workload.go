// Package workload makes scenarios from workload traces of other tools: nodes, and the times at which pods were created.
// They contain no decisions of a scheduler; a local one makes them.
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

// rest is the time from the last moment of a scenario to its end.
const rest = 30 * time.Second

// Part is the content of a file.
type Part struct {
	// Objects exist from the start: nodes.
	Objects []runtime.Object
	// Moments are the changes, in time order.
	Moments []scenario.Moment
	// Start is the time of the first moment. Zero if there is none.
	Start time.Time
	// Notices are sentences for the user.
	Notices []string
}

// HasNodes reports whether the part contains nodes.
func (p *Part) HasNodes() bool { return len(p.Objects) > 0 }

// Scenario merges parts, with additional objects that exist from the start.
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

// moments collects changes by seconds from the start.
type moments map[int64]*scenario.Moment

// at returns the moment of that second.
func (m moments) at(second int64) *scenario.Moment {
	if m[second] == nil {
		m[second] = &scenario.Moment{At: time.Duration(second) * time.Second}
	}
	return m[second]
}

// list returns the moments in time order.
func (m moments) list() []scenario.Moment {
	var all []scenario.Moment
	for _, moment := range m {
		all = append(all, *moment)
	}
	slices.SortFunc(all, func(a, b scenario.Moment) int { return cmp.Compare(a.At, b.At) })
	return all
}
