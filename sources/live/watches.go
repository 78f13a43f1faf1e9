package live

// A watchSet records the progress of each resource's first list, and since when its watch is broken. It sends no request
// and reads no clock.

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// watchSet is the state of a cluster's lists and watches. It is not safe for concurrent use.
type watchSet struct {
	begun time.Time
	asked time.Time // time of the last Report
	names []string  // in the order of Report
	state map[string]*sources.Resource
	came  map[string]time.Time // arrival of the latest object of a list

	ran     time.Time       // when this process last ran
	resumed time.Time       // when it last resumed after a stop
	stopped map[string]bool // resources without events since the stop; their watches may still work
}

// newWatches returns the state before the resources are read.
func newWatches(names ...string) *watchSet {
	w := &watchSet{names: names, state: map[string]*sources.Resource{}, came: map[string]time.Time{}, stopped: map[string]bool{}}
	for _, name := range names {
		w.state[name] = &sources.Resource{Name: name, State: sources.ResourceWaiting}
	}
	return w
}

// Begin records the start of reading.
func (w *watchSet) Begin(now time.Time) { w.begun = now }

// Begun returns the time of Begin. Zero before it.
func (w *watchSet) Begun() time.Time { return w.begun }

// State returns the state of a resource.
func (w *watchSet) State(name string) sources.ResourceState { return w.state[name].State }

// Delivers reports whether the events of a resource arrive as they occur: its watch works, and has delivered the events
// that it missed before.
func (w *watchSet) Delivers(now time.Time, name string) bool {
	r := w.state[name]
	return r.State == sources.ResourceWatched && !r.Gap.Covers(now)
}

const (
	// notRunning is the time without a call of Runs, which is called each second, that shows that the process was stopped.
	notRunning = 5 * time.Second
	// catchUp is how long after that the watches may still deliver events of the gap.
	catchUp = 2 * time.Second
)

// Runs records that the process runs at now. If it was stopped before, or the machine slept, there is a gap: events that
// the watches deliver now may have occurred at any time in it.
func (w *watchSet) Runs(now time.Time) {
	ran := w.ran
	w.ran = now
	// By the wall clock: the monotonic clock stops while a machine sleeps.
	if ran.IsZero() || now.Round(0).Sub(ran.Round(0)) < notRunning {
		if len(w.stopped) > 0 && now.Sub(w.resumed) >= catchUp {
			for name := range w.stopped {
				w.state[name].Gap.Until = now
			}
			clear(w.stopped)
		}
		return
	}
	w.resumed = now
	for _, r := range w.state {
		if r.State == sources.ResourceWatched && !r.Gap.Lasts() {
			r.Gap = sources.Gap{Since: ran}
			w.stopped[r.Name] = true
		}
	}
}

// Streamed records the arrival of an object of a list.
func (w *watchSet) Streamed(now time.Time, name string) {
	r := w.state[name]
	w.came[name] = now
	if r.State == sources.ResourceWaiting || r.State == sources.ResourceFailing || r.State == sources.ResourceWatched && r.Gap.Lasts() {
		r.State, r.Objects = sources.ResourceListing, 0 // its trouble ends when the list is complete
	}
	if r.State == sources.ResourceListing {
		r.Objects++
	}
}

// Watched records that a list is complete, or that a watch continued where the last one had ended.
func (w *watchSet) Watched(now time.Time, name string) {
	r := w.state[name]
	r.State, r.Trouble = sources.ResourceWatched, ""
	delete(w.stopped, name)
	if r.Gap.Lasts() {
		r.Gap.Until = now
	}
}

// Ended records that the watch of a resource has ended, or that it delivered nothing since now because it did not run. It
// does nothing while the resource is not watched.
func (w *watchSet) Ended(now time.Time, name string) {
	r := w.state[name]
	delete(w.stopped, name)
	if r.State != sources.ResourceWatched || r.Gap.Lasts() {
		return
	}
	if since := r.Gap.Since; !since.IsZero() && !r.Gap.Until.Before(w.asked) {
		now = since // an earlier end was not reported yet
	}
	r.Gap = sources.Gap{Since: now}
}

// Failed records a failed request that will be retried, and why it failed.
func (w *watchSet) Failed(now time.Time, name string, why sources.SafeText) {
	w.Ended(now, name)
	r := w.state[name]
	r.State, r.Trouble = sources.ResourceFailing, why
}

