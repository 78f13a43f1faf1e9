package cycle

import (
	"context"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// licensed is a profile's framework with an out-of-tree plugin that rejects a pod at a given point.
// No in-tree plugin does that without side effects.
type licensed struct {
	framework.Framework
	reserve, permit, preBind *fwk.Status // nil: what upstream's plugins say
}

// RunReservePluginsReserve implements framework.Framework.
func (l licensed) RunReservePluginsReserve(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if l.reserve != nil {
		return l.reserve
	}
	return l.Framework.RunReservePluginsReserve(ctx, state, pod, node)
}

// RunPermitPlugins implements framework.Framework.
func (l licensed) RunPermitPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (map[string]time.Duration, *fwk.Status) {
	if l.permit != nil {
		return nil, l.permit
	}
	return l.Framework.RunPermitPlugins(ctx, state, pod, node)
}

// RunPreBindPlugins implements framework.Framework.
func (l licensed) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if l.preBind != nil {
		return l.preBind
	}
	return l.Framework.RunPreBindPlugins(ctx, state, pod, node)
}

// license installs l in the default profile until the returned function is called.
func (st *story) license(l licensed) (end func()) {
	was := st.profiles[v1.DefaultSchedulerName].(seeded)
	is := was
	l.Framework = was.Framework
	is.Framework = l
	st.profiles[v1.DefaultSchedulerName] = is
	return func() { st.profiles[v1.DefaultSchedulerName] = was }
}

// TestRejectedWhileAssumed checks that a pod rejected in Reserve or Permit waits for the plugin's
// events, or backs off after an error, and frees its node (assumeAndReserve and
// prepareForBindingCycle in schedule_one.go).
func TestRejectedWhileAssumed(t *testing.T) {
	rejects := fwk.NewStatus(fwk.Unschedulable, "no licence").WithPlugin("Licence")
	fails := fwk.NewStatus(fwk.Error, "the licences are away").WithPlugin("Licence")
	for _, c := range []struct {
		name               string
		of                 licensed
		says, tier, counts string
	}{
		{"reserving it", licensed{reserve: rejects}, "0/1 nodes are available: 1 no licence.", "unschedulable Licence", "1 Licence: no licence"},
		{"permitting it", licensed{permit: rejects}, "0/1 nodes are available: 1 no licence.", "unschedulable Licence", "1 Licence: no licence"},
		{"reserving it fails", licensed{reserve: fails}, "the licences are away", "backoff", ""},
		{"permitting it fails", licensed{permit: fails}, "the licences are away", "backoff", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStory(t, aNode("one"), aNode("full"), at("full", aPod("old", requests("cpu", "3"))))
			end := st.license(c.of)
			a := st.tries(aPod("web", requests("cpu", "3")))
			if a.Message != c.says || counted(a.Reasons) != c.counts || a.Node != "" || a.Binding != nil || a.Feasible != 1 {
				t.Errorf("%q, %s, on %q of %d, want %q, %s", a.Message, counted(a.Reasons), a.Node, a.Feasible, c.says, c.counts)
			}
			st.is("when it was refused", "web "+c.tier)
			end()
			if a := st.tries(aPod("next", requests("cpu", "3"))); a.Node != "one" {
				t.Errorf("and the next: %s", result(a))
			}
		})
	}
}

// TestRejectedInPreBind checks that a pod rejected in PreBind frees its node and backs off: after
// Permit, a plugin cannot make it wait (bindingCycle and handleBindingCycleError in
// schedule_one.go).
func TestRejectedInPreBind(t *testing.T) {
	for code, want := range map[fwk.Code]string{
		fwk.Unschedulable: "first backoff: ScheduleAttemptFailure; waiting active: AssignedPodDelete",
		fwk.Error:         "waiting active: AssignedPodDelete; first backoff: ScheduleAttemptFailure",
	} {
		st, b := full(t)
		b.profile = licensed{Framework: b.profile, preBind: fwk.NewStatus(code, "no licence").WithPlugin("Licence")}
		if err := st.Bind(st.clock, b); err == nil {
			t.Errorf("%s: the pod was bound", code)
		}
		if got := st.takeMoves(); got != want {
			t.Errorf("%s: the moves are %q, want %q", code, got, want)
		}
		if a := st.try(); a.Pod.Name != "waiting" || a.Node != "one" {
			t.Errorf("%s: then %s: %s", code, a.Pod.Name, result(a))
		}
	}
}

