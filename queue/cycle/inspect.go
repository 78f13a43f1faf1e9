package cycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/util/workqueue"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Inspect runs a scheduling cycle for pod over the current objects and records what each extension point returns. It
// changes neither the queue nor the objects, and starts no preemption. It fails if there is no profile for pod.
func (s *Scheduler) Inspect(now time.Time, pod *v1.Pod, opts InspectOptions) (r *Inspection, err error) {
	err = s.inspecting(now, pod, func(start int, begin func(int, InspectOptions) *inspector) {
		run := func(start int, opts InspectOptions) *Inspection { return begin(start, opts).run() }
		r = run(start, opts)
		chosen, ended := sources.Sanitize(opts.Chosen), r.Filter.Feasible >= r.Filter.Enough && r.Filter.Evaluated < r.Filter.Candidates
		if chosen == "" || r.Won(chosen) || !ended {
			return
		}
		all := opts
		all.AllNodes = true
		i := begin(start, all)
		for _, start := range startsFor(chosen, i.run(), r.Filter.Enough, i.nodes) {
			if other := run(start, opts); other.Won(chosen) {
				other.Filter.StartInferred = true
				r = other
				return
			}
		}
	})
	return r, err
}

// inspecting calls do with where the scheduler's next search starts, and with a function that returns an inspector for a
// search that starts there or elsewhere. It undoes the effects of all of them.
func (s *Scheduler) inspecting(now time.Time, pod *v1.Pod, do func(start int, begin func(int, InspectOptions) *inspector)) error {
	profile, ok := s.profiles[pod.Spec.SchedulerName]
	if !ok {
		return fmt.Errorf("profile not found for scheduler name %q", pod.Spec.SchedulerName)
	}
	p, _ := queuedPodInfo(&queue.PodInfo{Pod: pod}) // InterPodAffinity rejects invalid affinity terms
	if err := s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot); err != nil {
		return err
	}
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return err
	}
	f, start := profile.(seeded), s.startOfSearch(profile, nodes)
	was, preemptor, writes, revision, extenders := s.now, s.preemptor, s.api.writes, s.api.revision, s.upstream.Extenders
	defer func() {
		s.moveStart(f, nodes, start)
		s.now, s.preemptor, s.api.writes, s.api.revision, s.upstream.Extenders = was, preemptor, writes, revision, extenders
	}()
	s.now = now
	do(start, func(start int, opts InspectOptions) *inspector {
		s.moveStart(f, nodes, start)
		i := &inspector{
			seeded: f, opts: opts, pod: pod, info: p, nodes: nodes, start: start,
			index: make(map[string]int, len(nodes)), verdicts: make([]inspected, len(nodes)),
		}
		for at, info := range nodes {
			i.index[info.Node().Name] = at
		}
		s.upstream.Extenders = i.recordExtenders(extenders)
		return i
	})
	return nil
}

// maxStarts limits how many starts of a search are tried. The scores of one search differ little from another's.
const maxStarts = 8

// startsFor returns where a search that ends at enough feasible nodes may have begun for the node chosen to win, given
// a search over all nodes.
func startsFor(chosen sources.SafeText, all *Inspection, enough int, nodes []fwk.NodeInfo) []int {
	totals := make(map[sources.SafeText]int64, len(nodes))
	for i := range all.Nodes {
		if n := &all.Nodes[i]; n.Outcome == Feasible {
			totals[n.Node] = n.Total
		}
	}
	total, feasible := totals[chosen]
	if !feasible {
		return nil
	}
	order := make([]sources.SafeText, len(nodes))
	for i, n := range nodes {
		order[i] = sources.Sanitize(n.Node().Name)
	}
	var starts []int
	for start := range nodes {
		found, has, better := 0, false, false
		for i := 0; i < len(nodes) && found < enough && !better; i++ {
			node := order[(start+i)%len(nodes)]
			if points, ok := totals[node]; ok {
				found++
				has, better = has || node == chosen, points > total
			}
		}
		if has && !better {
			starts = append(starts, start)
		}
	}
	for len(starts) > maxStarts { // evenly
		starts = slices.Collect(func(yield func(int) bool) {
			for i := 0; i < len(starts); i += 2 {
				if !yield(starts[i]) {
					return
				}
			}
		})
	}
	return starts
}

