package conformance

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// Upstream runs its two flushes on tickers of its own. Here they run when the sequence says so.

//go:linkname flushBackoffQCompleted k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoffQCompleted(p *upstream.PriorityQueue, logger klog.Logger)

//go:linkname flushUnschedulableEntitiesLeftover k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulableEntitiesLeftover(p *upstream.PriorityQueue, logger klog.Logger)

var operations = flag.Int("operations", 30_000, "about how many operations to compare for each gate")

// A sequence has at most longest operations. As rapid draws small numbers more often, it has about usual.
const (
	longest = 120
	usual   = 35
)

// TestConformance draws sequences of calls, makes each call on both queues, and compares the whole state
// after every one.
func TestConformance(t *testing.T) {
	klog.SetLogger(klog.Logger{})
	metrics.Register()
	if err := flag.Set("rapid.checks", fmt.Sprint(*operations/usual)); err != nil {
		t.Fatal(err)
	}
	for _, gates := range []struct{ pop, groups bool }{{true, false}, {false, false}, {true, true}, {false, true}} {
		name := fmt.Sprintf("SchedulerPopFromBackoffQ=%v,GenericWorkload=%v", gates.pop, gates.groups)
		t.Run(name, func(t *testing.T) {
			if err := utilfeature.DefaultMutableFeatureGate.Set(name); err != nil {
				t.Fatal(err)
			}
			done, parted := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				p := newPair(t, gates.pop, gates.groups)
				for range rapid.IntRange(1, longest).Draw(t, "operations") {
					if p.step(); p.parted {
						parted++
						break
					}
					p.compare()
					done++
				}
				p.upstream.Close()
			})
			t.Logf("%d operations, no difference; %d sequences ended at pods that left in no order", done, parted)
		})
	}
}

// pair is our queue and upstream's, and the cluster around them.
type pair struct {
	*rapid.T
	ctx      context.Context
	logger   klog.Logger
	clock    *clocktesting.FakeClock
	plugins  *plugins
	informer interface {
		Add(any) error
		Update(any) error
		Delete(any) error
	}
	upstream *upstream.PriorityQueue
	ours     *queue.Queue
	pods     map[string]*v1.Pod                     // that exist and are not bound
	inFlight map[types.UID]*framework.QueuedPodInfo // popped, and not done
	names    []string
	uids     int
	script   strings.Builder
	groups   groups
	less     fwk.LessFunc
	shuffled bool // some pods moved in the order of a map
	parted   bool // it popped another pod than we did, and that means nothing
}

func newPair(t *rapid.T, pop, groups bool) *pair {
	metrics.SchedulerQueueIncomingPods.Reset()
	p := &pair{
		T: t, ctx: t.Context(), clock: clocktesting.NewFakeClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)),
		plugins: &plugins{seed: rapid.IntRange(0, 1000).Draw(t, "hints"), closed: map[string]bool{}},
		pods:    map[string]*v1.Pod{}, inFlight: map[types.UID]*framework.QueuedPodInfo{},
		names: []string{"a", "b", "c", "d", "e", "f"},
	}
	p.logger = klog.FromContext(p.ctx)
	opts := queue.Defaults()
	opts.PopFromBackoffQ, opts.GenericWorkload = pop, groups
	opts.PodMaxBackoff = rapid.SampledFrom([]time.Duration{10 * time.Second, 10 * time.Second, 3 * time.Second, time.Second, 0}).Draw(t, "max backoff")
	p.ours = queue.New(opts, p.plugins, nil)

	client, err := kubernetes.NewForConfig(&rest.Config{}) // never used
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	p.informer = factory.Core().V1().Pods().Informer().GetIndexer()
	sort, err := queuesort.New(p.ctx, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.less = sort.(fwk.QueueSortPlugin).Less
	p.upstream = upstream.NewPriorityQueue(p.less, factory,
		upstream.WithClock(p.clock), upstream.WithPodMaxBackoffDuration(opts.PodMaxBackoff),
		upstream.WithPodLister(factory.Core().V1().Pods().Lister()),
		upstream.WithQueueingHintMapPerProfile(p.plugins.hintMap()), upstream.WithPreEnqueuePluginMap(p.plugins.preEnqueue()),
		upstream.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, p.ctx.Done())))
	if groups {
		p.groups = newGroups()
	}
	fmt.Fprintf(&p.script, "options PopFromBackoffQ=%v GenericWorkload=%v PodMaxBackoff=%s\n----\n\n%s", pop, groups, opts.PodMaxBackoff, p.plugins.script())
	return p
}