// TestRejectedButBound checks that a rejected pod that another client bound does not free its node.
func TestRejectedButBound(t *testing.T) {
	st, b := full(t)
	st.put(at("one", aPod("first", requests("cpu", "3"))))
	st.takeMoves()
	for _, code := range []fwk.Code{fwk.Unschedulable, fwk.Error} {
		b.profile = licensed{Framework: b.profile, preBind: fwk.NewStatus(code, "no licence").WithPlugin("Licence")}
		if err := st.Bind(st.clock, b); err == nil {
			t.Error("the pod was bound")
		}
		st.is("when the binding was refused", "waiting unschedulable NodeResourcesFit", "first gone")
	}
}

// TestConfirm checks that a pod observed as bound keeps its claim's device only until the claim is
// free.
func TestConfirm(t *testing.T) {
	claim := aDeviceClaim("mine", "gpu")
	st := newStory(t, aNode("one"), aDeviceClass("gpu"), aSlice("one", "gpu-0"), claim, aDeviceClaim("yours", "gpu"))
	a := st.tries(aPod("first", usesDevice("mine")))
	if a.Binding == nil {
		t.Fatal(result(a))
	}
	st.put(at("one", aPod("first", usesDevice("mine"))))
	st.Confirm(a.Binding)
	allocated := claim.DeepCopy()
	allocated.Status = resourcev1.ResourceClaimStatus{
		Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{
			Request: "one", Driver: "gpu.example.com", Pool: "one", Device: "gpu-0",
		}}}},
		ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "first", UID: "first"}},
	}
	st.put(allocated)
	if a := st.tries(aPod("second", usesDevice("yours"))); a.Node != "" {
		t.Error("the device was allocated twice")
	}
	st.put(claim)
	st.pass(time.Minute)
	st.Activate(aPod("second"))
	if a := st.try(); a.Node != "one" {
		t.Errorf("when the device is free: %s", result(a))
	}
}

// TestAssumedAlready checks that an assumed pod that is queued again is skipped (skipPodSchedule in
// schedule_one.go).
func TestAssumedAlready(t *testing.T) {
	st := newStory(t, aNode("one"))
	pod := aPod("web", requests("cpu", "1"))
	a := st.tries(pod)
	st.q.Done(st.clock, "web")
	st.q.Add(st.clock, a.Pod)
	if again := st.try(); !again.Skipped || again.Node != "" || again.Message != "" {
		t.Errorf("%+v", again)
	}
	st.is("when it was skipped", "web gone")
}

// TestFailureTime checks that a failed attempt or binding has the time of its end, in the queue and
// in the condition.
func TestFailureTime(t *testing.T) {
	for name, fails := range map[string]func(*story, *v1.Pod, time.Time){
		"an attempt": func(st *story, pod *v1.Pod, ends time.Time) {
			a, _ := st.Schedule(st.clock)
			st.Conclude(ends, a)
		},
		"an attempt that is resumed": func(st *story, pod *v1.Pod, ends time.Time) {
			st.q.Pop(st.clock)
			a, ok := st.Resume(st.clock, pod)
			if !ok {
				t.Fatal("it is not in flight")
			}
			st.Conclude(ends, a)
		},
		"a binding": func(st *story, pod *v1.Pod, ends time.Time) {
			b, err := st.Place(pod, "one")
			if err != nil {
				t.Fatal(err)
			}
			st.q.Pop(st.clock)
			st.Fail(ends, b, context.DeadlineExceeded)
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory(t, aNode("one"), aNode("two", taint("infra")))
			pod := aPod("web", requests("cpu", "3"))
			if name != "a binding" {
				pod = aPod("web", requests("cpu", "5"))
			}
			st.put(pod)
			if _, ok := st.Resume(st.clock, pod); ok {
				t.Error("Resume accepted a pod that is not in flight")
			}
			ends := st.clock.Add(3 * time.Second)
			fails(st, pod, ends)
			info, _ := st.q.Get("default", "web")
			if !info.Timestamp.Equal(ends) {
				t.Errorf("it is %s since %s, want %s", info.Tier, info.Timestamp, ends)
			}
			writes := st.Writes()
			if len(writes) != 1 || !writes[0].Object.(*v1.Pod).Status.Conditions[0].LastTransitionTime.Time.Equal(ends) {
				t.Errorf("writes: %+v", writes)
			}
			if _, ok := st.Resume(st.clock, aPod("nobody")); ok {
				t.Error("Resume failed")
			}
		})
	}
}

