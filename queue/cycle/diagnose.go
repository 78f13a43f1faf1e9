package cycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
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
// node. It updates the snapshot, as each attempt does, and nothing else. It fails if there is no profile for pod, or an
// extender does not answer.
func (s *Scheduler) Diagnose(pod *v1.Pod) (d *Diagnosis, err error) {
	if pod.Status.NominatedNodeName != "" { // an attempt evaluates only that node if it is feasible
		pod = pod.DeepCopy()
		pod.Status.NominatedNodeName = ""
	}
	failed := s.inspecting(s.now, pod, func(start int, begin func(int, InspectOptions) *inspector) {
		i := begin(start, InspectOptions{AllNodes: true})
		i.filterOnly = true
		d, err = i.diagnose()
	})
	return d, cmp.Or(failed, err)
}

// diagnose filters all nodes as an attempt does, and then asks every plugin about those that are not feasible.
func (i *inspector) diagnose() (*Diagnosis, error) {
	s, ctx := i.scheduler, quiet(context.Background())
	d := &Diagnosis{Nodes: len(i.nodes)}
	_, err := s.upstream.SchedulePod(ctx, i, framework.NewCycleState(), i.info)
	var fit *framework.FitError
	switch {
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		d.Message = err.Error()
		return d, nil
	case errors.As(err, &fit):
		s.wording.apply(fit, s.snapshotNode)
		d.Message, d.Reasons = fit.Error(), s.reasons(fit)
	case err != nil:
		return nil, err
	}
	pre := s.askPreFilters(ctx, i.seeded, i.pod, i.nodes)
	d.Everywhere = pre.everywhere
	for at, info := range i.nodes {
		v := &i.verdicts[at]
		if v.evaluated && v.status == nil {
			d.Fits = append(d.Fits, info.Node().Name)
			continue
		}
		n := s.askFilters(ctx, i.seeded, pre, i.pod, info)
		if v.evaluated && v.status.Plugin() == "" && len(n.Lacks) == 0 { // upstream does not record an extender's name
			n.Lacks = append(n.Lacks, lack(v.status, framework.ExtenderName))
		}
		d.Rejected = append(d.Rejected, n)
	}
	slices.Sort(d.Fits)
	nearestFirst(d.Rejected)
	s.addConflicts(i.pod, i.nodes, d)
	return d, nil
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

// askFilters returns all rejections of info's node. Upstream's framework stops at the first plugin that rejects a node, so
// askFilters repeats the call without that plugin until none does.
func (s *Scheduler) askFilters(ctx context.Context, profile framework.Framework, a *preFiltered, pod *v1.Pod, info fwk.NodeInfo) NodeLacks {
	n := NodeLacks{Node: info.Node().Name}
	skip := a.skip.Clone()
	for {
		a.state.SetSkipFilterPlugins(skip)
		status := profile.RunFilterPluginsWithNominatedPods(ctx, a.state, pod, info)
		if status.IsSuccess() || skip.Has(status.Plugin()) {
			break
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
	return n
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
