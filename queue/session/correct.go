package session

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// How a shadow follows what the source shows of the real scheduler.

// correct makes the model follow what the change of a pod shows of the real scheduler.
func (s *shadow) correct(now time.Time, old, pod *v1.Pod) {
	switch {
	case old == nil || old.Spec.NodeName != "" || old.UID != pod.UID:
	case pod.Spec.NodeName != "":
		s.bound(now, old, pod)
	case !s.tells && attemptShows(old, pod):
		s.patched(now, pod, false)
	}
}

// attemptShows reports whether the change from old to pod shows the end of a failed attempt.
func attemptShows(old, pod *v1.Pod) bool {
	c, before := unscheduled(pod), unscheduled(old)
	if c == nil {
		return false
	}
	return before == nil || before.Message != c.Message || before.Reason != c.Reason
}

// bound takes in that pod was bound.
func (s *shadow) bound(now time.Time, old, pod *v1.Pod) {
	s.requested(now)
	s.hearsOf(now, pod, true) // or an update would bring the pod back into the queue
	d := s.driver
	b := d.placed(pod.UID)
	if b == nil {
		s.catchUp(now, pod)
		b = d.placed(pod.UID)
	}
	if b != nil {
		d.drop(b)
		if b.Node != pod.Spec.NodeName {
			d.sched.Forget(b.Binding)
		}
	}
	s.popped(now, old)
	d.queue.Observe(now, queue.Observation{Pod: old, To: queue.Scheduled})
	s.settled(now, nil)
	s.goesOn(now, pod.UID)
}

// patchWindow is for how long after an attempt a patch that the model had not expected is taken to be its.
const patchWindow = 50 * time.Millisecond

// patched takes in that the scheduler wrote pod's condition, and that the loop goes on.
func (s *shadow) patched(now time.Time, pod *v1.Pod, expected bool) {
	s.hearsOf(now, pod, false)
	d, c := s.driver, unscheduled(pod)
	t, ok := s.tried[pod.UID]
	recent := ok && now.Sub(t.at) < patchWindow
	if b := d.placed(pod.UID); b != nil && c != nil && !(s.tells && s.binds(now, &cycle.Attempt{Pod: pod})) {
		recent = false // that attempt was another: the model placed the pod
	}
	if waiting(pod) && !expected && !recent {
		message := ""
		if c != nil {
			message = c.Message
		}
		s.rejected(now, pod, sources.Sanitize(message))
	}
	if node := pod.Status.NominatedNodeName; waiting(pod) && node != "" && node != d.queue.NominatedNode(pod.UID) {
		d.sched.Renominate(now, pod, node)
		d.collectEvictions()
	}
	s.goesOn(now, pod.UID)
}

// hearsOf lets the scheduler hear of pod, and of what was before, if it has not: it was seen to have tried
// the pod. With updates, also of what the pod was up to now.
func (s *shadow) hearsOf(now time.Time, pod *v1.Pod, updates bool) {
	defer s.flushSeen(now, pod.Namespace, pod.Name)
	for slices.ContainsFunc(s.heard, func(h heard) bool {
		p, ok := h.change.Object.(*v1.Pod)
		return ok && p.UID == pod.UID && (updates || h.change.Verb == sources.Added)
	}) {
		s.hearNext(now)
	}
}

// flushSeen has the backoff flush run now, and every second from now on, if the named pod is still in
// backoffQ though its backoff is over: without PopFromBackoffQ, that an attempt of it was seen is all that
// tells when the flush runs, if not when the scheduler started.
func (s *shadow) flushSeen(now time.Time, namespace, name string) {
	info, ok := s.driver.queue.Get(namespace, name)
	if ok && !s.flushes && info.Tier == queue.Backoff && !s.cfg.Queue.PopFromBackoffQ && !info.BackoffExpiry.After(now) {
		s.driver.ticks.backoff = now
		s.driver.flush(now, true, false)
	}
}

// hearsBefore is how long before the API server's answer a change can have been heard of by the watch.
const hearsBefore = 10 * time.Millisecond

// hearOf lets the scheduler hear of changes earlier than the model would have had it, until they put the
// named pod where the loop takes it from: an attempt of the pod was seen, so its cause was heard of.
func (s *shadow) hearOf(now time.Time, key types.NamespacedName, uid types.UID) {
	if t, ok := s.tried[uid]; ok && !t.seen && now.Sub(t.at) < s.attemptWindow(now) {
		return
	}
	s.flushSeen(now, key.Namespace, key.Name)
	ready := func() bool {
		info, ok := s.driver.queue.Get(key.Namespace, key.Name)
		return ok && (info.Tier == queue.InFlight || s.poppable(info.Tier))
	}
	for len(s.heard) > 0 && !ready() {
		s.hearNext(now)
	}
	for _, ev := range s.ahead {
		if ready() || ev.Time.Sub(now) > hearsBefore {
			return
		}
		if c, ok := ev.Fact.(*sources.ObjectChange); ok && !s.pulled[c] {
			s.pulled[c] = true
			s.emit(sources.Event{Time: now, Fact: c})
			s.changed(now, c)
			for len(s.heard) > 0 {
				s.hearNext(now)
			}
		}
	}
}