// inspector is a profile's framework that records what its plugins return.
type inspector struct {
	seeded
	opts  InspectOptions
	pod   *v1.Pod
	info  *framework.QueuedPodInfo // of pod
	nodes []fwk.NodeInfo
	index map[string]int // in nodes and verdicts by name
	start int            // where the search starts
	// filterOnly skips the scores.
	filterOnly bool

	verdicts   []inspected
	candidates sets.Set[string] // after PreFilter; nil for all
	rejection  *fwk.Status      // by PreFilter, of all nodes
	excluding  []string         // PreFilter plugins that exclude nodes
	extenders  []*inspectedExtender
	scores     []fwk.NodePluginScores
	unscored   sets.Set[string] // Score plugins that PreScore skips
}

// inspected is what Filter and the extenders returned for a node.
type inspected struct {
	evaluated bool
	status    *fwk.Status // nil if the node is feasible
}

// run runs the cycle. It models schedulingAlgorithm, assumeAndReserve and bindingCycle in schedule_one.go.
func (i *inspector) run() *Inspection {
	s, ctx, state := i.scheduler, quiet(context.Background()), framework.NewCycleState()
	r := &Inspection{
		Profile: sources.Sanitize(i.ProfileName()),
		Filter:  Search{Nodes: len(i.nodes), PercentageOfNodesToScore: s.percentage},
		Nodes:   []NodeResult{},
	}
	if percentage := i.PercentageOfNodesToScore(); percentage != nil {
		r.Filter.PercentageOfNodesToScore = *percentage
	}
	if len(i.nodes) > 0 {
		r.Filter.Start, r.Filter.StartNode = i.start, sources.Sanitize(i.nodes[i.start].Node().Name)
	}
	pre := s.askPreFilters(ctx, i.seeded, i.pod, i.nodes)
	r.PreFilter = pre.untilRejection()

	result, err := s.upstream.SchedulePod(ctx, i, state, i.info)
	var fit *framework.FitError
	switch {
	case err == nil:
		r.Node = sources.Sanitize(result.SuggestedHost)
		if result.FeasibleNodes == 1 { // nothing was scored
			i.keepFeasible(sets.New(result.SuggestedHost))
		}
	case errors.As(err, &fit):
		s.wording.apply(fit, s.snapshotNode)
		if i.HasPostFilterPlugins() {
			r.PostFilter = i.postFilter(ctx, state, fit)
		}
		r.Message = sources.Sanitize(fit.Error())
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		r.Message = sources.Sanitize(err.Error())
	default:
		r.Error = sources.Sanitize(err.Error())
	}
	i.filtered(r)
	i.scored(r, err)
	if err == nil {
		i.bindingCycle(ctx, state, result.SuggestedHost, r)
	}
	if i.opts.AllRejections {
		i.allRejections(ctx, pre, r)
	}
	return r
}

