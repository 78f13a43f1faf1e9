package opinion

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
)

// Watch gathers what a source shows of a scheduler, for Judge. It has no model of its own. A Watch belongs to one goroutine.
type Watch struct {
	opts queue.Options
	// qps and burst are the rate limit of the scheduler's requests; negative if there is none.
	qps   float32
	burst int

	// heard is how much of the time so far the source covers. It stands still in stretches without any event, in which a clock may
	// have jumped. last is the newest time.
	heard time.Duration
	last  time.Time
	// began is since when silence counts: since the last start of a scheduler, end of a gap, or jump of a clock.
	began moment
	ahead time.Duration // as of the last *sources.Clocks

	logged   moment // since when the scheduler's log shows the end of each attempt; zero while it does not
	attached bool   // all objects there were are known
	first    time.Time
	records  bool               // the source shows the scheduler's Events
	late     moment             // when an Event last came late
	broken   map[string]bool    // watches that deliver nothing; "" stands for all
	silent   map[string]silence // profiles without a sign of a scheduler; "" stands for all
	served   map[string]bool    // schedulerNames with a pod that was tried or bound
	limited  moment             // when the scheduler's requests last came near their rate limit
	exact    bool               // the source shows all of them
	tokens   float64            // that are left of the limit
	counted  time.Time          // as of then

	nodesGone []time.Time // when nodes were deleted, the last mostGone of them

	pods  map[types.UID]record
	nodes map[string]nodeRecord
	tries map[int32]*attempts // by priority
}

// moment is a time, and how much the source covers until then.
type moment struct {
	at    time.Time
	heard time.Duration
}

// record is what is known of a waiting pod.
type record struct {
	tried     moment // the last sign of an attempt
	failed    moment // the last failure
	version   string // of the pod, in the last Event
	count     int    // of that Event
	discarded moment
	changed   time.Time // when the pod's object last changed after that
	checked   time.Time // the attempt that was compared with the objects last
	// contradicted are the first and the last of the attempts that the objects contradict, all on that node.
	contradicted [2]time.Time
	on           string
}

// silence is when there was the last sign of a scheduler. It is no evidence if it is inferred: attempts need not show.
type silence struct {
	since    time.Time
	inferred bool
}

// nodeRecord is what last made room on a node.
type nodeRecord struct {
	at    moment
	event string // upstream's label
	what  string // "pod default/web was deleted"
	known bool   // all pods on the node are known
}

const (
	// longestGap is how much of a stretch without events counts as covered. Both flushes and the lease's renewals are
	// more frequent than that.
	longestGap = queue.LeftoverFlushInterval
	// inLine is how long a pod may wait in activeQ for its turn.
	inLine = time.Minute
	// sameAttempt is how long after the scheduler discards a pod its Event of the attempt before may be stamped: it is the next
	// that the scheduler does (schedule_one.go, handleSchedulingFailure).
	sameAttempt = 5 * time.Second
	// lateEvent is how late an Event may come before they count as held up.
	lateEvent = 5 * time.Second
	// shownShare is the share of the scheduler's requests that shows, and fewLeft how few are left of the limit when requests may
	// wait: see visibleShare and lowVisible in package evidence.
	shownShare = 0.8
	fewLeft    = 10
	// mostGone limits how many deletions of nodes are remembered.
	mostGone = 16
	// watchDelay is how long a watch may take to deliver a change.
	watchDelay = 5 * time.Second
)

// NewWatch returns a watch of a scheduler with these options, whose requests have that limit per second, and burst.
func NewWatch(opts queue.Options, qps float32, burst int) *Watch {
	return &Watch{
		opts: opts, qps: qps, burst: burst, tokens: float64(burst), broken: map[string]bool{}, silent: map[string]silence{}, served: map[string]bool{},
		pods: map[types.UID]record{}, nodes: map[string]nodeRecord{}, tries: map[int32]*attempts{},
	}
}

// SetOptions says which options the scheduler has from now on.
func (w *Watch) SetOptions(opts queue.Options) { w.opts = opts }

// Pass lets time pass up to now.
func (w *Watch) Pass(now time.Time) {
	if w.last.IsZero() {
		w.last, w.first = now, now
		w.restart()
	}
	if gap := now.Sub(w.last); gap > 0 {
		w.heard += min(gap, longestGap)
		w.last = now
	}
}

// now returns the present moment.
func (w *Watch) now() moment { return moment{w.last, w.heard} }

// since returns how much the source covers since m.
func (w *Watch) since(m moment) time.Duration { return w.heard - m.heard }

// restart lets silence count from now on only.
func (w *Watch) restart() {
	w.began = w.now()
	clear(w.tries)
}

