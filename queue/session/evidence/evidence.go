// Package evidence holds what a source tells of a real kube-scheduler from a moment on, and finds in it what
// shows of the attempts of a pod. It knows no queue and no scheduler, and draws no conclusion: it says what was
// seen and when, not what that means, nor what it means that nothing was.
//
// An attempt leaves up to three traces: the Event of its failure, the patch of its pod's status, the pod's
// binding. Each is a Sighting of its own, and only Patch brings an attempt and its patch together, when the
// model's attempt ends. They can't be joined before: several attempts of a pod may be told in one order and
// answered in another, so whose patch it is depends on when the model's attempt ends.
package evidence

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/ratelimit"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Kind is what an event shows.
type Kind uint8

// The kinds. Failed and Patched show an attempt that failed, Bound and Changed are changes of objects.
const (
	Nothing Kind = iota
	Failed       // by the scheduler's Event
	Patched      // by the patch of the pod's status
	Bound        // the change of a pod that has a node: the first one is the end of an attempt
	Changed      // any other change
	Began        // that an attempt begins, whose end is told later
	Unbound      // by a binding that was refused or failed: an attempt placed the pod, which did not get its node
)

// Sighting is an event that was told, and what it shows.
type Sighting struct {
	sources.Event
	Kind Kind
	// By is when the attempt was over, at the latest: of a patch or a binding, when the API server had its request, if that is known. Of
	// all other kinds it is the event's time.
	By time.Time
	// FailedAt is when the attempt failed that a patch follows, or zero if its Event does not show or another, or its patch, was seen
	// between: in that time the loop waited for the client's rate limit and for the answer.
	FailedAt time.Time
	// OfAnother is true of an attempt of a pod that is left to another scheduler: it shows nothing.
	OfAnother bool
	// Waited is true of a patch or a binding whose request is seen to have waited for the client's rate limit. Then it was
	// made as long before as that took, in its turn: requests are sent in the order in which they were made.
	Waited bool
	// Pod and UID are the pod's. Where no pod is seen they are empty.
	Pod types.NamespacedName
	UID types.UID
	// Wrote is why an attempt failed, by what its patch wrote into the pod's condition. Empty of all other kinds, and if that is not known.
	Wrote string
	// Change is what Changed or was Bound.
	Change *sources.ObjectChange
	// Used is true once the model has made something of it before it was told: of a failure, an attempt; of a change,
	// all that there is to make of it.
	Used bool

	nth int // its number among all that were added, which orders those of one time
}

// Failed reports whether it shows a failed attempt.
func (s *Sighting) Failed() bool { return s.Kind == Failed || s.Kind == Patched }

// KnowsSent reports whether By is when the request was sent that bound the pod.
func (s *Sighting) KnowsSent() bool { return s.By.Before(s.Time) }

// Message is why an attempt failed, if its Event shows that.
func (s *Sighting) Message() string {
	if f, ok := s.Fact.(*sources.FailedAttempt); ok {
		return string(f.Message)
	}
	return ""
}

// Placed reports whether it shows an attempt that placed its pod.
func (s *Sighting) Placed() bool { return s.Kind == Bound || s.Kind == Unbound }

// ShowsAttempt reports whether it shows an attempt that the model has not had.
func (s *Sighting) ShowsAttempt() bool { return s.Failed() && !s.Used || s.Placed() }

// Deleted reports whether it is the end of an object.
func (s *Sighting) Deleted() bool { return s.Change != nil && s.Change.Verb == sources.Deleted }

// MayWake reports whether c may wake pods that wait. Bindings and other changes of pods can, but seldom do.
func MayWake(c *sources.ObjectChange) bool {
	pod, ok := c.Object.(*v1.Pod)
	return !ok || c.Verb == sources.Deleted && pod.Spec.NodeName != ""
}

// Rouses is MayWake by what the scheduler's watch tells it, and when: of a pod that has ended as of one that is gone, and no more when it
// is deleted (scheduler.go, NewInformerFactory). MayWake stays as it is because with this one a crowd, where the loop is taken to be held
// up unless something may wake pods, is no better modelled: field's precision, of the audit log alone, falls by 0.08 points.
func Rouses(c *sources.ObjectChange) bool {
	pod, ok := c.Object.(*v1.Pod)
	if !ok {
		return true
	}
	ended := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
	return pod.Spec.NodeName != "" && ended != (c.Verb == sources.Deleted)
}