// filtered sets the search and the nodes of r.
func (i *inspector) filtered(r *Inspection) {
	r.Filter.Candidates = len(i.nodes)
	switch {
	case i.rejection != nil:
		r.Filter.Candidates = 0
	case i.candidates != nil:
		r.Filter.Candidates = 0
		for name := range i.candidates {
			if _, ok := i.index[name]; ok {
				r.Filter.Candidates++
			}
		}
	}
	r.Filter.Enough = i.scheduler.numFeasibleNodesToFind(i, r.Filter.Candidates)
	if name := i.pod.Status.NominatedNodeName; name != "" {
		if at, ok := i.index[name]; ok && i.verdicts[at].evaluated {
			r.Filter.Nominated = sources.Sanitize(name)
		}
	}
	for _, e := range i.extenders {
		if e.filter != nil {
			r.Filter.Extenders = append(r.Filter.Extenders, *e.filter)
		}
	}
	r.Nodes = make([]NodeResult, 0, len(i.nodes))
	for at, info := range i.nodes {
		name, v := info.Node().Name, &i.verdicts[at]
		n := NodeResult{Node: sources.Sanitize(name), Outcome: NotEvaluated}
		switch {
		case i.rejection != nil:
			n.Outcome, n.Rejections = Excluded, []Rejection{rejection(i.rejection)}
		case v.evaluated && v.status == nil:
			n.Outcome = Feasible
			r.Filter.Feasible++
		case v.evaluated:
			status := i.scheduler.wording.olderStatus(i.pod, v.status, info.Node)
			n.Outcome, n.Rejections = Rejected, []Rejection{rejection(status)}
		case i.candidates != nil && !i.candidates.Has(name):
			n.Outcome, n.Rejections = Excluded, []Rejection{{Reasons: []sources.SafeText{sources.Sanitize(notSatisfied(i.excluding...))}, Final: true}}
			if len(i.excluding) == 1 {
				n.Rejections[0].Plugin = i.excluding[0]
			}
		}
		if v.evaluated {
			r.Filter.Evaluated++
			n.Nominated = i.nominated(name)
		}
		r.Nodes = append(r.Nodes, n)
	}
}

// nominated returns the pods that Filter counts on a node although they do not run there: see addGENominatedPods in
// framework/runtime/framework.go.
func (i *inspector) nominated(node string) []sources.SafeText {
	var all []sources.SafeText
	for _, pod := range i.scheduler.queue.NominatedPodsForNode(node) {
		if pod.UID != i.pod.UID && corev1helpers.PodPriority(pod) >= corev1helpers.PodPriority(i.pod) {
			all = append(all, sources.Sanitize(pod.Namespace+"/"+pod.Name))
		}
	}
	return all
}

// rejection converts the status of a rejected node.
func rejection(status *fwk.Status) Rejection {
	l := lack(status, cmp.Or(status.Plugin(), framework.ExtenderName))
	return Rejection{Plugin: l.Plugin, Reasons: safe(l.Reasons), Final: l.Final}
}

func safe(texts []string) []sources.SafeText {
	all := make([]sources.SafeText, 0, len(texts))
	for _, t := range texts {
		all = append(all, sources.Sanitize(t))
	}
	return all
}

// scored sets the scores of r and sorts its nodes. err is that of SchedulePod.
func (i *inspector) scored(r *Inspection, err error) {
	switch {
	case err != nil && r.Error == "":
		r.Score.Skipped = "no node is feasible"
	case err != nil:
		r.Score.Skipped = "the cycle failed before"
	case len(i.scores) == 0 && r.Filter.Feasible > 1:
		r.Score.Skipped = "no Score plugin is enabled: all feasible nodes are equal"
	case len(i.scores) == 0:
		r.Score.Skipped = "only one node is feasible: kube-scheduler computes no scores then"
	default:
		i.addScores(r)
	}
	order := map[Outcome]int{Feasible: 0, Rejected: 1, Excluded: 2, NotEvaluated: 3}
	slices.SortStableFunc(r.Nodes, func(a, b NodeResult) int {
		return cmp.Or(cmp.Compare(order[a.Outcome], order[b.Outcome]), cmp.Compare(b.Total, a.Total), preferred(r.Node, a.Node, b.Node), strings.Compare(string(a.Node), string(b.Node)))
	})
	if r.Score.Skipped != "" {
		return
	}
	for at := range r.Nodes {
		n := &r.Nodes[at]
		switch {
		case n.Scores == nil:
		case at > 0 && r.Nodes[at-1].Total == n.Total:
			n.Rank = r.Nodes[at-1].Rank
		default:
			n.Rank = at + 1
		}
		if n.Rank == 1 {
			r.Ties = append(r.Ties, n.Node)
		}
	}
	if len(r.Ties) == 1 {
		r.Ties = nil
	}
}

// preferred orders a before b if a is first, and the other way round.
func preferred[T comparable](first, a, b T) int {
	switch first {
	case a:
		return -1
	case b:
		return 1
	}
	return 0
}

