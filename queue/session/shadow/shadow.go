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
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// shadow reconstructs the scheduler's moves where a source contains only API objects. It runs a
// local kube-scheduler over these objects as the real one would. Traces of the real scheduler in
// the API correct it: a binding, a pod's condition, the deletion of a victim. The causes of moves
// come from upstream's code; only durations are guessed.
//
// Each event passes through three steps. The shadow takes it from the future. Model time advances
// to it; meanwhile the driver's loop asks the oracle what to do, and the oracle looks at the
// future. Then the model follows what the event shows (follow.go).
type shadow struct {
	local
	oracle *oracle
	shown  cluster.QueuedPods
	// priorAttempts is what is known of attempts made before the source attached to the scheduler.
	priorAttempts earlierAttempts
	reported      reportedTiers // nil unless the scheduler's log currently contains all moves
	knowsNodes    bool          // the source ever contains a node, or reports that there is none
	logged        bool          // a log contains attempts at some time
	limited       bool          // requests were rate-limited when the source attached
	reasons       verdict.LearnedPlugins
}

// newShadow returns a shadow of the scheduler behind the events that more returns one by one. It
// passes these events to emit, with its own moves between them. It uses events to find out what the
// source contains at all (sources.Recording.Tells). requests is true if the source contains the
// scheduler's own writes of a pod's condition. The shadow is not started yet.
func newShadow(cfg *schedulerconfig.Config, events []sources.Event, more func() (sources.Event, bool), requests bool, emit func(sources.Event)) *shadow {
	s := &shadow{local: newLocal(cfg, emit), shown: cluster.QueuedPods{}, reasons: verdict.LearnedPlugins{}}
	s.knowsNodes = cluster.HasNodes(events)
	s.logged = cluster.HasFact[*sources.Logged](events)
	limit, began := cfg.ClientLimiter(1), time.Time{}
	if began, s.limited = evidence.LimitedAtAttach(cfg, events); s.limited {
		limit.ReserveN(began, limit.Burst())
	}
	s.oracle = &oracle{
		presence:  newPresence(cfg, func(now time.Time, f *sources.Silent) { f.Inferred = true; emit(sources.Event{Time: now, Fact: f}) }),
		pace:      newPace(),
		channels:  evidence.NewChannels(cfg, requests),
		preBind:   preBindWaits{Patience: writePatience, AwaitsVolume: s.objects.AwaitsVolume, UnreadyClaim: s.objects.UnreadyClaim, Claimed: s.objects.Claimed},
		nodes:     func() int { return s.objects.Count("Node") },
		seesNodes: func() bool { return s.knowsNodes },
		pluginsOf: func(message string) []string { return s.reasons.PluginsOf(message, s.cfg.Release) },
		wakeComing: func() bool {
			return slices.ContainsFunc(s.deliveries, func(h delivery) bool { return evidence.MayWake(h.Change) })
		},
	}
	s.oracle.channels.Exact = cluster.HasFact[*sources.Requested](events)
	if s.oracle.channels.Exact {
		s.oracle.future = evidence.New(bindPatience, shortestRequest, limit)
	} else {
		s.oracle.future = evidence.NewWithoutRequests(bindPatience, shortestRequest, cfg)
	}
	s.oracle.preBind.Future = s.oracle.future
	s.oracle.future.SetResponsible(func(pod *v1.Pod) bool { return cfg.HasProfile(pod.Spec.SchedulerName) })
	s.oracle.future.Read(s.oracle.channels.Gaps.Collect(more))
	return s
}

// start starts a new scheduler that knows the current objects.
func (s *shadow) start(now time.Time) error {
	pods, err := s.load(now)
	if err != nil {
		return err
	}
	for pod := range pods {
		s.oracle.channels.SetRecorded(pod.UID, sources.Recorded{})
		s.driver.queue.Add(now, pod)
	}
	s.emitMoves(now, nil)
	return nil
}

// setRelease sets the version of the next scheduler and reports whether it differs from the
// previous one. The running version is the installed one, and a scheduler with another version has
// started with an empty queue.
func (s *shadow) setRelease(version sources.SafeText) (other bool) {
	s.cfg, other = s.cfg.WithVersion(string(version))
	s.oracle.channels.Config = s.cfg
	return other
}

// load sets up a scheduler that knows only the current objects, and returns the pods that wait for
// it. It fails if no scheduler can be set up.
func (s *shadow) load(now time.Time) (iter.Seq[*v1.Pod], error) {
	s.emitRemovals(now)
	pods, err := s.local.load(now, s.emitMoves)
	if err != nil {
		return nil, err
	}
	s.driver.oracle, s.driver.pending = s.oracle, &s.pending
	s.oracle.queue = lineup{Queue: s.driver.queue, TakesFrom: s.driver.takesFrom, HasNode: s.objects.HasNode}
	s.oracle.channels.Forget()
	s.oracle.presence.Restart(now)
	s.oracle.tried.Clear()
	return pods, nil
}

