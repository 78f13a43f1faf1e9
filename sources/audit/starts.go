package audit

import (
	"bytes"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// starts are the kinds that a kube-scheduler began to read from their beginning, and when. A scheduler
// that starts reads all kinds within a moment; one that lost a single watch reads that kind again. One of
// several schedulers, as most are, begins its work when it holds the lease.
type starts []start

type start struct {
	resource string
	at       time.Time
}

// A start of the scheduler: so many kinds within such a time.
const (
	startKinds  = 5
	startWithin = 10 * time.Second
)

// schedulerAgent begins the name by which kube-scheduler calls itself: its binary's, and its version after a
// slash. A binary can be called kube-scheduler-v1.37.1.
const schedulerAgent = "kube-scheduler"

// byScheduler reports whether kube-scheduler made the request.
func (e *event) byScheduler() bool {
	rest, ok := bytes.CutPrefix(e.userAgent, []byte(schedulerAgent))
	return ok && (bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("-v")))
}

// isRead reports whether the event is a watch or a list.
func (e *event) isRead() bool { return string(e.verb) == "watch" || string(e.verb) == "list" }

// startsWatch reports whether with the event a kube-scheduler began to read a kind from its beginning: a
// watch that sends what there is first, or as older clients do, a list.
func (e *event) startsWatch() bool {
	if e.kind.name == "" || e.namespace != "" || !e.isRead() || !e.byScheduler() {
		return false
	}
	if string(e.verb) == "list" {
		return string(e.stage) == "ResponseComplete"
	}
	return string(e.stage) == "ResponseStarted" && bytes.Contains(e.uri, []byte("sendInitialEvents=true"))
}

// leases is the resource that schedulers elect their leader by.
const leases = "leases"

// holdsLease reports whether with the event a kube-scheduler took its lease, or renewed it.
func (e *event) holdsLease() bool {
	return e.resource == leases && e.writes() && string(e.stage) == "ResponseComplete" && e.byScheduler() && e.succeeded()
}

func (s *starts) add(e *event) {
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err == nil && sources.CheckTime(at) == nil && len(*s) < maxEntries {
		*s = append(*s, start{e.resource, at.UTC()})
	}
}

// schedulers returns when kube-schedulers started.
func (s starts) schedulers() []sources.Event {
	slices.SortStableFunc(s, func(a, b start) int { return a.at.Compare(b.at) })
	var held starts
	s = slices.DeleteFunc(s, func(st start) bool {
		if st.resource == leases {
			held = append(held, st)
		}
		return st.resource == leases
	})
	var found []sources.Event
	for len(s) > 0 {
		n := 1
		kinds := map[string]bool{s[0].resource: true}
		for n < len(s) && s[n].at.Sub(s[0].at) < startWithin {
			kinds[s[n].resource] = true
			n++
		}
		if len(kinds) >= startKinds {
			at := s[n-1].at
			if i := slices.IndexFunc(held, func(st start) bool { return !st.at.Before(at) }); i >= 0 {
				at = held[i].at
			}
			found = append(found, sources.Event{Time: at, Fact: &sources.SchedulerStarted{
				PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1,
			}})
			s = s[n:]
		} else {
			s = s[1:]
		}
	}
	return found
}