// TestVictimStartTime checks that a victim that has not started counts as starting at the time of
// the attempt, not at the wall clock's (util.GetPodStartTime).
func TestVictimStartTime(t *testing.T) {
	const century = 100 * 365 * 24 * 60 // minutes
	for name, preempts := range map[string]func(*story, *v1.Pod, time.Time){
		"an attempt": func(st *story, _ *v1.Pod, now time.Time) {
			a, _ := st.Schedule(now)
			st.Conclude(now, a)
		},
		"an attempt that is resumed": func(st *story, pod *v1.Pod, now time.Time) {
			st.q.Pop(st.clock)
			a, _ := st.Resume(now, pod)
			st.Conclude(now, a)
		},
		"the preemption that was seen": func(st *story, pod *v1.Pod, now time.Time) { st.Renominate(now, pod, "one") },
	} {
		st := newStory(t, aNode("one"), at("one", aPod("unstarted", requests("cpu", "2"))), at("one", aPod("started", requests("cpu", "2"), startedAt(century+5))))
		pod := aPod("high", requests("cpu", "2"), priority(10))
		st.put(pod)
		preempts(st, pod, noon.Add((century+10)*time.Minute))
		if got := st.victims(); got != "unstarted" {
			t.Errorf("%s: the victims are %q", name, got)
		}
	}
}

// TestUndoPreemption checks that Undo ends the preemption.
func TestUndoPreemption(t *testing.T) {
	low := at("one", aPod("low", requests("cpu", "3")))
	st := newStory(t, aNode("one"), low)
	st.put(aPod("high", requests("cpu", "2"), priority(10)))
	a, _ := st.Schedule(st.clock)
	if a.Evaluated != 1 || a.Feasible != 0 || st.victims() != "low" {
		t.Fatalf("%+v, victims %s", a, st.victims())
	}
	st.Undo(a)
	st.Conclude(st.clock, a)
	if st.victims() != "" || len(st.Writes()) != 0 {
		t.Errorf("victims: %s", st.victims())
	}
	st.is("when its attempt was taken back", "high inflight")
}

// TestLoadMovesNothing checks that Load and Unload move no pods.
func TestLoadMovesNothing(t *testing.T) {
	st := newStory(t, aNode("one"))
	st.tries(aPod("web", requests("cpu", "6")))
	st.pass(time.Minute)
	st.takeMoves()
	large, db := st.next(aNode("large", has("cpu", "8"))), st.next(aPod("db"))
	for _, does := range []func() error{
		func() error { return st.Load(large) }, func() error { return st.Load(db) },
		func() error { return st.Unload(db) }, func() error { return st.Unload(large) },
	} {
		if err := does(); err != nil || st.takeMoves() != "" {
			t.Errorf("%v, %v", err, st.moves)
		}
	}
	st.remove(aPod("db"))
	if got := st.takeMoves(); got != "" {
		t.Errorf("a pod that was taken back goes: %s", got)
	}
	st.put(aNode("larger", has("cpu", "8")))
	if got := st.takeMoves(); got != "web active: NodeAdd" {
		t.Errorf("when a node comes: %s", got)
	}
}

