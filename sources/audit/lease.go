package audit

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// leases is the resource with which schedulers elect their leader.
const leases = "leases"

// kube-scheduler's default lease (component-base, config.LeaderElectionConfiguration): the leader renews it every
// renewsEvery, and loses it when it has not done so for the lease's duration.
const (
	leaseLasts  = 15 * time.Second
	renewsEvery = 2 * time.Second
)

// holdsLease reports whether a kube-scheduler acquired or renewed its lease in the event.
func (e *event) holdsLease() bool {
	return e.resource == leases && e.writes() && string(e.stage) == "ResponseComplete" && e.byScheduler() && e.succeeded()
}

// coverage is the set of ten-second intervals in which a log has a line.
type coverage map[string]struct{}

// intervalLen is the length of the prefix of a time that identifies such an interval: 2026-11-21T10:56:1.
const intervalLen = len("2026-11-21T10:56:1")

// throughout reports whether there is a line in each interval between two times.
func (c coverage) throughout(from, to time.Time) bool {
	for at := from; at.Before(to); at = at.Add(10 * time.Second) {
		if _, ok := c[at.UTC().Format(time.RFC3339)[:intervalLen]]; !ok {
			return false
		}
	}
	return true
}

// lapses returns when the lease, which was renewed at those times, expired, and when it was renewed again. It ignores times
// without lines in the log.
func lapses(renewed []time.Time, covered coverage, end time.Time) []sources.Event {
	slices.SortFunc(renewed, time.Time.Compare)
	var found []sources.Event
	for i, at := range renewed {
		next := end
		if i+1 < len(renewed) {
			next = renewed[i+1]
		}
		if next.Sub(at) <= leaseLasts || !covered.throughout(at, next) {
			continue
		}
		found = append(found, sources.Event{Time: at.Add(renewsEvery), Fact: &sources.Silent{Since: at}})
		if i+1 < len(renewed) {
			found = append(found, sources.Event{Time: next, Fact: &sources.Silent{}})
		}
	}
	return found
}
