package shadow

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/ratelimit"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// shadow works out the scheduler's moves where a source tells only API objects. It runs a local
// kube-scheduler over them as the real one would, and what the API shows of the real one's doing corrects
// it: a binding, a pod's condition, the deletion of a victim. The causes of moves are upstream's code;
// what is guessed is only when things took how long.
//
// An event goes one way. It is taken out of the future (next). Then time passes up to it: the driver's loop asks the
// oracle what it does, and that looks at the future. Then the model follows what the event shows (shadowfollow.go).
type shadow struct {
	local
	oracle *oracle
	shown  cluster.QueuedPods
	// triedBefore is what is known of pods from before the source came to the scheduler.
	triedBefore earlierAttempts
	told        toldTiers // nil but while the scheduler's log tells all moves
	nodesTold   bool      // the source tells of a node, at some time, or that there is none
	logged      bool      // a log tells of attempts, at some time
	limited     bool      // the scheduler's requests waited for the rate limit when the source came
	reasons     verdict.LearnedPlugins
}

// newShadow returns a shadow of the scheduler that the events tell of which more returns, one after the other. It hands those
// on to emit, and between them the moves that it makes. events answer what they tell at all (sources.Recording.Tells), and
// requests is true if they tell the scheduler's own writes of a pod's condition. It has yet to start.
func newShadow(cfg *schedulerconfig.Config, events []sources.Event, more func() (sources.Event, bool), requests bool, emit func(sources.Event)) *shadow {
	s := &shadow{local: newLocal(cfg, emit), shown: cluster.QueuedPods{}, reasons: verdict.LearnedPlugins{}}
	s.nodesTold = cluster.HasNodes(events)
	s.logged = cluster.HasFact[*sources.Logged](events)
	limit, began := cfg.ClientLimiter(1), time.Time{}
	if began, s.limited = ratelimit.LimitedAtAttach(cfg, events); s.limited {
		limit.ReserveN(began, limit.Burst())
	}
	s.oracle = &oracle{
		presence:   newPresence(cfg, func(now time.Time, f *sources.Silent) { f.Inferred = true; emit(sources.Event{Time: now, Fact: f}) }),
		pace:       newPace(),
		channels:   channels.New(cfg, requests),
		preBind:    preBindWaits{Patience: writePatience, AwaitsVolume: s.objects.AwaitsVolume, UnreadyClaim: s.objects.UnreadyClaim, Claimed: s.objects.Claimed},
		beingBound: func(yield func(*v1.Pod) bool) { s.driver.eachBinding(yield) },
		nodes:      func() int { return s.objects.Count("Node") },
		seesNodes:  func() bool { return s.nodesTold },
		pluginsOf:  func(message string) []string { return s.reasons.PluginsOf(message, s.cfg.Release) },
		wakeComing: func() bool {
			return slices.ContainsFunc(s.deliveries, func(h delivery) bool { return evidence.MayWake(h.Change) })
		},
	}
	s.oracle.channels.Exact = cluster.HasFact[*sources.Requested](events)
	if s.oracle.channels.Exact {
		s.oracle.future = evidence.New(bindPatience, shortestRequest, limit)
	} else {
		shown, left := ratelimit.VisibleLimiter(cfg)
		s.oracle.future = evidence.NewWithoutRequests(bindPatience, shortestRequest, shown, left, cfg.ClientInterval())
	}
	s.oracle.preBind.Future = s.oracle.future
	s.oracle.future.SetResponsible(func(pod *v1.Pod) bool { return cfg.HasProfile(pod.Spec.SchedulerName) })
	s.oracle.future.Read(s.oracle.channels.Gaps.Collect(more))
	return s
}

// start begins with a scheduler that has just started and knows the objects there are.
func (s *shadow) start(now time.Time) error {
	pods, err := s.load(now)
	if err != nil {
		return err
	}
	for pod := range pods {
		s.oracle.channels.SetRecorded(pod.UID, sources.Recorded{})
		s.driver.queue.Add(now, pod)
	}
	s.handOnMoves(now, nil)
	return nil
}

