package opinion

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// Watch collects what a source shows of a scheduler, for Judge. It does not use the model. A Watch belongs to one goroutine.
type Watch struct {
	opts queue.Options
	// hasProfile reports whether the scheduler has a profile of that name.
	hasProfile func(schedulerName string) bool
	// qps and burst are the rate limit of the scheduler's requests; negative if there is none.
	qps   float32
	burst int

	// covered is how much of the time so far the source covers. At most longestGap of a time without events counts, because a clock may
	// have jumped. last is the time of the last event.
	covered time.Duration
	last    time.Time
	// began is when the scheduler last started, a gap ended, or a clock jumped. Missing attempts count as evidence from then on.
	began moment
	ahead time.Duration // as of the last *sources.Clocks

	logged   moment // when the scheduler's log began to contain the end of each attempt; zero while it does not
	attached bool   // the source contains the objects that existed when it attached
	first    time.Time
	records  bool               // the source contains the scheduler's Events
	late     stretch            // in which Events arrived late
	broken   map[string]bool    // watches that do not work; "" is the whole cluster
	silent   map[string]silence // profiles without activity; "" is all of them
	served   map[string]bool    // schedulerNames with a pod that was tried or bound
	limited  stretch            // in which the scheduler's requests were close to their rate limit
	exact    bool               // the source contains all of its requests
	tokens   float64            // of the rate limit that are left
	counted  time.Time          // the time of tokens

	deletedNodes []time.Time // when nodes were deleted, the last maxDeletedNodes of them

	pods  map[types.UID]record
	nodes map[string]nodeRecord
	tries map[int32]*attempts // by priority
}

// moment is a time, and how much of the time until then the source covers.
type moment struct {
	at      time.Time
	covered time.Duration
}

// stretch is the last time during which something was observed at least once in maxInActiveQ.
type stretch struct{ first, last moment }

// add extends s to now, or begins another stretch.
func (s *stretch) add(now moment) {
	if s.last == (moment{}) || now.covered-s.last.covered > maxInActiveQ {
		s.first = now
	}
	s.last = now
}

// covers reports whether at lies in s, or less than maxInActiveQ after it.
func (s *stretch) covers(at moment) bool {
	return s.last != (moment{}) && at.covered >= s.first.covered && at.covered-s.last.covered < maxInActiveQ
}

// record is what is observed of a waiting pod.
type record struct {
	tried     moment // the last observed attempt
	failed    moment // the last failure
	version   string // of the pod in the last Event
	count     int    // of that Event
	discarded moment
	changed   time.Time // when the pod changed after it was discarded
	checked   time.Time // the last attempt that was compared with the objects
	// contradicted are the first and the last of the attempts whose outcome the objects of node on contradict.
	contradicted [2]time.Time
	on           string
}

// silence is the time since the last activity of a scheduler. It is no evidence if it is inferred: attempts need not be visible.
type silence struct {
	since    time.Time
	inferred bool
}

// nodeRecord is the last change that made room on a node.
type nodeRecord struct {
	at    moment
	event string // upstream's label
	what  string // "pod default/web was deleted"
	known bool   // all pods on the node are known
}

const (
	// longestGap limits how much of a time without events counts as covered. Both flushes and the lease's renewals are
	// more frequent than that.
	longestGap = queue.LeftoverFlushInterval
	// maxInActiveQ is how long a pod may wait in activeQ.
	maxInActiveQ = time.Minute
	// sameAttempt is how much later than the discard the Event of the same attempt may be. The scheduler sends the Event after it
	// discards the pod (schedule_one.go, handleSchedulingFailure).
	sameAttempt = 5 * time.Second
	// lateEvent is the delay from which on Events count as backlogged.
	lateEvent = 5 * time.Second
	// visibleShare is the share of the scheduler's requests that are visible, and lowTokens how few tokens of the rate limit are left
	// when requests may wait: see visibleShare and lowVisible in package evidence.
	visibleShare = 0.8
	lowTokens    = 10
	// maxDeletedNodes limits how many deletions of nodes are kept.
	maxDeletedNodes = 16
	// watchDelay is how long a watch may take to deliver a change.
	watchDelay = 5 * time.Second
)