// poppable reports whether the loop takes pods from tier.
func (s *shadow) poppable(tier queue.Tier) bool {
	return tier == queue.Active || tier == queue.Backoff && s.cfg.Queue.PopFromBackoffQ
}

// rejected takes in that an attempt of pod failed, and why.
func (s *shadow) rejected(now time.Time, pod *v1.Pod, message sources.SafeText) {
	d := s.driver
	t, ok := s.tried[pod.UID]
	seen := ok && !t.seen && now.Sub(t.at) < s.attemptWindow(now)
	if !seen {
		seen = s.catchUp(now, pod)
	}
	if b := d.placed(pod.UID); b != nil {
		d.drop(b)
		d.sched.Forget(b.Binding)
		seen = false
	}
	if !seen {
		s.popped(now, pod)
		s.reject(now, pod, string(message))
	}
	s.tried[pod.UID] = tried{at: now, seen: true}
	if c := unscheduled(pod); c != nil && sources.Sanitize(c.Message) == message {
		return // the condition stays as it is, and nothing is written
	}
	if at := s.patchedAt(now, pod, now); at.After(now) && (d.awaits == nil || d.awaits.uid != pod.UID) {
		d.awaits = &statusPatch{uid: pod.UID, until: at.Add(answerDelay)}
	}
}

// reject ends an attempt as the scheduler's message says.
func (s *shadow) reject(now time.Time, pod *v1.Pod, message string) {
	why := queue.Rejection{UnschedulablePlugins: s.rejectors(message)}
	_ = s.driver.queue.AddUnschedulableIfNotPresent(now, pod, why) // it is in flight, so nothing else is there
	s.settled(now, nil)
}

// rejectors returns the plugins whose reasons a condition's message names.
func (s *shadow) rejectors(message string) []string {
	var plugins []string
	for text, plugin := range s.plugins {
		if strings.Contains(message, text) && !slices.Contains(plugins, plugin) {
			plugins = append(plugins, plugin)
		}
	}
	if len(plugins) == 0 && strings.HasPrefix(message, doesNotFit) {
		plugins = []string{unknownPlugin}
	}
	slices.Sort(plugins)
	return plugins
}

// doesNotFit begins the message of an attempt that plugins rejected (framework.NoNodeAvailableMsg). Others
// are errors, and of a cluster without nodes: no plugin is to blame.
const doesNotFit = "0/"

// popped makes pod in flight if it is not.
func (s *shadow) popped(now time.Time, pod *v1.Pod) {
	if a := s.driver.trying; a != nil && a.Pod.UID == pod.UID {
		s.driver.conclude(now)
	}
	if info, ok := s.driver.queue.Get(pod.Namespace, pod.Name); !ok || info.Tier != queue.InFlight {
		s.driver.queue.Observe(now, queue.Observation{Pod: pod, To: queue.InFlight, Inferred: true})
		s.settled(now, nil)
	}
}

// catchUpLimit is how many pods the real loop may be ahead of the model's.
const catchUpLimit = 100

// catchUp lets the loop take pod, because the real one did, after those before it that it had time for. It
// reports whether it could: the pod may wait where no loop takes it from.
func (s *shadow) catchUp(now time.Time, pod *v1.Pod) bool {
	d := s.driver
	at := d.free
	if longest := now.Add(-catchUpLimit * attemptTime); at.Before(longest) {
		at = longest
	}
	for ; ; at = at.Add(attemptTime) {
		if d.trying != nil {
			a := d.trying
			if d.conclude(now); a.Pod.UID == pod.UID {
				return true
			}
		}
		info, ok := d.queue.Get(pod.Namespace, pod.Name)
		if !ok || !s.poppable(info.Tier) {
			return false
		}
		if now.Sub(at) < 2*attemptTime {
			return d.attemptOf(now, pod) != nil && s.concluded(now)
		}
		if d.attempt(now) == nil {
			return false
		}
	}
}

// concluded ends the attempt under way.
func (s *shadow) concluded(now time.Time) bool {
	if s.driver.trying != nil {
		s.driver.conclude(now)
	}
	return true
}

// goesOn ends the loop's wait: the real loop was seen to be at that pod, or past it.
func (s *shadow) goesOn(now time.Time, uid types.UID) {
	d := s.driver
	if d.awaits == nil {
		return
	}
	if d.awaits.uid == uid {
		d.awaits, d.free = nil, now.Add(answerDelay)
	}
}
