package cycle

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// inspects returns what the scheduler would do with pod, which is put in.
func (st *story) inspects(pod *v1.Pod, opts InspectOptions) *Inspection {
	st.t.Helper()
	st.put(pod)
	i, err := st.Inspect(st.clock, pod, opts)
	if err != nil {
		st.t.Fatal(err)
	}
	return i
}

// TestInspectIsTheAttempt checks that an inspection right before an attempt has the attempt's result, and changes nothing: a
// scheduler that is inspected before each attempt makes the same decisions as one that is not.
func TestInspectIsTheAttempt(t *testing.T) {
	for _, nodes := range []int{7, 130} { // more than a hundred are searched in part
		inspected, alone := newLife(t, 3, nodes), newLife(t, 3, nodes)
		var expected []string
		inspected.WatchAttempts(func(s *Scheduler, info *queue.PodInfo) {
			i, err := s.Inspect(inspected.clock, info.Pod, InspectOptions{AllRejections: len(expected)%2 == 0})
			if err != nil {
				t.Fatal(err)
			}
			nominated := ""
			if i.PostFilter != nil {
				nominated = string(i.PostFilter.Node)
			}
			expected = append(expected, fmt.Sprint(info.Pod.Name, " ", cmp.Or(i.Node, i.Message), " ", i.Filter.Evaluated, i.Filter.Feasible, nominated, " "))
		})
		for i := range 1500 {
			inspected.step(i)
			alone.step(i)
		}
		if !slices.Equal(inspected.decided, alone.decided) || inspected.takeMoves() != alone.takeMoves() {
			t.Errorf("%d nodes: the inspections change the decisions", nodes)
		}
		attempts := slices.DeleteFunc(alone.decided, func(d string) bool { return strings.HasPrefix(d, "evicted ") })
		if len(attempts) != len(expected) || len(attempts) < 300 {
			t.Fatalf("%d nodes: %d attempts and %d inspections", nodes, len(attempts), len(expected))
		}
		for i := range attempts {
			if !strings.HasPrefix(attempts[i], expected[i]) {
				t.Fatalf("%d nodes, attempt %d is\n%s\nand its inspection\n%s", nodes, i, attempts[i], expected[i])
			}
		}
	}
}

// scoreLog is a log sink that keeps the scores that upstream logs at -v=10: by node, and for "" by plugin and node.
type scoreLog struct{ scores map[string]int64 }

func (*scoreLog) Init(logr.RuntimeInfo)            {}
func (*scoreLog) Enabled(level int) bool           { return level == 10 }
func (*scoreLog) Error(error, string, ...any)      {}
func (l *scoreLog) WithValues(...any) logr.LogSink { return l }
func (l *scoreLog) WithName(string) logr.LogSink   { return l }
func (l *scoreLog) Info(_ int, msg string, kv ...any) {
	values := map[string]string{}
	score, scored := int64(0), false
	for i := 0; i+1 < len(kv); i += 2 {
		values[fmt.Sprint(kv[i])] = fmt.Sprint(kv[i+1])
		if n, is := kv[i+1].(int64); is && kv[i] == "score" {
			score, scored = n, true
		}
	}
	if scored && (msg == "Plugin scored node for pod" || msg == "Calculated node's final score for pod") {
		l.scores[values["plugin"]+" on "+values["node"]] = score
	}
}

// scoredCluster returns nodes and running pods that all Score plugins tell apart.
func scoredCluster(r *rand.Rand) []runtime.Object {
	var objects []runtime.Object
	for i := range 40 {
		n := aNode(fmt.Sprintf("n%03d", i), nodeLabel(v1.LabelTopologyZone, fmt.Sprint("z", i%3)), nodeLabel(v1.LabelHostname, fmt.Sprintf("n%03d", i)),
			nodeLabel("disk", []string{"ssd", "hdd"}[i%2]), has("cpu", fmt.Sprint(4+r.IntN(12))), has("memory", fmt.Sprint(8+r.IntN(24), "Gi")))
		if r.IntN(4) == 0 {
			n.Spec.Taints = []v1.Taint{{Key: "avoid", Effect: v1.TaintEffectPreferNoSchedule}}
		}
		if r.IntN(3) == 0 {
			n.Status.Images = []v1.ContainerImage{{Names: []string{"example.com/app:1"}, SizeBytes: 600 << 20}}
		}
		objects = append(objects, n)
		for j := range r.IntN(4) {
			objects = append(objects, at(n.Name, aPod(fmt.Sprint("old-", i, "-", j), requests("cpu", fmt.Sprint(100+r.IntN(900), "m")),
				requests("memory", fmt.Sprint(r.IntN(2000), "Mi")), podLabel("app", fmt.Sprint(r.IntN(4))))))
		}
	}
	return objects
}

