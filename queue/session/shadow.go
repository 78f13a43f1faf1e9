package session

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// unknownPlugin stands for the plugins that rejected a pod where the source tells only that some did.
const unknownPlugin = "(unknown plugin)"

// modelledMove is a move that no source told: a shadow worked it out.
type modelledMove struct {
	*sources.Move
	// observed is true if the source showed at least that this happened: a binding, a condition.
	observed bool
	// verdict is what an attempt came to that is behind the move, or nil.
	verdict *Verdict
}

// shadow works out the scheduler's moves where a source tells only API objects. It runs a local
// kube-scheduler over them as the real one would, and what the API shows of the real one's doing corrects
// it: a binding, a pod's condition, the deletion of a victim. The causes of moves are upstream's code;
// what is guessed is only when things took how long.
type shadow struct {
	cfg     *cycle.Config
	seed    uint64
	driver  *driver
	objects objects
	emit    func(sources.Event)

	ahead    []sources.Event                 // what the source tells next
	requests []time.Time                     // of the real scheduler, in the last second
	pulled   map[sources.Fact]bool           // those of ahead that were taken in already
	ended    map[*sources.FailedAttempt]bool // those of ahead that the model has an attempt for
	claimed  map[*sources.StatusPatched]bool // and those of ahead that an attempt of the model awaits
	heard    []heard                         // what the scheduler has yet to hear, in order
	told     []queue.Transition              // by the queue, since the last settled
	tried    map[types.UID]tried
	plugins  map[string]string // by the text of a reason, as far as any attempt gave it
	failed   error             // the first object that the scheduler could not take
	// tells is true if the source tells the scheduler's own requests: then a pod's condition need not be
	// taken for one.
	tells bool
	stats map[string]int
}

// heard is a change of an object on its way to the scheduler.
type heard struct {
	at     time.Time
	change *sources.ObjectChange
}

// How long after the API server's answer the scheduler hears of a change by its watch, and how long after
// the answer to its own request it goes on: medians in the recordings.
const (
	watchDelay  = time.Millisecond
	answerDelay = 400 * time.Microsecond
)

// tried is the last attempt of a pod.
type tried struct {
	at time.Time
	// seen is true if the source showed it.
	seen bool
}

// attemptWindow is for how long after a modelled attempt a pod's changed condition is taken to be its
// outcome.
const attemptWindow = 2 * time.Second

// newShadow returns a shadow that hands the source's events, and between them its own, to emit. With
// waits, the scheduler has yet to start; it does when the source says so. With tells, the source tells
// the scheduler's own writes of a pod's condition.
func newShadow(cfg *cycle.Config, start time.Time, waits, tells bool, emit func(sources.Event)) (*shadow, error) {
	s := &shadow{cfg: cfg, tells: tells, objects: newObjects(), emit: emit, pulled: map[sources.Fact]bool{}, ended: map[*sources.FailedAttempt]bool{}, claimed: map[*sources.StatusPatched]bool{}, tried: map[types.UID]tried{}, plugins: map[string]string{}, stats: map[string]int{}}
	if waits {
		return s, nil
	}
	return s, s.start(start)
}

// start begins with a scheduler that knows the objects there are and nothing else.
func (s *shadow) start(now time.Time) error {
	s.close()
	s.heard = nil
	sched, err := cycle.New(s.cfg, s.seed)
	if err != nil {
		return err
	}
	left := map[*v1.Pod]bool{} // out, as those that come later are
	s.objects.each("", func(obj runtime.Object) bool {
		if err := sched.Load(obj); err != nil {
			if pod, ok := obj.(*v1.Pod); ok {
				left[pod] = true
			}
			if s.failed == nil {
				s.failed = err
			}
		}
		return true
	})
	q := queue.New(s.cfg.Queue, sched.Plugins(), s)
	s.driver = newDriver(s.cfg, sched, q, newTicks(s.cfg.Queue, now), now, s)
	s.driver.shadow = true
	clear(s.tried)
	s.objects.each("Pod", func(obj runtime.Object) bool {
		if pod := obj.(*v1.Pod); waiting(pod) && sched.Responsible(pod) && !left[pod] {
			q.Add(now, pod)
		}
		return true
	})
	s.settled(now, nil)
	return nil
}