// Unavailable records that a resource can't be read, and why. It returns false if that was known.
func (w *watchSet) Unavailable(now time.Time, name string, state sources.ResourceState, why sources.SafeText) bool {
	r := w.state[name]
	if r.State == state {
		return false
	}
	w.Ended(now, name)
	r.State, r.Trouble = state, why
	return true
}

// Attached records that the source attaches without the incomplete lists, whose resources have a gap from now on.
func (w *watchSet) Attached(now time.Time) {
	for _, r := range w.state {
		if !r.Settled() {
			r.Gap = sources.Gap{Since: now}
		}
	}
}

// WasWatched reports whether a resource was ever watched, or the source attached without it.
func (w *watchSet) WasWatched(name string) bool {
	r := w.state[name]
	return r.State == sources.ResourceWatched || !r.Gap.Since.IsZero()
}

// Ready reports whether the source can attach: all available lists are complete, or without is true and only optional
// lists are missing.
func (w *watchSet) Ready(without bool) bool {
	for _, r := range w.state {
		if !r.Settled() && !(without && r.State == sources.ResourceFailing) {
			return false
		}
	}
	return true
}

// Report returns the status of each resource, in order. objects returns the number of objects of a watched resource.
func (w *watchSet) Report(now time.Time, objects func(name string) int) []sources.Resource {
	w.asked = now
	var all []sources.Resource
	for _, name := range w.names {
		r := *w.state[name]
		if r.State == sources.ResourceWatched {
			r.Objects = objects(name)
		}
		if r.Trouble == "" && w.overdue(r, now) {
			r.Trouble = overdueText
		}
		if r.Trouble == "" && w.stopped[r.Name] {
			r.Trouble = stoppedText
		}
		if r.Trouble == "" && r.Gap.Lasts() && now.Sub(r.Gap.Since) > OverdueAfter {
			r.Trouble = endedText
		}
		all = append(all, r)
	}
	return all
}

// OverdueAfter is how long a list may deliver no object, or a watch may be missing, before it is reported as trouble: an
// API server starts to respond at once, even if the whole response takes long.
const OverdueAfter = 2 * time.Second

var overdueText = sources.SafeText(fmt.Sprintf("the API server has sent no object for more than %s", OverdueAfter))

// endedText is the trouble of a resource whose watch ended without any request having failed since.
const endedText = "the watch has ended, and the next one has not started"

// stoppedText is the trouble of a resource without events because this process did not run.
const stoppedText = "schedq did not run meanwhile, or the clock was set forward"

// cutText is the trouble of a resource whose streamed list ended too early.
const cutText = "the API server ended the list before it was complete"

// overdue reports whether a list has delivered no object for too long.
func (w *watchSet) overdue(r sources.Resource, now time.Time) bool {
	if w.begun.IsZero() || r.State != sources.ResourceWaiting && r.State != sources.ResourceListing {
		return false
	}
	last := w.came[r.Name]
	if last.IsZero() {
		last = w.begun
	}
	return now.Sub(last) > OverdueAfter
}

// StaleSince returns since when no watch of resources works. Zero if one works.
func StaleSince(resources []sources.Resource) (since time.Time) {
	for _, r := range resources {
		switch {
		case r.DoneWithout():
		case !r.Broken():
			return time.Time{}
		case r.Gap.Since.After(since):
			since = r.Gap.Since
		}
	}
	return since
}

// maxNamed limits the names of the resources that fail for the same reason.
const maxNamed = 3

// watchNames formats a list of names, or the first of them and the number of the others.
func watchNames(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	list := strings.Join(names, ", ")
	if i := strings.LastIndex(list, ", "); i >= 0 {
		list = list[:i] + " and " + list[i+2:]
	}
	return list
}

// TroubleOf returns the resources that fail and why, with each reason once. It is empty if none fails.
func TroubleOf(resources []sources.Resource) sources.SafeText {
	var reasons []sources.SafeText
	failing := map[sources.SafeText][]string{}
	for _, r := range resources {
		if r.Trouble == "" || r.DoneWithout() {
			continue // it works, or is not available
		}
		if failing[r.Trouble] == nil {
			reasons = append(reasons, r.Trouble)
		}
		failing[r.Trouble] = append(failing[r.Trouble], r.Name)
	}
	var all []string
	for _, reason := range reasons {
		names := failing[reason]
		if len(names) == len(resources) {
			return reason
		}
		all = append(all, fmt.Sprintf("%s can't be read: %s", watchNames(names), reason))
	}
	return sources.Sanitize(strings.Join(all, "; "))
}
