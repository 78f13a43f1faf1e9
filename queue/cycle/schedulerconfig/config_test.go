package schedulerconfig

import (
	"os"
	"strings"
	"testing"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/schedq/schedq/queue"
)

func TestDefault(t *testing.T) {
	for _, pop := range []bool{true, false} {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerPopFromBackoffQ, pop)
		c, err := Default()
		if err != nil {
			t.Fatal(err)
		}
		want := queue.Defaults()
		want.PopFromBackoffQ = pop
		if c.Queue != want {
			t.Errorf("the queue has %+v, want %+v", c.Queue, want)
		}
		if len(c.Profiles) != 1 || c.Profiles[0].SchedulerName != "default-scheduler" || len(c.Profiles[0].Plugins.MultiPoint.Enabled) < 18 {
			t.Errorf("the profiles are %+v", c.Profiles)
		}
		if len(c.Extenders) != 0 || *c.PercentageOfNodesToScore != 0 || c.ClientQPS != 50 || c.ClientBurst != 100 {
			t.Errorf("%v, %d %%, %g, %d", c.Extenders, *c.PercentageOfNodesToScore, c.ClientQPS, c.ClientBurst)
		}
	}
}

func TestRead(t *testing.T) {
	c, err := Read(t.Context(), "testdata/scheduler.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := queue.Defaults()
	want.PodInitialBackoff, want.PodMaxBackoff = 2*time.Second, time.Minute
	if c.Queue != want {
		t.Errorf("the queue has %+v, want %+v", c.Queue, want)
	}
	if *c.PercentageOfNodesToScore != 30 || c.ClientQPS != 200 || c.ClientBurst != 400 {
		t.Errorf("%d %%, %g, %d", *c.PercentageOfNodesToScore, c.ClientQPS, c.ClientBurst)
	}
	if len(c.Extenders) != 1 || c.Extenders[0].HTTPTimeout.Duration != 3*time.Second || !c.Extenders[0].ManagedResources[0].IgnoredByScheduler {
		t.Errorf("the extenders are %+v", c.Extenders)
	}
	if len(c.Profiles) != 2 {
		t.Fatalf("the profiles are %+v", c.Profiles)
	}
	first, batch := c.Profiles[0], c.Profiles[1]
	for _, p := range first.Plugins.MultiPoint.Enabled {
		if p.Name == "ImageLocality" {
			t.Error("ImageLocality is enabled")
		}
	}
	if score := first.Plugins.Score.Enabled; len(score) != 1 || score[0] != (schedulerapi.Plugin{Name: "NodeResourcesFit", Weight: 5}) {
		t.Errorf("score: %v", score)
	}
	fit := pluginArgs(t, first, "NodeResourcesFit").(*schedulerapi.NodeResourcesFitArgs).ScoringStrategy
	if fit.Type != schedulerapi.MostAllocated || len(fit.Resources) != 1 || fit.Resources[0].Weight != 3 {
		t.Errorf("NodeResourcesFit scores by %+v", fit)
	}
	if batch.SchedulerName != "batch" || *batch.PercentageOfNodesToScore != 100 || batch.Plugins.PostFilter.Disabled[0].Name != "*" {
		t.Errorf("the second profile is %+v", batch)
	}
	if w := pluginArgs(t, batch, "InterPodAffinity").(*schedulerapi.InterPodAffinityArgs).HardPodAffinityWeight; w != 7 {
		t.Errorf("hardPodAffinityWeight is %d", w)
	}
	// What the file leaves out is upstream's default.
	if n := pluginArgs(t, batch, "DefaultPreemption").(*schedulerapi.DefaultPreemptionArgs).MinCandidateNodesAbsolute; n != 100 {
		t.Errorf("minCandidateNodesAbsolute is %d", n)
	}
}

func pluginArgs(t *testing.T, profile schedulerapi.KubeSchedulerProfile, plugin string) any {
	t.Helper()
	for _, c := range profile.PluginConfig {
		if c.Name == plugin {
			return c.Args
		}
	}
	t.Fatalf("profile %s has no arguments for %s", profile.SchedulerName, plugin)
	return nil
}

// TestReadJSON checks that Read accepts JSON, and reads the first of several YAML documents, as
// kube-scheduler does.
func TestReadJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	writeConfig(t, `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "podMaxBackoffSeconds": 20}`)
	if c, err := Read(t.Context(), "scheduler.yaml"); err != nil || c.Queue.PodMaxBackoff != 20*time.Second {
		t.Errorf("%+v, %v", c, err)
	}
	writeConfig(t, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n---\nkind: Pod\n")
	if c, err := Read(t.Context(), "scheduler.yaml"); err != nil || c.Queue != queue.Defaults() {
		t.Errorf("%+v, %v", c, err)
	}
}

func writeConfig(t *testing.T, content string) {
	t.Helper()
	if err := os.WriteFile("scheduler.yaml", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReadMistakes checks that each error is one sentence that says what to change.
func TestReadMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"missing.yaml": "missing.yaml: no such file or directory",
		"folder":       "folder is a directory: name a file in it",
	} {
		if _, err := Read(t.Context(), path); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	const (
		head     = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
		isNoKind = `, want "kubescheduler.config.k8s.io/v1" and "KubeSchedulerConfiguration"`
		absent   = `, which kube-scheduler v1.37 does not have`
	)
	for _, c := range []struct{ content, want string }{
		{"", " is empty"},
		{"\n \n", " is empty"},
		{strings.Repeat("#", maxConfig+1), " is larger than 1 MiB, which is the most that is read of it"},
		{"# a comment\n", `: apiVersion is "" and kind is ""` + isNoKind},
		{"- a\n", `: apiVersion is "" and kind is ""` + isNoKind},
		{"apiVersion: v1\nkind: ConfigMap\n", `: apiVersion is "v1" and kind is "ConfigMap"` + isNoKind},
		{strings.Replace(head, "/v1", "/v1beta3", 1), `: apiVersion is "kubescheduler.config.k8s.io/v1beta3" and kind is "KubeSchedulerConfiguration"` + isNoKind},
		{"apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\n", `: apiVersion is "kubescheduler.config.k8s.io/v1" and kind is "NodeAffinityArgs"` + isNoKind},
		{`{"kind": "KubeSchedulerConfiguration",}`, `: invalid character '}' looking for beginning of object key string`},
		{head + "podMaxBackoffSeconds: [\n", `: line 3: did not find expected node content`},
		{head + "podMaxBackoffSeconds: 10\npodMaxBackoffSeconds: 11\n", `: line 4: key "podMaxBackoffSeconds" already set in map`},
		{head + "profiles: [{plugins: {queueSort: {enabled: [{name: Mine}], disabled: [{name: PrioritySort}]}}}]\n",
			`: profile "default-scheduler" sorts its queue with plugin "Mine", but schedq supports only PrioritySort`},
		{head + "profiles: [{plugins: {queueSort: {enabled: [{name: NodeName}], disabled: [{name: PrioritySort}]}}}]\n",
			`: profile "default-scheduler" sorts its queue with plugin "NodeName", but schedq supports only PrioritySort`},
		{head + "podMaxBackoffSeconds: ten\n", `: podMaxBackoffSeconds is of type string, want a number`},
		{head + "profiles: {}\n", `: profiles is of type object, want a list`},
		{head + "profiles:\n" + strings.Repeat("- {}\n", 101), ": profiles has 101 elements, want at most 100"},
		{head + "extenders:\n" + strings.Repeat("- {}\n", 101), ": extenders has 101 elements, want at most 100"},
		{head + "profiles:\n- {}\n- pluginConfig:\n" + strings.Repeat("  - {name: NodeName}\n", 101), ": profiles[1].pluginConfig has 101 elements, want at most 100"},
		{head + "profiles:\n- plugins:\n    filter:\n      disabled:\n" + strings.Repeat("      - {name: NodeName}\n", 30000), ": profiles[0].plugins.filter.disabled has 30000 elements, want at most 100"},
		{head + "profiles: [{plugins: {filter: {enabled: [{name: 3}]}}}]\n", `: profiles.plugins.filter.enabled.name is of type number, want a string`},
		{head + "delayCacheUntilActive: 3\n", `: delayCacheUntilActive is of type number, want true or false`},
		{head + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: 3}}]}]\n", `: profiles[0].pluginConfig[0]: args of NodeResourcesFit: scoringStrategy is of type number, want an object`},
		{head + "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]\n", `: profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]`},
		{head + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: [{name: cpu, weight: 101}]}}}]}]\n", `: profiles[0].pluginConfig[0].args.scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]` +
			`; profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`},
		{head + "podInitialBackoffSeconds: 20\n", `: podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds`},
		{head + "podInitialBackoffSeconds: 0\npercentageOfNodesToScore: 101\n", `: percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]; podInitialBackoffSeconds: Invalid value: 0: must be greater than 0`},
		{head + "podMaxBackoffSeconds: 9223372037\n", `: podMaxBackoffSeconds: Invalid value: 9223372037: must be at most 9223372036`},
		{head + "profiles: [{schedulerName: a}, {schedulerName: a}]\n", `: profiles[1].schedulerName: Duplicate value: {}`},
		{head + "extenders: [{urlPrefix: 'http://x', prioritizeVerb: p}]\n", `: extenders[0].weight: Invalid value: 0: must have a positive weight applied to it`},
		{head + "profiles: [{plugins: {filter: {enabled: [{name: NodeResourceFit}]}}}]\n", `: profile "default-scheduler" enables plugin "NodeResourceFit"` + absent + `; did you mean NodeResourcesFit?`},
		{head + "profiles: [{schedulerName: mine, plugins: {multiPoint: {disabled: [{name: '*'}, {name: Coscheduling}]}}}]\n", `: profile "mine" disables plugin "Coscheduling"` + absent},
		{head + "profiles: [{pluginConfig: [{name: VolumeBinder, args: {a: 3}}]}]\n", `: profile "default-scheduler" configures plugin "VolumeBinder"` + absent},
	} {
		writeConfig(t, c.content)
		if _, err := Read(t.Context(), "scheduler.yaml"); err == nil || err.Error() != "scheduler.yaml"+c.want {
			t.Errorf("%.200q:\n got %v\nwant scheduler.yaml%s", c.content, err, c.want)
		}
	}
}