// addScores adds the scores of the plugins and extenders to r.
func (i *inspector) addScores(r *Inspection) {
	scoredBy := map[string]int{} // index in r.Score.Plugins
	for _, p := range i.ListPlugins().Score.Enabled {
		scoredBy[p.Name] = len(r.Score.Plugins)
		r.Score.Plugins = append(r.Score.Plugins, ScorePlugin{Plugin: p.Name, Weight: int64(p.Weight), Skipped: i.unscored.Has(p.Name)})
	}
	plugins := len(r.Score.Plugins)
	var prioritizers []*inspectedExtender
	for _, e := range i.extenders {
		if e.prioritized {
			prioritizers = append(prioritizers, e)
			r.Score.Plugins = append(r.Score.Plugins, ScorePlugin{Plugin: string(sources.Sanitize(e.Name())), Weight: e.weight, Extender: true, Error: e.scoreError})
		}
	}
	for at := range i.scores {
		from, n := &i.scores[at], &r.Nodes[i.index[i.scores[at].Name]]
		n.Scores = make([]NodeScore, len(r.Score.Plugins))
		for k, score := range from.Scores {
			p := scoredBy[score.Name]
			n.Scores[p] = NodeScore{Raw: from.RawScores[k].Score, Normalized: score.Score / max(1, r.Score.Plugins[p].Weight), Weighted: score.Score}
		}
		for k, e := range prioritizers {
			raw := e.scores[from.Name]
			normalized := raw * (fwk.MaxScore / extenderv1.MaxExtenderPriority)
			n.Scores[plugins+k] = NodeScore{Raw: raw, Normalized: normalized, Weighted: normalized * e.weight}
		}
		for _, score := range n.Scores {
			n.Total += score.Weighted
		}
	}
}

// bindingCycle runs Reserve and Permit on the chosen node and undoes them, and asks the PreBind plugins what they would do.
func (i *inspector) bindingCycle(ctx context.Context, state fwk.CycleState, node string, r *Inspection) {
	pod := i.pod.DeepCopy()
	pod.Spec.NodeName = node
	plugins := i.ListPlugins()
	listed := func(set []string, status string) []PluginResult {
		var all []PluginResult
		for _, name := range set {
			all = append(all, PluginResult{Plugin: name, Status: status})
		}
		return all
	}
	reserve, permit, bind := enabled(plugins.Reserve), enabled(plugins.Permit), enabled(plugins.Bind)
	defer i.RunReservePluginsUnreserve(ctx, state, pod, node)
	status := i.RunReservePluginsReserve(ctx, state, pod, node)
	r.Reserve = resultsUntil(reserve, status)
	if !status.IsSuccess() {
		r.Permit = listed(permit, NotRun)
	} else {
		var waits map[string]time.Duration
		waits, status = i.RunPermitPlugins(ctx, state, pod, node)
		r.Permit = resultsUntil(permit, status)
		for k := range r.Permit {
			if timeout, ok := waits[r.Permit[k].Plugin]; ok {
				r.Permit[k].Status, r.Permit[k].TimeoutSeconds = fwk.Wait.String(), timeout.Seconds()
				r.Permit[k].Reasons = safe(status.Reasons())
			}
		}
	}
	r.PreBind = i.preBind(ctx, state, pod, node)
	r.Bind = listed(bind, NotRun)
}

// newPluginResult returns the result of a plugin that returned status.
func newPluginResult(plugin string, status *fwk.Status) PluginResult {
	r := PluginResult{Plugin: plugin, Status: status.Code().String()}
	if status != nil {
		r.Reasons = safe(status.Reasons())
	}
	return r
}

// resultsUntil returns the results of plugins that were called in order until one did not succeed with status.
func resultsUntil(plugins []string, status *fwk.Status) []PluginResult {
	var all []PluginResult
	failed := false
	for _, name := range plugins {
		p := PluginResult{Plugin: name, Status: fwk.Success.String()}
		switch {
		case failed:
			p.Status = NotRun
		case !status.IsSuccess() && !status.IsWait() && (status.Plugin() == name || status.Plugin() == "" && len(plugins) == 1):
			p, failed = newPluginResult(name, status), true
		}
		all = append(all, p)
	}
	return all
}

