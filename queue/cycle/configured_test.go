package cycle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// configured returns the configuration of a file with these lines after its kind.
func configured(t *testing.T, lines string) *schedulerconfig.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scheduler.yaml")
	if err := os.WriteFile(path, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := schedulerconfig.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestDisabledPlugins checks that disabled plugins reject no pods.
func TestDisabledPlugins(t *testing.T) {
	cluster := []runtime.Object{aNode("one", taint("infra")), at("one", aPod("low", requests("cpu", "3")))}
	for _, c := range []struct{ disabled, pod, says string }{
		{"", "small", "1 node(s) had untolerated taint(s)"},
		{"multiPoint: {disabled: [{name: TaintToleration}]}", "small", "one"},
		{"multiPoint: {disabled: [{name: TaintToleration}]}", "big", "nominated to one"},
		{"filter: {disabled: [{name: TaintToleration}]}", "small", "one"},
		{"filter: {disabled: [{name: TaintToleration}, {name: NodeResourcesFit}]}", "big", "one"},
		{"filter: {disabled: [{name: '*'}]}", "big", "one"},
		{"filter: {disabled: [{name: TaintToleration}]}, postFilter: {disabled: [{name: '*'}]}", "big", "0/1 nodes are available: 1 Insufficient cpu."},
		{"multiPoint: {disabled: [{name: TaintToleration}, {name: DefaultPreemption}]}", "big", "0/1 nodes are available: 1 Insufficient cpu."},
		{"filter: {disabled: [{name: TaintToleration}]}, score: {disabled: [{name: '*'}]}", "small", "one"},
	} {
		cfg := configured(t, "profiles: [{schedulerName: default-scheduler, plugins: {"+c.disabled+"}}]")
		st := newStoryWith(t, cfg, 1, cluster...)
		cpu := map[string]string{"small": "1", "big": "2"}[c.pod]
		a := st.tries(aPod(c.pod, requests("cpu", cpu), priority(10)))
		got := result(a)
		if a.Nominated != "" {
			got = "nominated to " + a.Nominated
		}
		if !strings.Contains(got, c.says) {
			t.Errorf("with %q, the %s pod: %q, want %q", c.disabled, c.pod, got, c.says)
		}
	}
}

// TestTwoProfiles checks that each pod is scheduled with its own profile, including preemption.
func TestTwoProfiles(t *testing.T) {
	cfg := configured(t, "profiles: [{schedulerName: default-scheduler}, {schedulerName: lax, plugins: {filter: {disabled: [{name: TaintToleration}]}}}]")
	st := newStoryWith(t, cfg, 1, aNode("one", taint("infra")), at("one", aPod("low", requests("cpu", "3"))))
	lax := func(p *v1.Pod) { p.Spec.SchedulerName = "lax" }
	if a := st.tries(aPod("strict")); a.Node != "" {
		t.Error(result(a))
	}
	if a := st.tries(aPod("careless", lax, requests("cpu", "1"))); a.Node != "one" {
		t.Error(result(a))
	}
	a := st.tries(aPod("high", lax, requests("cpu", "3"), priority(10)))
	if a.Nominated != "one" || st.victims() != "low" {
		t.Errorf("nominated to %q, victims %q", a.Nominated, st.victims())
	}
	st.Activate(a.Pod)
	st.is("while its victim lives", "high gated DefaultPreemption,NodeResourcesFit")
}

// TestScoringStrategy checks that LeastAllocated prefers empty nodes and MostAllocated full ones.
func TestScoringStrategy(t *testing.T) {
	for strategy, want := range map[string]string{"LeastAllocated": "empty", "MostAllocated": "used"} {
		cfg := configured(t, `profiles: [{schedulerName: default-scheduler, plugins: {multiPoint: {disabled: [{name: NodeResourcesBalancedAllocation}]}},
  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: `+strategy+`, resources: [{name: cpu, weight: 1}]}}}]}]`)
		for seed := range uint64(5) {
			st := newStoryWith(t, cfg, seed, aNode("empty"), aNode("used"), at("used", aPod("old", requests("cpu", "2"))))
			if a := st.tries(aPod("new", requests("cpu", "1"))); a.Node != want || a.Feasible != 2 {
				t.Errorf("%s: %s of %d", strategy, result(a), a.Feasible)
			}
		}
	}
}

// TestPercentageOfNodesToScore checks that the search ends at the percentage, but not before 100
// nodes.
func TestPercentageOfNodesToScore(t *testing.T) {
	for _, c := range []struct{ percentage, nodes, want int }{{0, 80, 80}, {0, 400, 188}, {30, 400, 120}, {10, 400, 100}, {100, 400, 400}} {
		st := newStoryWith(t, configured(t, fmt.Sprintf("percentageOfNodesToScore: %d", c.percentage)), 1, sameForAll(c.nodes)...)
		if a := st.tries(aPod("web")); a.Feasible != c.want || a.Evaluated != c.want || a.Nodes != c.nodes {
			t.Errorf("%d %% of %d nodes: %d of %d fit, want %d", c.percentage, c.nodes, a.Feasible, a.Evaluated, c.want)
		}
	}
}

// TestNodesToFind models TestNumFeasibleNodesToFind in schedule_one_test.go.
func TestNodesToFind(t *testing.T) {
	const profile = "profiles: [{schedulerName: default-scheduler, percentageOfNodesToScore: 40}]"
	for _, c := range []struct {
		config      string
		nodes, want int
	}{
		{"", 10, 10}, {"", 1000, 420}, {"", 5600, 336}, {"", 6000, 300}, {"", 7000, 350},
		{"percentageOfNodesToScore: 40", 1000, 400}, {"percentageOfNodesToScore: 40", 10, 10},
		{profile, 1000, 400}, {profile + "\npercentageOfNodesToScore: 70", 1000, 400},
		{"profiles: [{schedulerName: default-scheduler, percentageOfNodesToScore: 0}]\npercentageOfNodesToScore: 70", 1000, 420},
		{"profiles: [{schedulerName: default-scheduler, plugins: {score: {disabled: [{name: '*'}]}, multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodePorts}, {name: PrioritySort}, {name: DefaultBinder}]}}}]", 1000, 1},
	} {
		st := newStoryWith(t, configured(t, c.config), 1)
		if got := st.nodesToFind(st.profiles[v1.DefaultSchedulerName], c.nodes); got != c.want {
			t.Errorf("with %q, of %d nodes %d are to be found, want %d", c.config, c.nodes, got, c.want)
		}
	}
	if st := extended(t, newTestExtender(t).config()); st.nodesToFind(st.profiles[v1.DefaultSchedulerName], 1000) != 1 {
		t.Error("an extender is asked about nodes in another order than upstream's")
	}
}

// extended returns a story with an extender and the nodes a, b and c.
func extended(t *testing.T, e schedulerapi.Extender) *story {
	cfg := defaultConfig(t)
	cfg.Extenders = []schedulerapi.Extender{e}
	return newStoryWith(t, cfg, 1, aNode("a"), aNode("b"), aNode("c"))
}

// TestExtenderFilters checks that any event wakes a pod that only the extender rejects.
func TestExtenderFilters(t *testing.T) {
	e := newTestExtender(t)
	e.rejects = func(pod *v1.Pod, node string) (string, bool) { return "not " + node, node == "c" }
	st := extended(t, e.config())
	a := st.tries(aPod("web"))
	if want := "0/3 nodes are available: 1 not a, 1 not b, 1 not c."; !strings.HasPrefix(a.Message, want) {
		t.Errorf("message is %q, want %q", a.Message, want)
	}
	if got, want := counted(a.Reasons), "1 Extender: not a; 1 Extender: not b; 1 Extender: not c (final)"; got != want {
		t.Errorf("reasons are %q, want %q", got, want)
	}
	st.is("when it was rejected", "web unschedulable "+framework.ExtenderName)
	st.pass(time.Minute)
	st.put(aClaim("some", "class", ""))
	st.is("after an event that has nothing to do with it", "web active "+framework.ExtenderName)
}

// TestExtenderPrioritizes checks that the extender's score, and not the seed, decides between equal
// nodes.
func TestExtenderPrioritizes(t *testing.T) {
	e := newTestExtender(t)
	for _, best := range []string{"a", "b", "c"} {
		e.score = func(_ *v1.Pod, node string) int64 {
			if node == best {
				return 1
			}
			return 0
		}
		st := extended(t, e.config())
		for i := range 5 {
			if a := st.tries(aPod(fmt.Sprint("p", i))); a.Node != best {
				t.Errorf("%s, want %s", result(a), best)
			}
		}
	}
}

// TestExtenderAgainstPlugins checks that the extender's score is weighted against those of the
// plugins.
func TestExtenderAgainstPlugins(t *testing.T) {
	e := newTestExtender(t)
	e.score = func(_ *v1.Pod, node string) int64 { return map[string]int64{"b": 1}[node] }
	for weight, want := range map[int64]string{1: "a", 100: "b"} {
		config := e.config()
		config.Weight, config.NodeCacheCapable = weight, true // of what is on nodes that an extender sends back, upstream knows nothing
		st := extended(t, config)
		st.put(at("b", aPod("old", requests("cpu", "3"))), at("c", aPod("older", requests("cpu", "3"))))
		if a := st.tries(aPod("new", requests("cpu", "500m"))); a.Node != want {
			t.Errorf("with the weight %d it goes to %s, want %s", weight, result(a), want)
		}
	}
}

// TestExtenderFails checks that pods are scheduled without an unreachable extender if it is
// ignorable, and otherwise back off as after an error.
func TestExtenderFails(t *testing.T) {
	for _, ignorable := range []bool{true, false} {
		e := newTestExtender(t)
		config := e.config()
		config.Ignorable = ignorable
		e.server.Close()
		st := extended(t, config)
		a := st.tries(aPod("web"))
		if ignorable {
			if a.Node == "" {
				t.Error(result(a))
			}
			continue
		}
		if !strings.Contains(a.Message, "connection refused") || len(a.Reasons) != 0 {
			t.Errorf("it says %q, %v", a.Message, a.Reasons)
		}
		st.is("after an error", "web backoff")
		st.put(aNode("d"))
		st.is("when a node comes", "web backoff")
	}
}

// TestExtenderManages checks that an extender is called only for pods that request a managed
// resource, and that ignoredByScheduler excludes the resource from NodeResourcesFit.
func TestExtenderManages(t *testing.T) {
	e := newTestExtender(t)
	e.rejects = func(_ *v1.Pod, node string) (string, bool) { return strings.Trim("no gpu free", "b"), node == "c" }
	config := e.config()
	config.ManagedResources = []schedulerapi.ExtenderManagedResource{{Name: "example.com/gpu", IgnoredByScheduler: true}}
	st := extended(t, config)
	if a := st.tries(aPod("plain")); a.Node == "" || e.count("filter") != 0 {
		t.Errorf("%s, with %d calls of the extender", result(a), e.count("filter"))
	}
	gpu := aPod("gpu", func(p *v1.Pod) {
		list := v1.ResourceList{"example.com/gpu": apiresource.MustParse("1")}
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: list, Limits: list}
	})
	if a := st.tries(gpu); st.rejectors(a) != framework.ExtenderName || e.count("filter") != 1 {
		t.Errorf("%s, with %d calls of the extender", result(a), e.count("filter"))
	}
}