// NewWatch returns a Watch of a scheduler with that configuration.
func NewWatch(cfg *schedulerconfig.Config) *Watch {
	qps, burst := cfg.ClientQPS, int(cfg.ClientBurst)
	return &Watch{
		opts: cfg.Queue, hasProfile: cfg.HasProfile, qps: qps, burst: burst, tokens: float64(burst), broken: map[string]bool{}, silent: map[string]silence{}, served: map[string]bool{},
		pods: map[types.UID]record{}, nodes: map[string]nodeRecord{}, tries: map[int32]*attempts{},
	}
}

// SetOptions sets the scheduler's options from now on.
func (w *Watch) SetOptions(opts queue.Options) { w.opts = opts }

// Pass advances the time to now.
func (w *Watch) Pass(now time.Time) {
	if w.last.IsZero() {
		w.last, w.first = now, now
		w.restart()
	}
	if gap := now.Sub(w.last); gap > 0 {
		w.covered += min(gap, longestGap)
		w.last = now
	}
}

// now returns the present moment.
func (w *Watch) now() moment { return moment{w.last, w.covered} }

// since returns how much of the time since m the source covers.
func (w *Watch) since(m moment) time.Duration { return w.covered - m.covered }

// restart makes missing attempts count from now on only.
func (w *Watch) restart() {
	w.began = w.now()
	clear(w.tries)
}

// Observe records an event. objects are those before the event.
func (w *Watch) Observe(ev sources.Event, objects cluster.Objects) {
	w.Pass(ev.Time)
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		w.observeChange(ev.Time, f, objects)
	case *sources.FailedAttempt:
		w.observeFailure(ev.Time, f, objects)
	case *sources.StatusPatched:
		w.countVisible(ev.Time)
		if !f.Clears {
			w.recordAttempt(objects.Pod(f.Pod), f.UID, true)
		}
	case *sources.Refused:
		w.countVisible(ev.Time)
		if f.Binding {
			w.freed(f.Node, "", "a binding failed")
			w.recordAttempt(objects.Pod(f.Pod), f.UID, false)
		}
	case *sources.Bound:
		w.recordAttempt(objects.Pod(f.Pod), f.UID, false)
	case *sources.Move:
		w.observeMove(f, objects)
	case *sources.Dumped:
		if pod := objects.Pod(f.Pod); pod != nil && w.has(pod.UID) {
			w.edit(pod.UID, func(r *record) { r.discarded = moment{} })
		}
	case *sources.Discarded:
		if pod := objects.Pod(f.Pod); pod == nil {
			w.edit(cluster.Placeholder(f.Pod).UID, func(r *record) { r.discarded = w.now() })
		} else if cluster.Waiting(pod) {
			w.edit(pod.UID, func(r *record) { r.discarded, r.changed = w.now(), time.Time{} })
		}
	case *sources.Requested:
		w.exact = true
		w.countRequest(ev.Time)
	default:
		w.observeScheduler(ev)
	}
}

