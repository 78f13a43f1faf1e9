// Package evidence holds what a source shows of a real kube-scheduler: the traces of its attempts, and what
// it means that one is missing.
//
// Future holds the observations from the model's time on, up to some time ahead, and finds the traces of a
// pod's attempts among them. It draws no conclusions. Channels decides what a missing trace means: that the
// attempt was not made, or only that its trace may be late, lost or never written. That depends on gaps in
// the watches, on the rate limit of the scheduler's client, and on its event recorder.
//
// An attempt leaves up to three traces in the API: the Event of its failure, the patch of its pod's
// status, and the binding of its pod. A log may contain its start and its end. Each is an Observation
// of its own. A patch is matched to an attempt only when the model's attempt ends: several attempts of a
// pod may be reported in one order and patched in another.
package evidence

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Kind is what an event shows.
type Kind uint8

// The kinds.
const (
	None          Kind = iota
	Failed             // a failed attempt, by the scheduler's Event
	Patched            // a failed attempt, by the patch of the pod's status
	Bound              // a change of a pod that has a node. The first one is the end of an attempt
	Changed            // any other change of an object
	Started            // the start of an attempt, whose end is observed later
	BindingFailed      // a binding that was refused or failed: an attempt placed the pod, which got no node
)

// Observation is an event of a source, and what it shows.
type Observation struct {
	sources.Event
	Kind Kind
	// EndedBy is the latest time at which the attempt ended: for a patch or a binding, when the API server
	// received the request, if that is known. For all other kinds it is the event's time.
	EndedBy time.Time
	// FailedAt is when the attempt that wrote the patch failed. The scheduling loop waited from then on for
	// the client's rate limit and for the answer. It is zero if the attempt has no Event, or if the Event or
	// the patch of another attempt lies between.
	FailedAt time.Time
	// OtherScheduler is true for an attempt of another scheduler's pod. It shows nothing.
	OtherScheduler bool
	// RateLimited is true for a patch or a binding whose request is known to have waited for the client's
	// rate limit. The limit lets requests through in the order in which they were made.
	RateLimited bool
	// Pod and UID identify the pod. They are empty if the observation is not about a pod.
	Pod types.NamespacedName
	UID types.UID
	// ConditionMessage is the message that a patch wrote into the pod's condition, if known.
	ConditionMessage string
	// Change is the change of an object that is Changed or Bound.
	Change *sources.ObjectChange
	// Used is set once the model has used the observation ahead of its time: a failure for an attempt, a
	// change for everything that follows from it.
	Used bool

	seq int // orders observations of the same time
}

// Failed reports whether s shows a failed attempt.
func (s *Observation) Failed() bool { return s.Kind == Failed || s.Kind == Patched }

// HasSendTime reports whether the time at which the binding was sent is known.
func (s *Observation) HasSendTime() bool { return s.EndedBy.Before(s.Time) }

// Message returns why the attempt failed, according to its Event, or "".
func (s *Observation) Message() string {
	if f, ok := s.Fact.(*sources.FailedAttempt); ok {
		return string(f.Message)
	}
	return ""
}

// Placed reports whether s shows an attempt that found a node for its pod.
func (s *Observation) Placed() bool { return s.Kind == Bound || s.Kind == BindingFailed }

// newAttempt reports whether s shows an attempt that the model has not used yet.
func (s *Observation) newAttempt() bool { return s.Failed() && !s.Used || s.Placed() }

// Deleted reports whether s is the deletion of an object.
func (s *Observation) Deleted() bool { return s.Change != nil && s.Change.Verb == sources.Deleted }

// isBinding reports whether s is the change in which a pod got its node.
func (s *Observation) isBinding() bool {
	pod, ok := s.Change.Object.(*v1.Pod)
	return ok && justBound(pod)
}

// isPodEnd reports whether s shows that a pod was deleted or is being deleted.
func (s *Observation) isPodEnd() bool {
	if s.Change == nil {
		return false
	}
	pod, ok := s.Change.Object.(*v1.Pod)
	return ok && (s.Deleted() || pod.DeletionTimestamp != nil)
}

// MayWake reports whether c may wake waiting pods. It leaves out bindings and updates of pods, which
// rarely do.
func MayWake(c *sources.ObjectChange) bool {
	pod, ok := c.Object.(*v1.Pod)
	return !ok || c.Verb == sources.Deleted && pod.Spec.NodeName != ""
}