// close ends the scheduler, if there is one.
func (s *shadow) close() {
	if s.driver != nil {
		s.driver.sched.Close()
		s.driver = nil
	}
}

// waiting reports whether pod is one for a scheduler to place.
func waiting(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
}

// Moved implements queue.Observer.
func (s *shadow) Moved(t queue.Transition) { s.told = append(s.told, t) }

// Failed implements queue.Observer: what upstream logs and goes on from, so does the model.
func (s *shadow) Failed(error) {}

// apply lets time pass up to the first of events, and takes it in; the others come next. It fails if no scheduler can be set up.
func (s *shadow) apply(events []sources.Event) error {
	ev := events[0]
	s.ahead = events
	s.advance(ev.Time)
	s.ahead = events[1:]
	if s.pulled[ev.Fact] {
		delete(s.pulled, ev.Fact)
		return nil
	}
	s.emit(ev)
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		return s.start(ev.Time)
	case *sources.ObjectChange:
		s.changed(ev.Time, f)
	case *sources.FailedAttempt:
		delete(s.ended, f)
		if s.driver == nil {
			return nil
		}
		s.hearOf(ev.Time, f.Pod, f.UID)
		if pod := s.objects.pod(f.Pod); pod != nil && waiting(pod) && pod.UID == f.UID {
			s.rejected(ev.Time, pod, f.Message)
		}
	case *sources.StatusPatched:
		s.requested(ev.Time)
		if pod := s.objects.pod(f.Pod); pod != nil && s.driver != nil && pod.UID == f.UID {
			s.patched(ev.Time, pod, s.claimed[f])
		}
		delete(s.claimed, f)
	}
	return nil
}

// advance lets the scheduler run and hear up to and at to.
func (s *shadow) advance(to time.Time) {
	for s.driver != nil && len(s.heard) > 0 && !s.heard[0].at.After(to) {
		h := s.heard[0]
		s.heard = s.heard[1:]
		s.driver.advance(h.at)
		s.hear(h.at, h.change)
	}
	if s.driver != nil {
		s.driver.advance(to)
	}
}

// changed takes in a change of an object.
func (s *shadow) changed(now time.Time, c *sources.ObjectChange) {
	old := s.objects.get(c.Object)
	if c.Verb == sources.Deleted {
		s.objects.remove(c.Object)
	} else {
		s.objects.put(c.Object)
	}
	if s.driver == nil {
		return // the scheduler has yet to start, and will know it then
	}
	pod, isPod := c.Object.(*v1.Pod)
	if isPod && c.Verb != sources.Deleted && s.driver.sched.Responsible(pod) {
		before, _ := old.(*v1.Pod)
		s.correct(now, before, pod)
	}
	if isPod && (c.Verb == sources.Deleted || pod.DeletionTimestamp != nil) {
		s.evicted(now, pod.UID) // the preemptor knows by the answer to its request
	}
	s.heard = append(s.heard, heard{now.Add(watchDelay), c})
}

// hear lets the scheduler hear of a change. An object that it can't take is left out.
func (s *shadow) hear(now time.Time, c *sources.ObjectChange) {
	var err error
	if c.Verb == sources.Deleted {
		err = s.driver.sched.Remove(now, c.Object)
	} else {
		err = s.driver.sched.Put(now, c.Object)
	}
	s.driver.delay(now, time.Duration(len(s.told))*moveTime)
	s.settled(now, nil)
	if pod, ok := c.Object.(*v1.Pod); ok {
		s.leaves(now, c.Verb, pod)
	}
	if err != nil && s.failed == nil {
		s.failed = err
	}
}

