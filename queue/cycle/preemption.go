package cycle

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Eviction is the requested deletion of a victim. Upstream deletes the victims of a preemptor one after the other in a
// goroutine (preemption/executor.go). Here that goroutine waits for Evicted, and DefaultPreemption gates the preemptor
// until the last victim is evicted, or in older releases until the last eviction starts (see
// schedulerconfig.Config.GatesUntilEvicted). Without SchedulerAsyncPreemption, all victims are requested at once, and
// the attempt ends when they are evicted.
type Eviction struct {
	Victim *v1.Pod

	preemptor types.UID
	left      int // number of victims after this one
	done      chan struct{}
	ended     <-chan struct{} // closed when the goroutine ends
}

// redirectPreemption makes the profile's DefaultPreemption plugin pass its victims to Evictions instead of the API
// server, and replaces upstream's random choices with ones that depend on seed and on the order of pods.
func (s *Scheduler) redirectPreemption(f framework.Framework, seed uint64) {
	plugin := preemptionOf(f)
	if plugin == nil {
		return
	}
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	gates.EnableAsyncPreemption = s.asyncPreemption
	plugin.Executor = preemption.NewExecutor(preempting{searching{f, &search{workers: 1}}, s}, gates) // victims in order
	plugin.Executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		e := &Eviction{Victim: victim, preemptor: preemptor.UID(), done: make(chan struct{}, 1), ended: ctx.Done()}
		if !gates.EnableAsyncPreemption {
			s.running = append(s.running, e)
			return false, nil
		}
		victims := slices.DeleteFunc(slices.Clone(c.Victims().Pods), func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
		e.left = len(victims) - 1 - slices.IndexFunc(victims, func(p *v1.Pod) bool { return p.UID == victim.UID })
		s.waitForEviction(e)
		return false, nil // on an error, upstream would retry the preemptor
	}
	plugin.MoreImportantVictim = s.moreImportantVictim
	candidates := &search{workers: workers()}
	chosen := seededPreemption{plugin, s, seed, candidates}
	plugin.Evaluator = preemption.NewEvaluator(defaultpreemption.Name, searching{f, candidates}, chosen, plugin.Executor)
}

// preemptionOf returns the profile's DefaultPreemption plugin, or nil.
func preemptionOf(f framework.Framework) *defaultpreemption.DefaultPreemption {
	for _, p := range f.EnqueueExtensions() { // contains DefaultPreemption if it is enabled anywhere
		if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			return plugin
		}
	}
	return nil
}

// preempting is the handle of the preemption executor.
type preempting struct {
	searching
	s *Scheduler
}

// NominatedPodsForNode implements fwk.PodNominator. It is the first call of upstream's preemption goroutine, which waits
// here until preemptionStarted has found it running: a preemption without remaining victims would already have ended.
func (h preempting) NominatedPodsForNode(node string) []fwk.PodInfo {
	if h.s.asyncPreemption {
		select {
		case <-h.s.goroutines:
		case <-h.s.stopped:
		}
	}
	return h.searching.NominatedPodsForNode(node)
}

// waitForEviction blocks upstream's goroutine until e ends or the Scheduler is closed.
func (s *Scheduler) waitForEviction(e *Eviction) {
	select {
	case s.evictions <- e:
	case <-s.stopped:
		return
	}
	if s.releases(e) {
		return
	}
	select {
	case <-e.done:
	case <-s.stopped:
	}
}

// releases reports whether the start of e ungates its preemptor.
func (s *Scheduler) releases(e *Eviction) bool { return e.left == 0 && !s.gatesUntilEvicted }

// takeEviction receives the next eviction from an upstream goroutine.
func (s *Scheduler) takeEviction() {
	e := <-s.evictions
	if s.running = append(s.running, e); s.releases(e) {
		<-e.ended
	}
}

// preemptionStarted receives the first eviction of pod's attempt, if that started a preemption.
func (s *Scheduler) preemptionStarted(f framework.Framework, uid types.UID) {
	mine := func(e *Eviction) bool { return e.preemptor == uid && !s.releases(e) }
	if plugin := preemptionOf(f); plugin != nil && plugin.Executor.IsPodRunningPreemption(uid) && !slices.ContainsFunc(s.running, mine) {
		s.goroutines <- struct{}{}
		s.takeEviction()
	}
}

// awaited returns the evictions that the attempt of the pod with that UID waits for, none with asynchronous preemption.
func (s *Scheduler) awaited(uid types.UID) []*Eviction {
	if s.asyncPreemption {
		return nil
	}
	return slices.DeleteFunc(s.Evictions(), func(e *Eviction) bool { return e.preemptor != uid })
}

// Evictions returns the running evictions. With asynchronous preemption, that is at most one per preemptor.
func (s *Scheduler) Evictions() []*Eviction { return slices.Clone(s.running) }

// Evicted ends e after its victim was deleted or could not be deleted. If the preemptor has more victims, Evictions then
// contains the next one.
func (s *Scheduler) Evicted(e *Eviction) {
	i := slices.Index(s.running, e)
	if i < 0 {
		return
	}
	s.running = slices.Delete(s.running, i, i+1)
	e.done <- struct{}{}
	if e.left > 0 {
		s.takeEviction()
		return
	}
	<-e.ended
}

// Renominate moves the preemption of pod to node: it cancels the running evictions and starts those on node. It follows
// a real scheduler that chose another of several equal nodes, which upstream does at random.
func (s *Scheduler) Renominate(now time.Time, pod *v1.Pod, node string) {
	s.now = now
	s.cancelEvictions(pod.UID)
	s.queue.AddNominatedPod(pod, node)
	profile, ok := s.profiles[pod.Spec.SchedulerName]
	if !ok {
		return
	}
	ctx, state := quiet(context.Background()), framework.NewCycleState()
	if err := s.upstream.Cache.UpdateSnapshot(klog.Logger{}, s.snapshot); err != nil {
		return
	}
	if _, status, _ := profile.RunPreFilterPlugins(ctx, state, pod); !status.IsSuccess() {
		return
	}
	only := framework.NewDefaultNodeToStatus() // preemption cannot help on all other nodes
	only.Set(node, fwk.NewStatus(fwk.Unschedulable))
	profile.RunPostFilterPlugins(ctx, state, pod, only)
	s.preemptionStarted(profile, pod.UID)
}

// cancelEvictions cancels all evictions of a preemptor.
func (s *Scheduler) cancelEvictions(preemptor types.UID) {
	mine := func(e *Eviction) bool { return e.preemptor == preemptor }
	for i := slices.IndexFunc(s.running, mine); i >= 0; i = slices.IndexFunc(s.running, mine) {
		s.Evicted(s.running[i]) // starts the next one
	}
}

// Ending reports whether pod was deleted or is being deleted.
func (s *Scheduler) Ending(pod *v1.Pod) bool {
	stored, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return !ok || stored.UID != pod.UID || stored.DeletionTimestamp != nil
}