// scoredPod returns a pod with preferences.
func scoredPod(r *rand.Rand, name string) *v1.Pod {
	app := fmt.Sprint(r.IntN(4))
	pod := aPod(name, podLabel("app", app))
	if r.IntN(5) > 0 {
		requests("cpu", fmt.Sprint(50+r.IntN(1500), "m"))(pod)
	}
	if r.IntN(2) == 0 {
		requests("memory", fmt.Sprint(64+r.IntN(3000), "Mi"))(pod)
	}
	if r.IntN(2) == 0 {
		pod.Spec.Containers[0].Image = "example.com/app:1"
	}
	weight := int32(1 + r.IntN(100))
	pod.Spec.Affinity = &v1.Affinity{}
	switch r.IntN(4) {
	case 0:
		pod.Spec.Affinity.NodeAffinity = &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{
			Weight: weight, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd"}}}},
		}}}
	case 1:
		pod.Spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: near(v1.LabelHostname, "app", app)}}}
	case 2:
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}}
	}
	return pod
}

// TestScoresAreUpstreams checks for 1,000 attempts that the scores are those that kube-scheduler logs at -v=10 for the same
// objects. Its choice between equal scores is arbitrary, so only the scores are compared.
func TestScoresAreUpstreams(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	attempts, plugins := 0, map[string]bool{}
	want := 1000
	if testing.Short() {
		want = 200
	}
	for attempts < want {
		st := newStory(t, scoredCluster(r)...)
		st.WatchAttempts(func(s *Scheduler, info *queue.PodInfo) {
			i, err := s.Inspect(st.clock, info.Pod, InspectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			log := &scoreLog{map[string]int64{}}
			p, _ := queuedPodInfo(info)
			if _, err := s.upstream.SchedulePod(klog.NewContext(context.Background(), logr.New(log)), s.upstream.Profiles[v1.DefaultSchedulerName], framework.NewCycleState(), p); err != nil {
				return
			}
			got := map[string]int64{}
			for _, n := range i.Nodes {
				if n.Scores == nil {
					continue
				}
				got[" on "+string(n.Node)] = n.Total
				for k, p := range i.Score.Plugins {
					if p.Skipped {
						continue
					}
					score := n.Scores[k]
					got[p.Plugin+" on "+string(n.Node)] = score.Weighted
					if score.Weighted != score.Normalized*p.Weight {
						t.Errorf("%s: %+v with weight %d", p.Plugin, score, p.Weight)
					}
					if score.Weighted != n.Scores[0].Weighted {
						plugins[p.Plugin] = true
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(log.scores) {
				t.Fatalf("%s: the scores are\n%v\nand upstream logs\n%v", info.Pod.Name, got, log.scores)
			}
			if len(got) > 0 {
				attempts++
			}
		})
		for k := range 100 {
			st.put(scoredPod(r, fmt.Sprint("p", k)))
			if a := st.try(); a.Binding != nil {
				if err := st.Bind(st.clock, a.Binding); err != nil {
					t.Fatal(err)
				}
				st.applyWrites()
			}
		}
	}
	if len(plugins) < 6 {
		t.Errorf("only %v score", plugins)
	}
	t.Logf("%d attempts, plugins %v", attempts, plugins)
}

// TestInspectPoints checks the extension points of some attempts.
func TestInspectPoints(t *testing.T) {
	st := newStory(t, aNode("a"), aNode("b", has("cpu", "2")), aNode("c", taint("x")))
	i := st.inspects(aPod("web", requests("cpu", "1")), InspectOptions{})
	if i.Node != "a" || i.Filter.Evaluated != 3 || i.Filter.Feasible != 2 || i.Nodes[0].Rank != 1 || i.Nodes[1].Rank != 2 || i.Ties != nil {
		t.Errorf("web: %+v", i)
	}
	if n := i.Nodes[2]; n.Node != "c" || n.Outcome != Rejected || n.Rejections[0].Plugin != "TaintToleration" {
		t.Errorf("web on c: %+v", n)
	}
	i = st.inspects(aPod("big", requests("cpu", "3")), InspectOptions{})
	if i.Node != "a" || i.Score.Skipped == "" || i.Score.Plugins != nil || i.Nodes[0].Scores != nil {
		t.Errorf("one feasible node, and it was scored: %+v", i.Score)
	}
	i = st.inspects(aPod("huge", requests("cpu", "30")), InspectOptions{AllRejections: true})
	if n := i.Nodes[2]; i.Node != "" || len(n.Rejections) != 2 {
		t.Errorf("huge on c: %+v", n)
	}
	i = st.inspects(aPod("named", nodeNamed("b")), InspectOptions{})
	if i.Filter.Candidates != 1 || i.Nodes[0].Node != "b" || i.Nodes[1].Outcome != Excluded || i.Nodes[1].Rejections[0].Plugin != "NodeAffinity" {
		t.Errorf("named: %+v", i)
	}
	if len(st.Writes()) != 0 || len(st.Evictions()) != 0 {
		t.Error("an inspection writes")
	}
}

// TestInspectPreemption checks the victims on each candidate, and the criterion that chose one.
func TestInspectPreemption(t *testing.T) {
	old := func(name, node string, p int32, minute int) *v1.Pod {
		return at(node, aPod(name, requests("cpu", "4"), priority(p), startedAt(minute)))
	}
	for _, c := range []struct {
		pods []runtime.Object
		node sources.SafeText
		rule PreemptionRule
	}{
		{[]runtime.Object{old("x", "a", 5, 0), old("y", "b", 3, 0)}, "b", LowestHighestPriority},
		{[]runtime.Object{old("x", "a", 3, 5), old("y", "b", 3, 0)}, "a", LatestStart},
	} {
		st := newStory(t, append(c.pods, aNode("a", has("cpu", "4")), aNode("b", has("cpu", "4")))...)
		i := st.inspects(aPod("urgent", requests("cpu", "2"), priority(9)), InspectOptions{})
		p := i.PostFilter
		if p == nil || p.Node != c.node || p.Rule != c.rule || len(p.Candidates) != 2 || p.Candidates[0].Node != c.node || p.Candidates[1].Lost != c.rule || len(p.Candidates[0].Victims) != 1 {
			t.Errorf("%s: %+v", c.rule, p)
		}
		if a := st.try(); a.Nominated != string(c.node) {
			t.Errorf("the attempt nominates %q", a.Nominated)
		}
	}
}

// TestInspectSampled checks that the search begins where the scheduler's next does, and if told which node was chosen where that
// one wins.
func TestInspectSampled(t *testing.T) {
	nodes := sameForAll(200)
	for i, n := range nodes {
		has("cpu", fmt.Sprint(4+i/10))(n.(*v1.Node)) // the last are best
	}
	st := newStory(t, nodes...)
	i := st.inspects(aPod("web", requests("cpu", "1")), InspectOptions{})
	if f := i.Filter; f.Start != 0 || f.StartNode != "n000" || f.Enough != 100 || f.Feasible != 100 || f.Evaluated != 100 {
		t.Errorf("the first search: %+v", f)
	}
	if n := i.Nodes[len(i.Nodes)-1]; n.Outcome != NotEvaluated || n.Scores != nil {
		t.Errorf("beyond the search: %+v", n)
	}
	i = st.inspects(aPod("web", requests("cpu", "1")), InspectOptions{Chosen: "n199"})
	if !i.Won("n199") || !i.Filter.StartInferred {
		t.Errorf("n199 does not win: %+v", i.Filter)
	}
	if i = st.inspects(aPod("web", requests("cpu", "1")), InspectOptions{Chosen: "n000"}); i.Filter.StartInferred {
		t.Error("the worst node wins") // it is never the best of a hundred
	}
	if i = st.inspects(aPod("web", requests("cpu", "1")), InspectOptions{AllNodes: true}); i.Filter.Evaluated != 200 {
		t.Errorf("all nodes: %+v", i.Filter)
	}
	only := newStoryWith(t, configured(t, "profiles: [{schedulerName: default-scheduler, plugins: {score: {disabled: [{name: '*'}]}, multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodePorts}, {name: PrioritySort}, {name: DefaultBinder}]}}}]"), 1, sameForAll(9)...)
	if i = only.inspects(aPod("web"), InspectOptions{}); i.Filter.Enough != 1 || i.Filter.Feasible != 1 || i.Filter.Evaluated != 1 || i.Score.Skipped == "" {
		t.Errorf("without Score plugins: %+v", i.Filter)
	}
	a := st.try()
	if a.Evaluated != 100 {
		t.Fatalf("%+v", a)
	}
	if i = st.inspects(aPod("next"), InspectOptions{}); i.Filter.Start != 100 {
		t.Errorf("after a search of 100 nodes, the next begins at %d", i.Filter.Start)
	}
}

// TestInspectExtenders checks an extender's part, and that its failure is shown.
func TestInspectExtenders(t *testing.T) {
	e := newTestExtender(t)
	e.rejects = func(_ *v1.Pod, node string) (string, bool) { return map[string]string{"c": "not c"}[node], false }
	e.score = func(_ *v1.Pod, node string) int64 { return map[string]int64{"b": 3}[node] }
	config := e.config()
	config.Weight = 2
	st := extended(t, config)
	i := st.inspects(aPod("web", requests("cpu", "1")), InspectOptions{})
	last := len(i.Score.Plugins) - 1
	if p := i.Score.Plugins[last]; i.Node != "b" || !p.Extender || p.Weight != 2 || i.Nodes[0].Scores[last] != (NodeScore{Raw: 3, Normalized: 30, Weighted: 60}) {
		t.Errorf("%+v: %+v", p, i.Nodes[0])
	}
	if n := i.Nodes[2]; n.Outcome != Rejected || n.Rejections[0].Plugin != framework.ExtenderName || n.Rejections[0].Reasons[0] != "not c" {
		t.Errorf("c: %+v", n)
	}
	if total := i.Nodes[0].Total - i.Nodes[1].Total; total != 60 {
		t.Errorf("b wins by %d", total)
	}
	e.server.Close()
	if i = st.inspects(aPod("web2"), InspectOptions{}); i.Error == "" || i.Node != "" || i.Filter.Extenders[0].Status != "Error" {
		t.Errorf("the extender is down: %+v", i)
	}
	config.FilterVerb = ""
	st = extended(t, config)
	i = st.inspects(aPod("web"), InspectOptions{})
	if p := i.Score.Plugins[len(i.Score.Plugins)-1]; i.Node == "" || p.Error == "" {
		t.Errorf("the extender gives no scores: %+v", p)
	}
}

// TestOlderBalance checks that a release before v1.36 scores the balance with the pod, and not its improvement, and one before
// v1.33 also for pods without requests.
func TestOlderBalance(t *testing.T) {
	cfg := defaultConfig(t)
	balance := func(version string, pod *v1.Pod) (int64, bool) {
		st := newStoryWith(t, cfg.ForVersion(version), 1, aNode("a", has("cpu", "10"), has("memory", "10Gi")), aNode("b"),
			at("a", aPod("old", requests("cpu", "4"), requests("memory", "1Gi"))))
		i := st.inspects(pod, InspectOptions{})
		for k, p := range i.Score.Plugins {
			if p.Plugin == "NodeResourcesBalancedAllocation" {
				at := slices.IndexFunc(i.Nodes, func(n NodeResult) bool { return n.Node == "a" })
				return i.Nodes[at].Scores[k].Weighted, !p.Skipped
			}
		}
		return 0, false
	}
	asks := aPod("web", requests("cpu", "1"), requests("memory", "1Gi"))
	for _, c := range []struct {
		version string
		pod     *v1.Pod
		want    int64
		scores  bool
	}{
		{"v1.37.1", asks, 75, true}, {"v1.36.0", asks, 75, true}, // as balanced as before
		{"v1.35.4", asks, 85, true}, // |0.5 − 0.2| / 2 of 100 less
		{"v1.37.1", aPod("small"), 0, false}, {"v1.33.0", aPod("small"), 0, false},
		{"v1.32.0", aPod("small"), 85, true},
	} {
		if got, scores := balance(c.version, c.pod); got != c.want || scores != c.scores {
			t.Errorf("%s, %s: %d, %t, want %d", c.version, c.pod.Name, got, scores, c.want)
		}
	}
}

// BenchmarkInspect measures an inspection in a cluster of 5,000 nodes and 25,000 pods.
func BenchmarkInspect(b *testing.B) {
	var objects []runtime.Object
	for i := range 5000 {
		name := fmt.Sprintf("n%04d", i)
		objects = append(objects, aNode(name, nodeLabel(v1.LabelTopologyZone, fmt.Sprint("z", i%3)), nodeLabel(v1.LabelHostname, name)))
		for j := range 5 {
			objects = append(objects, at(name, aPod(fmt.Sprint("old-", i, "-", j), requests("cpu", "300m"), podLabel("app", fmt.Sprint(j)))))
		}
	}
	st := newStory(b, objects...)
	for _, c := range []struct {
		name string
		pod  *v1.Pod
		opts InspectOptions
	}{
		{"sampled", aPod("web", requests("cpu", "1"), spreads(v1.LabelTopologyZone, "app", "1"), podLabel("app", "1")), InspectOptions{}},
		{"all nodes", aPod("web2", requests("cpu", "1"), spreads(v1.LabelTopologyZone, "app", "1"), podLabel("app", "1")), InspectOptions{AllNodes: true}},
		{"nowhere", aPod("huge", requests("cpu", "100"), priority(9)), InspectOptions{AllRejections: true}},
		{"preemption", aPod("urgent", requests("cpu", "3900m"), priority(9)), InspectOptions{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			st.put(c.pod)
			for b.Loop() {
				if _, err := st.Inspect(noon.Add(time.Hour), c.pod, c.opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