// evicted ends the evictions of the victim with that UID.
func (s *shadow) evicted(now time.Time, uid types.UID) {
	for _, e := range slices.Clone(s.driver.evicting) {
		if e.Victim.UID == uid {
			s.driver.evicted(e)
			s.settled(now, nil)
		}
	}
}

// leaves ends what waited for pod to go.
func (s *shadow) leaves(now time.Time, verb sources.Verb, pod *v1.Pod) {
	d := s.driver
	if verb != sources.Deleted {
		return
	}
	delete(s.tried, pod.UID)
	if b := d.placed(pod.UID); b != nil {
		d.drop(b)
		d.sched.Fail(now, b.Binding, errNotSeen)
		_ = d.sched.Writes()
		s.settled(now, nil)
	}
	if d.awaits != nil && d.awaits.uid == pod.UID {
		d.awaits, d.free = nil, now
	}
}

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
	d := s.driver
	b := d.placed(pod.UID)
	if b == nil {
		s.catchUp(now, pod)
		if b = d.placed(pod.UID); b == nil {
			s.stats["bound, not placed"]++
		}
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

// hearsBefore is how long before the API server's answer a change can have been heard of by the watch.
const hearsBefore = 10 * time.Millisecond

// hearOf lets the scheduler hear of changes earlier than the model would have had it, until they put the
// named pod where the loop takes it from: an attempt of the pod was seen, so its cause was heard of.
func (s *shadow) hearOf(now time.Time, key types.NamespacedName, uid types.UID) {
	if t, ok := s.tried[uid]; ok && !t.seen && now.Sub(t.at) < attemptWindow {
		return
	}
	ready := func() bool {
		info, ok := s.driver.queue.Get(key.Namespace, key.Name)
		return ok && (info.Tier == queue.InFlight || s.poppable(info.Tier))
	}
	for len(s.heard) > 0 && !ready() {
		h := s.heard[0]
		s.heard = s.heard[1:]
		s.hear(now, h.change)
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
				h := s.heard[0]
				s.heard = s.heard[1:]
				s.hear(now, h.change)
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
	seen := ok && !t.seen && now.Sub(t.at) < attemptWindow
	if !seen {
		seen = s.catchUp(now, pod)
	}
	if b := d.placed(pod.UID); b != nil {
		s.stats["rejected, but placed"]++
		d.drop(b)
		d.sched.Forget(b.Binding)
		seen = false
	}
	if !seen {
		s.stats["rejected, not tried"]++
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

// requested notes a request of the real scheduler.
func (s *shadow) requested(now time.Time) {
	i := 0
	for i < len(s.requests) && now.Sub(s.requests[i]) > time.Second {
		i++
	}
	s.requests = append(s.requests[i:], now)
}

// saturated reports whether the real scheduler made nearly as many requests in the last second as its
// client's rate limit lets it: then they wait for each other, and with them the loop.
func (s *shadow) saturated(now time.Time) bool {
	n := 0
	for _, at := range s.requests {
		if now.Sub(at) <= time.Second {
			n++
		}
	}
	return s.cfg.ClientQPS > 0 && float32(n) >= 0.8*s.cfg.ClientQPS
}

// visible is an attempt that the source shows to fail.
type visible struct {
	pod *v1.Pod
	// by is when it was over, at the latest.
	by time.Time
	// patched is true if only the patch shows it, for which the client's rate limit may have kept it
	// waiting.
	patched bool
}

// next returns the first attempt that ended from now to now and within. Its pod is nil if the loop could
// not take it.
func (s *shadow) next(now time.Time, within time.Duration) (visible, bool) {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > within {
			break
		}
		var key types.NamespacedName
		var uid types.UID
		by, silent := ev.Time, false
		switch f := ev.Fact.(type) {
		case *sources.FailedAttempt:
			if s.ended[f] {
				continue
			}
			key, uid = f.Pod, f.UID
		case *sources.StatusPatched:
			if s.claimed[f] {
				continue // its attempt is over, and this only its patch
			}
			key, uid, silent = f.Pod, f.UID, true
			if !f.Sent.IsZero() {
				by = f.Sent
			}
		default:
			continue
		}
		if by.Before(now) {
			continue
		}
		info, ok := s.driver.queue.Get(key.Namespace, key.Name)
		if !ok || info.Pod.UID != uid || !s.poppable(info.Tier) {
			return visible{nil, by, silent}, true
		}
		return visible{info.Pod, by, silent}, true
	}
	return visible{}, false
}

// takes implements driven: an attempt that was seen to fail so soon is the next one. If the model has its
// pod elsewhere, the loop had no time for others all the same.
func (s *shadow) takes(now time.Time) (*v1.Pod, time.Time) {
	v, ok := s.next(now, crowding)
	switch left := v.by.Sub(now); {
	case !ok:
	case v.pod == nil && (left < lookahead/3 || left < crowding && s.saturated(now)):
		return nil, v.by
	case v.pod != nil && (v.patched && s.saturated(now) || left <= 2*attemptTime):
		return v.pod, time.Time{}
	}
	return nil, time.Time{}
}

// Where attempts follow each other so closely that the next one seen is this near, each of them shows but
// those that write nothing.
const crowding = 60 * time.Millisecond

// doubts implements driven. Under load the model's order of pods comes to differ from the real one's. An
// attempt that would have shown, by a patch or a binding, and does not, is taken back in favour of the
// next one that shows.
func (s *shadow) doubts(now time.Time, a *cycle.Attempt) *v1.Pod {
	if a.Skipped || !s.tells {
		return nil
	}
	instead := s.bindsNext(now)
	if a.Binding == nil || instead == nil || instead.UID == a.Pod.UID || s.binds(now, a) {
		v, ok := s.next(now, crowding)
		if !ok || v.pod == nil || v.pod.UID == a.Pod.UID || s.shows(now, a) {
			return nil
		}
		instead = v.pod
	}
	d := s.driver
	d.sched.Undo(a)
	from := s.told[len(s.told)-1].From // of the pop
	s.told = s.told[:len(s.told)-1]
	d.queue.Unpop(a.Pod.UID, from)
	return instead
}

// bindsNext returns the first pod that is bound so soon that its attempt can begin now, if the loop can
// take it.
func (s *shadow) bindsNext(now time.Time) *v1.Pod {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > crowding {
			break
		}
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod, ok := c.Object.(*v1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			continue
		}
		if info, ok := s.driver.queue.Get(pod.Namespace, pod.Name); ok && info.Pod.UID == pod.UID && s.poppable(info.Tier) {
			return info.Pod
		}
	}
	return nil
}

// shows reports whether attempt a agrees with what the source shows.
func (s *shadow) shows(now time.Time, a *cycle.Attempt) bool {
	if a.Binding == nil {
		c := unscheduled(a.Pod)
		if c != nil && c.Message == a.Message && (a.Nominated == "" || a.Nominated == a.Pod.Status.NominatedNodeName) {
			return true // nothing is written
		}
		return s.patchOf(now, a.Pod) != nil
	}
	return s.binds(now, a)
}

// binds implements driven.
func (s *shadow) binds(now time.Time, a *cycle.Attempt) bool {
	if !s.tells {
		return true
	}
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > writePatience {
			return false
		}
		if c, ok := ev.Fact.(*sources.ObjectChange); ok {
			if pod, ok := c.Object.(*v1.Pod); ok && pod.UID == a.Pod.UID && (pod.Spec.NodeName != "" || c.Verb == sources.Deleted) {
				return true
			}
		}
	}
	return false
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

// settled implements driven: it hands on what the queue told as events.
func (s *shadow) settled(now time.Time, a *cycle.Attempt) {
	if a != nil {
		s.tried[a.Pod.UID] = tried{at: now}
		for _, r := range a.Reasons {
			if r.Plugin != "" {
				s.plugins[r.Text] = r.Plugin
			}
		}
	}
	for _, t := range s.told {
		key := types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}
		m := &modelledMove{observed: t.Observed, Move: &sources.Move{
			Pod: key, To: sources.Tier(t.To.String()), Event: t.Event, GatingPlugin: t.GatingPlugin,
		}}
		if t.Event == queue.ScheduleAttemptFailure {
			m.Plugins = append(slices.Clone(t.UnschedulablePlugins), t.PendingPlugins...)
			if a != nil && a.Pod.UID == t.Pod.UID {
				m.verdict = newVerdict(s.driver.began, now, a)
				m.Message, m.Node = sources.Sanitize(a.Message), a.Nominated
			}
		}
		if t.To == queue.Scheduled {
			if pod := s.objects.pod(key); pod != nil {
				m.Node = pod.Spec.NodeName
			}
		}
		s.emit(sources.Event{Time: t.Time, Fact: m})
		if strings.HasPrefix(t.Event, targetPod) && (t.To == queue.Active || t.To == queue.Backoff) {
			again := *m.Move
			again.Restated = true
			s.emit(sources.Event{Time: t.Time, Fact: &modelledMove{Move: &again}})
		}
	}
	s.told = s.told[:0]
}

// targetPod begins the labels of events by which a pod's own update moves it. Upstream logs such a move
// twice (scheduling_queue.go, Update), and so does the model.
const targetPod = "TargetPod"

// wrote implements driven: what a shadow's scheduler writes, the real one wrote.
func (s *shadow) wrote(time.Time, runtime.Object) {}

// gone implements driven.
func (s *shadow) gone(time.Time, *v1.Pod) {}

// lookahead is how long an attempt may have taken longer than the model's would.
const lookahead = 15 * time.Millisecond

// endsAt implements driven: when the attempt of pod that begins now was seen to fail.
func (s *shadow) endsAt(now time.Time, pod *v1.Pod) (time.Time, bool) {
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > lookahead {
			break
		}
		if f, ok := ev.Fact.(*sources.FailedAttempt); ok && f.UID == pod.UID && !ev.Time.Before(now) && !s.ended[f] {
			s.ended[f] = true
			return ev.Time, true
		}
	}
	return time.Time{}, false
}