// preBind returns which PreBind plugins have something to do for pod. The profile lacks VolumeBinding's PreBind: see
// modelledProfiles.
func (i *inspector) preBind(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) []PluginResult {
	var all []PluginResult
	for _, name := range append([]string{names.VolumeBinding}, enabled(i.ListPlugins().PreBind)...) {
		for _, p := range i.EnqueueExtensions() {
			plugin, ok := p.(fwk.PreBindPlugin)
			if !ok || p.Name() != name {
				continue
			}
			_, status := plugin.PreBindPreFlight(ctx, state, pod, node)
			result := newPluginResult(name, status)
			if status.IsSuccess() {
				result.Status = NotRun
			}
			all = append(all, result)
		}
	}
	return all
}

// allRejections asks the Filter plugins about each rejected node until none rejects it.
func (i *inspector) allRejections(ctx context.Context, pre *preFiltered, r *Inspection) {
	for k := range r.Nodes {
		n := &r.Nodes[k]
		at, ok := i.index[string(n.Node)]
		if !ok || n.Outcome == Feasible {
			continue
		}
		lacks := i.scheduler.askFilters(ctx, i.seeded, pre, i.pod, i.nodes[at])
		byFilter := slices.ContainsFunc(n.Rejections, func(r Rejection) bool { return r.Plugin != framework.ExtenderName })
		if len(lacks.Lacks) == 0 || !byFilter && n.Outcome == Rejected {
			continue
		}
		n.Rejections = nil
		for _, l := range lacks.Lacks {
			n.Rejections = append(n.Rejections, Rejection{Plugin: l.Plugin, Reasons: safe(l.Reasons), Final: l.Final})
		}
	}
}

// PercentageOfNodesToScore implements framework.Framework.
func (i *inspector) PercentageOfNodesToScore() *int32 {
	if i.opts.AllNodes {
		all := int32(100)
		return &all
	}
	return i.seeded.PercentageOfNodesToScore()
}

// HasScorePlugins implements framework.Framework. Without Score plugins, one feasible node ends a search.
func (i *inspector) HasScorePlugins() bool { return i.opts.AllNodes || i.seeded.HasScorePlugins() }

// Parallelizer implements fwk.Handle.
func (i *inspector) Parallelizer() fwk.Parallelizer { return i }

// Until implements fwk.Parallelizer.
func (i *inspector) Until(ctx context.Context, nodes int, examine workqueue.DoWorkPieceFunc, operation string) {
	i.searchNodes(ctx, i, nodes, examine, operation)
}

// RunPreFilterPlugins implements framework.Framework.
func (i *inspector) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	result, status, plugins := i.seeded.RunPreFilterPlugins(ctx, state, pod)
	switch {
	case !status.IsSuccess():
		i.rejection = status
	case !result.AllNodes():
		i.candidates, i.excluding = result.NodeNames, sets.List(plugins)
	}
	return result, status, plugins
}

// RunFilterPluginsWithNominatedPods implements framework.Framework. Goroutines call it for different nodes.
func (i *inspector) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := i.seeded.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	v := &i.verdicts[i.index[node.Node().Name]]
	v.evaluated, v.status = true, nil
	if !status.IsSuccess() {
		v.status = status
	}
	return status
}

// RunPreScorePlugins implements framework.Framework.
func (i *inspector) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	if i.filterOnly {
		return nil
	}
	status := i.seeded.RunPreScorePlugins(ctx, state, pod, nodes)
	i.unscored = state.GetSkipScorePlugins()
	feasible := sets.New[string]()
	for _, n := range nodes {
		feasible.Insert(n.Node().Name)
	}
	i.keepFeasible(feasible)
	return status
}

// keepFeasible forgets the nodes that passed and are not among those that upstream kept: the search evaluates nodes until
// one more than enough is feasible.
func (i *inspector) keepFeasible(kept sets.Set[string]) {
	for at := range i.verdicts {
		if v := &i.verdicts[at]; v.evaluated && v.status == nil && !kept.Has(i.nodes[at].Node().Name) {
			*v = inspected{}
		}
	}
}