// say writes a command of a queue script.
func (p *pair) say(format string, args ...any) {
	fmt.Fprintf(&p.script, "at %s\n----\n\n", p.clock.Now().Format("15:04:05.999999999"))
	fmt.Fprintf(&p.script, format+"\n----\n\n", args...)
}

// differ fails with the sequence so far, as a script that the tests of package queue can run.
func (p *pair) differ(format string, args ...any) {
	p.Helper()
	p.Fatalf("%s\n\n%s", fmt.Sprintf(format, args...), p.script.String())
}

// step lets some time pass and makes one call, on both queues. Every call but those of a burst has a time of
// its own. Pods of equal times leave by their places in the heap, as upstream's do, until several move at once:
// upstream moves them in the order of a map.
func (p *pair) step() {
	micro := rapid.SampledFrom([]int{1, 1000, 100_000, 300_000, 700_000, 1_000_000, 2_500_000, 40_000_000, 301_000_000}).Draw(p.T, "µs")
	p.clock.Step(time.Duration(micro) * time.Microsecond)
	now := p.clock.Now()
	name := rapid.SampledFrom(p.names).Draw(p.T, "pod")
	pod := p.pods[name]
	ops := []string{"add", "add", "burst", "pop", "pop", "pop", "end", "end", "end", "end", "update", "delete",
		"activate", "event", "event", "event", "flush", "flush", "gate", "nominate"}
	if p.groups.of != nil {
		ops = append(ops, "group", "group", "members", "attempted", "attempted")
	}
	op := rapid.SampledFrom(ops).Draw(p.T, "operation")
	if pod == nil && (op == "update" || op == "delete" || op == "activate" || op == "nominate") {
		return
	}
	switch op {
	case "add":
		if pod == nil {
			p.add(now, name)
		}
	case "group":
		p.changeGroup(now)
	case "members":
		p.addMembers(now)
	case "attempted":
		p.attempted(now)
	case "burst":
		p.burst(now)
	case "pop":
		p.pop(now)
	case "end":
		p.end(now)
	case "update":
		p.update(now, pod)
	case "delete":
		p.say("delete %s", name)
		p.forget(pod)
		p.upstream.Delete(p.logger, pod)
		p.ours.Delete(now, pod)
	case "activate":
		p.say("activate %s", name)
		p.upstream.Activate(p.logger, map[string]*v1.Pod{name: pod})
		p.ours.Activate(now, pod)
	case "event":
		p.event(now)
	case "flush":
		if rapid.Bool().Draw(p.T, "leftover") {
			p.say("flush leftover")
			flushUnschedulableEntitiesLeftover(p.upstream, p.logger)
			p.move(func() { p.ours.FlushUnschedulableLeftover(now) })
			return
		}
		p.say("flush backoff")
		flushBackoffQCompleted(p.upstream, p.logger)
		p.ours.FlushBackoffCompleted(now)
	case "gate":
		if pod == nil || len(pod.Spec.SchedulingGates) == 0 {
			p.plugins.closed[name] = !p.plugins.closed[name]
			p.say("gate %s by=%s", name, map[bool]string{true: "Gate"}[p.plugins.closed[name]])
		}
	case "nominate":
		node := rapid.SampledFrom([]string{"", "n-1", "n-2"}).Draw(p.T, "node")
		p.say("nominate %s on=%s", name, node)
		p.upstream.AddNominatedPod(p.logger, podInfo(pod), &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: node})
		p.ours.AddNominatedPod(pod, node)
	}
}

