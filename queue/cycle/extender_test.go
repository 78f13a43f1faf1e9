package cycle

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// testExtender is a scheduler extender with an HTTP server. By default, every node fits with score
// 0, every preemption is accepted, and bindings are recorded in bound. Its settings must not change
// while a scheduler uses it.
type testExtender struct {
	// rejects returns why pod does not fit a node, "" if it does, and whether preemption can't help.
	rejects func(pod *v1.Pod, node string) (reason string, unresolvable bool)
	// score returns 0 to extenderv1.MaxExtenderPriority.
	score func(pod *v1.Pod, node string) int64
	// spares reports whether the pods on a node must not be preempted for pod.
	spares func(pod *v1.Pod, node string) bool
	// bind binds the pod in place of noting it. Its error is the answer.
	bind func(extenderv1.ExtenderBindingArgs) error
	// status is answered to every call in place of 200, if it is set.
	status int

	server *httptest.Server
	mu     sync.Mutex
	calls  map[string]int    // by verb: filter, prioritize, preempt, bind
	bound  map[string]string // nodes by namespace/name of the pod
}

// newTestExtender starts an extender, and stops it at the end of the test.
func newTestExtender(t *testing.T) *testExtender {
	e := &testExtender{calls: map[string]int{}, bound: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", serve(e, "filter", e.filter))
	mux.HandleFunc("POST /prioritize", serve(e, "prioritize", e.prioritize))
	mux.HandleFunc("POST /preempt", serve(e, "preempt", e.preempt))
	mux.HandleFunc("POST /bind", serve(e, "bind", e.doBind))
	e.server = httptest.NewServer(mux)
	t.Cleanup(e.server.Close)
	return e
}

// config returns the configuration of the extender, with all verbs.
func (e *testExtender) config() schedulerapi.Extender {
	return schedulerapi.Extender{
		URLPrefix: e.server.URL, FilterVerb: "filter", PrioritizeVerb: "prioritize", PreemptVerb: "preempt", BindVerb: "bind",
		Weight: 1, HTTPTimeout: metav1.Duration{Duration: 5 * time.Second},
	}
}

// count returns the number of calls of a verb.
func (e *testExtender) count(verb string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls[verb]
}

// serve handles the calls of a verb.
func serve[Args, Result any](e *testExtender, verb string, answer func(Args) Result) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.calls[verb]++
		e.mu.Unlock()
		var args Args
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if e.status != 0 {
			http.Error(w, "as the test wants it", e.status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer(args)) // the scheduler gave up waiting
	}
}

func (e *testExtender) filter(args extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult {
	result := extenderv1.ExtenderFilterResult{FailedNodes: map[string]string{}, FailedAndUnresolvableNodes: map[string]string{}}
	fits := func(node string) bool {
		if e.rejects == nil {
			return true
		}
		reason, unresolvable := e.rejects(args.Pod, node)
		switch {
		case reason == "":
			return true
		case unresolvable:
			result.FailedAndUnresolvableNodes[node] = reason
		default:
			result.FailedNodes[node] = reason
		}
		return false
	}
	if args.NodeNames != nil { // nodeCacheCapable
		names := slices.DeleteFunc(*args.NodeNames, func(n string) bool { return !fits(n) })
		result.NodeNames = &names
		return result
	}
	result.Nodes = &v1.NodeList{Items: slices.DeleteFunc(args.Nodes.Items, func(n v1.Node) bool { return !fits(n.Name) })}
	return result
}

func (e *testExtender) prioritize(args extenderv1.ExtenderArgs) extenderv1.HostPriorityList {
	var names []string
	if args.NodeNames != nil {
		names = *args.NodeNames
	} else {
		for _, n := range args.Nodes.Items {
			names = append(names, n.Name)
		}
	}
	var list extenderv1.HostPriorityList
	for _, n := range names {
		p := extenderv1.HostPriority{Host: n}
		if e.score != nil {
			p.Score = e.score(args.Pod, n)
		}
		list = append(list, p)
	}
	return list
}

func (e *testExtender) preempt(args extenderv1.ExtenderPreemptionArgs) extenderv1.ExtenderPreemptionResult {
	victims := args.NodeNameToMetaVictims // nodeCacheCapable
	if victims == nil {
		victims = map[string]*extenderv1.MetaVictims{}
	}
	for node, v := range args.NodeNameToVictims {
		meta := &extenderv1.MetaVictims{NumPDBViolations: v.NumPDBViolations}
		for _, pod := range v.Pods {
			meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
		}
		victims[node] = meta
	}
	for node := range victims {
		if e.spares != nil && e.spares(args.Pod, node) {
			delete(victims, node)
		}
	}
	return extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: victims}
}