// applyNext advances model time to the first event of the future and applies that event. It fails
// if no scheduler can be set up.
func (s *shadow) applyNext() error {
	ev := s.oracle.future.First()
	s.advance(ev.Time)
	s.oracle.future.RemoveFirst()
	if ev.Kind == evidence.Started {
		s.applyStart(ev)
		return nil
	}
	switch f := ev.Fact.(type) {
	case *sources.Tried:
		s.priorAttempts.Tried(f)
		return nil
	case *sources.Attached:
		s.oracle.lacksNodes = !f.Nodes
		// Otherwise the source begins without the existing nodes.
		s.knowsNodes = f.Nodes || s.knowsNodes && s.objects.Count("Node") > 0
		return s.attach(ev.Time, f.Began)
	case *sources.Logged:
		s.applyVerbosity(ev.Time, f.Verbosity)
	case *sources.ObjectChange:
		if ev.Used {
			return nil
		}
	}
	s.emit(ev.Event)
	_, failed := ev.Fact.(*sources.FailedAttempt) // in the loop or in a binding cycle
	if ev.OtherScheduler || (failed || ev.Failed()) && (s.reported != nil || s.oracle.future.HasOtherScheduler(ev.UID)) {
		return nil
	}
	s.applyWork(ev)
	switch f := ev.Fact.(type) {
	case *sources.Clocks:
		s.applyClocks(f.Ahead)
	case *sources.Silent:
		s.applySilence(f)
	case *sources.WatchGap:
		s.oracle.channels.Gaps.Forget(ev.Time)
	case *sources.SchedulerStarted:
		if !f.ReleaseInferred {
			s.setRelease(f.Release)
		}
		return s.start(ev.Time)
	case *sources.SchedulerRunning:
		if !f.ReleaseInferred && s.setRelease(f.Release) && s.driver != nil {
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
			s.oracle.pace.SawOther() // earlier failures may be missing
		}
		s.oracle.pace.SawFailure(ev.Time, nominalTime(s.objects.Count("Node")))
		if s.oracle.channels.RecordEvent(ev.Time, f) {
			s.oracle.pace.SawOther() // most of the next failures leave no trace
		}
		s.applyFailure(ev.Time, f)
	case *sources.Bound:
		s.applyBound(ev.Time, f)
	case *sources.Move:
		s.applyMove(ev.Time, f)
	case *sources.Dumped:
		s.applyDumped(ev.Time, f)
	case *sources.Requested:
		s.oracle.channels.RecordRequest(ev.Time)
	case *sources.StatusPatched:
		s.applyStatusPatched(ev, f)
	case *sources.Refused:
		s.applyRefusal(ev.Time, f)
	}
	return nil
}

// applyStatusPatched applies a patch of a pod's status.
func (s *shadow) applyStatusPatched(seen *evidence.Observation, f *sources.StatusPatched) {
	if !s.oracle.channels.Exact {
		s.oracle.channels.RecordRequest(seen.Time)
	}
	if seen.Kind != evidence.Patched {
		return // not sent by the scheduling loop
	}
	s.oracle.pace.SawOther()
	if pod := s.objects.Pod(f.Pod); pod != nil && s.driver != nil && pod.UID == f.UID {
		s.applyPatch(seen.Time, pod, seen.Used)
	}
}

// applyWork resumes the loop if a scheduler that was thought to be gone shows activity.
func (s *shadow) applyWork(seen *evidence.Observation) {
	if s.driver == nil || seen.Pod.Name == "" || seen.Change != nil && seen.Kind != evidence.Bound {
		return
	}
	pod := s.objects.Pod(seen.Pod)
	if pod == nil || pod.UID != seen.UID || seen.Kind == evidence.Bound && pod.Spec.NodeName != "" || !s.driver.Scheduler.Responsible(pod) {
		return // another scheduler's pod, or no new information
	}
	if s.oracle.presence.SawWork(seen.Time, pod.Spec.SchedulerName) {
		s.driver.LoopFree = seen.Time
	}
}

// applyClocks aligns the ends of backoffs with the seconds of the scheduler's clock, which is
// behind by ahead.
func (s *shadow) applyClocks(ahead time.Duration) {
	if s.clockAhead = ahead; s.driver != nil {
		s.driver.queue.Realign(ahead)
		s.driver.ticks.Realign(s.driver.queue.Options())
	}
}

// applySilence applies what the source reports about the scheduler's lease.
func (s *shadow) applySilence(f *sources.Silent) {
	s.oracle.presence.Lapsed = !f.Since.IsZero()
	if !s.oracle.presence.None() && s.driver != nil {
		s.driver.LoopFree = s.driver.now
	}
}