// hearRelease has the scheduler that starts next be of that version, and reports whether the one before was of another: what
// runs is what was installed, and a scheduler that works with another version has begun with an empty queue.
func (s *shadow) hearRelease(version sources.SafeText) (other bool) {
	s.cfg, other = s.cfg.WithVersion(string(version))
	s.oracle.channels.Config = s.cfg
	return other
}

// load begins with a scheduler of which nothing is known but the objects there are, and returns the pods that wait
// for it. It fails if no scheduler can be set up.
func (s *shadow) load(now time.Time) (iter.Seq[*v1.Pod], error) {
	s.tellGone(now)
	pods, err := s.local.load(now, s.handOnMoves)
	if err != nil {
		return nil, err
	}
	s.driver.oracle, s.driver.unsettled = s.oracle, &s.unsettled
	s.oracle.queue = lineup{Queue: s.driver.queue, TakesFrom: s.driver.takesFrom, HasNode: s.objects.HasNode}
	s.oracle.channels.Forget()
	s.oracle.presence.Restart(now)
	s.oracle.tried.Clear()
	return pods, nil
}

// takeInNext lets time pass up to the first event of the future, and takes that in. It fails if no scheduler can be
// set up.
func (s *shadow) takeInNext() error {
	ev := s.oracle.future.First()
	s.advance(ev.Time)
	s.oracle.future.RemoveFirst()
	if ev.Kind == evidence.Started {
		s.takeInBeginning(ev)
		return nil
	}
	switch f := ev.Fact.(type) {
	case *sources.Tried:
		s.triedBefore.Tried(f)
		return nil
	case *sources.Attached:
		s.oracle.lacksNodes = !f.Nodes
		s.nodesTold = f.Nodes || s.nodesTold && s.objects.Count("Node") > 0 // or it begins without those that there are
		return s.attach(ev.Time, f.Began)
	case *sources.Logged:
		s.takeInVerbosity(ev.Time, f.Verbosity)
	case *sources.ObjectChange:
		if ev.Used {
			return nil
		}
	}
	s.emit(ev.Event)
	_, failed := ev.Fact.(*sources.FailedAttempt) // of the loop, or of a binding
	if ev.OtherScheduler || (failed || ev.Failed()) && (s.told != nil || s.oracle.future.HasOtherScheduler(ev.UID)) {
		return nil
	}
	s.takeInWork(ev)
	switch f := ev.Fact.(type) {
	case *sources.Clocks:
		s.takeInClocks(f.Ahead)
	case *sources.Silent:
		s.takeInSilence(f)
	case *sources.WatchGap:
		s.oracle.channels.Gaps.Forget(ev.Time)
	case *sources.SchedulerStarted:
		if !f.ReleaseInferred {
			s.hearRelease(f.Release)
		}
		return s.start(ev.Time)
	case *sources.SchedulerRunning:
		if !f.ReleaseInferred && s.hearRelease(f.Release) && s.driver != nil {
			return s.start(ev.Time)
		}
	case *sources.ObjectChange:
		s.changed(ev.Time, f)
	case *sources.FailedAttempt:
		if f.Version != "" {
			s.oracle.channels.SetRecorded(f.UID, f.Recorded)
		}
		if ev.Kind == evidence.BindingFailed && s.driver != nil && s.driver.bindingOf(f.UID) != nil {
			s.unbind(ev.Time, f.UID, errors.New(string(f.Message)))
			return nil
		}
		if _, missed := s.oracle.channels.Gaps.Missed(ev.Time, sources.EventsWatch); missed {
			s.oracle.pace.SawOther() // others before it may not have been seen
		}
		s.oracle.pace.SawFailure(ev.Time, nominalTime(s.objects.Count("Node")))
		if s.oracle.channels.RecordEvent(ev.Time, f) {
			s.oracle.pace.SawOther() // most of those that come next do not show
		}
		s.takeInFailure(ev.Time, f)
	case *sources.Bound:
		s.takeInBound(ev.Time, f)
	case *sources.Move:
		s.takeInMove(ev.Time, f)
	case *sources.Dumped:
		s.takeInDumped(ev.Time, f)
	case *sources.Requested:
		s.oracle.channels.RecordRequest(ev.Time)
	case *sources.StatusPatched:
		s.takeInStatusPatched(ev, f)
	case *sources.Refused:
		s.takeInRefused(ev.Time, f)
	}
	return nil
}

