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

// starts are the kinds that a kube-scheduler began to read from their beginning, and when. A scheduler
// that starts reads all kinds within a moment; one that lost a single watch reads that kind again. One of
// several schedulers, as most are, begins its work when it holds the lease.
type starts []start

type start struct {
	resource string
	at       time.Time
	release  string // of the kube-scheduler, or ""
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
const schedulerUser = "system:kube-scheduler"

// isScheduler reports whether the user of an event is kube-scheduler. kube-apiserver writes its name first; other tools
// write members in another order, and with blanks.
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

// doings are what tells of the doings of kube-schedulers.
type doings struct {
	starts starts
	worked works
}

func (d *doings) empty() bool { return len(d.starts) == 0 && len(d.worked) == 0 }

func (d *doings) join(other *doings) {
	d.starts, d.worked = append(d.starts, other.starts...), append(d.worked, other.worked...)
}

// works are of which release the kube-scheduler was that worked, and from when until when: that of one log is in the order of it.
type works []work

type work struct {
	release  string
	from, to time.Time
}

// add takes in what e tells, and reports whether that is a start.
func (d *doings) add(e *event) bool {
	d.addRelease(e)
	starts := e.startsWatch() || e.holdsLease()
	if starts {
		d.starts.add(e)
	}
	return starts
}

// request returns that the scheduler made a request by the client whose rate limit its loop waits for, if e tells that.
func (e *event) request() (sources.Event, bool) {
	if !e.byLoopsClient() {
		return sources.Event{}, false
	}
	at := parse(string(e.received))
	return sources.Event{Time: at.UTC(), Fact: &sources.Requested{}}, sources.CheckTime(at) == nil
}

// addRelease takes in of which release the scheduler is that works.
func (d *doings) addRelease(e *event) {
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

// add takes in work that was asked for and done at those times. What was asked for before another release began to work, and is done
// only now, is no work of one that leads.
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

// maxWorks is how many changes of the release are taken in. An upgrade is one.
const maxWorks = 100

// sort puts the works of several logs in the order of time.
func (w works) sort() {
	slices.SortStableFunc(w, func(a, b work) int { return a.from.Compare(b.from) })
}

// heard returns when each of the releases was heard first after another.
func (w works) heard() []sources.Event {
	var heard []sources.Event
	for i := range w {
		if i == 0 || w[i].release != w[i-1].release {
			heard = append(heard, sources.Event{Time: w[i].from, Fact: &sources.SchedulerHeard{Release: sources.Sanitize(w[i].release), From: sources.ReleaseAgent}})
		}
	}
	return heard
}

// by returns the release of the scheduler that was at work at that time, or else of the next that was; "" if there is none.
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

// startsWatch reports whether with the event a kube-scheduler began to read a kind from its beginning: a
// watch that sends what there is first, or as older clients do, a list.
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

// schedulers returns when kube-schedulers started, in the order of time. worked is in that order, too.
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

// cacheLooks is how often a kube-scheduler up to v1.35 looks, from when it begins to read, whether it has read all kinds: without a
// lease to wait for it begins its work then. The first look is too early (client-go up to v0.35: informers/factory.go,
// WaitForCacheSync, and tools/cache, syncedPollPeriod; later ones are told).
const cacheLooks = 100 * time.Millisecond

func looksForCaches(release string) bool {
	var minor int
	_, err := fmt.Sscanf(release, "v1.%d", &minor)
	return err == nil && minor <= 35
}

// ofRelease returns when kube-schedulers of one release started, whose reads s are. held is when any held the lease, and worked
// who worked.
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
			continue // one of another release leads, as long as is told
		} else if by := worked.by(at); by != "" && by != release {
			continue // so it is, where no lease is told
		} else if looksForCaches(release) {
			at = first.Add((at.Sub(first)/cacheLooks + 1) * cacheLooks)
		}
		started := &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if release != "" {
			started.Release, started.From = sources.Sanitize(release), sources.ReleaseAgent
		}
		found = append(found, sources.Event{Time: at, Fact: started})
	}
	return found
}