// Saw takes in an event, before objects do.
func (w *Watch) Saw(ev sources.Event, objects cluster.Objects) {
	w.Pass(ev.Time)
	switch f := ev.Fact.(type) {
	case *sources.ObjectChange:
		w.sawChange(ev.Time, f, objects)
	case *sources.FailedAttempt:
		w.sawFailure(ev.Time, f, objects)
	case *sources.StatusPatched:
		w.shows(ev.Time)
		if !f.Clears {
			w.sawAttempt(objects.Pod(f.Pod), f.UID, true)
		}
	case *sources.Refused:
		w.shows(ev.Time)
		if f.Binding {
			w.freed(f.Node, "", "a binding failed")
			w.sawAttempt(objects.Pod(f.Pod), f.UID, false)
		}
	case *sources.Bound:
		w.sawAttempt(objects.Pod(f.Pod), f.UID, false)
	case *sources.Move:
		w.sawMove(f, objects)
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
		w.requested(ev.Time)
	default:
		w.sawScheduler(ev)
	}
}

// sawScheduler takes in what an event shows of the scheduler and of the channels.
func (w *Watch) sawScheduler(ev sources.Event) {
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

// sawMove records a move in a log.
func (w *Watch) sawMove(m *sources.Move, objects cluster.Objects) {
	if w.logged == (moment{}) {
		w.logged = w.now() // a log that has moves has attempts
	}
	pod := objects.Pod(m.Pod)
	if pod == nil {
		pod = cluster.Placeholder(m.Pod)
	}
	switch {
	case m.Restated:
	case m.To == sources.TierInFlight || m.To == sources.TierScheduled:
		w.sawAttempt(pod, pod.UID, false)
	case m.Event == queue.ScheduleAttemptFailure:
		w.sawAttempt(pod, pod.UID, true)
	case m.To == sources.TierDeleted:
		delete(w.pods, pod.UID)
	case w.has(pod.UID): // it is in a queue
		w.edit(pod.UID, func(r *record) { r.discarded = moment{} })
	}
}

// sawFailure records a failed attempt.
func (w *Watch) sawFailure(at time.Time, f *sources.FailedAttempt, objects cluster.Objects) {
	pod, uid := objects.Pod(f.Pod), f.UID
	if uid == "" && pod != nil {
		uid = pod.UID
	}
	if !f.Log {
		w.records = w.records || f.Version != ""
		if f.Received.Sub(at) > lateEvent {
			w.late = w.now()
		}
	}
	w.sawAttempt(pod, uid, true)
	if f.Version != "" && uid != "" {
		w.edit(uid, func(r *record) { r.version, r.count = f.Version, f.Count })
	}
}

// sawAttempt records evidence of an attempt of the pod with that UID. If it is gone, pod is nil or another pod.
func (w *Watch) sawAttempt(pod *v1.Pod, uid types.UID, failed bool) {
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

// count counts an attempt of pod among those of its priority.
func (w *Watch) count(pod *v1.Pod) {
	priority := priorityOf(pod)
	t := w.tries[priority]
	if t == nil {
		if len(w.tries) >= mostPriorities {
			return
		}
		t = &attempts{}
		w.tries[priority] = t
	}
	t.add(w.now(), pod.CreationTimestamp.Time)
}

// sawChange records a change of an object.
func (w *Watch) sawChange(at time.Time, c *sources.ObjectChange, objects cluster.Objects) {
	switch obj := c.Object.(type) {
	case *v1.Node:
		old := objects.Node(obj.Name)
		switch {
		case c.Verb == sources.Deleted:
			delete(w.nodes, obj.Name)
			if w.nodesGone = append(w.nodesGone, at); len(w.nodesGone) > mostGone {
				w.nodesGone = w.nodesGone[1:]
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
		w.sawPodChange(at, c.Verb, objects.Pod(types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}), obj)
	}
}

// sawPodChange records a change of a pod. old is the pod with that name before, or nil.
func (w *Watch) sawPodChange(at time.Time, verb sources.Verb, old, pod *v1.Pod) {
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
		w.shows(at)
		w.sawAttempt(old, old.UID, false)
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

// freed notes what made room on a node. An empty event is one that may have woken pods unseen.
func (w *Watch) freed(node, event, what string) {
	if node == "" {
		return
	}
	r := w.nodes[node]
	r.at, r.event, r.what = w.now(), event, what
	w.nodes[node] = r
}

// shows counts a request that shows by what it did.
func (w *Watch) shows(at time.Time) {
	if !w.exact {
		w.requested(at)
	}
}

// requested counts a request of the scheduler against its rate limit. Not all show, unless exact is set.
func (w *Watch) requested(at time.Time) {
	if w.qps <= 0 {
		return
	}
	w.tokens = min(float64(w.burst), w.tokens+max(at.Sub(w.counted).Seconds(), 0)*float64(w.qps)*shownShare)
	if w.counted = at; w.tokens > 0 {
		w.tokens--
	}
	if w.tokens < fewLeft {
		w.limited = w.now()
	}
}

// forgetDiscarded forgets which pods the scheduler discarded: it begins with all pods that wait.
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