// justBound reports whether pod has a node whose kubelet has not reported a status yet.
func justBound(pod *v1.Pod) bool {
	return pod.Spec.NodeName != "" && (pod.Status.Phase == v1.PodPending || pod.Status.Phase == "")
}

// Future holds the observations from the model's time on, up to a look-ahead. RemoveFirst removes those
// that have passed.
type Future struct {
	lookahead, requestTime time.Duration                // see New
	next                   func() (sources.Event, bool) // returns further events, nil after the last one
	buffered               sources.Event                // the next event, if its Fact is not nil
	count                  int                          // number of events added
	lastAdded              *Observation
	lastFailed             *Observation // the latest Event of a failed attempt
	lastSent               time.Time    // when the last patch was sent
	latePatchesFrom        time.Time    // the earliest failure that MoveLatePatches has not checked
	removedAt              time.Time    // the time of the observation removed last

	requests // of the client that the scheduling loop waits for

	responsible func(*v1.Pod) bool     // see SetResponsible
	otherPods   map[types.UID]struct{} // pods of other schedulers

	all       list
	byPod     map[types.UID]*list // the traces of a pod's attempts, its binding and its deletion
	failures  list
	changes   list           // Bound and Changed
	claims    list           // changes of resource claims
	bindings  list           // Bound and BindingFailed
	hasStarts bool           // there was a Started
	wakes     list           // changes that may wake pods
	patches   []*Observation // Patched, by EndedBy
}

// list holds observations in order of time.
type list []*Observation

// Iterate returns a function that returns events one by one, for Read.
func Iterate(events []sources.Event) func() (sources.Event, bool) {
	return func() (ev sources.Event, ok bool) {
		if len(events) > 0 {
			ev, events, ok = events[0], events[1:], true
		}
		return ev, ok
	}
}

// New returns an empty Future. It reads ahead by lookahead, the maximum for its queries. A request whose
// send time is unknown is assumed to have been sent requestTime before its answer. limit is the rate limit
// of the scheduler's client; nobody else may use it.
func New(lookahead, requestTime time.Duration, limit *rate.Limiter) *Future {
	return &Future{lookahead: lookahead, requestTime: requestTime, byPod: map[types.UID]*list{},
		requests: requests{limit: limit, recorded: true, low: ownTokens}}
}

// NewWithoutRequests is New for a source that does not record the scheduler's requests (sources.Requested).
// It counts visible requests instead, against the rate limit of cfg.
func NewWithoutRequests(lookahead, requestTime time.Duration, cfg *schedulerconfig.Config) *Future {
	return newVisible(lookahead, requestTime, cfg.ClientLimiter(visibleShare), lowVisible, cfg.ClientInterval())
}

// newVisible returns a Future that counts visible requests against limit. A request has waited if fewer than
// low tokens were left. Waiting requests are sent at that interval.
func newVisible(lookahead, requestTime time.Duration, limit *rate.Limiter, low float64, interval time.Duration) *Future {
	f := New(lookahead, requestTime, limit)
	f.recorded, f.low, f.cadence = false, low, cadence{interval: interval}
	return f
}

// SetResponsible sets the function that reports whether the scheduler is responsible for a pod. The failed
// attempts and bindings of other pods show nothing: another scheduler makes them with its own client and
// rate limit. It must be called before the events of those pods are added.
func (f *Future) SetResponsible(responsible func(*v1.Pod) bool) { f.responsible = responsible }

// HasOtherScheduler reports whether another scheduler is known to be responsible for the pod with that UID.
func (f *Future) HasOtherScheduler(uid types.UID) bool {
	_, other := f.otherPods[uid]
	return other
}

// Read adds the events that next returns, in order of time, as far as the look-ahead. next may be nil.
func (f *Future) Read(next func() (sources.Event, bool)) {
	f.next = next
	f.extend()
}

// First returns the earliest observation, or nil if there is none.
func (f *Future) First() *Observation {
	if len(f.all) == 0 {
		return nil
	}
	return f.all[0]
}

