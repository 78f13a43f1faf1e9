package opinion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Pod is a pod as the session models it.
type Pod struct {
	Key    types.NamespacedName
	Object *v1.Pod
	Tier   queue.Tier
	// Since is when it entered its tier, and Observed is true if the source contains that move. Arrived is when it was created.
	Since, Arrived time.Time
	Observed       bool
	// Gone is true if it was probably deleted.
	Gone bool
	// Group is its pod group. Empty if it is queued alone.
	Group string
	// Rejectors are the plugins that rejected its last attempt, and GatingPlugin the one that gates it.
	Rejectors    []string
	GatingPlugin string
	GateMessage  sources.SafeText
	// Verdict returns the outcome of the last attempt according to the scheduler's message, or nil. modelled is true if the model's
	// attempt had the same outcome.
	Verdict func() (v *verdict.Verdict, modelled bool)
}

// Cluster is what Judge compares a pod with.
type Cluster struct {
	Objects cluster.Objects
	// Diagnose asks the local scheduler about a pod now. It returns nil if the scheduler can't answer, or was asked too often.
	Diagnose func(*v1.Pod) *cycle.Diagnosis
}

// isBound reports whether p has a node although it is in a queue: another scheduler of the same name may have bound it.
func (c *Cluster) isBound(p *Pod) bool {
	pod := c.Objects.Pod(p.Key)
	return pod != nil && pod.UID == p.Object.UID && pod.Spec.NodeName != ""
}

// nodeLocal are the plugins whose answer about a node depends on that node and its pods alone.
var nodeLocal = map[string]bool{
	names.NodeResourcesFit: true, names.NodePorts: true, names.NodeUnschedulable: true, names.TaintToleration: true, names.NodeAffinity: true, names.NodeName: true,
}

// Judge returns the verdict on a waiting pod now, or nil if nothing shows that the scheduler treats it wrongly.
func (w *Watch) Judge(p *Pod, c *Cluster) *Verdict {
	switch {
	case p.Object.DeletionTimestamp != nil || p.Gone, c.isBound(p):
		return nil // the scheduler does not try it
	case w.isSilent(""), w.isSilent(p.Object.Spec.SchedulerName):
		return w.noScheduler(p)
	case len(w.broken) > 0:
		return nil
	}
	if v := w.discarded(p); v != nil {
		return v
	}
	if v := w.held(p, c); v != nil {
		return v
	}
	if v := w.untried(p, c); v != nil {
		return v
	}
	return w.staleView(p, c)
}

func (w *Watch) isSilent(profile string) bool { _, silent := w.silent[profile]; return silent }

// noScheduler judges a pod whose scheduler shows no activity. It waits for longer than a restart takes: until the leftover flush would
// have retried the pod.
func (w *Watch) noScheduler(p *Pod) *Verdict {
	of := p.Object.Spec.SchedulerName
	q, own := w.silent[of]
	if !own {
		q = w.silent[""]
	}
	since := q.since
	if since.Before(p.Arrived) {
		since = p.Arrived
	}
	if q.inferred || w.last.Sub(since) < w.opts.PodMaxInUnschedulablePods+queue.LeftoverFlushInterval || len(w.broken) > 0 {
		return nil
	}
	return &Verdict{Code: NoScheduler, Since: since, Certain: true, On: cmp.Or(of, v1.DefaultSchedulerName), Evidence: []Evidence{
		{since, "last activity of a scheduler, or the pod's creation"},
	}}
}

// discarded judges a pod that the scheduler discarded, according to its log. The status patch that follows a failed attempt puts such a pod back, if it
// changes the pod, as any change does (scheduling_queue.go, Update).
func (w *Watch) discarded(p *Pod) *Verdict {
	r := w.pods[p.Object.UID]
	at := r.discarded
	if at == (moment{}) || !r.changed.IsZero() || w.last.Sub(at.at) < queue.LeftoverFlushInterval {
		return nil
	}
	v := &Verdict{Code: Lost, Since: at.at, Certain: known(p.Object), Evidence: []Evidence{
		{at.at, "the scheduler logged that it discards the pod, because it was tracked in multiple places"},
	}}
	if v.Certain {
		v.Evidence = append(v.Evidence, Evidence{at.at, "since then the pod has not changed, and no attempt is observed"})
	}
	if failed := r.failed; failed != (moment{}) {
		v.Evidence = append(v.Evidence, Evidence{failed.at, "its last attempt failed"})
	}
	slices.SortStableFunc(v.Evidence, func(a, b Evidence) int { return a.Time.Compare(b.Time) })
	return v
}

