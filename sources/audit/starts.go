package audit

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
)

// starts are the times at which a kube-scheduler began to read kinds from their beginning. A scheduler
// that starts reads all kinds within a moment; one that lost a single watch reads that kind again. A
// scheduler with leader election, as most have, begins its work when it holds the lease.
type starts []start

type start struct {
	resource string
	at       time.Time
	release  string // of the kube-scheduler, or ""
}

// A start of the scheduler is that many kinds within that time.
const (
	startKinds  = 5
	startWithin = 10 * time.Second
)

// schedulerAgent is the beginning of kube-scheduler's user agent: the name of its binary, followed by a slash and the
// version. A binary can be called kube-scheduler-v1.37.1.
const schedulerAgent = "kube-scheduler"

// schedulerUser is kube-scheduler's user, whatever its user agent: k3s runs it in its own process.
const schedulerUser = "system:kube-scheduler"

// isScheduler reports whether the user of an event is kube-scheduler. kube-apiserver writes the username first; other
// tools write members in another order, and with blanks.
func isScheduler(user []byte) bool {
	if name, known := bytes.CutPrefix(user, []byte(`{"username":"`)); known {
		return bytes.HasPrefix(name, []byte(schedulerUser+`"`))
	}
	is := false
	_ = jsonscan.Members(user, func(name, value []byte) bool {
		is = is || string(name) == "username" && string(jsonscan.Text(value)) == schedulerUser
		return !is
	})
	return is
}

// byScheduler reports whether kube-scheduler made the request.
func (e *event) byScheduler() bool { return e.isScheduler || e.calledScheduler() }

// calledScheduler reports whether the client calls itself kube-scheduler.
func (e *event) calledScheduler() bool {
	rest, ok := bytes.CutPrefix(e.userAgent, []byte(schedulerAgent))
	return ok && (bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("-v")))
}

// byLoopsClient reports whether kube-scheduler made the request with the client whose rate limit its loop waits for: see
// sources.Requested. Of a watch, which is logged when it begins and when it ends, only the beginning counts.
func (e *event) byLoopsClient() bool {
	return e.byScheduler() && bytes.HasSuffix(e.userAgent, []byte("/scheduler")) && e.resource != "events" &&
		(string(e.verb) == "watch") == (string(e.stage) == "ResponseStarted")
}

// release returns the version of the kube-scheduler that made the request, such as v1.31.4, or nil if unknown: the user
// agent of a binary that was built by hand has v0.0.0.
func (e *event) release() []byte {
	_, version, _ := bytes.Cut(e.userAgent, []byte("/"))
	version, _, _ = bytes.Cut(version, []byte(" "))
	if !e.calledScheduler() || !bytes.HasPrefix(version, []byte("v1.")) || len(version) > maxVersion {
		return nil
	}
	return version
}

// maxVersion limits the length of a version, such as v1.31.4-eks-1234567.
const maxVersion = 64

// isWork reports whether a kube-scheduler did work in the event that only the leader does.
func (e *event) isWork() bool {
	return e.writes() && e.resource != leases && string(e.stage) == "ResponseComplete" && e.byScheduler() && e.succeeded()
}

// activity is what kube-schedulers did.
type activity struct {
	starts starts
	worked works
}

func (d *activity) empty() bool { return len(d.starts) == 0 && len(d.worked) == 0 }

func (d *activity) join(other *activity) {
	d.starts, d.worked = append(d.starts, other.starts...), append(d.worked, other.worked...)
}

// works are the releases of the kube-schedulers that worked, and when, in the order of the log.
type works []work

type work struct {
	release  string
	from, to time.Time
}

// add adds an event, and reports whether it is part of a start.
func (d *activity) add(e *event) bool {
	d.addRelease(e)
	starts := e.startsWatch() || e.holdsLease()
	if starts {
		d.starts.add(e)
	}
	return starts
}

// request returns the scheduler's request in e, if it was made with the client whose rate limit the loop waits for.
func (e *event) request() (sources.Event, bool) {
	if !e.byLoopsClient() {
		return sources.Event{}, false
	}
	at := parse(string(e.received))
	return sources.Event{Time: at.UTC(), Fact: &sources.Requested{}}, sources.CheckTime(at) == nil
}

// addRelease records the release of the scheduler that works.
func (d *activity) addRelease(e *event) {
	version := e.release()
	if version == nil || !e.isWork() {
		return
	}
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err != nil || sources.CheckTime(at) != nil {
		return
	}
	d.worked.add(string(version), at.UTC(), parse(string(e.received)))
}

// add adds work that was requested and done at those times. Work that was requested before another release began to work
// and done later is not a leader's.
func (w *works) add(release string, done, asked time.Time) {
	if n := len(*w); n > 0 {
		switch last := &(*w)[n-1]; {
		case last.release == release:
			if done.After(last.to) {
				last.to = done
			}
			return
		case n >= maxWorks, !asked.IsZero() && asked.Before(last.from) && !done.Before(last.from):
			return
		}
	}
	*w = append(*w, work{release, done, done})
}