// TestWaitsAndEnding checks Waits and Ending.
func TestWaitsAndEnding(t *testing.T) {
	ending := func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }
	st := newStory(t, aNode("one"), at("one", aPod("bound")), at("one", aPod("going", ending)))
	st.put(aPod("web"))
	for _, c := range []struct {
		pod           *v1.Pod
		waits, ending bool
	}{
		{aPod("web"), true, false},
		{at("one", aPod("web")), true, false}, // on an unknown node
		{aPod("web", func(p *v1.Pod) { p.UID = "another" }), false, true},
		{aPod("bound"), false, false},
		{aPod("going"), false, true},
		{aPod("nobody"), false, true},
	} {
		if waits, ends := st.Waits(c.pod), st.Ending(c.pod); waits != c.waits || ends != c.ending {
			t.Errorf("%s %s waits: %t, ends: %t", c.pod.Name, c.pod.UID, waits, ends)
		}
	}
}

// TestJudge checks verdicts, and that Judge changes nothing.
func TestJudge(t *testing.T) {
	st := newStory(t)
	judges := func(pod *v1.Pod, node, message string, plugins ...string) {
		t.Helper()
		v, err := st.Judge(pod)
		if err != nil || v.Node != node || v.Message != message || !slices.Equal(v.Plugins, plugins) {
			t.Errorf("of %s it says %+v, %v", pod.Name, v, err)
		}
	}
	judges(aPod("web"), "", "no nodes available to schedule pods")
	st.put(aNode("one"), aNode("two", taint("infra")), at("one", aPod("low", requests("cpu", "3"))))
	judges(aPod("web", requests("cpu", "1")), "one", "")
	judges(aPod("high", requests("cpu", "2"), priority(10)), "", "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).", "NodeResourcesFit", "TaintToleration")
	if _, err := st.Judge(aPod("other", func(p *v1.Pod) { p.Spec.SchedulerName = "other" })); err == nil {
		t.Error("a pod is judged for which no profile is there")
	}
	odd := aPod("odd", affinity(v1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like"}}}}))
	if _, err := st.Judge(odd); err == nil || err.Error() != `pod default/odd: requiredAffinityTerms: "Like" is not a valid label selector operator` {
		t.Errorf("of a pod that nobody can read it says %v", err)
	}
	if st.victims() != "" || len(st.Writes()) != 0 || st.takeMoves() != "" {
		t.Error("Judge had side effects")
	}
}

// TestJudgeLoaded checks verdicts with a node that was loaded temporarily, and that they wake no
// pods.
func TestJudgeLoaded(t *testing.T) {
	tainted := func() *v1.Node { return aNode("one", taint("infra")) }
	for _, c := range []struct {
		name    string
		with    *v1.Node
		fits    string
		differs bool
	}{
		{"it loses its taint", aNode("one"), "one", true},
		{"another one comes", aNode("two"), "two", true},
		{"nothing is otherwise that matters", tainted(), "", false},
	} {
		st := newStory(t, tainted())
		st.tries(aPod("web"))
		st.takeMoves()
		judged := func() Verdict {
			v, err := st.Judge(aPod("web"))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		c.with.ResourceVersion = "100"
		heard := st.KnownNode(c.with.Name)
		if got := heard == nil || st.NodeChanged(heard, c.with); got != c.differs {
			t.Errorf("%s: it differs: %t", c.name, got)
		}
		if err := st.Load(c.with); err != nil {
			t.Fatal(err)
		}
		if v := judged(); v.Node != c.fits {
			t.Errorf("%s: it fits on %q, want %q", c.name, v.Node, c.fits)
		}
		var err error
		if heard == nil {
			err = st.Unload(c.with)
		} else {
			err = st.Load(heard)
		}
		if v := judged(); err != nil || v.Message != "0/1 nodes are available: 1 node(s) had untolerated taint(s)." {
			t.Errorf("%s: afterwards it says %+v, %v", c.name, v, err)
		}
		if woken := st.takeMoves(); woken != "" {
			t.Errorf("%s: somebody was woken: %q", c.name, woken)
		}
	}
}