// TestExtenderSpares checks that an extender can veto victims.
func TestExtenderSpares(t *testing.T) {
	e := newTestExtender(t)
	e.spares = func(_ *v1.Pod, node string) bool { return node != "b" }
	for range 5 {
		st := extended(t, e.config())
		for _, node := range []string{"a", "b", "c"} {
			st.put(at(node, aPod("low-"+node, requests("cpu", "4"))))
		}
		if a := st.tries(aPod("high", requests("cpu", "4"), priority(10))); a.Nominated != "b" || st.victims() != "low-b" {
			t.Errorf("nominated to %q: %s", a.Nominated, a.Message)
		}
	}
}

// TestExtenderDoesNotBind checks that the model binds pods itself, because an extender would bind
// in its own cluster.
func TestExtenderDoesNotBind(t *testing.T) {
	e := newTestExtender(t)
	st := extended(t, e.config())
	if node := st.binds(aPod("web")); node == "" || e.count("bind") != 0 || e.count("filter") != 1 {
		t.Errorf("bound to %q, %d calls to bind", node, e.count("bind"))
	}
}

// TestConfigIsNotChanged checks that a configuration can be used for two schedulers.
func TestConfigIsNotChanged(t *testing.T) {
	cfg := defaultConfig(t)
	cfg.Extenders = []schedulerapi.Extender{newTestExtender(t).config()}
	cfg.Extenders[0].ManagedResources = []schedulerapi.ExtenderManagedResource{{Name: "example.com/gpu", IgnoredByScheduler: true}}
	before := fmt.Sprintf("%+v", cfg.Profiles) + fmt.Sprintf("%+v", cfg.Extenders)
	newStoryWith(t, cfg, 1)
	if after := fmt.Sprintf("%+v", cfg.Profiles) + fmt.Sprintf("%+v", cfg.Extenders); after != before {
		t.Errorf("changed from %s\nto %s", before, after)
	}
	if err := Check(cfg); err != nil {
		t.Error(err)
	}
	cfg.Profiles[0].SchedulerName = ""
	if err := Check(cfg); err == nil {
		t.Error("Check accepts a profile without a name")
	}
	if _, err := PluginsOf(cfg); err == nil {
		t.Error("PluginsOf accepts a profile without a name")
	}
}