func (e *testExtender) doBind(args extenderv1.ExtenderBindingArgs) extenderv1.ExtenderBindingResult {
	if e.bind != nil {
		if err := e.bind(args); err != nil {
			return extenderv1.ExtenderBindingResult{Error: err.Error()}
		}
		return extenderv1.ExtenderBindingResult{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bound[args.PodNamespace+"/"+args.PodName] = args.Node
	return extenderv1.ExtenderBindingResult{}
}

// nodeInfos returns empty nodes.
func nodeInfos(names ...string) []fwk.NodeInfo {
	var infos []fwk.NodeInfo
	for _, name := range names {
		info := framework.NewNodeInfo()
		info.SetNode(testNode(name))
		infos = append(infos, info)
	}
	return infos
}

func testNode(name string) *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Allocatable = v1.ResourceList{v1.ResourcePods: apiresource.MustParse("10")}
	return node
}

func nodeNames(infos []fwk.NodeInfo) string {
	var names []string
	for _, info := range infos {
		names = append(names, info.Node().Name)
	}
	return strings.Join(names, " ")
}

// TestExtenderProtocol checks upstream's client against the test extender, with and without a node
// cache in the extender.
func TestExtenderProtocol(t *testing.T) {
	for _, caches := range []bool{false, true} {
		e := newTestExtender(t)
		e.rejects = func(pod *v1.Pod, node string) (string, bool) {
			return map[string]string{"b": "full for " + pod.Name, "c": "broken"}[node], node == "c"
		}
		e.score = func(_ *v1.Pod, node string) int64 { return int64(len(node)) }
		e.spares = func(_ *v1.Pod, node string) bool { return node == "b" }
		config := e.config()
		config.NodeCacheCapable, config.Weight = caches, 3
		client, err := scheduler.NewHTTPExtender(&config)
		if err != nil {
			t.Fatal(err)
		}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1"}}

		left, failed, unresolvable, err := client.Filter(pod, nodeInfos("a", "b", "c", "dd"))
		if err != nil || nodeNames(left) != "a dd" || len(failed) != 1 || failed["b"] != "full for web" || len(unresolvable) != 1 || unresolvable["c"] != "broken" {
			t.Errorf("filter: %s, %v, %v, %v", nodeNames(left), failed, unresolvable, err)
		}
		scores, weight, err := client.Prioritize(pod, nodeInfos("a", "dd"))
		if err != nil || weight != 3 || !slices.Equal(*scores, extenderv1.HostPriorityList{{Host: "a", Score: 1}, {Host: "dd", Score: 2}}) {
			t.Errorf("prioritize: %v, %d, %v", scores, weight, err)
		}
		victim := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "old", UID: "2"}, Spec: v1.PodSpec{NodeName: "a"}}
		nodes := internalcache.NewSnapshot([]*v1.Pod{victim}, []*v1.Node{testNode("a"), testNode("b")}).NodeInfos()
		victims := &extenderv1.Victims{Pods: []*v1.Pod{victim}, NumPDBViolations: 1}
		got, err := client.ProcessPreemption(pod, map[string]*extenderv1.Victims{"a": victims, "b": victims}, nodes)
		if err != nil || len(got) != 1 || got["a"] == nil || got["a"].Pods[0] != victim || got["a"].NumPDBViolations != 1 {
			t.Errorf("preempt: %v, %v", got, err)
		}
		binding := &v1.Binding{ObjectMeta: pod.ObjectMeta, Target: v1.ObjectReference{Name: "a"}}
		if err := client.Bind(binding); err != nil || e.bound["default/web"] != "a" {
			t.Errorf("bind: %v, %v", e.bound, err)
		}
		e.bind = func(extenderv1.ExtenderBindingArgs) error { return errors.New("no such pod") }
		if err := client.Bind(binding); err == nil || err.Error() != "no such pod" {
			t.Errorf("a binding that fails: %v", err)
		}
		for verb, want := range map[string]int{"filter": 1, "prioritize": 1, "preempt": 1, "bind": 2} {
			if n := e.count(verb); n != want {
				t.Errorf("%d calls of %s, want %d", n, verb, want)
			}
		}
	}
}

