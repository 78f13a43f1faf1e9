package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// Intended differences from upstream, at which a sequence ends.
const (
	tiedPods    = "pods of equal rank left in the order of a map"
	unordered   = "a heap in the order of a map holds a group whose priority has changed: upstream leaves it where it is"
	heldTwice   = "a pod was added over one of its name, and upstream holds both"
	wentOn      = "an update of several events sent a pod to backoffQ without SchedulerPopFromBackoffQ, and upstream goes on to the next event"
	keptPending = "a group was forgotten while it was tried, and upstream keeps pods of it pending for ever"
	dropped     = "all that could be popped was in flight already: both drop it, and upstream's Pop blocks"
	storedGroup = "an object said nothing of the pod's group, and upstream takes it for another pod"
)

// call is a call that a sequence can make for the pod with that name; pod is nil if there is none.
type call struct {
	weight int
	run    func(p *pair, now time.Time, name string, pod *v1.Pod)
}

var calls = []call{
	{3, (*pair).addOne},
	{1, (*pair).burst},
	{4, (*pair).pop},
	{5, (*pair).end},
	{1, (*pair).failStranger},
	{2, (*pair).update},
	{1, (*pair).delete},
	{1, (*pair).activate},
	{4, (*pair).event},
	{2, (*pair).flush},
	{2, (*pair).gate},
	{1, (*pair).nominate},
	{1, (*pair).changeMind},
	{1, (*pair).fork},
	{1, (*pair).failOften},
}

var groupCalls = []call{
	{2, (*pair).changeGroup},
	{1, (*pair).addMembers},
	{3, (*pair).attempted},
}

// weighed contains each call as often as its weight.
var weighed, weighedWithGroups = byWeight(calls), byWeight(slices.Concat(calls, groupCalls))

func byWeight(calls []call) (all []func(p *pair, now time.Time, name string, pod *v1.Pod)) {
	for _, c := range calls {
		for range c.weight {
			all = append(all, c.run)
		}
	}
	return all
}

// step advances the clock, or turns it back, and makes one call on both queues. Pods with equal
// times leave by their heap position, as in upstream, until several move at once, which upstream
// does in a map's order.
func (p *pair) step() {
	micro := rapid.SampledFrom([]int{0, 1, 1000, 100_000, 300_000, 700_000, 1_000_000, 2_500_000, 40_000_000, 300_000_000, 301_000_000, -1_500_000}).Draw(p.T, "µs")
	p.clock.Step(time.Duration(micro) * time.Microsecond)
	name := rapid.SampledFrom(p.names).Draw(p.T, "pod")
	all := weighed
	if p.groups.of != nil {
		all = weighedWithGroups
	}
	all[rapid.IntRange(0, len(all)-1).Draw(p.T, "operation")](p, p.clock.Now(), name, p.pods[name])
}

// deviate ends the sequence at an intended difference.
func (p *pair) deviate(why string) { p.parted = why }

func (p *pair) tier(name string) queue.Tier {
	info, _ := p.ours.Get("default", name)
	return info.Tier
}

// isWaiting reports whether the pod is queued, incomplete or pending.
func isWaiting(t queue.Tier) bool { return t.Queued() || t == queue.Incomplete || t == queue.Pending }

func podInfo(pod *v1.Pod) *framework.PodInfo {
	info, _ := framework.NewPodInfo(pod) // there are no affinity terms
	return info
}

// addOne adds the pod, sometimes replacing one of the same name.
func (p *pair) addOne(now time.Time, name string, pod *v1.Pod) {
	if pod == nil {
		p.add(now, name)
		return
	}
	if rapid.IntRange(0, 79).Draw(p.T, "again") > 0 || len(p.plugins.closed[name]) > 1 {
		return
	}
	before, _ := p.ours.Get("default", name)
	if isWaiting(before.Tier) && p.holdsTwice(before) && p.spared {
		return
	}
	if rapid.IntRange(0, 3).Draw(p.T, "the same") == 0 {
		p.addAgain(now, name, pod, before)
		return
	}
	p.add(now, name)
	if after := p.tier(name); isWaiting(before.Tier) {
		p.shuffled = true // upstream keeps its heap position
		p.replaced(before, after)
	}
}