// observeScheduler records what an event shows of the scheduler and of the watches.
func (w *Watch) observeScheduler(ev sources.Event) {
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		w.forgetDiscarded()
		w.restart()
	case *sources.SchedulerRunning:
		w.restart()
	case *sources.Attached:
		w.attached = f.Nodes
		w.restart()
	case *sources.Silent:
		if f.Since.IsZero() {
			if len(w.silent) > 0 {
				w.forgetDiscarded() // another scheduler may lead
				w.restart()
			}
			if f.Profile == "" {
				clear(w.silent)
			}
			delete(w.silent, f.Profile)
			return
		}
		if s, known := w.silent[f.Profile]; !known || s.inferred {
			w.silent[f.Profile] = silence{f.Since, f.Inferred}
		}
	case *sources.WatchGap:
		if f.Lasts() {
			w.broken[f.Resource] = true
		} else {
			delete(w.broken, f.Resource)
		}
		w.restart()
	case *sources.Clocks:
		if d := f.Ahead - w.ahead; d.Abs() > time.Second {
			w.restart()
		}
		w.ahead = f.Ahead
	case *sources.Logged:
		switch shows := f.Verbosity >= sources.AttemptsVerbosity; {
		case !shows:
			w.logged = moment{}
		case w.logged == moment{}:
			w.logged = w.now()
		}
	}
}

// observeMove records a move in a log.
func (w *Watch) observeMove(m *sources.Move, objects cluster.Objects) {
	if w.logged == (moment{}) {
		w.logged = w.now() // a log with moves contains all attempts
	}
	pod := objects.Pod(m.Pod)
	if pod == nil {
		pod = cluster.Placeholder(m.Pod)
	}
	switch {
	case m.Restated:
	case m.To == sources.TierInFlight || m.To == sources.TierScheduled:
		w.recordAttempt(pod, pod.UID, false)
	case m.Event == queue.ScheduleAttemptFailure:
		w.recordAttempt(pod, pod.UID, true)
	case m.To == sources.TierDeleted:
		delete(w.pods, pod.UID)
	case w.has(pod.UID): // the scheduler has it in a queue
		w.edit(pod.UID, func(r *record) { r.discarded = moment{} })
	}
}

// observeFailure records a failed attempt.
func (w *Watch) observeFailure(at time.Time, f *sources.FailedAttempt, objects cluster.Objects) {
	pod, uid := objects.Pod(f.Pod), f.UID
	if uid == "" && pod != nil {
		uid = pod.UID
	}
	if !f.Log {
		w.records = w.records || f.Version != ""
		if f.Received.Sub(at) > lateEvent {
			w.late.add(w.now())
		}
	}
	w.recordAttempt(pod, uid, true)
	if f.Version != "" && uid != "" {
		w.edit(uid, func(r *record) { r.version, r.count = f.Version, f.Count })
	}
}

// recordAttempt records evidence of an attempt of the pod with that UID. If it is gone, pod is nil or another pod.
func (w *Watch) recordAttempt(pod *v1.Pod, uid types.UID, failed bool) {
	if pod == nil || uid != "" && pod.UID != uid || pod.Spec.NodeName != "" {
		return
	}
	w.served[pod.Spec.SchedulerName] = true
	w.edit(pod.UID, func(r *record) {
		if r.tried = w.now(); failed {
			r.failed = r.tried
		}
		if !failed || w.last.Sub(r.discarded.at) > sameAttempt {
			r.discarded = moment{}
		}
	})
	w.count(pod)
}

// count counts an attempt of pod among those of its priority. The attempts of other schedulers show nothing of this one.
func (w *Watch) count(pod *v1.Pod) {
	if name := pod.Spec.SchedulerName; name != "" && !w.hasProfile(name) {
		return
	}
	priority := priorityOf(pod)
	t := w.tries[priority]
	if t == nil {
		if len(w.tries) >= maxPriorities {
			return
		}
		t = &attempts{}
		w.tries[priority] = t
	}
	t.add(w.now(), pod.CreationTimestamp.Time)
}

