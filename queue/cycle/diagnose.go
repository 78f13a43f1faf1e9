package cycle

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Diagnosis says how a pod stands with the cluster as it is: on which nodes it fits, and what the others
// lack.
type Diagnosis struct {
	// Nodes counts all nodes, Fits are the names of those on which the pod fits, sorted.
	Nodes int
	Fits  []string
	// Message and Reasons are what an attempt would say now of a pod that fits nowhere: they count each
	// node under the first plugin that rejects it.
	Message string
	Reasons []Reason
	// Everywhere are the rejections that do not depend on the node: by PreFilter plugins.
	Everywhere []Lack
	// Nearest are nodes on which the pod does not fit, the nearest first: fewest rejecting plugins, then
	// the smallest lack.
	Nearest []NodeLacks
}

// NodeLacks is why a pod does not fit on a node.
type NodeLacks struct {
	Node string
	// Lacks are the plugins that reject the node, in their order; none if only Everywhere is in the way.
	Lacks []Lack

	out bool // PreFilter left the node out: it comes after all others
}

// Lack is the rejection of one plugin.
type Lack struct {
	Plugin string
	// Reasons are upstream's words, Details what they leave out: which taint, which label.
	Reasons, Details []string
	// Final is true if no preemption can help.
	Final bool
	// Resources are those that are too scarce.
	Resources []Shortage
}

// Diagnose asks every plugin about pod on every node, where an attempt stops at the first that rejects a
// node, and returns at most most of the nearest nodes. It changes nothing but the snapshot, which each
// attempt takes anew. It fails if no profile is there for pod.
func (s *Scheduler) Diagnose(pod *v1.Pod, most int) (*Diagnosis, error) {
	profile, ok := s.profiles[pod.Spec.SchedulerName]
	if !ok {
		return nil, fmt.Errorf("profile not found for scheduler name %q", pod.Spec.SchedulerName)
	}
	if err := s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot); err != nil {
		return nil, err
	}
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Nodes: len(nodes)}
	if len(nodes) == 0 {
		d.Message = scheduler.ErrNoNodesAvailable.Error()
		return d, nil
	}
	ctx := quiet(context.Background())
	fit := &framework.FitError{Pod: pod, NumAllNodes: len(nodes)}
	filtered := preFilter(ctx, profile, pod, &fit.Diagnosis)
	own := s.askPreFilters(ctx, profile, pod, nodes)
	d.Everywhere = own.everywhere

	var rejected []NodeLacks
	var feasible []fwk.NodeInfo
	for _, info := range nodes {
		n, first := s.askFilters(ctx, profile, own, pod, info)
		if filtered(n.Node) && first != nil {
			fit.Diagnosis.NodeToStatus.Set(n.Node, first)
			fit.Diagnosis.AddPluginStatus(first)
		}
		if len(n.Lacks) == 0 && len(d.Everywhere) == 0 {
			feasible = append(feasible, info)
		} else {
			rejected = append(rejected, n)
		}
	}
	refused, err := s.askExtenders(pod, feasible, fit.Diagnosis.NodeToStatus)
	if err != nil {
		return nil, err
	}
	rejected = append(rejected, refused...)
	for _, info := range feasible {
		name := info.Node().Name
		if !slices.ContainsFunc(refused, func(n NodeLacks) bool { return n.Node == name }) {
			d.Fits = append(d.Fits, name)
		}
	}
	slices.Sort(d.Fits)
	if len(d.Fits) == 0 {
		s.wording.Apply(fit, s.snapshotNode)
		d.Message, d.Reasons = fit.Error(), s.reasons(fit)
	}
	slices.SortFunc(rejected, func(a, b NodeLacks) int {
		switch {
		case a.out && !b.out:
			return 1
		case b.out && !a.out:
			return -1
		}
		return cmp.Or(cmp.Compare(len(a.Lacks), len(b.Lacks)), cmp.Compare(a.amount(), b.amount()), strings.Compare(a.Node, b.Node))
	})
	d.Nearest = rejected[:min(most, len(rejected))]
	return d, nil
}

// amount is how much the node lacks, to compare nodes: of a scarce resource, the part of what the pod
// needs, and a whole more if even the empty node has too little; of all else, a whole.
func (n NodeLacks) amount() float64 {
	total := 0.0
	for _, l := range n.Lacks {
		if len(l.Resources) == 0 {
			total++
		}
		for _, r := range l.Resources {
			total += r.share()
			if r.Final {
				total++
			}
		}
	}
	return total
}

// preFilter runs PreFilter as an attempt does, puts into d what it says of all nodes, and returns which
// nodes it leaves for Filter. (schedule_one.go, findNodesThatFitPod.)
func preFilter(ctx context.Context, profile framework.Framework, pod *v1.Pod, d *framework.Diagnosis) func(node string) bool {
	d.NodeToStatus = framework.NewDefaultNodeToStatus()
	result, status, plugins := profile.RunPreFilterPlugins(ctx, framework.NewCycleState(), pod)
	d.UnschedulablePlugins = plugins
	if !status.IsSuccess() {
		d.NodeToStatus.SetAbsentNodesStatus(status)
		d.PreFilterMsg = status.Message()
		d.AddPluginStatus(status)
		return func(string) bool { return false }
	}
	if result.AllNodes() {
		return func(string) bool { return true }
	}
	d.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable, notSatisfied(sets.List(plugins)...)))
	return result.NodeNames.Has
}