// MayRouse reports whether it shows a change of which the scheduler has yet to hear and that may wake pods, as the binding of another may.
func (s *Sighting) MayRouse() bool {
	return s.Change != nil && !s.Used && (Rouses(s.Change) || s.binds())
}

// Future is what a source tells from a moment on. What was told before that, RemoveFirst has taken out.
type Future struct {
	reach, requesting time.Duration                // see New
	more              func() (sources.Event, bool) // what comes beyond reach. Nil if nothing does
	coming            sources.Event                // the first of it. Without a fact if that is not known
	heard             int                          // how many were added so far
	added             *Sighting                    // the last of them
	requests                                       // of the client that the scheduler's loop waits for
	others            others                       // pods of which nothing shows
	lastFailed        *Sighting                    // of all that were added, if they came in the order of time
	lastSent          time.Time                    // when the last patch was, likewise
	unsettled         time.Time                    // of the failures that CausesFirst has not looked at, the time of the first
	passed            time.Time                    // when the sighting was that was taken out last

	all      list
	byPod    map[types.UID]*list // what shows of a pod's attempts, its binding and its end
	failures list
	changes  list        // Bound and Changed
	claims   list        // those of claims for devices
	bindings list        // Bound and Unbound
	begins   bool        // whether any was Began
	stirs    list        // changes that may wake pods
	patches  []*Sighting // Patched, in the order in which they were sent
}

// list are sightings in the order in which they are told.
type list []*Sighting

// Of returns events one after the other, as New wants them.
func Of(events []sources.Event) func() (sources.Event, bool) {
	return func() (ev sources.Event, some bool) {
		if len(events) > 0 {
			ev, events, some = events[0], events[1:], true
		}
		return ev, some
	}
}

// New returns the future that the events are which more returns, one after the other in the order of time, or nil for none.
// Only events up to reach after the first are looked at, so no question may ask for more. requesting is how long a request takes: where the source does not tell
// when a patch was sent, it was that long before its answer.
//
// limit is the rate limit of the scheduler's client, which nobody else uses.
func New(more func() (sources.Event, bool), reach, requesting time.Duration, limit *rate.Limiter) *Future {
	f := &Future{reach: reach, requesting: requesting, more: more, byPod: map[types.UID]*list{}, requests: requests{limit: limit, told: true, left: ownTurn}}
	f.Read(more)
	return f
}

// NewUntold is New where the source does not tell the scheduler's requests (sources.Requested): those are counted that show. limit is that
// of those, and one has waited if fewer than left are left of it. Those that wait are that far apart.
func NewUntold(more func() (sources.Event, bool), reach, requesting time.Duration, limit *rate.Limiter, left float64, apart time.Duration) *Future {
	f := New(nil, reach, requesting, limit)
	f.told, f.left, f.cadence = false, left, ratelimit.CadenceOf(apart)
	f.Read(more)
	return f
}

// Read takes in the events that more returns, as New does, of a future of nothing.
func (f *Future) Read(more func() (sources.Event, bool)) {
	f.more = more
	f.extend()
}

// First returns the sighting that is told first, or nil if nothing is to come.
func (f *Future) First() *Sighting {
	if len(f.all) == 0 {
		return nil
	}
	return f.all[0]
}

// RemoveFirst takes the first sighting out: it is past. There must be one.
func (f *Future) RemoveFirst() {
	s := f.all[0]
	f.passed = s.Time
	for _, l := range f.lists(s) {
		*l = (*l)[1:]
	}
	if l := f.byPod[s.UID]; l != nil && len(*l) == 0 {
		delete(f.byPod, s.UID)
	}
	if s.Kind == Patched {
		f.removePatch(s)
	}
	f.extend()
}

// Clear forgets all sightings: nothing is to come.
func (f *Future) Clear() {
	told, left, serves := f.told, f.left, f.others.serves
	*f = *New(nil, f.reach, f.requesting, f.limit)
	f.told, f.left, f.others.serves = told, left, serves
}