// end closes the scheduler and discards the remaining events.
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

// advance runs the scheduler and delivers changes to it, up to and including to.
func (s *shadow) advance(to time.Time) {
	if s.reported != nil {
		s.deliverQuietly(to)
		return
	}
	for s.driver != nil && !s.driver.isStopped() && len(s.deliveries) > 0 {
		at := s.deliveries[0].At
		if at.After(to) {
			break
		}
		s.driver.Advance(at)
		s.deliverNext(at)
	}
	if s.driver != nil {
		s.driver.Advance(to)
	}
}

// changed applies the change of an object.
func (s *shadow) changed(now time.Time, c *sources.ObjectChange) {
	old := s.objects.Get(c.Object)
	s.objects.Apply(c)
	if s.driver == nil {
		s.noteNode(now, c)
		return // the scheduler has not started; it will load the object
	}
	if pod, ok := c.Object.(*v1.Pod); ok && s.reported == nil {
		before, _ := old.(*v1.Pod)
		s.podChanged(now, c.Verb, before, pod)
	}
	if claim, ok := c.Object.(*resourcev1.ResourceClaim); ok {
		s.driver.failBindings(now, claim)
	}
	if claim, ok := c.Object.(*v1.PersistentVolumeClaim); ok && s.reported == nil {
		s.applySelectedNode(now, claim, selectedNode(old, claim))
	}
	s.deliveries.Add(now, watchDelay, c)
}

// podChanged applies what the change of a pod shows of the real scheduler.
func (s *shadow) podChanged(now time.Time, verb sources.Verb, before, pod *v1.Pod) {
	if verb != sources.Deleted && s.driver.Scheduler.Responsible(pod) {
		s.follow(now, before, pod)
	}
	if verb == sources.Added && now.Sub(pod.CreationTimestamp.Time) < newPod {
		s.oracle.channels.SetRecorded(pod.UID, sources.Recorded{})
	}
	if verb == sources.Deleted || pod.DeletionTimestamp != nil {
		s.endEvictions(now, pod.UID) // the answer to the preemptor's request reports it
	}
}

// deliverNext delivers the first pending change to the scheduler.
func (s *shadow) deliverNext(now time.Time) {
	c := s.deliveries[0].Change
	s.deliveries = s.deliveries[1:]
	pod, isPod := c.Object.(*v1.Pod)
	s.deliver(now, c)
	if isPod && c.Verb == sources.Updated {
		s.oracle.channels.PodUpdated(now, pod.UID)
	}
	s.noteNode(now, c)
	moved := len(s.pending.moves)
	s.emitMoves(now, nil)
	s.driver.delayLoop(now, time.Duration(moved)*moveTime)
	if isPod && c.Verb == sources.Deleted {
		s.podGone(now, pod.UID)
	}
}

// noteNode records that the scheduler knows of a node, if that is the changed object. The first
// node of a cluster without nodes ends the loop's wait for one.
func (s *shadow) noteNode(now time.Time, c *sources.ObjectChange) {
	if _, ok := c.Object.(*v1.Node); !ok || s.knowsNodes {
		return
	}
	s.knowsNodes = true
	if s.driver != nil {
		s.driver.LoopFree = now
	}
}

// deliverRemaining delivers the last changes of a recording, which ends before the scheduler's
// watch would deliver them. A pod created at the very end waits, too.
func (s *shadow) deliverRemaining(end time.Time) {
	for s.driver != nil && s.reported == nil && len(s.deliveries) > 0 && !s.deliveries[0].At.After(end.Add(watchDelay)) {
		s.deliverNext(end)
	}
}

// emitMoves emits the queue's pending moves as events. a is the attempt whose end caused them,
// or nil.
func (s *shadow) emitMoves(now time.Time, a *cycle.Attempt) {
	if a != nil {
		s.oracle.tried.Note(a.Pod.UID, lastAttempt{At: now, Message: a.Message})
		if s.driver.endsAsSeen {
			s.oracle.tried.Ended = now
		}
		s.reasons.Learn(a.Reasons)
	}
	because := s.driver.because
	s.driver.because = reason.Cause{}
	for _, t := range s.pending.moves {
		if t.To == queue.Deleted && s.driver.isTrying(t.Pod.UID) && s.objects.Pod(keyOf(t.Pod)) == nil {
			// The pod stays in flight until its attempt ends (scheduling_queue.go, Delete and
			// Done), unless the name is reused.
			continue
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
	if len(s.pending.moves) > 0 {
		s.driver.endWaitOnMove(now)
	}
	s.pending.moves = s.pending.moves[:0]
}

// targetPod is the prefix of the labels of events by which a pod's own update moves it. Upstream
// logs such a move twice (scheduling_queue.go, Update), and so does the model.
const targetPod = "TargetPod"