// addAgain adds the same pod again, as a restarted informer does.
func (p *pair) addAgain(now time.Time, name string, pod *v1.Pod, before queue.PodInfo) {
	p.note("%s is added once more, with its UID", name)
	p.upstream.Add(p.ctx, pod)
	p.ours.Add(now, pod)
	if isWaiting(before.Tier) {
		p.shuffled = true
		p.replaced(before, p.tier(name))
	}
	p.trail.off = p.trail.off || before.Tier == queue.InFlight // the UID is now in two places
}

// holdsTwice reports whether upstream stores both pods when another pod replaces the waiting one.
func (p *pair) holdsTwice(waiting queue.PodInfo) bool {
	return p.groups.of[waiting.Pod.Name] != "" || waiting.Tier != queue.Active && waiting.Tier != queue.Unschedulable
}

// replaced ends the sequence if upstream stores both the new pod and the old one, which was in that
// tier, or counts both.
func (p *pair) replaced(before queue.PodInfo, after queue.Tier) {
	if p.holdsTwice(before) || after != queue.Active {
		info, _ := p.ours.Get("default", before.Pod.Name)
		if info.Pod != p.pods[before.Pod.Name] || info.Attempts != 0 {
			p.differ("%s was replaced by %s, with %d attempts", before.Pod.Name, info.Pod.UID, info.Attempts)
		}
		p.deviate(heldTwice)
	}
}

func (p *pair) add(now time.Time, name string) {
	p.addPod(now, name, len(p.plugins.closed[name]) == 0 && rapid.IntRange(0, 4).Draw(p.T, "gated") == 0)
}

func (p *pair) newPod(name string) *v1.Pod {
	p.uids++
	p.plugins.closed[name] = p.plugins.closed[name][:min(1, len(p.plugins.closed[name]))] // no longer gated
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", name, types.UID(fmt.Sprint("uid-", p.uids))
	pod.Spec.SchedulerName = rapid.SampledFrom(p.profiles).Draw(p.T, "profile")
	if rapid.IntRange(0, 7).Draw(p.T, "has been nominated") == 0 {
		pod.Status.NominatedNodeName = "n-1"
	}
	prio := rapid.SampledFrom([]int32{0, 0, 1, -1, 2_000_000_000}).Draw(p.T, "priority")
	pod.Spec.Priority = &prio
	pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}}
	return pod
}

func (p *pair) addPod(now time.Time, name string, gated bool) {
	pod := p.newPod(name)
	group := p.groups.join(pod)
	gates := ""
	if gated {
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
		gates = " gates=quota"
	}
	if pod.Status.NominatedNodeName != "" {
		gates += " nominated=" + pod.Status.NominatedNodeName
	}
	if pod.Spec.SchedulerName != "" {
		p.note("%s is of the profile %s", name, pod.Spec.SchedulerName)
	}
	p.say("add %s priority=%d%s%s", name, *pod.Spec.Priority, gates, group)
	p.pods[name] = pod
	p.check(p.informer.Add(pod))
	p.upstream.Add(p.ctx, pod)
	p.ours.Add(now, pod)
}

// burst adds several ungated pods at the same time, which are popped and fail one by one.
func (p *pair) burst(now time.Time, _ string, _ *v1.Pod) {
	for _, name := range p.names {
		if p.pods[name] == nil && len(p.plugins.closed[name]) == 0 && rapid.Bool().Draw(p.T, "comes") {
			p.addPod(now, name, false)
		}
	}
}

func (p *pair) pop(now time.Time, _ string, _ *v1.Pod) {
	if p.groups.attempting != nil {
		return // upstream ends a group's attempt before the next pop
	}
	next := ""
	for pod := range p.ours.Upcoming() {
		next = pod.Name
		break
	}
	can, twice := p.ours.CanPop(), p.inTwoPlaces()
	ours, ok := p.ours.PopEntity(now)
	if !ok {
		if can {
			p.deviate(dropped)
		}
		return // upstream's Pop would block; compare checks that it has no pod either
	}
	p.say("pop")
	if !can {
		p.differ("CanPop returned false, but there is a pod")
	}
	entity, err := p.upstream.Pop(p.logger)
	p.check(err)
	if theirs, ok := entity.(*framework.QueuedPodGroupInfo); ok {
		p.popGroup(ours, theirs)
		return
	}
	theirs := entity.(*framework.QueuedPodInfo)
	if ours.Group != nil || theirs.Pod.Name != ours.Pod.Pod.Name {
		if why := p.unmodelled(ours, theirs); why != "" {
			p.deviate(why)
			return
		}
		p.differ("popped %+v, upstream %s", ours, theirs.Pod.Name)
	}
	if p.groups.of == nil && next != theirs.Pod.Name && len(p.trail.failed) == 0 {
		p.differ("%s was upcoming, and %s popped", next, theirs.Pod.Name)
	}
	p.comparePopped(ours.Pod, theirs)
	p.inFlight[theirs.Pod.UID] = theirs
	if p.droppedTied(twice, theirs) {
		p.deviate(tiedPods)
	}
}

