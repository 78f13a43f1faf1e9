package sources

import (
	"context"
	"time"
)

// Stream is a source that goes on while it is read: a live cluster.
type Stream interface {
	// Name is what to call it.
	Name() SafeText
	// Run watches until ctx ends, and is called once. An error, one sentence, says why it can't go on; a
	// connection that is lost is none, because it may come back.
	Run(ctx context.Context) error
	// Take returns what was seen since the last call, nearly in the order of time, and how the stream
	// stands. It may be called while Run runs, by one reader.
	Take() ([]Event, Status)
}

// Status is how a stream stands at one moment. It is never modified.
type Status struct {
	// Resources are what the stream reads, in a fixed order.
	Resources []Resource
	// Attached is when all that was there before had been read. Zero until then.
	Attached time.Time
	// StaleSince is since when nothing can be heard of the cluster. Zero while something can, and then Resources say of what not.
	StaleSince time.Time
	// Answers is how long the cluster takes to answer at the least, lately, and Ahead how far this machine's clock is ahead
	// of the scheduler's, negative if it is behind. Zero while that is not known.
	Answers, Ahead time.Duration
	// Trouble says what is wrong: why nothing can be heard of the cluster, or which lists fail, and why. Empty
	// if nothing is wrong.
	Trouble SafeText
	// Notices are sentences for the person: what is missing, and what that means.
	Notices []string
}

// Resource is how the reading of one kind of objects stands.
type Resource struct {
	// Name is the resource's, as in "pods".
	Name  string
	State ResourceState
	// Objects is how many there are, or have come so far.
	Objects int
	// Trouble says why it can't be read. Empty if nothing is wrong.
	Trouble SafeText
	// Unheard is when nothing was heard of it last, after it had been watched or could have been. Zero if that never was.
	Unheard Gap
}

// Gap is a time in which a watch heard nothing: from its end until the next one went on, or until all there is was listed anew.
// What happened meanwhile is told after it, as if it were then, and of what changed more than once perhaps only how it ended. Only an
// Event says itself when it was.
type Gap struct {
	Since time.Time
	// Until is zero while it lasts.
	Until time.Time
}

// CatchUp is how long after the end of a gap it may take until all is told that was missed. Chosen: what a watch has to tell it
// sends at once.
const CatchUp = 100 * time.Millisecond

// Lasts reports whether the gap has no end yet.
func (g Gap) Lasts() bool { return !g.Since.IsZero() && g.Until.IsZero() }

// Covers reports whether at is in the gap, or no later than what was missed in it is told.
func (g Gap) Covers(at time.Time) bool {
	return !g.Since.IsZero() && !at.Before(g.Since) && (g.Until.IsZero() || !at.After(g.Until.Add(CatchUp)))
}

// The resources whose watches tell of the scheduler's doing.
const (
	PodsWatch   = "pods"
	EventsWatch = "events"
	LeasesWatch = "leases"
)

// ResourceState says how far the reading of a resource has come.
type ResourceState string

// The states of a resource. One that is not served, or that may not be read, is done without.
const (
	ResourceWaiting   ResourceState = "waiting"
	ResourceListing   ResourceState = "listing"
	ResourceWatched   ResourceState = "watched"
	ResourceFailing   ResourceState = "failing"
	ResourceForbidden ResourceState = "forbidden"
	ResourceNotServed ResourceState = "not served"
)

// Settled reports whether nothing more is to be waited for before work can begin.
func (r Resource) Settled() bool { return r.State == ResourceWatched || r.DoneWithout() }

// DoneWithout reports whether it is not served, or may not be read.
func (r Resource) DoneWithout() bool {
	return r.State == ResourceForbidden || r.State == ResourceNotServed
}

// Broken reports whether nothing is heard of it any more, for longer than the next watch takes to begin.
func (r Resource) Broken() bool { return r.Unheard.Lasts() && r.Trouble != "" && !r.DoneWithout() }

// Hearing tells of a stream, whose status is looked at from time to time, when what of it is not heard. Its zero value is ready for
// use.
type Hearing struct {
	told map[string]Gap // the last of each resource
}

// Tell returns what is new of how a stream stands at now: *Unheard, each at its time.
func (h *Hearing) Tell(now time.Time, status Status) (news []Event) {
	stale := Gap{Since: status.StaleSince}
	if last := h.told[""]; stale.Since.IsZero() && last.Lasts() {
		stale = Gap{Since: last.Since, Until: now}
	} else if last.Lasts() && last.Since.Before(stale.Since) {
		stale = last // it is known longer
	}
	news = h.tell(news, "", stale)
	for _, r := range status.Resources {
		news = h.tell(news, r.Name, r.Unheard)
	}
	return news
}

// tell adds to news what is new of a resource's last gap: that it began, that it is over, or both.
func (h *Hearing) tell(news []Event, resource string, gap Gap) []Event {
	last := h.told[resource]
	if gap.Since.IsZero() || gap == last {
		return news
	}
	if h.told == nil {
		h.told = map[string]Gap{}
	}
	h.told[resource] = gap
	if !gap.Since.Equal(last.Since) {
		news = append(news, Event{Time: gap.Since, Fact: &Unheard{resource, Gap{Since: gap.Since}}})
	}
	if !gap.Lasts() {
		news = append(news, Event{Time: gap.Until, Fact: &Unheard{resource, gap}})
	}
	return news
}