// RunScorePlugins implements framework.Framework.
func (i *inspector) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	if i.filterOnly {
		return make([]fwk.NodePluginScores, len(nodes)), nil
	}
	scores, status := i.scoreNodes(ctx, state, pod, nodes)
	i.scores = slices.Clone(scores)
	i.breakTies(pod, scores)
	return scores, status
}

// inspectedExtender records what an extender returns.
type inspectedExtender struct {
	fwk.Extender
	i *inspector

	filter      *PluginResult // nil unless it filtered
	prioritized bool
	weight      int64
	scores      map[string]int64 // by node
	scoreError  sources.SafeText
}

// recordExtenders returns extenders that record what all return.
func (i *inspector) recordExtenders(all []fwk.Extender) []fwk.Extender {
	var recording []fwk.Extender
	for _, e := range all {
		x := &inspectedExtender{Extender: e, i: i}
		i.extenders, recording = append(i.extenders, x), append(recording, x)
	}
	return recording
}

// Filter implements fwk.Extender.
func (e *inspectedExtender) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	passed, failed, final, err := e.Extender.Filter(pod, nodes)
	if !e.IsFilter() {
		return passed, failed, final, err
	}
	left := len(passed)
	e.filter = &PluginResult{Plugin: string(sources.Sanitize(e.Name())), Status: fwk.Success.String(), Nodes: &left}
	if err != nil {
		e.filter.Status, e.filter.Reasons, e.filter.Nodes = fwk.Error.String(), safe([]string{err.Error()}), nil
		if e.IsIgnorable() {
			e.filter.Status = fwk.Skip.String()
		}
		return passed, failed, final, err
	}
	kept := sets.New[string]()
	for _, n := range passed {
		kept.Insert(n.Node().Name)
	}
	for _, n := range nodes {
		name := n.Node().Name
		if kept.Has(name) {
			continue
		}
		status := fwk.NewStatus(fwk.Unschedulable, failed[name])
		if reason, ok := final[name]; ok {
			status = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason)
		}
		e.i.verdicts[e.i.index[name]].status = status
	}
	return passed, failed, final, err
}

// Prioritize implements fwk.Extender. Upstream calls each extender in a goroutine.
func (e *inspectedExtender) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	if e.i.filterOnly {
		return &extenderv1.HostPriorityList{}, 0, nil
	}
	list, weight, err := e.Extender.Prioritize(pod, nodes)
	if !e.IsPrioritizer() {
		return list, weight, err
	}
	e.prioritized = true
	if err != nil {
		e.scoreError = sources.Sanitize(err.Error())
		return list, weight, err
	}
	e.weight, e.scores = weight/tieScale, make(map[string]int64, len(*list))
	for _, host := range *list {
		e.scores[host.Host] += host.Score
	}
	return list, weight, nil
}

// inspectedPreemption records a dry run of preemption.
type inspectedPreemption struct {
	seededPreemption

	mu       sync.Mutex
	tried    map[string]*fwk.Status
	victims  map[string]*extenderv1.Victims
	enough   int
	nodes    int
	compared map[string]*extenderv1.Victims // nil if there is only one candidate
	scores   map[string][]int64
}

// GetOffsetAndNumCandidates implements preemption.Interface.
func (p *inspectedPreemption) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) {
	offset, candidates = p.seededPreemption.GetOffsetAndNumCandidates(nodes)
	p.nodes, p.enough = int(nodes), int(candidates)
	return offset, candidates
}

// SelectVictimsOnNode implements preemption.Interface.
func (p *inspectedPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo, possible []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	victims, violations, status := p.seededPreemption.SelectVictimsOnNode(ctx, state, preemptor, node, possible, budgets)
	p.mu.Lock()
	defer p.mu.Unlock()
	name := node.Node().Name
	p.tried[name] = status
	if status.IsSuccess() && len(victims) > 0 {
		p.victims[name] = &extenderv1.Victims{Pods: victims, NumPDBViolations: int64(violations)}
	}
	return victims, violations, status
}