// takeInStatusPatched has the model follow a patch of a pod's status.
func (s *shadow) takeInStatusPatched(seen *evidence.Observation, f *sources.StatusPatched) {
	if !s.oracle.channels.Exact {
		s.oracle.channels.RecordRequest(seen.Time)
	}
	if seen.Kind != evidence.Patched {
		return // beside the loop
	}
	s.oracle.pace.SawOther()
	if pod := s.objects.Pod(f.Pod); pod != nil && s.driver != nil && pod.UID == f.UID {
		s.takeInPatch(seen.Time, pod, seen.Used)
	}
}

// takeInWork has the loop go on where the scheduler is seen to work of which nothing was heard.
func (s *shadow) takeInWork(seen *evidence.Observation) {
	if s.driver == nil || seen.Pod.Name == "" || seen.Change != nil && seen.Kind != evidence.Bound {
		return
	}
	pod := s.objects.Pod(seen.Pod)
	if pod == nil || pod.UID != seen.UID || seen.Kind == evidence.Bound && pod.Spec.NodeName != "" || !s.driver.Scheduler.Responsible(pod) {
		return // of another, or it says nothing new
	}
	if s.oracle.presence.SawWork(seen.Time, pod.Spec.SchedulerName) {
		s.driver.LoopFree = seen.Time
	}
}

// takeInClocks has backoffs end with the seconds of the scheduler's clock, which is so far behind.
func (s *shadow) takeInClocks(ahead time.Duration) {
	if s.clockAhead = ahead; s.driver != nil {
		s.driver.queue.Realign(ahead)
		s.driver.ticks.Realign(s.driver.queue.Options())
	}
}

// takeInSilence follows what the source tells of the scheduler's lease.
func (s *shadow) takeInSilence(f *sources.Silent) {
	s.oracle.presence.Lapsed = !f.Since.IsZero()
	if !s.oracle.presence.None() && s.driver != nil {
		s.driver.LoopFree = s.driver.now
	}
}