// notSatisfied is what upstream says of nodes that PreFilter plugins leave out.
func notSatisfied(plugins ...string) string {
	return fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", plugins)
}

// preFiltered is what PreFilter plugins said, each asked by itself, and the state that they left for Filter.
type preFiltered struct {
	state      fwk.CycleState
	skip       sets.Set[string] // plugins whose Filter has nothing to say, or nothing to say it from
	everywhere []Lack
	only       map[string]sets.Set[string] // the nodes that a plugin leaves, by plugin
}

// askPreFilters asks every PreFilter plugin, also those after one that rejects the pod.
func (s *Scheduler) askPreFilters(ctx context.Context, profile framework.Framework, pod *v1.Pod, nodes []fwk.NodeInfo) *preFiltered {
	a := &preFiltered{state: framework.NewCycleState(), skip: sets.New[string](), only: map[string]sets.Set[string]{}}
	// Every in-tree plugin that can reject a pod registers for events, so all of them are among these.
	plugins := map[string]fwk.PreFilterPlugin{}
	for _, p := range profile.EnqueueExtensions() {
		if plugin, ok := p.(fwk.PreFilterPlugin); ok {
			plugins[p.Name()] = plugin
		}
	}
	for _, p := range profile.ListPlugins().PreFilter.Enabled {
		plugin, ok := plugins[p.Name]
		if !ok {
			continue
		}
		result, status := plugin.PreFilter(ctx, a.state, pod, nodes)
		switch {
		case status.IsSkip():
			a.skip.Insert(p.Name)
		case !status.IsSuccess():
			a.skip.Insert(p.Name)
			a.everywhere = append(a.everywhere, lack(status, p.Name))
		case !result.AllNodes():
			a.only[p.Name] = result.NodeNames
		}
	}
	return a
}

// askFilters returns the rejections of info's node, and the first as upstream has it. Upstream's framework
// stops at the first plugin that rejects a node: here it is asked again without that one, until none does.
func (s *Scheduler) askFilters(ctx context.Context, profile framework.Framework, a *preFiltered, pod *v1.Pod, info fwk.NodeInfo) (n NodeLacks, first *fwk.Status) {
	n.Node = info.Node().Name
	skip := a.skip.Clone()
	for {
		a.state.SetSkipFilterPlugins(skip)
		status := profile.RunFilterPluginsWithNominatedPods(ctx, a.state, pod, info)
		if status.IsSuccess() || skip.Has(status.Plugin()) {
			break
		}
		if first == nil {
			first = status
		}
		l := lack(status, status.Plugin())
		if !a.repeatsPreFilter(l) {
			l.Resources = s.shortages(profile, pod, info, l)
			l.Details = details(pod, info.Node(), l)
			n.Lacks = append(n.Lacks, l)
		}
		if l.Plugin == "" {
			break // no plugin's: the nominated pods could not be added
		}
		skip.Insert(l.Plugin)
	}
	for _, plugin := range slices.Sorted(maps.Keys(a.only)) {
		if a.only[plugin].Has(n.Node) {
			continue
		}
		n.out = true
		if !slices.ContainsFunc(n.Lacks, func(l Lack) bool { return l.Plugin == plugin }) {
			n.Lacks = append(n.Lacks, Lack{Plugin: plugin, Reasons: []string{notSatisfied(plugin)}, Final: true})
		}
	}
	return n, first
}

// repeatsPreFilter reports whether l only repeats what a PreFilter plugin said: a claim that is missing is missed again
// on each node.
func (a *preFiltered) repeatsPreFilter(l Lack) bool {
	return slices.ContainsFunc(a.everywhere, func(e Lack) bool {
		return len(e.Reasons) > 0 && strings.Contains(strings.Join(l.Reasons, ", "), e.Reasons[0])
	})
}

// lack is what status says for plugin. Upstream's plugins go through a map to say what is too scarce: the reasons are sorted.
func lack(status *fwk.Status, plugin string) Lack {
	return Lack{Plugin: plugin, Reasons: slices.Sorted(slices.Values(status.Reasons())), Final: status.Code() == fwk.UnschedulableAndUnresolvable}
}

// askExtenders returns which of the nodes that all plugins let pass the extenders do not.
// (schedule_one.go, findNodesThatPassExtenders.)
func (s *Scheduler) askExtenders(pod *v1.Pod, nodes []fwk.NodeInfo, statuses *framework.NodeToStatus) ([]NodeLacks, error) {
	var refused []NodeLacks
	for _, e := range s.upstream.Extenders {
		if len(nodes) == 0 || !e.IsInterested(pod) {
			continue
		}
		passed, failed, final, err := e.Filter(pod, nodes)
		if err != nil && e.IsIgnorable() {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, info := range nodes {
			name := info.Node().Name
			reason, isFinal := final[name]
			if !isFinal {
				var ok bool
				if reason, ok = failed[name]; !ok {
					continue
				}
			}
			code := fwk.Unschedulable
			if isFinal {
				code = fwk.UnschedulableAndUnresolvable
			}
			statuses.Set(name, fwk.NewStatus(code, reason))
			refused = append(refused, NodeLacks{Node: name, Lacks: []Lack{{Plugin: framework.ExtenderName, Reasons: []string{reason}, Final: isFinal}}})
		}
		nodes = passed
	}
	return refused, nil
}
