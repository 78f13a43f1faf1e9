package sources

import (
	"context"
	"time"
)

// Stream is a source that continues while it is read: a live cluster.
type Stream interface {
	// Name returns the name to show.
	Name() SafeText
	// Run watches until ctx ends, and is called once. It returns an error if it can't continue. A lost connection
	// is no error, because it may come back.
	Run(ctx context.Context) error
	// Take returns the events since the last call, nearly in order of time, and the stream's status. One reader may
	// call it while Run runs.
	Take() ([]Event, Status)
}

// Status is the status of a stream at one time. It is never modified.
type Status struct {
	// Resources are the resources that the stream reads, in a fixed order.
	Resources []Resource
	// Attached is when all existing objects had been read. Zero until then.
	Attached time.Time
	// StaleSince is when the connection to the cluster was lost. Zero while it works; then Resources contains broken
	// watches.
	StaleSince time.Time
	// Answers is the shortest recent response time of the cluster, and Ahead how far this machine's clock is ahead of
	// the scheduler's, negative if it is behind. Zero if unknown.
	Answers, Ahead time.Duration
	// Trouble is why the connection is lost, or which lists fail and why. Empty if nothing is wrong.
	Trouble SafeText
	// Notices are sentences for the user: what is missing, and what that means.
	Notices []string
}

// Resource is the status of reading one resource.
type Resource struct {
	// Name is the name of the resource, such as pods.
	Name  string
	State ResourceState
	// Objects is the number of objects read so far.
	Objects int
	// Trouble is why it can't be read. Empty if nothing is wrong.
	Trouble SafeText
	// Gap is the last time in which the watch did not work. Zero if there was none.
	Gap Gap
}

// Gap is a time without a working watch: from the end of one watch until the next one continued, or until the resource
// was listed again. Changes during the gap are reported at its end with that time, and of several changes of an object
// perhaps only the last. Only Events contain their own time.
type Gap struct {
	Since time.Time
	// Until is zero while it lasts.
	Until time.Time
}

// CatchUp limits how long after the end of a gap missed changes are delivered. Chosen: a watch delivers pending
// changes at once.
const CatchUp = 100 * time.Millisecond

// Lasts reports whether the gap has no end yet.
func (g Gap) Lasts() bool { return !g.Since.IsZero() && g.Until.IsZero() }

// Covers reports whether at is in the gap, or at most CatchUp after it.
func (g Gap) Covers(at time.Time) bool {
	return !g.Since.IsZero() && !at.Before(g.Since) && (g.Until.IsZero() || !at.After(g.Until.Add(CatchUp)))
}

// The resources whose watches show the scheduler's activity.
const (
	PodsWatch   = "pods"
	EventsWatch = "events"
	LeasesWatch = "leases"
)

// ResourceState is the state of reading a resource.
type ResourceState string

// The states of a resource.
const (
	ResourceWaiting   ResourceState = "waiting"
	ResourceListing   ResourceState = "listing"
	ResourceWatched   ResourceState = "watched"
	ResourceFailing   ResourceState = "failing"
	ResourceForbidden ResourceState = "forbidden"
	ResourceNotServed ResourceState = "not served"
)

// Settled reports whether the resource is ready or will never be.
func (r Resource) Settled() bool { return r.State == ResourceWatched || r.DoneWithout() }

// DoneWithout reports whether the resource is not served, or must not be read.
func (r Resource) DoneWithout() bool {
	return r.State == ResourceForbidden || r.State == ResourceNotServed
}

// Broken reports whether the watch does not work, for longer than the next one takes to begin.
func (r Resource) Broken() bool { return r.Gap.Lasts() && r.Trouble != "" && !r.DoneWithout() }

// GapTracker turns the status of a stream, passed from time to time, into WatchGap events. The zero value is ready to
// use.
type GapTracker struct {
	last map[string]Gap // by resource
}

// Update returns a *WatchGap for each start and end of a gap since the last call.
func (t *GapTracker) Update(now time.Time, status Status) (news []Event) {
	stale := Gap{Since: status.StaleSince}
	if last := t.last[""]; stale.Since.IsZero() && last.Lasts() {
		stale = Gap{Since: last.Since, Until: now}
	} else if last.Lasts() && last.Since.Before(stale.Since) {
		stale = last // it was known before
	}
	news = t.add(news, "", stale)
	for _, r := range status.Resources {
		news = t.add(news, r.Name, r.Gap)
	}
	return news
}

// add appends the start and the end of a resource's last gap to news, if they are new.
func (t *GapTracker) add(news []Event, resource string, gap Gap) []Event {
	last := t.last[resource]
	if gap.Since.IsZero() || gap == last {
		return news
	}
	if t.last == nil {
		t.last = map[string]Gap{}
	}
	t.last[resource] = gap
	if !gap.Since.Equal(last.Since) {
		news = append(news, Event{Time: gap.Since, Fact: &WatchGap{resource, Gap{Since: gap.Since}}})
	}
	if !gap.Lasts() {
		news = append(news, Event{Time: gap.Until, Fact: &WatchGap{resource, gap}})
	}
	return news
}