// extend takes in what has come within reach.
func (f *Future) extend() {
	for {
		if f.coming.Fact == nil && f.more != nil {
			var some bool
			if f.coming, some = f.more(); !some {
				f.more = nil
			}
		}
		if f.coming.Fact == nil || len(f.all) > 0 && f.coming.Time.Sub(f.all[0].Time) > f.reach {
			return
		}
		f.Add(f.coming)
		f.coming = sources.Event{}
	}
}

// Add adds an event of a source that goes on. It may be earlier than some that are known; of those at its time it is
// the last.
func (f *Future) Add(ev sources.Event) {
	f.heard++
	s := f.sighting(ev)
	f.added = s
	for _, l := range f.lists(s) {
		l.add(s)
	}
	if b := f.beginning(s); b != nil {
		f.begins = true
		for _, l := range f.lists(b) {
			l.add(b)
		}
	}
	if s.Kind == Patched {
		f.addPatch(s)
	}
	if s.Failed() && (f.unsettled.IsZero() || s.Time.Before(f.unsettled)) {
		f.unsettled = s.Time
	}
}

// addPatch puts s among the patches.
func (f *Future) addPatch(s *Sighting) {
	i, _ := slices.BinarySearchFunc(f.patches, s, func(a, b *Sighting) int {
		return cmp.Or(a.By.Compare(b.By), a.nth-b.nth)
	})
	f.patches = slices.Insert(f.patches, i, s)
}

// beginning returns that the attempt began whose end s shows, or nil if that is not known. What was taken out was told before: the
// beginning of an attempt that took longer than reach stands behind it.
func (f *Future) beginning(s *Sighting) *Sighting {
	b := &Sighting{Event: s.Event, Kind: Began, Pod: s.Pod, UID: s.UID, nth: s.nth}
	switch fact := s.Fact.(type) {
	case *sources.FailedAttempt:
		b.Time = fact.Began
	case *sources.Bound:
		b.Time, b.Pod, b.UID = fact.Began, fact.Pod, fact.UID
	default:
		return nil
	}
	if b.Time.IsZero() || b.Time.After(s.Time) || b.UID == "" {
		return nil
	}
	if b.Time.Before(f.passed) {
		b.Time = f.passed
	}
	b.By = b.Time
	return b
}

// sighting returns what ev shows.
func (f *Future) sighting(ev sources.Event) *Sighting {
	s := &Sighting{Event: ev, By: ev.Time, nth: f.heard}
	if s.OfAnother = f.tellsOfAnother(ev.Fact); s.OfAnother {
		return s
	}
	switch fact := ev.Fact.(type) {
	case *sources.FailedAttempt:
		s.Kind, s.Pod, s.UID = Failed, fact.Pod, fact.UID
		if verdict.FailsBinding(string(fact.Message)) {
			s.Kind = Unbound
		} else if f.lastFailed == nil || !s.Time.Before(f.lastFailed.Time) {
			f.lastFailed = s
		}
	case *sources.StatusPatched:
		if s.Pod, s.UID = fact.Pod, fact.UID; !f.isUnbound(fact.UID) {
			s.Kind = Patched
		}
		if f.noteSent(s, fact.Sent); s.Kind == Patched && !fact.Clears {
			f.lastSent, s.Wrote = s.By, f.wrote(fact.UID)
		}
	case *sources.Refused:
		f.noteRefused(s, fact)
	case *sources.Requested:
		f.count(ev.Time)
	case *sources.Attached:
		f.attach(ev.Time)
	case *sources.ObjectChange:
		s.Kind, s.Change = Changed, fact
		if pod, ok := fact.Object.(*v1.Pod); ok {
			s.Pod, s.UID = types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod.UID
			if f.others.note(pod, s.Deleted()); f.IsOfAnother(pod.UID) {
				break
			}
			if s.Deleted() && pod.Spec.NodeName == "" {
				f.podGone()
			}
			if f.noteNode(s, pod); pod.Spec.NodeName != "" {
				if s.Kind = Bound; !fact.Sent.IsZero() && fact.Sent.Before(s.Time) {
					s.By = fact.Sent
				}
				s.Waited = f.hadWaited(s.By)
			}
		}
	}
	return s
}

