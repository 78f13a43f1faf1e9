package audit

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// leases is the resource that schedulers elect their leader by.
const leases = "leases"

// The schedulers' lease, as kube-scheduler has it by default (component-base, config.LeaderElectionConfiguration): the
// leader renews it every renewsEvery, and nobody leads once it has not for as long as it lasts.
const (
	leaseLasts  = 15 * time.Second
	renewsEvery = 2 * time.Second
)

// holdsLease reports whether with the event a kube-scheduler took its lease, or renewed it.
func (e *event) holdsLease() bool {
	return e.resource == leases && e.writes() && string(e.stage) == "ResponseComplete" && e.byScheduler() && e.succeeded()
}

// hearing is in which stretches of ten seconds a log has a line, by the times that these begin with.
type hearing map[string]struct{}

// stretch is how much of a time, 2026-11-21T10:56:1, is that of such a stretch.
const stretch = len("2026-11-21T10:56:1")

// throughout reports whether there is a line in each stretch from one moment to another.
func (h hearing) throughout(from, to time.Time) bool {
	for at := from; at.Before(to); at = at.Add(10 * time.Second) {
		if _, ok := h[at.UTC().Format(time.RFC3339)[:stretch]]; !ok {
			return false
		}
	}
	return true
}

// lapses returns when the lease that was renewed at those moments was not renewed for longer than it lasts, and when it was
// again. A log that has no lines in that time tells nothing.
func lapses(renewed []time.Time, heard hearing, end time.Time) []sources.Event {
	slices.SortFunc(renewed, time.Time.Compare)
	var found []sources.Event
	for i, at := range renewed {
		next := end
		if i+1 < len(renewed) {
			next = renewed[i+1]
		}
		if next.Sub(at) <= leaseLasts || !heard.throughout(at, next) {
			continue
		}
		found = append(found, sources.Event{Time: at.Add(renewsEvery), Fact: &sources.Silent{Since: at}})
		if i+1 < len(renewed) {
			found = append(found, sources.Event{Time: next, Fact: &sources.Silent{}})
		}
	}
	return found
}