// TestIgnoresUnknown: fields and gates that v1.37 does not have are left out, and a sentence says so of each.
func TestIgnoresUnknown(t *testing.T) {
	writeConfig(t, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podMaxBackoffSeconds: 20
percentageOfPlacementsToScore: 30
profiles:
- percentageOfPlacementsToScore: 40
  pluginConfig: [{name: NodeResourcesFit, args: {strategy: 3}}]
`)
	cfg, err := Read(t.Context(), "scheduler.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, field := range []string{`unknown field "percentageOfPlacementsToScore"`, `unknown field "profiles[0].percentageOfPlacementsToScore"`,
		`profiles[0].pluginConfig[0]: args of NodeResourcesFit: unknown field "strategy"`} {
		if want := "scheduler.yaml: " + field + " is ignored: kube-scheduler v1.37 does not have it."; i >= len(cfg.Ignored) || cfg.Ignored[i] != want {
			t.Errorf("ignored are %q, want %q", cfg.Ignored, want)
		}
	}
	if cfg.Queue.PodMaxBackoff != 20*time.Second {
		t.Errorf("the other fields are lost: %+v", cfg.Queue)
	}
	for list, want := range map[string]string{
		"WorkloadOfTomorrow=true":       "Feature gate WorkloadOfTomorrow is ignored: kube-scheduler v1.37 does not have it.",
		"SchedulerPopFromBackofQ=true,": "Feature gate SchedulerPopFromBackofQ is ignored: kube-scheduler v1.37 does not have it; did you mean SchedulerPopFromBackoffQ?",
	} {
		if ignored, err := SetFeatureGates(list); err != nil || len(ignored) != 1 || ignored[0] != want {
			t.Errorf("%s: %q, %v, want %q", list, ignored, err, want)
		}
	}
}

func TestSetFeatureGates(t *testing.T) {
	gate := utilfeature.DefaultFeatureGate
	// These are put back at the end of the test, and no others.
	featuregatetesting.SetFeatureGatesDuringTest(t, gate, featuregatetesting.FeatureOverrides{
		features.SchedulerPopFromBackoffQ: true, features.DRASchedulerFilterTimeout: true, features.GenericWorkload: false,
	})
	if _, err := SetFeatureGates("SchedulerPopFromBackoffQ=false, kube:DRASchedulerFilterTimeout = F,GenericWorkload=false,"); err != nil {
		t.Fatal(err)
	}
	if gate.Enabled(features.SchedulerPopFromBackoffQ) || gate.Enabled(features.DRASchedulerFilterTimeout) {
		t.Error("the gates are still true")
	}
	if _, err := SetFeatureGates(""); err != nil || gate.Enabled(features.SchedulerPopFromBackoffQ) {
		t.Errorf("no gates: %v", err)
	}
	for _, c := range []struct{ list, want string }{
		{"=true", `invalid feature gate "=true": use NAME=true or NAME=false`},
		{"SchedulerPopFromBackoffQ", "feature gate SchedulerPopFromBackoffQ needs a value, SchedulerPopFromBackoffQ=true or SchedulerPopFromBackoffQ=false"},
		{"SchedulerPopFromBackoffQ=maybe", `feature gate SchedulerPopFromBackoffQ is "maybe", want true or false`},
		{"SchedulerPopFromBackoffQ=true,DynamicResourceAllocation=false", "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true"},
		{"TopologyAwareWorkloadScheduling=true", "TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"},
		{"CompositePodGroup=true", "feature gate CompositePodGroup must be false: schedq does not model the scheduling queue with it"},
		{"SchedulerPreQueueingHints=true", "feature gate SchedulerPreQueueingHints must be false: schedq does not model the scheduling queue with it"},
		{"SchedulerAsyncAPICalls=true", "feature gate SchedulerAsyncAPICalls must be false: schedq does not model the scheduling queue with it"},
		{"InPlacePodVerticalScalingSchedulerPreemption=true", "feature gate InPlacePodVerticalScalingSchedulerPreemption must be false: schedq does not model the scheduling queue with it"},
	} {
		if _, err := SetFeatureGates(c.list); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.list, err, c.want)
		}
		if gate.Enabled(features.SchedulerPopFromBackoffQ) {
			t.Fatalf("%s is refused and set", c.list)
		}
	}
}

// TestFeatureGatesOfBundles checks unmodelled gates that AllBeta or AllAlpha enable.
func TestFeatureGatesOfBundles(t *testing.T) {
	for _, list := range []string{"AllBeta=true", "AllAlpha=true,AllBeta=true"} {
		if _, err := SetFeatureGates(list); err == nil || !strings.HasSuffix(err.Error(), "must be false: schedq does not model the scheduling queue with it") {
			t.Errorf("%s: got %v", list, err)
		}
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		t.Error("what is refused is set")
	}
}

func TestDidYouMean(t *testing.T) {
	known := map[string]int{"NodeAffinity": 0, "NodePorts": 0, "NodeName": 0}
	for name, want := range map[string]string{
		"NodePort": "; did you mean NodePorts?", "nodePorts": "; did you mean NodePorts?", "NodeAfinnity": "; did you mean NodeAffinity?",
		"NdoeName": "; did you mean NodeName?", "Coscheduling": "", "": "",
	} {
		if got := didYouMean(name, known); got != want {
			t.Errorf("%q%s, want %q", name, got, want)
		}
	}
}

// TestClientInterval checks the interval between waiting requests.
func TestClientInterval(t *testing.T) {
	for qps, want := range map[float32]time.Duration{50: 20 * time.Millisecond, 0.5: 2 * time.Second, 0: 0, -1: 0} {
		if got := (&Config{ClientQPS: qps}).ClientInterval(); got != want {
			t.Errorf("%g a second are %s apart", qps, got)
		}
	}
}