// known reports whether the source has the pod's object.
func known(pod *v1.Pod) bool { return !pod.CreationTimestamp.IsZero() || pod.ResourceVersion != "" }

// held judges a pod that waits for something that nobody provides, for longer than the leftover flush takes.
func (w *Watch) held(p *Pod, c *Cluster) *Verdict {
	patience := w.opts.PodMaxInUnschedulablePods
	switch {
	case p.Tier == queue.Incomplete:
		if w.last.Sub(p.Since) < patience {
			return nil
		}
		return &Verdict{Code: Held, Since: p.Since, Certain: p.Observed, On: p.Group, Evidence: []Evidence{
			{p.Since, sources.Sanitize(fmt.Sprintf("its PodGroup %s does not exist", p.Group))},
		}}
	case p.Tier == queue.Gated:
		if w.last.Sub(p.Since) < patience || p.GatingPlugin == names.DefaultPreemption {
			return nil
		}
		return w.gated(p)
	case w.last.Sub(p.Arrived) < patience || !cluster.BindsLate(p.Object) && !cluster.MayHaveDevices(p.Object):
		return nil
	}
	v, _ := p.Verdict()
	if v == nil {
		return nil
	}
	reasons := v.ByPlugin()
	if len(reasons) != 1 || !verdict.IsClaimNotReady(reasons[0].Plugin, string(reasons[0].Text)) {
		return nil
	}
	claims := unprovided(p.Object, c.Objects)
	return &Verdict{Code: Held, Since: p.Arrived, Certain: len(claims) > 0, On: cmp.Or(words.And(claims), "a claim"), Evidence: append(claimEvidence(p, claims),
		Evidence{v.At, sources.Sanitize(fmt.Sprintf("%s rejects it: %s", cmp.Or(reasons[0].Plugin, "a plugin"), strings.TrimSuffix(string(reasons[0].Text), ".")))})}
}

func claimEvidence(p *Pod, claims []string) (all []Evidence) {
	for _, claim := range claims {
		all = append(all, Evidence{p.Arrived, sources.Sanitize(claim)})
	}
	return all
}

// gated judges a pod that a PreEnqueue plugin keeps out of activeQ.
func (w *Watch) gated(p *Pod) *Verdict {
	v := &Verdict{Code: Held, Since: p.Since, Certain: p.Observed, On: p.GatingPlugin}
	text := ""
	if gates := p.Object.Spec.SchedulingGates; len(gates) > 0 && (p.GatingPlugin == "" || p.GatingPlugin == queue.SchedulingGates) {
		var all []string
		for _, g := range gates {
			all = append(all, g.Name)
		}
		v.Certain, v.On = true, words.And(all)
		text = "the scheduling gate " + v.On + " holds it"
		if len(all) > 1 {
			text = "the scheduling gates " + v.On + " hold it"
		}
	} else if p.GatingPlugin == "" {
		return nil
	} else if text = p.GatingPlugin + " keeps it out of activeQ"; p.GateMessage != "" {
		text += ": " + strings.TrimSuffix(string(p.GateMessage), ".")
	}
	v.Evidence = []Evidence{{p.Since, sources.Sanitize(text)}}
	return v
}

// unprovided returns a sentence for each claim of pod that does not exist or is not bound.
func unprovided(pod *v1.Pod, objects cluster.Objects) (all []string) {
	for _, v := range pod.Spec.Volumes {
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			continue
		}
		claim := &v1.PersistentVolumeClaim{}
		claim.Namespace, claim.Name = pod.Namespace, name
		switch found, _ := objects.Get(claim).(*v1.PersistentVolumeClaim); {
		case found == nil:
			all = append(all, "PersistentVolumeClaim "+name+" does not exist")
		case found.Spec.VolumeName == "":
			all = append(all, "PersistentVolumeClaim "+name+" is not bound")
		}
	}
	return all
}