// end closes the scheduler and forgets what is to come.
func (s *shadow) end() {
	s.close()
	s.oracle.future.Clear()
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// advance lets the scheduler run and hear up to and at to.
func (s *shadow) advance(to time.Time) {
	if s.told != nil {
		s.hearQuietly(to)
		return
	}
	for s.driver != nil && !s.driver.isStopped() && len(s.deliveries) > 0 {
		at := s.deliveries[0].At
		if at.After(to) {
			break
		}
		s.driver.Advance(at)
		s.hearNext(at)
	}
	if s.driver != nil {
		s.driver.Advance(to)
	}
}

// changed takes in a change of an object.
func (s *shadow) changed(now time.Time, c *sources.ObjectChange) {
	old := s.objects.Get(c.Object)
	s.objects.Apply(c)
	if s.driver == nil {
		s.toldOfNode(now, c)
		return // the scheduler has yet to start, and will know it then
	}
	if pod, ok := c.Object.(*v1.Pod); ok && s.told == nil {
		before, _ := old.(*v1.Pod)
		s.podChanged(now, c.Verb, before, pod)
	}
	if claim, ok := c.Object.(*resourcev1.ResourceClaim); ok {
		s.driver.failBindings(now, claim)
	}
	if claim, ok := c.Object.(*v1.PersistentVolumeClaim); ok && s.told == nil {
		s.takeInSelected(now, claim, selectedNode(old, claim))
	}
	s.deliveries.Add(now, watchDelay, c)
}

// podChanged has the model follow what the change of a pod shows of the real scheduler.
func (s *shadow) podChanged(now time.Time, verb sources.Verb, before, pod *v1.Pod) {
	if verb != sources.Deleted && s.driver.Scheduler.Responsible(pod) {
		s.follow(now, before, pod)
	}
	if verb == sources.Added && now.Sub(pod.CreationTimestamp.Time) < newPod {
		s.oracle.channels.SetRecorded(pod.UID, sources.Recorded{})
	}
	if verb == sources.Deleted || pod.DeletionTimestamp != nil {
		s.endEvictions(now, pod.UID) // the preemptor knows by the answer to its request
	}
}

// hearNext lets the scheduler hear of the first change on its way.
func (s *shadow) hearNext(now time.Time) {
	c := s.deliveries[0].Change
	s.deliveries = s.deliveries[1:]
	pod, isPod := c.Object.(*v1.Pod)
	s.deliver(now, c)
	if isPod && c.Verb == sources.Updated {
		s.oracle.channels.PodUpdated(now, pod.UID)
	}
	s.toldOfNode(now, c)
	moved := len(s.unsettled.moves)
	s.handOnMoves(now, nil)
	s.driver.delayLoop(now, time.Duration(moved)*moveTime)
	if isPod && c.Verb == sources.Deleted {
		s.podGone(now, pod.UID)
	}
}

// toldOfNode notes that the scheduler knows of the changed object. The first node of a cluster that had none ends the
// loop's wait for it.
func (s *shadow) toldOfNode(now time.Time, c *sources.ObjectChange) {
	if _, ok := c.Object.(*v1.Node); !ok || s.nodesTold {
		return
	}
	s.nodesTold = true
	if s.driver != nil {
		s.driver.LoopFree = now
	}
}

// hearLast lets the scheduler hear of what the last events of a recording show, which ends before its watch would have delivered them:
// a pod that is created last waits, too.
func (s *shadow) hearLast(end time.Time) {
	for s.driver != nil && s.told == nil && len(s.deliveries) > 0 && !s.deliveries[0].At.After(end.Add(watchDelay)) {
		s.hearNext(end)
	}
}

// handOnMoves emits the moves that the queue told as events. a is the attempt whose end caused them, or nil.
func (s *shadow) handOnMoves(now time.Time, a *cycle.Attempt) {
	if a != nil {
		s.oracle.tried.Note(a.Pod.UID, lastAttempt{At: now, Message: a.Message})
		if s.driver.endsAsSeen {
			s.oracle.tried.Ended = now
		}
		s.reasons.Learn(a.Reasons)
	}
	because := s.driver.because
	s.driver.because = reason.Cause{}
	for _, t := range s.unsettled.moves {
		if t.To == queue.Deleted && s.driver.isTrying(t.Pod.UID) && s.objects.Pod(keyOf(t.Pod)) == nil {
			continue // it stays in flight until its attempt ends (scheduling_queue.go, Delete and Done), unless another has its name
		}
		m := s.move(now, t, a)
		m.Because = &because
		if !s.shown.Moves(m.Pod, &t) {
			continue
		}
		if pod := s.objects.Pod(m.Pod); pod != nil && t.To == queue.Scheduled {
			m.Node = pod.Spec.NodeName
		}
		s.emit(sources.Event{Time: t.Time, Fact: m})
		if strings.HasPrefix(t.Event, targetPod) && (t.To == queue.Active || t.To == queue.Backoff) {
			again := *m.Move
			again.Restated = true
			s.emit(sources.Event{Time: t.Time, Fact: &Move{Move: &again}})
		}
	}
	if len(s.unsettled.moves) > 0 {
		s.driver.endWaitOnMove(now)
	}
	s.unsettled.moves = s.unsettled.moves[:0]
}

// targetPod begins the labels of events by which a pod's own update moves it. Upstream logs such a move
// twice (scheduling_queue.go, Update), and so does the model.
const targetPod = "TargetPod"
