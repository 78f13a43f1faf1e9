package session

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// unknownPlugin stands for the plugins that rejected a pod where the source tells only that some did.
const unknownPlugin = "(unknown plugin)"

// shadow works out the scheduler's moves where a source tells only API objects. It runs a local
// kube-scheduler over them as the real one would, and what the API shows of the real one's doing corrects
// it: a binding, a pod's condition, the deletion of a victim. The causes of moves are upstream's code;
// what is guessed is only when things took how long.
type shadow struct {
	cfg     *cycle.Config
	driver  *driver
	objects objects
	emit    func(sources.Event)

	ahead    []sources.Event                    // what the source tells next
	limiter  *rate.Limiter                      // what is left of the rate limit of the real scheduler's client
	strained time.Time                          // when that was last used up, or nearly
	pulled   map[sources.Fact]bool              // those of ahead that were taken in already
	ended    map[*sources.FailedAttempt]bool    // those of ahead that the model has an attempt for
	claimed  map[*sources.StatusPatched]bool    // and those of ahead that an attempt of the model awaits
	heard    []heard                            // what the scheduler has yet to hear, in order
	told     []queue.Transition                 // by the queue, since the last settled
	shown    map[types.NamespacedName]types.UID // of the pods that were told to be in the queue
	tried    map[types.UID]tried
	recorder map[types.UID]sources.Recorded // of the pods of which it is known
	// records is true once the source told what the scheduler's event recorder wrote.
	records bool
	// holds is true while the loop waits for a pod of which an attempt will show.
	holds bool
	// knows is up to when the source has told what there is to tell.
	knows   time.Time
	before  map[types.UID]*sources.Tried // from before the source came to the scheduler
	flushes bool                         // it is known when the backoff flush runs
	plugins map[string]string            // by the text of a reason, as far as any attempt gave it
	failed  error                        // the first object that the scheduler could not take
	// tells is true if the source tells the scheduler's own requests: then a pod's condition need not be
	// taken for one.
	tells bool
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

// attemptWindow is for how long after a modelled attempt a sign of a failed one is taken to be its.
func (s *shadow) attemptWindow(now time.Time) time.Duration {
	if s.records && !s.saturated(now) {
		return lookahead
	}
	return 2 * time.Second
}

// newShadow returns a shadow that hands the source's events, and between them its own, to emit. With
// waits, the scheduler has yet to start; it does when the source says so. With tells, the source tells
// the scheduler's own writes of a pod's condition.
func newShadow(cfg *cycle.Config, start time.Time, waits, tells bool, emit func(sources.Event)) (*shadow, error) {
	s := &shadow{
		cfg: cfg, limiter: clientLimiter(cfg, shownShare), tells: tells, objects: newObjects(), emit: emit, pulled: map[sources.Fact]bool{}, ended: map[*sources.FailedAttempt]bool{}, claimed: map[*sources.StatusPatched]bool{}, shown: map[types.NamespacedName]types.UID{}, tried: map[types.UID]tried{}, recorder: map[types.UID]sources.Recorded{}, plugins: map[string]string{},
	}
	if waits {
		return s, nil
	}
	return s, s.start(start)
}

// start begins with a scheduler that knows the objects there are and nothing else.
func (s *shadow) start(now time.Time) error {
	left, err := s.load(now)
	if err != nil {
		return err
	}
	s.flushes = true
	observeGroups(s.driver.queue, s.objects, now)
	s.objects.each("Pod", func(obj runtime.Object) bool {
		if pod := obj.(*v1.Pod); waiting(pod) && s.driver.sched.Responsible(pod) && !left[pod] {
			s.record(pod.UID, sources.Recorded{})
			s.driver.queue.Add(now, pod)
		}
		return true
	})
	s.settled(now, nil)
	return nil
}

// load begins with a scheduler that knows the objects there are, and whose queue is empty. It returns the
// pods that it could not take.
func (s *shadow) load(now time.Time) (map[*v1.Pod]bool, error) {
	s.close()
	s.heard = nil
	s.tellGone(now)
	sched, err := cycle.New(s.cfg, 0)
	if err != nil {
		return nil, err
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
	s.limiter = clientLimiter(s.cfg, shownShare)
	clear(s.tried)
	clear(s.recorder)
	return left, nil
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

// apply lets time pass up to the first of events, and takes it in; the others come next. It fails if no
// scheduler can be set up.
func (s *shadow) apply(events []sources.Event) error {
	ev := events[0]
	s.ahead = events
	s.advance(ev.Time)
	s.ahead = events[1:]
	if s.pulled[ev.Fact] {
		delete(s.pulled, ev.Fact)
		return nil
	}
	switch f := ev.Fact.(type) {
	case *sources.Tried:
		if s.before == nil {
			s.before = map[types.UID]*sources.Tried{}
		}
		s.before[f.UID] = f
		return nil
	case *sources.Attached:
		return s.attach(ev.Time, f.Began)
	}
	s.emit(ev)
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		return s.start(ev.Time)
	case *sources.ObjectChange:
		s.changed(ev.Time, f)
	case *sources.FailedAttempt:
		delete(s.ended, f)
		if f.Version != "" {
			s.record(f.UID, f.Recorded)
		}
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
		at := s.heard[0].at
		s.driver.advance(at)
		s.hearNext(at)
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
	if isPod && c.Verb == sources.Added && now.Sub(pod.CreationTimestamp.Time) < 2*time.Second { // which has no fractions
		s.record(pod.UID, sources.Recorded{})
	}
	if isPod && (c.Verb == sources.Deleted || pod.DeletionTimestamp != nil) {
		s.evicted(now, pod.UID) // the preemptor knows by the answer to its request
	}
	s.heard = append(s.heard, heard{now.Add(watchDelay), c})
}

// hearNext lets the scheduler hear of the first change on its way.
func (s *shadow) hearNext(now time.Time) {
	h := s.heard[0]
	s.heard = s.heard[1:]
	s.hear(now, h.change)
}

// hear lets the scheduler hear of a change. An object that it can't take is left out.
func (s *shadow) hear(now time.Time, c *sources.ObjectChange) {
	var err error
	if c.Verb == sources.Deleted {
		err = s.driver.sched.Remove(now, c.Object)
	} else {
		err = s.driver.sched.Put(now, c.Object)
	}
	if len(s.told) > 0 {
		s.release(now)
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
	delete(s.recorder, pod.UID)
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

// wrote implements driven: what a shadow's scheduler writes, the real one wrote.
func (s *shadow) wrote(time.Time, runtime.Object) {}

// gone implements driven.
func (s *shadow) gone(time.Time, *v1.Pod) {}

// grouped reports whether pod is queued with its pod group.
func (s *shadow) grouped(pod *v1.Pod) bool {
	_, ok := s.cfg.Queue.GroupOf(pod)
	return ok
}

// observeGroups tells q of the PodGroups that there are.
func observeGroups(q *queue.Queue, of objects, now time.Time) {
	of.each("PodGroup", func(obj runtime.Object) bool {
		q.AddPodGroup(now, obj.(*schedulingv1beta1.PodGroup))
		return true
	})
}