func podInfo(pod *v1.Pod) *framework.PodInfo {
	info, _ := framework.NewPodInfo(pod) // affinity terms, of which there are none
	return info
}

func (p *pair) add(now time.Time, name string) {
	p.addPod(now, name, !p.plugins.closed[name] && rapid.IntRange(0, 4).Draw(p.T, "gated") == 0)
}

func (p *pair) addPod(now time.Time, name string, gated bool) {
	p.uids++
	pod := &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", name, types.UID(fmt.Sprint("uid-", p.uids))
	prio := rapid.SampledFrom([]int32{0, 0, 1, -1, 2_000_000_000}).Draw(p.T, "priority")
	pod.Spec.Priority = &prio
	group := p.groups.join(pod)
	gates := ""
	if gated {
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
		gates = " gates=quota"
	}
	p.say("add %s priority=%d%s%s", name, prio, gates, group)
	p.pods[name] = pod
	p.check(p.informer.Add(pod))
	p.upstream.Add(p.ctx, pod)
	p.ours.Add(now, pod)
}

// burst has several pods come at the same moment. None is gated: then they are not moved in the order of a map,
// but popped, and fail, one by one.
func (p *pair) burst(now time.Time) {
	if p.groups.of != nil {
		return
	}
	for _, name := range p.names {
		if p.pods[name] == nil && !p.plugins.closed[name] && rapid.Bool().Draw(p.T, "comes") {
			p.addPod(now, name, false)
		}
	}
}

func (p *pair) pop(now time.Time) {
	if p.groups.attempting != nil {
		return // upstream's loop ends a group's attempt before it pops
	}
	ours, ok := p.ours.PopEntity(now)
	if !ok {
		return // upstream's would block; that it has no pod either, compare sees
	}
	p.say("pop")
	entity, err := p.upstream.Pop(p.logger)
	p.check(err)
	if theirs, ok := entity.(*framework.QueuedPodGroupInfo); ok {
		p.popGroup(ours, theirs)
		return
	}
	theirs := entity.(*framework.QueuedPodInfo)
	if ours.Group != nil || theirs.Pod.Name != ours.Pod.Pod.Name {
		if p.parted = p.tied(ours, theirs); p.parted {
			return
		}
		p.differ("popped %+v, upstream %s", ours, theirs.Pod.Name)
	}
	p.inFlight[theirs.Pod.UID] = theirs
}

// end ends an attempt: the pod is bound, or it failed.
func (p *pair) end(now time.Time) {
	if len(p.inFlight) == 0 {
		return
	}
	uid := rapid.SampledFrom(slices.Sorted(maps.Keys(p.inFlight))).Draw(p.T, "attempt")
	info := p.inFlight[uid]
	if p.groups.interrupts(info.Pod) {
		return
	}
	delete(p.inFlight, uid)
	pod := p.pods[info.Pod.Name]
	if gone := pod == nil || pod.UID != uid; gone || rapid.IntRange(0, 5).Draw(p.T, "fits") == 0 {
		p.say("done %s", info.Pod.Name)
		if !gone {
			p.forget(pod)
		}
		p.upstream.Done(uid)
		p.ours.Done(now, uid)
		return
	}
	draw := func(what string, most int) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(rejectors), 0, most, rapid.ID[string]).Draw(p.T, what)
	}
	why := queue.Rejection{UnschedulablePlugins: draw("by", 2)}
	if rapid.IntRange(0, 2).Draw(p.T, "any pending") == 0 {
		why.PendingPlugins = draw("pending", 1)
	}
	p.say("fail %s by=(%s) pending=(%s)", pod.Name, strings.Join(why.UnschedulablePlugins, ","), strings.Join(why.PendingPlugins, ","))
	info = info.DeepCopy()
	info.ClearRejectorPlugins()
	info.UnschedulablePlugins, info.PendingPlugins = sets.New(why.UnschedulablePlugins...), sets.New(why.PendingPlugins...)
	info.PodInfo = podInfo(pod)
	theirs := p.upstream.AddUnschedulablePodIfNotPresent(p.logger, info, p.upstream.SchedulingCycle())
	ours := p.ours.AddUnschedulableIfNotPresent(now, pod, why)
	if (theirs == nil) != (ours == nil) {
		p.differ("fail of %s: %v, upstream %v", pod.Name, ours, theirs)
	}
}

