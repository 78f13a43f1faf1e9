package live

// A watchSet records how far each resource's first list is, and since when its watch is broken. It makes no request and reads no
// clock.

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Watches are how the reading of a cluster's resources stands. It is not safe for concurrent use.
type watchSet struct {
	begun time.Time
	asked time.Time // when Tell was called last: what was before was handed on
	names []string  // in the order in which they are told
	state map[string]*sources.Resource
	came  map[string]time.Time // when something of a list came last

	ran     time.Time       // when this process last ran
	resumed time.Time       // when it last went on after it did not run
	stopped map[string]bool // resources without events meanwhile whose watches may still work
}

// New returns that of the resources with these names nothing was read yet.
func newWatches(names ...string) *watchSet {
	w := &watchSet{names: names, state: map[string]*sources.Resource{}, came: map[string]time.Time{}, stopped: map[string]bool{}}
	for _, name := range names {
		w.state[name] = &sources.Resource{Name: name, State: sources.ResourceWaiting}
	}
	return w
}

// Begin notes that the reading begins.
func (w *watchSet) Begin(now time.Time) { w.begun = now }

// Begun is when the reading began. Zero if it has not.
func (w *watchSet) Begun() time.Time { return w.begun }

// State returns how far the reading of a resource has come.
func (w *watchSet) State(name string) sources.ResourceState { return w.state[name].State }

// Hears reports whether what comes of a resource now comes when it happens: its watch is at work, and has told what it missed
// when it last was not.
func (w *watchSet) Hears(now time.Time, name string) bool {
	r := w.state[name]
	return r.State == sources.ResourceWatched && !r.Gap.Covers(now)
}

const (
	// notRunning is the time without a call of Runs, which comes each second, after which the process was stopped.
	notRunning = 5 * time.Second
	// catchUp is how long after that the watches may still deliver events of the gap.
	catchUp = 2 * time.Second
)

// Runs records that the process runs at now. If it did not run before, because it was stopped or the machine slept, there is a
// gap: what the watches deliver now may have happened at any time in it.
func (w *watchSet) Runs(now time.Time) {
	ran := w.ran
	w.ran = now
	// By the clock on the wall: the monotonic one stands still while a machine sleeps.
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

// Streamed notes that an object of a list came.
func (w *watchSet) Streamed(now time.Time, name string) {
	r := w.state[name]
	w.came[name] = now
	if r.State == sources.ResourceWaiting || r.State == sources.ResourceFailing || r.State == sources.ResourceWatched && r.Gap.Lasts() {
		r.State, r.Objects = sources.ResourceListing, 0 // its trouble is over when all of it is in
	}
	if r.State == sources.ResourceListing {
		r.Objects++
	}
}

// Heard notes that all there is was listed, or that a watch went on where the one before had ended.
func (w *watchSet) Heard(now time.Time, name string) {
	r := w.state[name]
	r.State, r.Trouble = sources.ResourceWatched, ""
	delete(w.stopped, name)
	if r.Gap.Lasts() {
		r.Gap.Until = now
	}
}

// Ended notes that the watch of a resource has ended, or that nothing can have been heard since now because there was none.
// It changes nothing while the resource is not watched.
func (w *watchSet) Ended(now time.Time, name string) {
	r := w.state[name]
	delete(w.stopped, name)
	if r.State != sources.ResourceWatched || r.Gap.Lasts() {
		return
	}
	if since := r.Gap.Since; !since.IsZero() && !r.Gap.Until.Before(w.asked) {
		now = since // that it had ended before was not told yet
	}
	r.Gap = sources.Gap{Since: now}
}

// Failed notes that a request failed that will be made again, and why.
func (w *watchSet) Failed(now time.Time, name string, why sources.SafeText) {
	w.Ended(now, name)
	r := w.state[name]
	r.State, r.Trouble = sources.ResourceFailing, why
}

// Unavailable notes that a resource has to be done without, and why. It returns false if that was known.
func (w *watchSet) Unavailable(now time.Time, name string, state sources.ResourceState, why sources.SafeText) bool {
	r := w.state[name]
	if r.State == state {
		return false
	}
	w.Ended(now, name)
	r.State, r.Trouble = state, why
	return true
}

// Attached notes that work begins without the lists that are not in: of those nothing is heard from now on.
func (w *watchSet) Attached(now time.Time) {
	for _, r := range w.state {
		if !r.Settled() {
			r.Gap = sources.Gap{Since: now}
		}
	}
}

// WasWatched reports whether a resource was ever watched, or work began without it.
func (w *watchSet) WasWatched(name string) bool {
	r := w.state[name]
	return r.State == sources.ResourceWatched || !r.Gap.Since.IsZero()
}

// Ready reports whether work can begin: all is there that can be had, or only lists fail that had until then to come. without is
// true if those are not waited for any more.
func (w *watchSet) Ready(without bool) bool {
	for _, r := range w.state {
		if !r.Settled() && !(without && r.State == sources.ResourceFailing) {
			return false
		}
	}
	return true
}

// Tell returns how each resource stands, in order. There are that many objects of those that are watched.
func (w *watchSet) Tell(now time.Time, objects func(name string) int) []sources.Resource {
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

// OverdueAfter is for how long nothing may come of a list, or no watch may go on, before that is trouble: an API server begins to
// answer at once, also where the whole answer takes long.
const OverdueAfter = 2 * time.Second

var overdueText = sources.SafeText(fmt.Sprintf("no object has come from the API server for more than %s", OverdueAfter))

// endedText is the trouble of a resource whose watch ended without any request having failed since.
const endedText = "the watch has ended, and the next one has not begun"

// stoppedText is the trouble of a resource without events because this process did not run.
const stoppedText = "schedq did not run meanwhile, or the clock was set forward"

// cutText is the trouble of a resource whose streamed list ended too early.
const cutText = "the API server ended the list before it was complete"

// overdue reports whether nothing has come of a list for too long.
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

// StaleSince returns since when nothing is heard of any of resources. Zero if something is.
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

// maxNamed is how many of the resources that fail for one reason are named.
const maxNamed = 3

// Names is a list of names, or the first of them and how many more there are.
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

// TroubleOf says which resources fail, and why, each reason once. It is empty if none does.
func TroubleOf(resources []sources.Resource) sources.SafeText {
	var reasons []sources.SafeText
	failing := map[sources.SafeText][]string{}
	for _, r := range resources {
		if r.Trouble == "" || r.DoneWithout() {
			continue // nothing is wrong, or it is done without
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
