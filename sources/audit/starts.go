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

// schedulerUser is the user that kube-scheduler is to an API server, whatever it calls itself: k3s runs it inside of k3s.
const schedulerUser = `"username":"system:kube-scheduler"`

// byScheduler reports whether kube-scheduler made the request.
func (e *event) byScheduler() bool { return e.isScheduler || e.calledScheduler() }

// calledScheduler reports whether the client calls itself kube-scheduler.
func (e *event) calledScheduler() bool {
	rest, ok := bytes.CutPrefix(e.userAgent, []byte(schedulerAgent))
	return ok && (bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("-v")))
}

// byLoopsClient reports whether kube-scheduler made the request by the client whose rate limit its loop waits for: see
// sources.Requested. Of a watch, which is told when it begins and when it ends, only the beginning is one.
func (e *event) byLoopsClient() bool {
	return e.byScheduler() && bytes.HasSuffix(e.userAgent, []byte("/scheduler")) && e.resource != "events" &&
		(string(e.verb) == "watch") == (string(e.stage) == "ResponseStarted")
}

// release returns the version of the kube-scheduler that made the request, such as v1.31.4, or nil if it does not say:
// a binary that was built by hand calls itself v0.0.0.
func (e *event) release() []byte {
	_, version, _ := bytes.Cut(e.userAgent, []byte("/"))
	version, _, _ = bytes.Cut(version, []byte(" "))
	if !e.calledScheduler() || !bytes.HasPrefix(version, []byte("v1.")) || len(version) > maxVersion {
		return nil
	}
	return version
}

// maxVersion is how long a version may be, v1.31.4-eks-1234567 for one.
const maxVersion = 64

// isWork reports whether with the event a kube-scheduler did its work: of several, only the one that leads does.
func (e *event) isWork() bool {
	return e.writes() && e.resource != leases && string(e.stage) == "ResponseComplete" && e.byScheduler() && e.succeeded()
}

// noteRelease takes in of which release the scheduler is that works.
func (l *Log) noteRelease(e *event) {
	version := e.release()
	if version == nil || !e.isWork() {
		return
	}
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err != nil || sources.CheckTime(at) != nil || len(l.heard) >= maxHeard {
		return
	}
	if n := len(l.heard); n == 0 || string(l.heard[n-1].Fact.(*sources.SchedulerHeard).Release) != string(version) {
		l.heard = append(l.heard, sources.Event{Time: at.UTC(), Fact: &sources.SchedulerHeard{Release: sources.Sanitize(string(version))}})
	}
}

// maxHeard is how many changes of the release are taken in. An upgrade is one.
const maxHeard = 100

// firstHeard returns when each of the releases was heard first after another.
func firstHeard(heard []sources.Event) []sources.Event {
	slices.SortStableFunc(heard, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return slices.CompactFunc(heard, func(a, b sources.Event) bool {
		return a.Fact.(*sources.SchedulerHeard).Release == b.Fact.(*sources.SchedulerHeard).Release
	})
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