// inTwoPlaces returns the active pods whose UID is also in flight. Both queues drop such a pod when
// they pop it.
func (p *pair) inTwoPlaces() (twice []queue.PodInfo) {
	for _, pod := range p.pods {
		if info, _ := p.ours.Get("default", pod.Name); info.Tier == queue.Active && p.inFlight[pod.UID] != nil {
			twice = append(twice, info)
		}
	}
	return twice
}

// droppedTied reports whether one queue dropped a pod before the popped one, while the other one
// orders it after that, because both have equal rank or the heap is out of order.
func (p *pair) droppedTied(twice []queue.PodInfo, popped *framework.QueuedPodInfo) bool {
	if !p.shuffled || len(twice) == 0 {
		return false
	}
	tiers := p.upstreamTiers()
	return slices.ContainsFunc(twice, func(info queue.PodInfo) bool {
		return (p.tier(info.Pod.Name) == queue.Active) != (tiers[info.Pod.Name] == queue.Active.String()) &&
			(p.groups.reranked || *info.Pod.Spec.Priority == *popped.Pod.Spec.Priority && info.Timestamp.Equal(popped.Timestamp))
	})
}

// end ends an attempt with a binding or a failure, sometimes twice.
func (p *pair) end(now time.Time, _ string, _ *v1.Pod) {
	if len(p.inFlight) == 0 {
		return
	}
	uid := rapid.SampledFrom(slices.Sorted(maps.Keys(p.inFlight))).Draw(p.T, "attempt")
	info := p.inFlight[uid]
	delete(p.inFlight, uid)
	pod := p.pods[info.Pod.Name]
	gone := pod == nil || pod.UID != uid
	if gone || rapid.IntRange(0, 5).Draw(p.T, "fits") == 0 {
		p.say("done %s", info.Pod.Name)
		if !gone && !isWaiting(p.tier(pod.Name)) {
			p.forget(pod)
		}
		for range rapid.IntRange(1, 2).Draw(p.T, "times") {
			p.upstream.Done(uid)
			p.ours.Done(now, uid)
		}
		return
	}
	p.fail(now, pod, info.DeepCopy())
}

// failStranger fails a pod that was never popped or is queued already.
func (p *pair) failStranger(now time.Time, name string, pod *v1.Pod) {
	tier := p.tier(name)
	if rapid.IntRange(0, 23).Draw(p.T, "stranger") > 0 || tier == queue.InFlight || p.spared && p.groups.of[name] != "" && isWaiting(tier) {
		return
	}
	if pod == nil {
		pod = p.newPod(name)
		p.groups.join(pod)
		p.pods[name] = pod
		p.check(p.informer.Add(pod))
	}
	p.fail(now, pod, &framework.QueuedPodInfo{QueueingParams: framework.QueueingParams{}})
}

// fail returns pod to the queue after an attempt. info is the state in upstream's scheduling loop.
func (p *pair) fail(now time.Time, pod *v1.Pod, info *framework.QueuedPodInfo) {
	draw := func(what string, most int) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(rejectors), 0, most, rapid.ID[string]).Draw(p.T, what)
	}
	why := queue.Rejection{UnschedulablePlugins: draw("by", 2)}
	if rapid.IntRange(0, 2).Draw(p.T, "any pending") == 0 {
		why.PendingPlugins = draw("pending", 1)
	}
	p.say("fail %s by=(%s) pending=(%s)", pod.Name, strings.Join(why.UnschedulablePlugins, ","), strings.Join(why.PendingPlugins, ","))
	info.ClearRejectorPlugins()
	info.UnschedulablePlugins, info.PendingPlugins = sets.New(why.UnschedulablePlugins...), sets.New(why.PendingPlugins...)
	info.PodInfo = podInfo(pod)
	before := p.tier(pod.Name)
	theirs := p.upstream.AddUnschedulablePodIfNotPresent(p.logger, info, p.upstream.SchedulingCycle())
	ours := p.ours.AddUnschedulableIfNotPresent(now, pod, why)
	if isWaiting(before) && p.groups.of[pod.Name] != "" {
		if ours == nil {
			p.differ("%s failed while it is %s, without an error", pod.Name, before)
		}
		p.deviate(heldTwice)
		return
	}
	if (theirs == nil) != (ours == nil) {
		p.differ("fail of %s: %v, upstream %v", pod.Name, ours, theirs)
	}
}