// untried judges a pod that was not tried in time. If pods behind it in activeQ were tried, it is in no queue. If only pods ahead of it
// were, it starves.
func (w *Watch) untried(p *Pod, c *Cluster) *Verdict {
	pod := p.Object
	if p.Tier != queue.Active && p.Tier != queue.Backoff && p.Tier != queue.Unschedulable || p.Group != "" || pod.Spec.SchedulerName == "" || !known(pod) {
		return nil
	}
	if pod.Status.NominatedNodeName != "" || cluster.BindsLate(pod) || cluster.MayHaveDevices(pod) {
		return nil // it may be in its binding cycle, or wait for evictions
	}
	r := w.pods[pod.UID]
	from, first, shows := w.dueSince(pod, p, r, w.now())
	if !shows {
		return nil
	}
	behind, ahead := w.othersTried(pod, from)
	if behind.lasts(2*queue.LeftoverFlushInterval) && w.covered-from.covered >= maxInActiveQ {
		if !first && w.mayWaitOnPermit(p) && w.covered-from.covered < maxPermit {
			return nil
		}
		return w.lost(p, r, from, behind)
	}
	patience := maxInActiveQ
	if first || p.Observed && p.Tier == queue.Active {
		if patience = w.opts.PodMaxInUnschedulablePods; !first && p.Since.After(from.at) {
			from = moment{p.Since, w.covered - w.last.Sub(p.Since)}
		}
	}
	if behind.n > 0 || !ahead.lasts(maxInActiveQ) || w.covered-from.covered < patience || w.covered-ahead.last > longestGap {
		return nil
	}
	return w.starved(p, c, from, ahead)
}

// minOthers is how many attempts of other pods show that the scheduler works.
const minOthers = 3

// maxPermit is how long a pod may wait on Permit (framework/runtime/framework.go, maxTimeout).
const maxPermit = 15 * time.Minute

// mayWaitOnPermit reports whether the pod may be in a binding cycle without a trace: an out-of-tree plugin rejected it before.
func (w *Watch) mayWaitOnPermit(p *Pod) bool {
	return slices.ContainsFunc(p.Rejectors, func(name string) bool { return verdict.Incomplete([]string{name}) || !verdict.InTree(name) })
}

// dueSince returns from when on a pod must have been in activeQ, whether for its first attempt, and whether an attempt before until
// would be visible.
func (w *Watch) dueSince(pod *v1.Pod, p *Pod, r record, until moment) (from moment, first, shows bool) {
	base := w.began
	if r.tried.covered > base.covered {
		base = r.tried
	}
	tried := r.tried != (moment{}) || cluster.Unscheduled(pod) != nil
	if !tried {
		if arrived := w.covered - w.last.Sub(p.Arrived); arrived > base.covered {
			base = moment{p.Arrived, arrived}
		}
		return base, true, w.isLogged(base) || !w.isHeldUp(until)
	}
	from = moment{base.at.Add(w.retried()), base.covered + w.retried()}
	recorded := w.records && r.version != "" && (r.count < 2 || r.version != pod.ResourceVersion) && !w.isHeldUp(until)
	return from, false, w.isLogged(base) || recorded
}

// isLogged reports whether the scheduler's log shows the end of each attempt since from.
func (w *Watch) isLogged(from moment) bool {
	return w.logged != (moment{}) && w.logged.covered <= from.covered
}

// isHeldUp reports whether traces of attempts made at that time may be delayed: requests waited for their rate limit, or Events arrived
// late.
func (w *Watch) isHeldUp(at moment) bool { return w.limited.covers(at) || w.late.covers(at) }

// retried is how long after an attempt the leftover flush has retried a pod at the latest: two flushes run after the pod is due.
func (w *Watch) retried() time.Duration {
	return w.opts.PodMaxInUnschedulablePods + 2*queue.LeftoverFlushInterval
}

// others are the attempts of other pods, in covered time.
type others struct {
	n           int
	first, last time.Duration
	slots       map[int64]bool // in which they were made
}

func (o *others) add(s *slot) {
	if o.n == 0 {
		o.first, o.slots = s.first, map[int64]bool{}
	}
	o.n, o.first, o.last = o.n+int(s.n), min(o.first, s.first), max(o.last, s.last)
	o.slots[s.number] = true
}

// lasts reports whether the attempts show a scheduler that works all the time for so long. Few attempts before and after a pause do
// not: a paused scheduler makes the attempts that are due when it continues.
func (o *others) lasts(long time.Duration) bool {
	return o.n >= minOthers && o.last-o.first >= long && time.Duration(len(o.slots))*slotTime > long
}

// othersTried returns the attempts since then of pods that come after pod in activeQ, and of those that come before it. Of pods with an
// equal priority, only those created later count.
func (w *Watch) othersTried(pod *v1.Pod, from moment) (behind, ahead others) {
	own := priorityOf(pod)
	for priority, t := range w.tries {
		switch {
		case priority < own:
			t.since(from.covered, time.Time{}, behind.add)
		case priority == own:
			t.since(from.covered, pod.CreationTimestamp.Time, behind.add)
		default:
			t.since(from.covered, time.Time{}, ahead.add)
		}
	}
	return behind, ahead
}