// RemoveFirst removes the earliest observation. There must be one.
func (f *Future) RemoveFirst() {
	s := f.all[0]
	f.removedAt = s.Time
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

// Clear removes all observations, and stops reading.
func (f *Future) Clear() {
	*f = Future{lookahead: f.lookahead, requestTime: f.requestTime, byPod: map[types.UID]*list{}, requests: f.requests, responsible: f.responsible}
}

// extend reads the events within the look-ahead.
func (f *Future) extend() {
	for {
		if f.buffered.Fact == nil && f.next != nil {
			var ok bool
			if f.buffered, ok = f.next(); !ok {
				f.next = nil
			}
		}
		if f.buffered.Fact == nil || len(f.all) > 0 && f.buffered.Time.Sub(f.all[0].Time) > f.lookahead {
			return
		}
		f.Add(f.buffered)
		f.buffered = sources.Event{}
	}
}

// Add adds an event. It may be earlier than others that were added; of those at the same time it is the
// last.
func (f *Future) Add(ev sources.Event) {
	f.count++
	s := f.observe(ev)
	f.lastAdded = s
	for _, l := range f.lists(s) {
		l.add(s)
	}
	if start := f.start(s); start != nil {
		f.hasStarts = true
		for _, l := range f.lists(start) {
			l.add(start)
		}
	}
	if s.Kind == Patched {
		f.addPatch(s)
	}
	if s.Failed() && (f.latePatchesFrom.IsZero() || s.Time.Before(f.latePatchesFrom)) {
		f.latePatchesFrom = s.Time
	}
}

func (f *Future) addPatch(s *Observation) {
	i, _ := slices.BinarySearchFunc(f.patches, s, func(a, b *Observation) int {
		return cmp.Or(a.EndedBy.Compare(b.EndedBy), a.seq-b.seq)
	})
	f.patches = slices.Insert(f.patches, i, s)
}

// start returns the start of the attempt whose end s shows, or nil if it is unknown. If it lies before the
// last removed observation, because the attempt took longer than the look-ahead, it gets that one's time.
func (f *Future) start(s *Observation) *Observation {
	b := &Observation{Event: s.Event, Kind: Started, Pod: s.Pod, UID: s.UID, seq: s.seq}
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
	if b.Time.Before(f.removedAt) {
		b.Time = f.removedAt
	}
	b.EndedBy = b.Time
	return b
}

// observe returns what ev shows, and counts the request behind it.
func (f *Future) observe(ev sources.Event) *Observation {
	s := &Observation{Event: ev, EndedBy: ev.Time, seq: f.count}
	if s.OtherScheduler = f.isOtherAttempt(ev.Fact); s.OtherScheduler {
		return s
	}
	switch fact := ev.Fact.(type) {
	case *sources.FailedAttempt:
		s.Kind, s.Pod, s.UID = Failed, fact.Pod, fact.UID
		if verdict.FailsBinding(string(fact.Message)) {
			s.Kind = BindingFailed
		} else if f.lastFailed == nil || !s.Time.Before(f.lastFailed.Time) {
			f.lastFailed = s
		}
	case *sources.StatusPatched:
		if s.Pod, s.UID = fact.Pod, fact.UID; !f.bindingFailed(fact.UID) {
			s.Kind = Patched
		}
		if f.setSent(s, fact.Sent); s.Kind == Patched && !fact.Clears {
			f.lastSent, s.ConditionMessage = s.EndedBy, f.conditionMessage(fact.UID)
		}
	case *sources.Refused:
		f.onRefused(s, fact)
	case *sources.Requested:
		f.countRecorded(ev.Time)
	case *sources.Attached:
		f.onAttach(ev.Time)
	case *sources.ObjectChange:
		s.Kind, s.Change = Changed, fact
		if pod, ok := fact.Object.(*v1.Pod); ok {
			f.onPodChange(s, pod)
		}
	}
	return s
}

// isOtherAttempt reports whether fact shows an attempt of another scheduler's pod.
func (f *Future) isOtherAttempt(fact sources.Fact) bool {
	switch fact := fact.(type) {
	case *sources.FailedAttempt:
		return f.HasOtherScheduler(fact.UID)
	case *sources.StatusPatched:
		return f.HasOtherScheduler(fact.UID)
	case *sources.Refused:
		return f.HasOtherScheduler(fact.UID)
	}
	return false
}

func (f *Future) onPodChange(s *Observation, pod *v1.Pod) {
	s.Pod, s.UID = types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod.UID
	switch {
	case s.Deleted():
		delete(f.otherPods, pod.UID)
	case f.responsible != nil && !f.responsible(pod):
		if f.otherPods == nil {
			f.otherPods = map[types.UID]struct{}{}
		}
		f.otherPods[pod.UID] = struct{}{}
	}
	if f.HasOtherScheduler(pod.UID) {
		return
	}
	if s.Deleted() && pod.Spec.NodeName == "" {
		f.onPendingDeleted()
	}
	if f.countBinding(s, pod); pod.Spec.NodeName != "" {
		if s.Kind = Bound; !s.Change.Sent.IsZero() && s.Change.Sent.Before(s.Time) {
			s.EndedBy = s.Change.Sent
		}
		s.RateLimited = f.rateLimited(s.EndedBy)
	}
}

// countBinding counts the request that bound the pod, if s is the first change in which it has a node.
func (f *Future) countBinding(s *Observation, pod *v1.Pod) {
	if f.recorded {
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
		f.countVisible(s.Time.Add(-f.requestTime))
	}
}

// onRefused sets what a refused request shows. The binding cycle writes the condition of a pod whose
// binding failed, and the scheduling loop does not wait for that (schedule_one.go,
// handleBindingCycleError).
func (f *Future) onRefused(s *Observation, fact *sources.Refused) {
	switch {
	case fact.Binding:
		s.Kind = BindingFailed
	case !f.bindingFailed(fact.UID):
		s.Kind = Patched
	default:
		return
	}
	s.Pod, s.UID = fact.Pod, fact.UID
	if f.setSent(s, fact.Sent); s.Kind == Patched {
		f.lastSent = s.EndedBy
	}
}

// bindingFailed reports whether the last attempt of the pod with that UID ended with a failed binding. The
// next patch of its status is then sent by the binding cycle.
func (f *Future) bindingFailed(uid types.UID) bool {
	for _, s := range slices.Backward(f.ofPod(uid)) {
		if s.Failed() || s.Placed() {
			return s.Kind == BindingFailed
		}
	}
	return false
}

// setSent sets when the API server received the request that s shows: at that time, or requestTime before
// the answer if it is zero.
func (f *Future) setSent(s *Observation, at time.Time) {
	if s.EndedBy = at; at.IsZero() || at.After(s.Time) {
		s.EndedBy = s.Time.Add(-f.requestTime)
	}
	f.countVisible(s.EndedBy)
	s.RateLimited = f.rateLimited(s.EndedBy)
	if last := f.lastFailed; last != nil && last.UID == s.UID && !last.Time.After(s.EndedBy) && !f.lastSent.After(last.Time) {
		s.FailedAt = last.Time
	}
}

// conditionMessage returns the message that the patch of the pod with that UID wrote, or "" if it is
// unknown. Sources deliver the change of the pod just before its patch.
func (f *Future) conditionMessage(uid types.UID) string {
	if f.lastAdded == nil || f.lastAdded.UID != uid || f.lastAdded.Change == nil {
		return ""
	}
	pod, ok := f.lastAdded.Change.Object.(*v1.Pod)
	if !ok {
		return ""
	}
	if c := cluster.Unscheduled(pod); c != nil {
		return c.Message
	}
	return ""
}

func (f *Future) removePatch(s *Observation) {
	i := slices.Index(f.patches, s)
	f.patches = slices.Delete(f.patches, i, i+1)
}

// lists returns the lists to which s belongs.
func (f *Future) lists(s *Observation) []*list {
	in := []*list{&f.all}
	if s.Failed() {
		in = append(in, &f.failures)
	}
	if s.Placed() {
		in = append(in, &f.bindings)
	}
	if s.Change != nil {
		in = append(in, &f.changes)
		if _, ok := s.Change.Object.(*resourcev1.ResourceClaim); ok {
			in = append(in, &f.claims)
		}
		if MayWake(s.Change) {
			in = append(in, &f.wakes)
		}
	}
	if s.Failed() || s.Placed() || s.Kind == Started || s.isPodEnd() {
		of := f.byPod[s.UID]
		if of == nil {
			of = &list{}
			f.byPod[s.UID] = of
		}
		in = append(in, of)
	}
	return in
}

// add inserts s by time, after those of the same time.
func (l *list) add(s *Observation) {
	i := len(*l)
	for i > 0 && s.Time.Before((*l)[i-1].Time) {
		i--
	}
	*l = slices.Insert(*l, i, s)
}