// observeChange records a change of an object.
func (w *Watch) observeChange(at time.Time, c *sources.ObjectChange, objects cluster.Objects) {
	switch obj := c.Object.(type) {
	case *v1.Node:
		old := objects.Node(obj.Name)
		switch {
		case c.Verb == sources.Deleted:
			delete(w.nodes, obj.Name)
			if w.deletedNodes = append(w.deletedNodes, at); len(w.deletedNodes) > maxDeletedNodes {
				w.deletedNodes = w.deletedNodes[1:]
			}
		case old == nil:
			known := w.attached || !obj.CreationTimestamp.Time.Before(w.first.Add(-watchDelay))
			w.nodes[obj.Name] = nodeRecord{at: w.now(), event: "NodeAdd", what: "node " + obj.Name + " was added", known: known}
		default:
			if events := framework.NodeSchedulingPropertiesChange(obj, old); len(events) > 0 {
				w.freed(obj.Name, events[0].Label(), "node "+obj.Name+" changed")
			}
		}
	case *v1.Pod:
		w.observePodChange(at, c.Verb, objects.Pod(types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}), obj)
	}
}

// observePodChange records a change of a pod. old is the pod with that name before, or nil.
func (w *Watch) observePodChange(at time.Time, verb sources.Verb, old, pod *v1.Pod) {
	name := pod.Namespace + "/" + pod.Name
	if old != nil && (verb == sources.Deleted || old.UID != pod.UID) {
		delete(w.pods, old.UID)
		w.freed(old.Spec.NodeName, "AssignedPodDelete", "pod "+name+" was deleted")
		w.freed(old.Status.NominatedNodeName, "", "pod "+name+" was nominated there and deleted")
		old = nil
	}
	if verb == sources.Deleted {
		delete(w.pods, pod.UID)
		return
	}
	if pod.Spec.NodeName != "" {
		w.served[pod.Spec.SchedulerName] = true
	}
	if old == nil {
		return
	}
	switch over := !cluster.Waiting(pod) && pod.Spec.NodeName == old.Spec.NodeName && (pod.Status.Phase != old.Status.Phase); {
	case old.Spec.NodeName == "" && pod.Spec.NodeName != "":
		w.countVisible(at)
		w.recordAttempt(old, old.UID, false)
		delete(w.pods, pod.UID)
	case over && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed):
		w.freed(pod.Spec.NodeName, "AssignedPodDelete", "pod "+name+" ended")
	case pod.Spec.NodeName == "" && w.has(pod.UID):
		if w.pods[pod.UID].discarded != (moment{}) {
			w.edit(pod.UID, func(r *record) { r.changed = at })
		}
	}
	if node := old.Status.NominatedNodeName; node != pod.Status.NominatedNodeName {
		w.freed(node, "", "pod "+name+" was nominated there before")
	}
}

// freed records a change that made room on a node. event is empty if it may have woken pods without a trace.
func (w *Watch) freed(node, event, what string) {
	if node == "" {
		return
	}
	r := w.nodes[node]
	r.at, r.event, r.what = w.now(), event, what
	w.nodes[node] = r
}

// countVisible counts a request that is visible by its effect.
func (w *Watch) countVisible(at time.Time) {
	if !w.exact {
		w.countRequest(at)
	}
}

// countRequest counts a request of the scheduler against its rate limit. Not all are visible, unless exact is set.
func (w *Watch) countRequest(at time.Time) {
	if w.qps <= 0 {
		return
	}
	w.tokens = min(float64(w.burst), w.tokens+max(at.Sub(w.counted).Seconds(), 0)*float64(w.qps)*visibleShare)
	if w.counted = at; w.tokens > 0 {
		w.tokens--
	}
	if w.tokens < lowTokens {
		w.limited.add(w.now())
	}
}

// forgetDiscarded drops the record of discarded pods: a scheduler starts with all waiting pods in its queue.
func (w *Watch) forgetDiscarded() {
	for uid, r := range w.pods {
		r.discarded = moment{}
		w.pods[uid] = r
	}
}

func (w *Watch) has(uid types.UID) bool { _, has := w.pods[uid]; return has }

func (w *Watch) edit(uid types.UID, do func(*record)) {
	r := w.pods[uid]
	do(&r)
	w.pods[uid] = r
}

func priorityOf(pod *v1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