func (w *Watch) lost(p *Pod, r record, from moment, behind others) *Verdict {
	since := from.at
	v := &Verdict{Code: Lost, Since: since}
	if r.tried != (moment{}) {
		v.Evidence = append(v.Evidence, Evidence{r.tried.at, "its last observed attempt"},
			Evidence{since, sources.Sanitize("the leftover flush must have put it into activeQ by then")})
	} else {
		v.Evidence = append(v.Evidence, Evidence{since, "it must have been in activeQ from then on, and no attempt is observed"})
	}
	v.Evidence = append(v.Evidence, Evidence{since, "since then the scheduler has tried pods that come after it in activeQ"})
	return v
}

// starved judges a pod that waits while only pods with a higher priority are tried.
func (w *Watch) starved(p *Pod, c *Cluster, from moment, ahead others) *Verdict {
	d := c.Diagnose(p.Object)
	if d == nil {
		return nil
	}
	for _, node := range d.Fits {
		if r, has := w.nodes[node]; has && r.known {
			return &Verdict{Code: Starved, Since: from.at, Certain: p.Observed, On: node, Evidence: []Evidence{
				{from.at, "it is in activeQ, and no attempt of it is observed"},
				{from.at, "since then only pods with a higher priority are tried"},
			}}
		}
	}
	return nil
}

// staleFor is how long a node must have had room. A watch delivers within watchDelay, and the scheduler assumes a pod on a node until the
// end of its binding cycle.
const staleFor = time.Minute

// settled is how long after a failed attempt the pod's verdict is that of this attempt.
const settled = time.Second

// staleView judges a rejected pod by comparing the scheduler's reasons with the objects. It takes two attempts, and a node that had room
// all the time.
func (w *Watch) staleView(p *Pod, c *Cluster) *Verdict {
	r, has := w.pods[p.Object.UID]
	if !has || r.failed == (moment{}) || r.failed != r.tried {
		return nil
	}
	if since := w.since(r.failed); !r.checked.Equal(r.failed.at) && since >= settled && since <= longestGap {
		w.compare(p, c, &r)
		w.pods[p.Object.UID] = r
	}
	first, last := r.contradicted[0], r.contradicted[1]
	node := w.nodes[r.on]
	if last.Sub(first) < queue.LeftoverFlushInterval || last.Sub(node.at.at) < staleFor || first.Before(node.at.at) || w.last.Sub(last) > w.retried() {
		return nil
	}
	return &Verdict{Code: StaleView, Since: first, On: r.on, Evidence: []Evidence{
		{node.at.at, sources.Sanitize(fmt.Sprintf("%s: the pod fits there since then", cmp.Or(node.what, "node "+r.on+" changed last")))},
		{first, "an attempt failed for lack of room"},
		{last, "another attempt failed for lack of room"},
	}}
}

// compare compares the last attempt of a pod with the objects.
func (w *Watch) compare(p *Pod, c *Cluster, r *record) {
	v, agrees := p.Verdict()
	if v == nil || agrees || p.Group != "" || !slices.ContainsFunc(v.Reasons, isShortage) {
		r.checked, r.contradicted, r.on = r.failed.at, [2]time.Time{}, ""
		return
	}
	d := c.Diagnose(p.Object)
	if d == nil {
		return // to be compared later
	}
	r.checked = r.failed.at
	if !slices.Contains(d.Fits, r.on) || w.nodes[r.on].at.at.After(r.contradicted[0]) {
		r.contradicted, r.on = [2]time.Time{}, ""
	}
	seen := r.failed.at.Add(-watchDelay) // the scheduler has received earlier changes
	if !w.claimsMore(v, d, seen) {
		return
	}
	if r.on != "" {
		r.contradicted[1] = r.failed.at
		return
	}
	for _, name := range d.Fits {
		if node, has := w.nodes[name]; has && node.known && node.at.at.Before(seen) {
			r.contradicted, r.on = [2]time.Time{r.failed.at, r.failed.at}, name
			return
		}
	}
}

// isShortage reports whether a reason is that nodes have no room.
func isShortage(r verdict.Reason) bool {
	return strings.HasPrefix(string(r.Text), "Insufficient ") || r.Text == "Too many pods"
}