// maxWorks limits how many changes of the release are recorded. An upgrade is one.
const maxWorks = 100

// sort puts the works of several logs in the order of time.
func (w works) sort() {
	slices.SortStableFunc(w, func(a, b work) int { return a.from.Compare(b.from) })
}

// events returns a *sources.SchedulerRunning for each change of the release.
func (w works) events() []sources.Event {
	var all []sources.Event
	for i := range w {
		if i == 0 || w[i].release != w[i-1].release {
			all = append(all, sources.Event{Time: w[i].from, Fact: &sources.SchedulerRunning{Release: sources.Sanitize(w[i].release), From: sources.ReleaseAgent}})
		}
	}
	return all
}

// by returns the release of the scheduler that was at work at that time, or of the next one, or "".
func (w works) by(at time.Time) string {
	for i := range w {
		if !w[i].to.Before(at) {
			return w[i].release
		}
	}
	return ""
}

// isRead reports whether the event is a watch or a list.
func (e *event) isRead() bool { return string(e.verb) == "watch" || string(e.verb) == "list" }

// startsWatch reports whether a kube-scheduler began to read a kind from its beginning in the event: with a
// watch that first sends the existing objects, or, in older clients, a list.
func (e *event) startsWatch() bool {
	if e.kind.Name == "" || e.namespace != "" || !e.isRead() || !e.byScheduler() {
		return false
	}
	if string(e.verb) == "list" {
		return string(e.stage) == "ResponseComplete"
	}
	return string(e.stage) == "ResponseStarted" && bytes.Contains(e.uri, []byte("sendInitialEvents=true"))
}

func (s *starts) add(e *event) {
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err == nil && sources.CheckTime(at) == nil && len(*s) < maxEntries {
		*s = append(*s, start{e.resource, at.UTC(), string(e.release())})
	}
}

// held returns when kube-schedulers took or renewed their lease.
func (s starts) held() []time.Time {
	var held []time.Time
	for _, st := range s {
		if st.resource == leases {
			held = append(held, st.at)
		}
	}
	return held
}

// schedulers returns when kube-schedulers started, in the order of time. worked must be in that order, too.
func (s starts) schedulers(worked works) []sources.Event {
	slices.SortStableFunc(s, func(a, b start) int { return a.at.Compare(b.at) })
	var held starts
	byRelease := map[string]starts{}
	for _, st := range s {
		if st.resource == leases {
			held = append(held, st)
		} else {
			byRelease[st.release] = append(byRelease[st.release], st)
		}
	}
	var found []sources.Event
	for _, release := range slices.Sorted(maps.Keys(byRelease)) {
		found = append(found, byRelease[release].ofRelease(release, held, worked)...)
	}
	slices.SortStableFunc(found, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return found
}

// cachePoll is the interval at which a kube-scheduler up to v1.35 checks, from when it begins to read, whether it has read
// all kinds: without a lease to wait for, it begins its work then. The first check is too early (client-go up to v0.35:
// informers/factory.go, WaitForCacheSync, and tools/cache, syncedPollPeriod; later ones are notified).
const cachePoll = 100 * time.Millisecond

func pollsCaches(release string) bool {
	var minor int
	_, err := fmt.Sscanf(release, "v1.%d", &minor)
	return err == nil && minor <= 35
}

// ofRelease returns when kube-schedulers of one release started. s are their reads, held is when any scheduler held the
// lease, and worked the schedulers that worked.
func (s starts) ofRelease(release string, held starts, worked works) []sources.Event {
	var found []sources.Event
	for len(s) > 0 {
		n := 1
		kinds := map[string]bool{s[0].resource: true}
		for n < len(s) && s[n].at.Sub(s[0].at) < startWithin {
			kinds[s[n].resource] = true
			n++
		}
		if len(kinds) < startKinds {
			s = s[1:]
			continue
		}
		first, at := s[0].at, s[n-1].at
		s = s[n:]
		later := slices.DeleteFunc(slices.Clone(held), func(st start) bool { return st.at.Before(at) })
		if i := slices.IndexFunc(later, func(st start) bool { return st.release == release }); i >= 0 {
			at = later[i].at
		} else if len(later) > 0 {
			continue // a scheduler of another release leads
		} else if by := worked.by(at); by != "" && by != release {
			continue // the same, in a log without the lease
		} else if pollsCaches(release) {
			at = first.Add((at.Sub(first)/cachePoll + 1) * cachePoll)
		}
		started := &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if release != "" {
			started.Release, started.From = sources.Sanitize(release), sources.ReleaseAgent
		}
		found = append(found, sources.Event{Time: at, Fact: started})
	}
	return found
}