// failOften fails pods so often that an unlimited backoff would overflow.
func (p *pair) failOften(now time.Time, name string, _ *v1.Pod) {
	if p.groups.of != nil || len(p.inFlight) > 0 || rapid.IntRange(0, 15).Draw(p.T, "often") > 0 {
		return
	}
	for range rapid.IntRange(1, 80).Draw(p.T, "times") {
		pod := p.pods[name]
		if pod == nil || p.parted != "" {
			return
		}
		p.say("activate %s", name)
		p.upstream.Activate(p.logger, map[string]*v1.Pod{name: pod})
		p.ours.Activate(now, pod)
		p.pop(now, name, pod)
		for uid, info := range p.inFlight { // at most one
			delete(p.inFlight, uid)
			if pod := p.pods[info.Pod.Name]; pod != nil && pod.UID == uid {
				p.fail(now, pod, info.DeepCopy())
			}
		}
	}
}

// changes are possible updates of a pod, with the script's arguments.
var changes = []func(p *pair, pod *v1.Pod) string{
	func(p *pair, pod *v1.Pod) string {
		pod.Labels = map[string]string{fmt.Sprint("l", len(p.script)): ""}
		return " label=changed"
	},
	func(p *pair, pod *v1.Pod) string {
		pod.Spec.SchedulingGates = nil
		return " gates="
	},
	func(p *pair, pod *v1.Pod) string {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: fmt.Sprint("t", len(pod.Spec.Tolerations))})
		return ""
	},
	func(p *pair, pod *v1.Pod) string {
		cpu := rapid.SampledFrom([]string{"500m", "1", "2"}).Draw(p.T, "cpu")
		pod.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(cpu)
		return ""
	},
	func(p *pair, pod *v1.Pod) string {
		prio := rapid.SampledFrom([]int32{0, 1, -1, 2_000_000_000}).Draw(p.T, "priority")
		pod.Spec.Priority = &prio
		return fmt.Sprint(" priority=", prio)
	},
	func(p *pair, pod *v1.Pod) string {
		pod.Status.NominatedNodeName = rapid.SampledFrom([]string{"", "n-1", "n-2"}).Draw(p.T, "nominated")
		return " nominated=" + pod.Status.NominatedNodeName
	},
	func(p *pair, pod *v1.Pod) string {
		claim := fmt.Sprint("c", len(p.script))
		pod.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "device", ResourceClaimName: &claim}}
		return ""
	},
	func(p *pair, pod *v1.Pod) string {
		pod.ResourceVersion = fmt.Sprint(len(p.script))
		return ""
	},
}

// update applies any number of changes to a pod. The pod may be unknown to the queue, and the new
// object may be another pod with the same name.
func (p *pair) update(now time.Time, name string, pod *v1.Pod) {
	if pod == nil {
		if rapid.IntRange(0, 9).Draw(p.T, "unknown") > 0 {
			return
		}
		pod = p.newPod(name)
		p.groups.join(pod)
	}
	changed := pod.DeepCopy()
	said := ""
	before, _ := p.ours.Get("default", name)
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(changes)-1), 0, 5, rapid.ID[int]).Draw(p.T, "changes") {
		said += changes[i](p, changed)
	}
	if rapid.IntRange(0, 79).Draw(p.T, "another pod") == 0 && len(p.plugins.closed[name]) < 2 && !(p.spared && before.Pod != nil && p.holdsTwice(before)) {
		p.uids++
		changed.UID = types.UID(fmt.Sprint("uid-", p.uids))
	}
	old := p.known(pod)
	var labels []string
	evs := means(old, changed)
	for _, e := range evs {
		labels = append(labels, e.Label())
	}
	p.say("update %s%s means=(%s)", name, said, strings.Join(labels, ","))
	group, grouped := p.ours.Group(types.NamespacedName{Namespace: "default", Name: p.groups.of[name]})
	p.pods[name], p.older[changed.UID] = changed, pod
	p.check(p.informer.Update(changed))
	p.upstream.Update(p.ctx, old, changed)
	p.ours.Update(now, old, changed, evs)
	after := p.tier(name)
	switch {
	case before.Tier.Queued() && changed.UID != pod.UID:
		p.shuffled = true
		p.replaced(before, after)
	case before.Tier == queue.Pending && grouped && group.Tier.Queued():
		p.deviate(heldTwice) // the group was freed and created again: upstream adds the pod to it
	case (before.Tier == queue.Unschedulable || before.Tier == queue.Gated) && after == queue.Backoff && len(evs) > 1 && !p.ours.Options().PopFromBackoffQ:
		p.deviate(wentOn)
	}
}

