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

// Eviction is a victim that a preemptor wants deleted. Upstream deletes victims in a goroutine of the preemptor, one after the other; that
// goroutine waits here until the victim is dealt with, and until the last one is, DefaultPreemption gates the preemptor. (preemption/executor.go.)
// Older releases gate it only until the last one's turn comes: see GatesUntilEvicted of the configuration. Without SchedulerAsyncPreemption, all
// victims are asked for at once, and it is the attempt that ends when they are dealt with.
type Eviction struct {
	Victim *v1.Pod

	preemptor types.UID
	left      int // victims after this one
	done      chan struct{}
	ended     <-chan struct{} // of the goroutine, after the last victim
}

// redirectPreemption makes the profile's DefaultPreemption plugin hand its victims to Evictions and not to the API
// server. What upstream leaves to chance follows from seed and from the order of pods.
func (s *Scheduler) redirectPreemption(f framework.Framework, seed uint64) {
	plugin := preemptionOf(f)
	if plugin == nil {
		return
	}
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	gates.EnableAsyncPreemption = s.asyncPreemption
	plugin.Executor = preemption.NewExecutor(preempting{searching{f, &search{workers: 1}}, s}, gates) // victims in their order
	plugin.Executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		e := &Eviction{Victim: victim, preemptor: preemptor.UID(), done: make(chan struct{}, 1), ended: ctx.Done()}
		if !gates.EnableAsyncPreemption {
			s.underway = append(s.underway, e)
			return false, nil
		}
		victims := slices.DeleteFunc(slices.Clone(c.Victims().Pods), func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
		e.left = len(victims) - 1 - slices.IndexFunc(victims, func(p *v1.Pod) bool { return p.UID == victim.UID })
		s.waitForEviction(e)
		return false, nil // an error would make upstream try the preemptor again
	}
	plugin.MoreImportantVictim = s.moreImportantVictim
	candidates := &search{workers: workers()}
	chosen := seededPreemption{plugin, s, seed, candidates}
	plugin.Evaluator = preemption.NewEvaluator(defaultpreemption.Name, searching{f, candidates}, chosen, plugin.Executor)
}

// preemptionOf returns the profile's DefaultPreemption plugin, or nil.
func preemptionOf(f framework.Framework) *defaultpreemption.DefaultPreemption {
	for _, p := range f.EnqueueExtensions() { // all plugins that register for events, whatever they are enabled for
		if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			return plugin
		}
	}
	return nil
}

// preempting is the handle of what deletes victims.
type preempting struct {
	searching
	s *Scheduler
}

// NominatedPodsForNode implements fwk.PodNominator. It is the first that upstream's goroutine of a preemption asks, which waits here
// until preemptionStarted has seen that it is there: to whom its last victim is gone already, no preemption runs.
func (h preempting) NominatedPodsForNode(node string) []fwk.PodInfo {
	if h.s.asyncPreemption {
		select {
		case <-h.s.goroutines:
		case <-h.s.stopped:
		}
	}
	return h.searching.NominatedPodsForNode(node)
}

// waitForEviction lets upstream's goroutine wait until e is dealt with, or the Scheduler is closed.
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

// releases reports whether e's preemptor is gated no more once the victim's deletion is asked for.
func (s *Scheduler) releases(e *Eviction) bool { return e.left == 0 && !s.gatesUntilEvicted }

// takeEviction waits until the next eviction is here of a preemptor that has some to ask for.
func (s *Scheduler) takeEviction() {
	e := <-s.evictions
	if s.underway = append(s.underway, e); s.releases(e) {
		<-e.ended
	}
}

// preemptionStarted waits, if pod's attempt began a preemption, until its first eviction is here.
func (s *Scheduler) preemptionStarted(f framework.Framework, uid types.UID) {
	mine := func(e *Eviction) bool { return e.preemptor == uid && !s.releases(e) }
	if plugin := preemptionOf(f); plugin != nil && plugin.Executor.IsPodRunningPreemption(uid) && !slices.ContainsFunc(s.underway, mine) {
		s.goroutines <- struct{}{}
		s.takeEviction()
	}
}

// awaited returns the evictions that the attempt of the pod with that UID waits for: those that it began, without asynchronous preemption.
func (s *Scheduler) awaited(uid types.UID) []*Eviction {
	if s.asyncPreemption {
		return nil
	}
	return slices.DeleteFunc(s.Evictions(), func(e *Eviction) bool { return e.preemptor != uid })
}

// Evictions returns the victims whose deletion is asked for, one of each preemptor.
func (s *Scheduler) Evictions() []*Eviction { return slices.Clone(s.underway) }

// Evicted says that e's victim was deleted, or that its deletion was given up. If the preemptor has more
// victims, the next is among Evictions afterwards.
func (s *Scheduler) Evicted(e *Eviction) {
	i := slices.Index(s.underway, e)
	if i < 0 {
		return
	}
	s.underway = slices.Delete(s.underway, i, i+1)
	e.done <- struct{}{}
	if e.left > 0 {
		s.takeEviction()
		return
	}
	<-e.ended
}

// Renominate makes the preemption of pod, which an attempt nominated to another of several nodes that would do as well, one on node: the evictions
// that it has asked for are given up, and those on node asked for. Upstream picks among equal nodes by chance.
func (s *Scheduler) Renominate(now time.Time, pod *v1.Pod, node string) {
	s.now = now
	s.giveUpEvictions(pod.UID)
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
	only := framework.NewDefaultNodeToStatus() // on all other nodes, no preemption helps
	only.Set(node, fwk.NewStatus(fwk.Unschedulable))
	profile.RunPostFilterPlugins(ctx, state, pod, only)
	s.preemptionStarted(profile, pod.UID)
}

// giveUpEvictions gives up all evictions that a preemptor has asked for.
func (s *Scheduler) giveUpEvictions(preemptor types.UID) {
	mine := func(e *Eviction) bool { return e.preemptor == preemptor }
	for i := slices.IndexFunc(s.underway, mine); i >= 0; i = slices.IndexFunc(s.underway, mine) {
		s.Evicted(s.underway[i]) // the next victim's follows
	}
}

// Ending reports whether pod is gone or is being deleted.
func (s *Scheduler) Ending(pod *v1.Pod) bool {
	stored, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return !ok || stored.UID != pod.UID || stored.DeletionTimestamp != nil
}
