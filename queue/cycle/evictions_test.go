package cycle

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
)

// victims returns the victims of the running evictions.
func (st *story) victims() string {
	var names []string
	for _, e := range st.Evictions() {
		names = append(names, e.Victim.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// evict ends the eviction of a pod, which was deleted or not.
func (st *story) evict(pod *v1.Pod, deleted bool) {
	st.t.Helper()
	for _, e := range st.Evictions() {
		if e.Victim.Name != pod.Name {
			continue
		}
		if deleted {
			pod = pod.DeepCopy()
			pod.DeletionTimestamp = &metav1.Time{Time: st.clock}
			st.put(pod)
		}
		st.Evicted(e)
		return
	}
	st.t.Fatalf("no eviction of %s is running", pod.Name)
}

// startedAt sets a pod's start time, in minutes after noon.
func startedAt(minute int) podEdit {
	return func(p *v1.Pod) {
		p.Status.StartTime = &metav1.Time{Time: noon.Add(time.Duration(minute) * time.Minute)}
	}
}

// TestPreemption checks that a pod that does not fit preempts one with a lower priority.
func TestPreemption(t *testing.T) {
	low := at("one", aPod("low", requests("cpu", "3")))
	st := newStory(t, aNode("one"), low)
	a := st.tries(aPod("high", requests("cpu", "2"), priority(10)))
	if want := "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node one, preempting 1 victims"; a.Message != want || a.Nominated != "one" || a.Node != "" {
		t.Errorf("%q, nominated to %q, want %q", a.Message, a.Nominated, want)
	}
	st.is("after its attempt", "high unschedulable NodeResourcesFit")
	if got := st.q.NominatedNode("high"); got != "one" {
		t.Errorf("the queue has it nominated to %q", got)
	}
	if w := st.Writes(); len(w) != 1 || w[0].Object.(*v1.Pod).Status.NominatedNodeName != "one" {
		t.Errorf("writes: %+v", w)
	}
	if st.victims() != "low" {
		t.Errorf("victims: %s", st.victims())
	}
	// Whatever happens until the victim's deletion has begun, the preemptor is not tried: not after an event
	// that would help, nor when it is activated.
	st.pass(time.Minute)
	st.put(aNode("one", has("cpu", "6")))
	st.Activate(a.Pod)
	st.is("while its victim lives", "high gated DefaultPreemption,NodeResourcesFit")

	st.evict(low, true)
	st.is("when the deletion began", "high gated DefaultPreemption,NodeResourcesFit")
	st.remove(low)
	st.is("when the victim has gone", "high active DefaultPreemption,NodeResourcesFit")
	if a := st.try(); a.Node != "one" || st.q.NominatedNode("high") != "" {
		t.Errorf("%s, nominated to %q", result(a), st.q.NominatedNode("high"))
	}
	if len(st.Evictions()) != 0 {
		t.Error("evictions are left")
	}
}

// TestFailedEviction checks that a preemptor whose victim was not deleted waits for another event.
func TestFailedEviction(t *testing.T) {
	low := at("one", aPod("low", requests("cpu", "3")))
	st := newStory(t, aNode("one"), low)
	st.tries(aPod("high", requests("cpu", "2"), priority(10)))
	st.pass(time.Minute)
	e := st.Evictions()[0]
	st.Evicted(e)
	st.Evicted(e) // says nothing new
	st.is("when its eviction was given up", "high unschedulable NodeResourcesFit")
	st.put(aNode("one", has("cpu", "6")))
	st.is("when there is room", "high active NodeResourcesFit")
}

// TestSeveralVictims checks that victims are evicted one after the other, the most important one
// first, and that the preemptor is gated until the last one.
func TestSeveralVictims(t *testing.T) {
	pods := []*v1.Pod{
		at("one", aPod("old", requests("cpu", "1"), startedAt(-30))),
		at("one", aPod("young", requests("cpu", "1"), startedAt(-10))),
		at("one", aPod("unstarted", requests("cpu", "1"))),
		at("one", aPod("important", requests("cpu", "1"), priority(5))),
	}
	st := newStory(t, aNode("one"), pods[0], pods[1], pods[2], pods[3])
	st.tries(aPod("high", requests("cpu", "3"), priority(10)))
	st.pass(time.Minute)
	for _, victim := range []*v1.Pod{pods[0], pods[1], pods[2]} {
		if got := st.victims(); got != victim.Name {
			t.Fatalf("the victim is %q, want %s", got, victim.Name)
		}
		st.evict(victim, true)
		st.remove(victim)
	}
	if got := st.victims(); got != "" {
		t.Errorf("unexpected victims %s", got)
	}
	st.is("when all are gone", "high active DefaultPreemption,NodeResourcesFit")
	if a := st.try(); a.Node != "one" {
		t.Error(result(a))
	}
}

// TestSeveralPreemptors checks that each preemptor has one running eviction.
func TestSeveralPreemptors(t *testing.T) {
	st := newStory(t)
	for i := range 4 {
		node := fmt.Sprint("n", i)
		st.put(aNode(node), at(node, aPod("a-"+node, requests("cpu", "2"), startedAt(0))), at(node, aPod("b-"+node, requests("cpu", "2"), startedAt(1))))
	}
	for i := range 4 {
		st.tries(aPod(fmt.Sprint("high-", i), requests("cpu", "4"), priority(10)))
	}
	if got := st.victims(); got != "a-n0 a-n1 a-n2 a-n3" {
		t.Errorf("victims: %s", got)
	}
	for _, e := range st.Evictions() {
		st.Evicted(e)
	}
	if got := st.victims(); got != "b-n0 b-n1 b-n2 b-n3" {
		t.Errorf("victims then: %s", got)
	}
}

// TestNominatedPodsYield checks that a preemptor with a higher priority takes the node of a
// nominated pod, whose nomination is cleared.
func TestNominatedPodsYield(t *testing.T) {
	low, other := at("one", aPod("low", requests("cpu", "3"))), at("one", aPod("other", requests("cpu", "1")))
	st := newStory(t, aNode("one"), low, other)
	st.tries(aPod("middle", requests("cpu", "3"), priority(5)))
	st.applyWrites()
	st.evict(low, true)
	st.pass(time.Minute)
	st.takeMoves()

	// low is going already: only the other pod's deletion is left to ask for.
	a := st.tries(aPod("high", requests("cpu", "4"), priority(10)))
	if a.Nominated != "one" || st.victims() != "other" {
		t.Errorf("nominated to %q, victims %s: %s", a.Nominated, st.victims(), a.Message)
	}
	st.applyWrites()
	if middle, high := st.q.NominatedNode("middle"), st.q.NominatedNode("high"); middle != "" || high != "one" {
		t.Errorf("nominated are middle to %q, high to %q", middle, high)
	}
	st.is("when its nomination was cleared", "middle active NodeResourcesFit", "high unschedulable NodeResourcesFit")
}

// TestNominatedResources checks that pods with a lower priority do not get the resources freed for
// a preemptor.
func TestNominatedResources(t *testing.T) {
	low := at("one", aPod("low", requests("cpu", "4")))
	st := newStory(t, aNode("one"), low)
	st.tries(aPod("high", requests("cpu", "3"), priority(10)))
	st.evict(low, true)
	st.remove(low)
	st.put(aPod("thief", requests("cpu", "2"), priority(1)))
	st.Activate(aPod("thief"))
	for range 2 {
		if a := st.try(); a.Pod.Name == "thief" && a.Node != "" {
			t.Error("the thief has it")
		}
	}
}

// TestRenominate checks Renominate to another of several equal nodes.
func TestRenominate(t *testing.T) {
	pods := map[string][]*v1.Pod{}
	st := newStory(t)
	for _, node := range []string{"a", "b"} {
		pods[node] = []*v1.Pod{at(node, aPod("first-"+node, requests("cpu", "2"))), at(node, aPod("second-"+node, requests("cpu", "2")))}
		st.put(aNode(node), pods[node][0], pods[node][1])
	}
	a := st.tries(aPod("high", requests("cpu", "4"), priority(10)))
	other := map[string]string{"a": "b", "b": "a"}[a.Nominated]
	st.Renominate(st.clock, a.Pod, other)
	if got := st.q.NominatedNode("high"); got != other || !strings.HasSuffix(st.victims(), "-"+other) {
		t.Errorf("nominated to %q, victims %s, want %s", got, st.victims(), other)
	}
	st.pass(time.Minute)
	st.Activate(a.Pod)
	st.is("after the change of mind", "high gated DefaultPreemption,NodeResourcesFit")
	for range pods[other] {
		victim := st.Evictions()[0].Victim
		st.evict(victim, true)
		st.remove(victim)
	}
	st.is("when both have gone", "high active DefaultPreemption,NodeResourcesFit")
	if a := st.try(); a.Node != other {
		t.Error(result(a))
	}
	// Where no preemption helps, or nobody can preempt, nothing is asked for.
	st.Renominate(st.clock, a.Pod, "nowhere")
	st.Renominate(st.clock, aPod("stranger", func(p *v1.Pod) { p.Spec.SchedulerName = "other" }), "a")
	if got := st.victims(); got != "" {
		t.Errorf("victims: %s", got)
	}
}

// TestNewVictim checks that a node gets a possible victim after it had none.
func TestNewVictim(t *testing.T) {
	important := at("one", aPod("important", requests("cpu", "3"), priority(20)))
	st := newStory(t, aNode("one"), important)
	if a := st.tries(aPod("first", requests("cpu", "2"), priority(10))); a.Nominated != "" {
		t.Fatal(a.Message)
	}
	st.put(at("one", aPod("low", requests("cpu", "1"))))
	st.remove(important)
	st.put(at("one", aPod("low-2", requests("cpu", "2"))))
	if a := st.tries(aPod("second", requests("cpu", "2"), priority(10))); a.Nominated != "one" {
		t.Errorf("it is nominated to %q: %s", a.Nominated, result(a))
	}
}

// TestNotNominated checks that a pod that is deleted or bound during its attempt is not nominated.
func TestNotNominated(t *testing.T) {
	high := aPod("high", requests("cpu", "2"), priority(10))
	for name, happens := range map[string]func(*story){
		"is deleted": func(st *story) { st.remove(high) },
		"is bound":   func(st *story) { st.put(at("two", high)) },
	} {
		st := newStory(t, aNode("one"), aNode("two", taint("infra")), at("one", aPod("low", requests("cpu", "3"))))
		st.put(high)
		a, _ := st.Schedule(st.clock)
		if a.Nominated != "one" {
			t.Fatal(result(a))
		}
		happens(st)
		st.Conclude(st.clock, a)
		if got := st.q.NominatedNode("high"); got != "" {
			t.Errorf("a pod that %s is nominated to %s", name, got)
		}
	}
}

// TestNominatedPodChanges checks that an update of a nominated pod affects the other pods on its
// node.
func TestNominatedPodChanges(t *testing.T) {
	st := newStory(t, aNode("one"), at("one", aPod("low", requests("cpu", "3"))))
	st.tries(aPod("high", requests("cpu", "2"), priority(10)))
	st.applyWrites()
	shy := antiAffinity(near(v1.LabelHostname, "app", "web"))
	if a := st.tries(aPod("first", shy)); a.Node != "one" {
		t.Error(result(a))
	}
	st.put(aPod("high", requests("cpu", "2"), priority(10), podLabel("app", "web"), func(p *v1.Pod) { p.Status.NominatedNodeName = "one" }))
	if a := st.tries(aPod("second", shy)); a.Node != "" {
		t.Error("it goes beside the nominated one")
	}
}

// TestNoPreemption checks pods that must not preempt, and pods without possible victims.
func TestNoPreemption(t *testing.T) {
	never := v1.PreemptNever
	for name, c := range map[string]struct {
		pod  *v1.Pod
		says string
	}{
		"its policy":     {aPod("p", requests("cpu", "2"), priority(10), func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never }), "preemption: not eligible due to preemptionPolicy=Never."},
		"nobody is less": {aPod("p", requests("cpu", "2")), "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
		"it is too big":  {aPod("p", requests("cpu", "9"), priority(10)), "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
	} {
		st := newStory(t, aNode("one"), at("one", aPod("low", requests("cpu", "3"))))
		if a := st.tries(c.pod); !strings.HasSuffix(a.Message, c.says) || a.Nominated != "" || len(st.Evictions()) != 0 {
			t.Errorf("%s: nominated to %q, %q, want %q", name, a.Nominated, a.Message, c.says)
		}
	}
}

// TestSyncPreemption checks that without asynchronous preemption, as until v1.32, all evictions
// start at once, the attempt waits for them, and the preemptor is not gated.
func TestSyncPreemption(t *testing.T) {
	for _, version := range []string{"", "v1.32.0", "v1.30.0"} {
		t.Run(version, func(t *testing.T) {
			if version == "" {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerAsyncPreemption, false)
			}
			first, second := at("one", aPod("first", requests("cpu", "2"))), at("one", aPod("second", requests("cpu", "2")))
			st := newStoryWith(t, defaultConfig(t).ForVersion(version), 1, aNode("one"), first, second)
			a := st.tries(aPod("high", requests("cpu", "4"), priority(10)))
			if a.Nominated != "one" || st.victims() != "first second" || len(a.Evictions) != 2 {
				t.Errorf("nominated to %q, victims %s, and the attempt waits for %d", a.Nominated, st.victims(), len(a.Evictions))
			}
			st.evict(first, true)
			st.evict(second, true)
			if got := st.victims(); got != "" {
				t.Errorf("unexpected victims %s", got)
			}
			st.pass(time.Minute)
			st.remove(first)
			st.is("when one has gone", "high active NodeResourcesFit")
		})
	}
}

// TestPreemptionGatesUntilLast checks that until v1.34, a preemptor with one victim left is not
// gated, and is retried after an event.
func TestPreemptionGatesUntilLast(t *testing.T) {
	for version, want := range map[string]string{
		"v1.33.0": "high active NodeResourcesFit",
		"v1.35.0": "high gated DefaultPreemption,NodeResourcesFit",
	} {
		t.Run(version, func(t *testing.T) {
			first, second := at("one", aPod("first", requests("cpu", "2"))), at("one", aPod("second", requests("cpu", "2")))
			st := newStoryWith(t, defaultConfig(t).ForVersion(version), 1, aNode("one"), first, second)
			st.tries(aPod("high", requests("cpu", "4"), priority(10)))
			st.pass(time.Minute)
			st.evict(first, true)
			if st.victims() != "second" {
				t.Fatalf("victims: %s", st.victims())
			}
			st.remove(first)
			st.is("while the last victim lives", want)
			st.evict(second, true)
			st.remove(second)
			if a := st.try(); a.Node != "one" || st.victims() != "" {
				t.Errorf("%s, victims %s", result(a), st.victims())
			}
		})
	}
}

// TestPreemptsDeletedPod checks that until v1.34, an assumed pod that was deleted occupies its node
// and can be a victim, and that the Scheduler waits for upstream's goroutine in that case.
func TestPreemptsDeletedPod(t *testing.T) {
	for _, version := range []string{"v1.32.0", "v1.33.0", "v1.34.1"} {
		t.Run(version, func(t *testing.T) {
			st := newStoryWith(t, defaultConfig(t).ForVersion(version), 1)
			for i := range 200 {
				node, low := fmt.Sprint("n", i), aPod(fmt.Sprint("low-", i), requests("cpu", "3"))
				st.put(aNode(node))
				if a := st.tries(low); a.Node != node {
					t.Fatalf("%s is on %q: %s", low.Name, a.Node, a.Message)
				}
				st.remove(low)
				st.tries(aPod(fmt.Sprint("high-", i), requests("cpu", "2"), priority(10)))
				if st.victims() != low.Name {
					t.Fatalf("the victims are %q, want %s", st.victims(), low.Name)
				}
				st.evict(low, false)
				st.remove(aNode(node))
			}
		})
	}
}

// TestPreemptionWithoutGating checks a profile in which preemptors can be retried while their
// victims exist.
func TestPreemptionWithoutGating(t *testing.T) {
	cfg := configured(t, "profiles: [{schedulerName: default-scheduler, plugins: {preEnqueue: {disabled: [{name: DefaultPreemption}]}}}]")
	low := at("one", aPod("low", requests("cpu", "4")))
	st := newStoryWith(t, cfg, 1, aNode("one"), low)
	a := st.tries(aPod("high", requests("cpu", "4"), priority(10)))
	st.Activate(a.Pod)
	st.is("while its victim lives", "high active NodeResourcesFit")
	if st.try(); st.victims() != "low" {
		t.Errorf("victims: %s", st.victims())
	}
	st.evict(low, true)
	st.remove(low)
	st.pass(time.Minute)
	if a := st.try(); a.Node != "one" || st.victims() != "" {
		t.Errorf("%s, victims %s", result(a), st.victims())
	}
}

// TestCloseEndsGoroutines checks that Close ends all goroutines.
func TestCloseEndsGoroutines(t *testing.T) {
	cfg := defaultConfig(t)
	newStoryWith(t, cfg, 1).Close() // what a first scheduler starts for good
	before := runtime.NumGoroutine()
	for range 20 {
		st := newStoryWith(t, cfg, 1)
		for i := range 5 {
			node := fmt.Sprint("n", i)
			st.put(aNode(node), at(node, aPod("a-"+node, requests("cpu", "2"))), at(node, aPod("b-"+node, requests("cpu", "2"))))
		}
		for i := range 5 {
			st.tries(aPod(fmt.Sprint("high-", i), requests("cpu", "4"), priority(10)))
		}
		st.Evicted(st.Evictions()[0])
		if n := len(st.Evictions()); n != 5 {
			t.Fatalf("%d evictions are underway, want 5", n)
		}
		st.Close()
		st.Close()
		if n := len(st.Evictions()); n != 0 {
			t.Fatalf("a scheduler that is closed asks for %d deletions", n)
		}
		if _, err := PluginsOf(cfg); err != nil {
			t.Fatal(err)
		}
		if err := Check(cfg); err != nil {
			t.Fatal(err)
		}
		spoilt := defaultConfig(t)
		if spoilt.Profiles[0].SchedulerName = ""; Check(spoilt) == nil {
			t.Fatal("a scheduler starts with a profile that has no name")
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
}