func (p *pair) update(now time.Time, pod *v1.Pod) {
	changed := pod.DeepCopy()
	gates := ""
	switch rapid.IntRange(0, 3).Draw(p.T, "change") {
	case 0:
		changed.Labels = map[string]string{"changed": now.String()}
	case 1:
		changed.Spec.SchedulingGates, gates = nil, " gates="
	case 2:
		changed.Spec.Tolerations = append(changed.Spec.Tolerations, v1.Toleration{Key: "dedicated"})
	}
	var labels []string
	evs := means(pod, changed)
	for _, e := range evs {
		labels = append(labels, e.Label())
	}
	p.say("update %s%s means=(%s)", pod.Name, gates, strings.Join(labels, ","))
	p.pods[pod.Name] = changed
	p.check(p.informer.Update(changed))
	p.upstream.Update(p.ctx, pod, changed)
	p.ours.Update(now, pod, changed, evs)
}

func (p *pair) event(now time.Time) {
	e := rapid.SampledFrom(append(events[:3:3],
		fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All},
		fwk.ClusterEvent{Resource: fwk.PersistentVolume, ActionType: fwk.Add})).Draw(p.T, "event")
	only, preCheck := "", func(*v1.Pod) bool { return true }
	if rapid.IntRange(0, 3).Draw(p.T, "pre-check") == 0 {
		only, preCheck = " only=(a,b,c)", func(pod *v1.Pod) bool { return pod.Name < "d" }
	}
	// A wildcard event with a pod is for that pod alone. The hints of the test don't look at objects.
	var oldObj, newObj any
	about := ""
	if rapid.IntRange(0, 2).Draw(p.T, "with an object") == 0 {
		if pod := p.pods[rapid.SampledFrom(p.names).Draw(p.T, "about")]; pod != nil {
			oldObj, newObj, about = pod, pod, " about="+pod.Name
		}
	}
	p.say("event %s%s%s", e.Label(), only, about)
	p.upstream.MoveAllToActiveOrBackoffQueue(p.logger, e, oldObj, newObj, preCheck)
	p.move(func() { p.ours.MoveAllToActiveOrBackoffQueue(now, e, oldObj, newObj, preCheck) })
}

// move notes whether several pods leave the unschedulable ones.
func (p *pair) move(moves func()) {
	ready := func() int { return p.ours.PendingPods(queue.Active) + p.ours.PendingPods(queue.Backoff) }
	before := ready()
	moves()
	p.shuffled = p.shuffled || ready() > before+1
}

// tied reports whether upstream may have popped theirs instead of ours for no reason but the order of a map.
func (p *pair) tied(ours queue.Entity, theirs fwk.QueuedEntityInfo) bool {
	if !p.shuffled {
		return false
	}
	var mine fwk.QueuedEntityInfo
	var ok bool
	if ours.Group != nil {
		mine, ok = p.upstream.GetPodGroup(ours.Group.Name.Name, "default", fwk.PodGroupKeyType)
	} else {
		mine, ok = p.upstream.GetPod(ours.Pod.Pod.Name, "default", nil)
	}
	return ok && !p.less(mine, theirs) && !p.less(theirs, mine)
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