// TestExtenderUnreachable checks that upstream's scheduler ignores an unreachable extender only if
// it is ignorable.
func TestExtenderUnreachable(t *testing.T) {
	for _, c := range []struct {
		name      string
		ignorable bool
		breaks    func(*testExtender)
		wants     string
	}{
		{"reachable", false, func(*testExtender) {}, "b"},
		{"gone, ignorable", true, func(e *testExtender) { e.server.Close() }, "a"},
		{"gone", false, func(e *testExtender) { e.server.Close() }, "connection refused"},
		{"broken, ignorable", true, func(e *testExtender) { e.status = 500 }, "a"},
		{"broken", false, func(e *testExtender) { e.status = 500 }, "code 500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newTestExtender(t)
			e.rejects = func(_ *v1.Pod, node string) (string, bool) {
				return map[string]string{"a": "no"}[node], false
			}
			config := e.config()
			config.Ignorable = c.ignorable
			c.breaks(e)
			if got := schedule(t, config); !strings.Contains(got, c.wants) {
				t.Errorf("the pod goes to %q, want %q", got, c.wants)
			}
		})
	}
}

// schedule returns the node, a or b, that upstream's scheduler chooses, or its error. Node b has a
// PreferNoSchedule taint.
func schedule(t *testing.T, extender schedulerapi.Extender) string {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
	defer cancel()
	client := fake.NewClientset()
	snapshot := internalcache.NewEmptySnapshot()
	recorder := func(string) events.EventRecorderLogger { return nil }
	sched, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil, recorder,
		scheduler.WithExtenders(extender), scheduler.WithNodeInfoSnapshot(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	worse := testNode("b")
	worse.Spec.Taints = []v1.Taint{{Key: "avoid", Effect: v1.TaintEffectPreferNoSchedule}}
	for _, node := range []*v1.Node{testNode("a"), worse} {
		sched.Cache.AddNode(klog.Logger{}, node)
	}
	if err := sched.Cache.UpdateSnapshot(klog.Logger{}, snapshot); err != nil {
		t.Fatal(err)
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1"}}
	podInfo, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	result, err := sched.SchedulePod(ctx, sched.Profiles[v1.DefaultSchedulerName], framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: podInfo})
	if err != nil {
		return err.Error()
	}
	return result.SuggestedHost
}

// TestExtenderIsInterested checks that upstream calls an extender with managed resources only for
// pods that request one.
func TestExtenderIsInterested(t *testing.T) {
	e := newTestExtender(t)
	config := e.config()
	config.ManagedResources = []schedulerapi.ExtenderManagedResource{{Name: "example.com/gpu"}}
	choosy, err := scheduler.NewHTTPExtender(&config)
	if err != nil {
		t.Fatal(err)
	}
	config.ManagedResources = nil
	other, err := scheduler.NewHTTPExtender(&config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []v1.ResourceName{"example.com/gpu", "cpu"} {
		pod := &v1.Pod{}
		pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{name: apiresource.MustParse("1")}}}}
		if got, want := choosy.IsInterested(pod), name != "cpu"; got != want {
			t.Errorf("interested in a pod that requests %s: %v, want %v", name, got, want)
		}
		if !other.IsInterested(pod) {
			t.Errorf("an extender for all pods is not interested in one that requests %s", name)
		}
	}
}