// OrderedScoreFuncs implements preemption.Interface. Upstream calls it if there are several candidates.
func (p *inspectedPreemption) OrderedScoreFuncs(ctx context.Context, nodes map[string]*extenderv1.Victims) []func(node string) int64 {
	criteria := p.seededPreemption.OrderedScoreFuncs(ctx, nodes)
	p.compared, p.scores = maps.Clone(nodes), map[string][]int64{}
	for node := range nodes {
		for _, score := range criteria {
			p.scores[node] = append(p.scores[node], score(node))
		}
	}
	return criteria
}

// withoutNominations is a handle whose preemption clears no nominations.
type withoutNominations struct{ searching }

// NominatedPodsForNode implements fwk.PodNominator.
func (withoutNominations) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

// criteria are the rules of seededPreemption.OrderedScoreFuncs, in their order.
var criteria = []PreemptionRule{FewestPDBViolations, LowestHighestPriority, LowestPrioritySum, FewestVictims, LatestStart, AnyOfEqual}

// postFilter runs the PostFilter plugins with a preemption that evicts nothing, and sets the message of fit.
func (i *inspector) postFilter(ctx context.Context, state fwk.CycleState, fit *framework.FitError) *PostFilter {
	s := i.scheduler
	p := &inspectedPreemption{tried: map[string]*fwk.Status{}, victims: map[string]*extenderv1.Victims{}}
	if plugin := preemptionOf(i.seeded); plugin != nil {
		was := plugin.Evaluator
		defer func() { plugin.Evaluator = was }()
		p.seededPreemption = was.Interface.(seededPreemption)
		gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
		gates.EnableAsyncPreemption = false
		handle := withoutNominations{searching{i.seeded, p.candidates}}
		executor := preemption.NewExecutor(handle, gates)
		executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
			return false, nil
		}
		plugin.Evaluator = preemption.NewEvaluator(defaultpreemption.Name, handle, p, executor)
	}
	result, status := i.runPostFilter(ctx, state, i.pod, fit.Diagnosis.NodeToStatus)
	fit.Diagnosis.PostFilterMsg = s.wording.postFilter(i.seeded, i.pod, status)
	r := &PostFilter{Status: status.Code().String(), Message: sources.Sanitize(status.Message()), Potential: p.nodes, DryRun: len(p.tried), Enough: p.enough}
	chosen := ""
	if result != nil && status.IsSuccess() && result.NominatingInfo.Mode() == fwk.ModeOverride {
		chosen = result.NominatedNodeName
		r.Node = sources.Sanitize(chosen)
	}
	p.addCandidates(chosen, r)
	for _, node := range slices.Sorted(maps.Keys(p.tried)) {
		if status := p.tried[node]; !status.IsSuccess() {
			r.Rejected = append(r.Rejected, NodeResult{Node: sources.Sanitize(node), Outcome: Rejected, Rejections: []Rejection{rejection(status)}})
		}
	}
	return r
}

// addCandidates adds the candidates to r, and the criterion that chose one.
func (p *inspectedPreemption) addCandidates(chosen string, r *PostFilter) {
	candidates := p.compared
	if candidates == nil {
		candidates = p.victims
	}
	nodes := slices.SortedFunc(maps.Keys(candidates), func(a, b string) int {
		return cmp.Or(slices.Compare(p.scores[b], p.scores[a]), strings.Compare(a, b))
	})
	last := -1
	for _, node := range nodes {
		c := PreemptionCandidate{Node: sources.Sanitize(node), PDBViolations: int(candidates[node].NumPDBViolations)}
		for _, pod := range candidates[node].Pods {
			v := Victim{Pod: sources.Sanitize(pod.Namespace + "/" + pod.Name), Priority: corev1helpers.PodPriority(pod)}
			if t := pod.Status.StartTime; t != nil {
				v.Started = t.UTC()
			}
			c.Victims = append(c.Victims, v)
		}
		if node != chosen {
			for k := range p.scores[node] {
				if p.scores[node][k] != p.scores[chosen][k] {
					c.Lost, last = criteria[k], max(last, k)
					break
				}
			}
		}
		r.Candidates = append(r.Candidates, c)
	}
	if last >= 0 {
		r.Rule = criteria[last]
	}
}