// noteNode shows the request that bound a pod, if s is the first of it to have its node.
func (f *Future) noteNode(s *Sighting, pod *v1.Pod) {
	if f.told {
		return
	}
	_, known := f.bound[s.UID]
	switch {
	case s.Deleted() || !justBound(pod):
		delete(f.bound, s.UID)
	case !known && s.Change.Verb == sources.Updated:
		if f.bound == nil {
			f.bound = map[types.UID]struct{}{}
		}
		f.bound[s.UID] = struct{}{}
		f.show(s.Time.Add(-f.requesting))
	}
}

// noteRefused notes what was refused. The condition of a pod whose binding failed is written beside the loop, which does not wait for
// that (schedule_one.go, handleBindingCycleError).
func (f *Future) noteRefused(s *Sighting, fact *sources.Refused) {
	switch {
	case fact.Binding:
		s.Kind = Unbound
	case !f.isUnbound(fact.UID):
		s.Kind = Patched
	default:
		return
	}
	s.Pod, s.UID = fact.Pod, fact.UID
	if f.noteSent(s, fact.Sent); s.Kind == Patched {
		f.lastSent = s.By
	}
}

// isUnbound reports whether the binding of the pod with that UID is what was added of it last, and failed: what is written into its status
// next is that, beside the loop.
func (f *Future) isUnbound(uid types.UID) bool {
	for _, s := range slices.Backward(f.sightingsOf(uid)) {
		if s.Failed() || s.Placed() {
			return s.Kind == Unbound
		}
	}
	return false
}

// noteSent notes when the API server had the request that s shows: at that moment, if it is not zero, or behind its answer.
func (f *Future) noteSent(s *Sighting, at time.Time) {
	if s.By = at; at.IsZero() || at.After(s.Time) {
		s.By = s.Time.Add(-f.requesting)
	}
	f.show(s.By)
	s.Waited = f.hadWaited(s.By)
	if last := f.lastFailed; last != nil && last.UID == s.UID && !last.Time.After(s.By) && !f.lastSent.After(last.Time) {
		s.FailedAt = last.Time
	}
}

// wrote returns what the patch of the pod with that UID wrote into its condition: the change of the pod that it made is told just before
// it. Empty if none is.
func (f *Future) wrote(uid types.UID) string {
	if f.added == nil || f.added.UID != uid || f.added.Change == nil {
		return ""
	}
	pod, is := f.added.Change.Object.(*v1.Pod)
	if !is {
		return ""
	}
	if c := cluster.Unscheduled(pod); c != nil {
		return c.Message
	}
	return ""
}

func (f *Future) removePatch(s *Sighting) {
	i := slices.Index(f.patches, s)
	f.patches = slices.Delete(f.patches, i, i+1)
}

// lists returns the lists in which s is, or is to be.
func (f *Future) lists(s *Sighting) []*list {
	in := []*list{&f.all}
	if s.Failed() {
		in = append(in, &f.failures)
	}
	if s.Placed() {
		in = append(in, &f.bindings)
	}
	if s.Change != nil {
		in = append(in, &f.changes)
		if _, is := s.Change.Object.(*resourcev1.ResourceClaim); is {
			in = append(in, &f.claims)
		}
		if MayWake(s.Change) {
			in = append(in, &f.stirs)
		}
	}
	if s.Failed() || s.Placed() || s.Kind == Began || s.endsPod() {
		of := f.byPod[s.UID]
		if of == nil {
			of = &list{}
			f.byPod[s.UID] = of
		}
		in = append(in, of)
	}
	return in
}

// add puts s behind all that are told no later.
func (l *list) add(s *Sighting) {
	i := len(*l)
	for i > 0 && s.Time.Before((*l)[i-1].Time) {
		i--
	}
	*l = slices.Insert(*l, i, s)
}

// binds reports whether it shows a pod that has just got its node.
func (s *Sighting) binds() bool {
	pod, ok := s.Change.Object.(*v1.Pod)
	return ok && justBound(pod)
}

// justBound reports whether pod has a node, whose kubelet has not written of it yet.
func justBound(pod *v1.Pod) bool {
	return pod.Spec.NodeName != "" && (pod.Status.Phase == v1.PodPending || pod.Status.Phase == "")
}

// endsPod reports whether it shows that a pod was deleted, or that its deletion has begun.
func (s *Sighting) endsPod() bool {
	if s.Change == nil {
		return false
	}
	pod, ok := s.Change.Object.(*v1.Pod)
	return ok && (s.Deleted() || pod.DeletionTimestamp != nil)
}