// patchedAt implements driven.
func (s *shadow) patchedAt(now time.Time, pod *v1.Pod, until time.Time) time.Time {
	if !s.tells {
		return until
	}
	if i := s.patchOf(now, pod); i != nil {
		s.claimed[i.Fact.(*sources.StatusPatched)] = true
		return i.Time
	}
	return now
}

// patchOf returns the first patch of the pod's status before its next failed attempt that no attempt has
// claimed yet, or nil.
func (s *shadow) patchOf(now time.Time, pod *v1.Pod) *sources.Event {
	for i := range s.ahead {
		ev := &s.ahead[i]
		if ev.Time.Sub(now) > writePatience {
			break
		}
		switch f := ev.Fact.(type) {
		case *sources.StatusPatched:
			if f.UID == pod.UID && !s.claimed[f] {
				return ev
			}
		case *sources.FailedAttempt:
			if f.UID == pod.UID && ev.Time.After(now) && !s.ended[f] {
				return nil
			}
		}
	}
	return nil
}

// ends implements driven.
func (s *shadow) ends(now time.Time, victim *v1.Pod) bool {
	if !s.tells {
		return true
	}
	for _, ev := range s.ahead {
		if ev.Time.Sub(now) > writePatience {
			break
		}
		if c, ok := ev.Fact.(*sources.ObjectChange); ok {
			if pod, ok := c.Object.(*v1.Pod); ok && pod.UID == victim.UID && (pod.DeletionTimestamp != nil || c.Verb == sources.Deleted) {
				return true
			}
		}
	}
	return false
}