// known returns pod, or its object before the last update.
func (p *pair) known(pod *v1.Pod) *v1.Pod {
	if older := p.older[pod.UID]; older != nil && rapid.IntRange(0, 5).Draw(p.T, "older") == 0 {
		return older
	}
	return pod
}

// object returns pod, an older object of it, or an object with only its name.
func (p *pair) object(pod *v1.Pod) *v1.Pod {
	if rapid.IntRange(0, 5).Draw(p.T, "stub") > 0 || p.spared && p.groups.of[pod.Name] != "" {
		return p.known(pod)
	}
	stub := &v1.Pod{}
	stub.Namespace, stub.Name = pod.Namespace, pod.Name
	return stub
}

// delete deletes a pod, which may be unknown to the queue.
func (p *pair) delete(now time.Time, name string, pod *v1.Pod) {
	if pod == nil {
		pod = p.newPod(name)
	} else {
		defer p.forget(pod)
	}
	object := p.object(pod)
	group, _ := p.ours.Group(types.NamespacedName{Namespace: "default", Name: p.groups.of[name]})
	// Upstream searches the incomplete pods, or the group that was created again.
	isKept := p.tier(name) == queue.Pending && (group.Tier.Queued() || p.groups.objects[p.groups.of[name]] == nil)
	p.say("delete %s", name)
	p.upstream.Delete(p.logger, object)
	p.ours.Delete(now, object)
	if isKept {
		p.deviate(keptPending)
	}
	if object.UID == "" && p.groups.of[name] != "" {
		if tier := p.tier(name); isWaiting(tier) {
			p.differ("%s is %s after Delete", name, tier)
		}
		p.deviate(storedGroup)
	}
}

// activate activates some pods in any tier.
func (p *pair) activate(now time.Time, name string, _ *v1.Pod) {
	pods := map[string]*v1.Pod{}
	most := 3
	if p.groups.of != nil {
		most = 1 // the first pod in upstream's map would wake the group
	}
	for range rapid.IntRange(0, most).Draw(p.T, "pods") {
		switch pod := p.pods[name]; {
		case pod != nil:
			pods[name] = p.object(pod)
			if pods[name].UID == "" && p.groups.of[name] != "" {
				pods[name] = pod // another pod in upstream: see TestScripts
			}
		case p.groups.of[name] == "" && rapid.IntRange(0, 3).Draw(p.T, "gone") == 0:
			pods[name] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "gone"}}
		}
		name = rapid.SampledFrom(p.names).Draw(p.T, "and")
	}
	p.upstream.Activate(p.logger, pods)
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		p.say("activate %s", name)
		p.ours.Activate(now, pods[name])
	}
	p.shuffled = p.shuffled || len(pods) > 1
}

func (p *pair) event(now time.Time, _ string, _ *v1.Pod) {
	e := rapid.SampledFrom(append(slices.Clone(clusterEvents),
		fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All},
		fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.Update},
		fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Add})).Draw(p.T, "event")
	only := ""
	var preCheck func(*v1.Pod) bool
	switch rapid.IntRange(0, 6).Draw(p.T, "pre-check") {
	case 0:
		only, preCheck = " only=(a,b,c)", func(pod *v1.Pod) bool { return pod.Name < "d" }
	case 1:
		only, preCheck = " only=(nobody)", func(pod *v1.Pod) bool { return false }
	case 2:
		preCheck = func(*v1.Pod) bool { return true }
	}
	// A wildcard event with a pod concerns that pod only.
	var oldObj, newObj any
	about := ""
	if rapid.IntRange(0, 2).Draw(p.T, "with an object") == 0 {
		if pod := p.pods[rapid.SampledFrom(p.names).Draw(p.T, "about")]; pod != nil {
			oldObj, newObj, about = pod, pod, " about="+pod.Name
		} else {
			oldObj, newObj = &v1.Node{}, &v1.Node{}
		}
		switch rapid.IntRange(0, 3).Draw(p.T, "of the objects") {
		case 0:
			oldObj = nil
		case 1:
			newObj, about = nil, ""
		}
	}
	p.say("event %s%s%s", e.Label(), only, about)
	p.upstream.MoveAllToActiveOrBackoffQueue(p.logger, e, oldObj, newObj, preCheck)
	p.move(func() { p.ours.MoveAllToActiveOrBackoffQueue(now, e, oldObj, newObj, preCheck) })
}

