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
	// StaleSince is since when nothing can be heard of the cluster. Zero while it can.
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
}

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
func (r Resource) Settled() bool {
	return r.State == ResourceWatched || r.State == ResourceForbidden || r.State == ResourceNotServed
}