// claimsMore reports whether the scheduler counted more nodes without room than there are, even if nodes that got room or were deleted
// since then were among them.
func (w *Watch) claimsMore(v *verdict.Verdict, d *cycle.Diagnosis, seen time.Time) bool {
	changed := 0
	for _, name := range d.Fits {
		if w.nodes[name].at.at.After(seen) {
			changed++
		}
	}
	for _, at := range w.deletedNodes {
		if at.After(seen) {
			changed++
		}
	}
	for _, reason := range v.ByPlugin() {
		if !isShortage(reason) {
			continue
		}
		n := changed
		for _, node := range d.Rejected {
			if len(node.Lacks) > 0 && slices.Contains(node.Lacks[0].Reasons, string(reason.Text)) {
				n++
			}
		}
		if reason.Nodes > n {
			return true
		}
	}
	return false
}

// Binding returns the verdict on a pod that is being bound to a node now: MissedWakeUp, or nil. It must be called before Observe.
func (w *Watch) Binding(p *Pod, node string) *Verdict {
	pod := p.Object
	r := w.pods[pod.UID]
	n, has := w.nodes[node]
	if !has || n.event == "" || r.failed == (moment{}) || r.failed.covered < w.began.covered || len(w.broken) > 0 || len(w.silent) > 0 || !known(pod) {
		return nil
	}
	if p.Group != "" || cluster.BindsLate(pod) || cluster.MayHaveDevices(pod) || len(p.Rejectors) == 0 {
		return nil
	}
	popped := w.now()
	if r.tried.covered > r.failed.covered {
		popped = r.tried
	}
	flushed := w.opts.PodMaxInUnschedulablePods
	switch waited := popped.at.Sub(r.failed.at); {
	case waited < flushed-time.Second || waited > flushed+queue.LeftoverFlushInterval+maxInActiveQ:
		return nil // not by the leftover flush
	case n.at.at.Sub(r.failed.at) < watchDelay:
		return nil
	case popped.at.Sub(n.at.at) < w.opts.PodMaxBackoff+maxInActiveQ:
		return nil // the event may have woken it
	}
	// The flush may hold up requests itself. That hides no attempt before it.
	due := moment{r.failed.at.Add(flushed), r.failed.covered + flushed}
	if _, _, shows := w.dueSince(pod, p, r, due); !shows {
		return nil
	}
	if behind, ahead := w.othersTried(pod, n.at); behind.n == 0 && ahead.n > 0 {
		return nil // it may have waited in activeQ
	}
	certain := true
	for _, plugin := range p.Rejectors {
		if !nodeLocal[plugin] {
			if verdict.InTree(plugin) {
				return nil // the node's own changes are not all that counts
			}
			certain = false
		}
	}
	return &Verdict{Code: MissedWakeUp, Since: n.at.at, Certain: certain, Event: n.event, On: node, Evidence: []Evidence{
		{r.failed.at, sources.Sanitize("an attempt failed, rejected by " + words.And(p.Rejectors))},
		{n.at.at, sources.Sanitize(n.what + ": nothing made room on " + node + " after that")},
		{popped.at, "it was tried because of the leftover flush, and fitted"},
	}}
}

// unserved returns the verdict on a pod that is in no queue because no profile of the scheduler has its schedulerName, or nil if another
// scheduler may work on it.
func (w *Watch) unserved(pod *v1.Pod) *Verdict {
	since := pod.CreationTimestamp.Time
	if since.Before(w.began.at) {
		since = w.began.at
	}
	if !cluster.Waiting(pod) || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || cluster.Unscheduled(pod) != nil || w.served[pod.Spec.SchedulerName] {
		return nil
	}
	if w.last.Sub(since) < w.retried() || w.covered-w.began.covered < w.retried() || len(w.broken) > 0 {
		return nil
	}
	return &Verdict{Code: NoScheduler, Since: since, On: pod.Spec.SchedulerName, Evidence: []Evidence{
		{since, sources.Sanitize(fmt.Sprintf("no attempt is observed of this or any other pod with schedulerName %s", pod.Spec.SchedulerName))},
	}}
}

// Unserved calls yield with each pod that is in no queue because no profile of the scheduler has its schedulerName. served reports whether the scheduler has a profile of that name.
func (w *Watch) Unserved(objects cluster.Objects, served func(schedulerName string) bool, yield func(*v1.Pod, *Verdict)) {
	objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		if pod.Spec.NodeName != "" || pod.Spec.SchedulerName == "" || served(pod.Spec.SchedulerName) {
			return true
		}
		if v := w.unserved(pod); v != nil {
			yield(pod, v)
		}
		return true
	})
}
