package cycle

import (
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

// Diagnosis lists the nodes on which a pod fits now, and what the others lack.
type Diagnosis struct {
	// Nodes counts all nodes. Fits are the sorted names of those on which the pod fits.
	Nodes int
	Fits  []string
	// Message and Reasons are those of an attempt, for a pod that fits nowhere. They count each node for the
	// first plugin that rejects it.
	Message string
	Reasons []Reason
	// Everywhere are the rejections by PreFilter plugins, which apply to all nodes.
	Everywhere []Lack
	// Rejected are the nodes on which the pod does not fit, the one that has to change least first. Nodes that no
	// change can make fit are last.
	Rejected []NodeLacks
	// Unbound are the claims of the pod that exist and are not bound to a volume.
	Unbound []string
	// Spread are the pod's topology spread constraints, if PodTopologySpread rejects it on a node.
	Spread []Spread
}

// Diagnose asks every plugin about pod on every node, whereas an attempt stops at the first plugin that rejects a
// node. It updates the snapshot, as each attempt does, and nothing else. It fails if there is no profile for pod.
func (s *Scheduler) Diagnose(pod *v1.Pod) (*Diagnosis, error) {
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
	passes := preFilter(ctx, profile, pod, &fit.Diagnosis)
	pre := s.askPreFilters(ctx, profile, pod, nodes)
	d.Everywhere = pre.everywhere

	var rejected []NodeLacks
	var feasible []fwk.NodeInfo
	for _, info := range nodes {
		n, first := s.askFilters(ctx, profile, pre, pod, info)
		if passes(n.Node) && first != nil {
			fit.Diagnosis.NodeToStatus.Set(n.Node, first)
			fit.Diagnosis.AddPluginStatus(first)
		}
		if len(n.Lacks) == 0 && len(d.Everywhere) == 0 {
			feasible = append(feasible, info)
		} else {
			rejected = append(rejected, n)
		}
	}
	byExtender, err := s.askExtenders(pod, feasible, fit.Diagnosis.NodeToStatus)
	if err != nil {
		return nil, err
	}
	rejected = append(rejected, byExtender...)
	for _, info := range feasible {
		name := info.Node().Name
		if !slices.ContainsFunc(byExtender, func(n NodeLacks) bool { return n.Node == name }) {
			d.Fits = append(d.Fits, name)
		}
	}
	slices.Sort(d.Fits)
	if len(d.Fits) == 0 {
		s.wording.apply(fit, s.snapshotNode)
		d.Message, d.Reasons = fit.Error(), s.reasons(fit)
	}
	nearestFirst(rejected)
	d.Rejected = rejected
	s.addConflicts(pod, nodes, d)
	return d, nil
}

// preFilter runs PreFilter as an attempt does and records the result in d. It returns a function that reports whether
// a node remains for Filter. It models findNodesThatFitPod in schedule_one.go.
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

// notSatisfied returns upstream's reason for nodes that PreFilter plugins exclude.
func notSatisfied(plugins ...string) string {
	return fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", plugins)
}

// preFiltered is the result of all PreFilter plugins, called separately, and their state for Filter.
type preFiltered struct {
	state      fwk.CycleState
	skip       sets.Set[string] // plugins whose Filter is skipped, or has no state
	everywhere []Lack
	only       map[string]sets.Set[string] // remaining nodes by plugin
	results    []PluginResult              // in the order of the plugins
}

// untilRejection returns the results of an attempt, which ends at the first plugin after which no node remains.
func (a *preFiltered) untilRejection() []PluginResult {
	results, ended := slices.Clone(a.results), false
	var left sets.Set[string]
	for i := range results {
		r := &results[i]
		if ended {
			*r = PluginResult{Plugin: r.Plugin, Status: NotRun}
			continue
		}
		if only, ok := a.only[r.Plugin]; ok && left == nil {
			left = only
		} else if ok {
			left = left.Intersection(only)
		}
		ended = r.Status == fwk.UnschedulableAndUnresolvable.String() || r.Status == fwk.Error.String() || left != nil && len(left) == 0
	}
	return results
}

// askPreFilters calls every PreFilter plugin, including those after one that rejects the pod.
func (s *Scheduler) askPreFilters(ctx context.Context, profile framework.Framework, pod *v1.Pod, nodes []fwk.NodeInfo) *preFiltered {
	a := &preFiltered{state: framework.NewCycleState(), skip: sets.New[string](), only: map[string]sets.Set[string]{}}
	// These are all in-tree plugins that can reject a pod, because they register for events.
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
		r := newPluginResult(p.Name, status)
		switch {
		case status.IsSkip():
			a.skip.Insert(p.Name)
		case !status.IsSuccess():
			a.skip.Insert(p.Name)
			a.everywhere = append(a.everywhere, lack(status, p.Name))
		case !result.AllNodes():
			a.only[p.Name] = result.NodeNames
			left := len(result.NodeNames)
			r.Nodes = &left
		}
		a.results = append(a.results, r)
	}
	return a
}

// askFilters returns all rejections of info's node, and the first one's status. Upstream's framework stops at the
// first plugin that rejects a node, so askFilters repeats the call without that plugin until none does.
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
			l.Labels, l.fixed = missingLabels(pod, info.Node(), l)
			l.Taints = untoleratedTaints(pod, info.Node(), l)
			n.Lacks = append(n.Lacks, l)
		}
		if l.Plugin == "" {
			break // upstream could not add the nominated pods
		}
		skip.Insert(l.Plugin)
	}
	for _, plugin := range slices.Sorted(maps.Keys(a.only)) {
		if a.only[plugin].Has(n.Node) {
			continue
		}
		n.Never, n.excluded = true, true
		if !slices.ContainsFunc(n.Lacks, func(l Lack) bool { return l.Plugin == plugin }) {
			n.Lacks = append(n.Lacks, Lack{Plugin: plugin, Reasons: []string{notSatisfied(plugin)}, Final: true})
		}
	}
	return n, first
}

// repeatsPreFilter reports whether l repeats the rejection of a PreFilter plugin, such as a missing claim, which
// Filter reports again for each node.
func (a *preFiltered) repeatsPreFilter(l Lack) bool {
	return slices.ContainsFunc(a.everywhere, func(e Lack) bool {
		return len(e.Reasons) > 0 && strings.Contains(strings.Join(l.Reasons, ", "), e.Reasons[0])
	})
}

// lack converts a plugin's status. It sorts the reasons, because plugins collect them in the order of a map.
func lack(status *fwk.Status, plugin string) Lack {
	return Lack{Plugin: plugin, Reasons: slices.Sorted(slices.Values(status.Reasons())), Final: status.Code() == fwk.UnschedulableAndUnresolvable}
}

// askExtenders returns the nodes that the extenders reject among those that passed all plugins. It models
// findNodesThatPassExtenders in schedule_one.go.
func (s *Scheduler) askExtenders(pod *v1.Pod, nodes []fwk.NodeInfo, statuses *framework.NodeToStatus) ([]NodeLacks, error) {
	var rejected []NodeLacks
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
			rejected = append(rejected, NodeLacks{Node: name, Lacks: []Lack{{Plugin: framework.ExtenderName, Reasons: []string{reason}, Final: isFinal}}})
		}
		nodes = passed
	}
	return rejected, nil
}