func (p *pair) flush(now time.Time, _ string, _ *v1.Pod) {
	if rapid.Bool().Draw(p.T, "leftover") {
		p.say("flush leftover")
		flushUnschedulableEntitiesLeftover(p.upstream, p.logger)
		p.move(func() { p.ours.FlushUnschedulableLeftover(now) })
		return
	}
	p.say("flush backoff")
	flushBackoffQCompleted(p.upstream, p.logger)
	p.ours.FlushBackoffCompleted(now)
}

// gate makes a PreEnqueue plugin gate the pod or stop gating it. Upstream calls the plugins in a
// map's order, but the one that gates the pod first, so if two gate it, that must be one of them.
func (p *pair) gate(_ time.Time, name string, pod *v1.Pod) {
	if pod != nil && len(pod.Spec.SchedulingGates) > 0 {
		return
	}
	plugin := rapid.SampledFrom(gatekeepers).Draw(p.T, "gatekeeper")
	info, _ := p.ours.Get("default", name)
	held := p.plugins.closed[name]
	switch {
	case slices.Contains(held, plugin):
		if len(held) == 2 && info.GatingPlugin == plugin && rapid.Bool().Draw(p.T, "stays") {
			return
		}
		held = slices.DeleteFunc(slices.Clone(held), func(other string) bool { return other == plugin })
	case len(held) == 0, len(held) == 1 && info.GatingPlugin == held[0] && info.Tier == queue.Gated:
		held = append(slices.Clone(held), plugin)
	default:
		return
	}
	p.plugins.closed[name] = held
	p.say("gate %s by=%s", name, strings.Join(held, ""))
}

func (p *pair) nominate(_ time.Time, name string, pod *v1.Pod) {
	if pod == nil {
		return
	}
	node := rapid.SampledFrom([]string{"", "n-1", "n-2"}).Draw(p.T, "node")
	p.say("nominate %s on=%s", name, node)
	if node == "" && rapid.Bool().Draw(p.T, "by its name") {
		p.upstream.DeleteNominatedPodIfExists(pod)
		p.ours.DeleteNominatedPodIfExists(pod)
		return
	}
	p.upstream.AddNominatedPod(p.logger, podInfo(pod), &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: node})
	p.ours.AddNominatedPod(pod, node)
}

// changeMind changes the hints' results.
func (p *pair) changeMind(time.Time, string, *v1.Pod) {
	p.plugins.mood++
	p.writePlugins()
}

// move records whether several unschedulable pods move.
func (p *pair) move(moves func()) {
	ready := func() int { return p.ours.PendingPods(queue.Active) + p.ours.PendingPods(queue.Backoff) }
	before := ready()
	moves()
	p.shuffled = p.shuffled || ready() > before+1
}

// unmodelled returns why upstream may pop another entity, or "" if it must not.
func (p *pair) unmodelled(ours queue.Entity, theirs fwk.QueuedEntityInfo) string {
	if !p.shuffled {
		return ""
	}
	var mine fwk.QueuedEntityInfo
	var ok bool
	if ours.Group != nil {
		mine, ok = p.upstream.GetPodGroup(ours.Group.Name.Name, "default", fwk.PodGroupKeyType)
	} else {
		mine, ok = p.upstream.GetPod(ours.Pod.Pod.Name, "default", nil)
	}
	switch {
	case !ok:
		return ""
	case !p.less(mine, theirs) && !p.less(theirs, mine):
		return tiedPods
	case p.groups.reranked:
		return unordered
	}
	return ""
}

func (p *pair) forget(pod *v1.Pod) {
	delete(p.pods, pod.Name)
	p.check(p.informer.Delete(pod))
}

func (p *pair) check(err error) {
	if err != nil {
		p.Helper()
		p.Fatal(err)
	}
}
