package cycle

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

var errClosed = errors.New("the model was closed")

// Eviction is a victim that a preemptor wants deleted. Upstream deletes victims in a goroutine of the
// preemptor, one after the other; that goroutine waits here until the victim is dealt with, and until the
// last one is, DefaultPreemption gates the preemptor. (preemption/executor.go.)
type Eviction struct {
	Victim *v1.Pod

	preemptor types.UID
	running   func(types.UID) bool
	left      int // victims after this one
	done      chan error
}

// takePreemption makes the profile's DefaultPreemption plugin ask here instead of the API server, and
// search from where the seed says.
func (s *Scheduler) takePreemption(f framework.Framework, seed uint64) {
	for _, p := range f.PreEnqueuePlugins() {
		plugin, ok := p.(*defaultpreemption.DefaultPreemption)
		if !ok {
			continue
		}
		plugin.Evaluator.Interface = seededPreemption{plugin.Evaluator.Interface, seed}
		executor := plugin.Executor
		executor.PreemptPod = func(_ context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
			if s.closed.Load() {
				return false, errClosed
			}
			e := &Eviction{Victim: victim, preemptor: preemptor.UID(), running: executor.IsPodRunningPreemption, done: make(chan error, 1)}
			victims := slices.DeleteFunc(slices.Clone(c.Victims().Pods), func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
			e.left = len(victims) - 1 - slices.IndexFunc(victims, func(p *v1.Pod) bool { return p.UID == victim.UID })
			s.evictions <- e
			return false, <-e.done
		}
	}
}

// preemptionStarted waits, if pod's attempt began a preemption, until its first eviction is here.
func (s *Scheduler) preemptionStarted(f framework.Framework, uid types.UID) {
	for _, p := range f.PreEnqueuePlugins() {
		if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok && plugin.Executor.IsPodRunningPreemption(uid) &&
			!slices.ContainsFunc(s.underway, func(e *Eviction) bool { return e.preemptor == uid }) {
			s.underway = append(s.underway, <-s.evictions)
		}
	}
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
	e.done <- nil
	if e.left > 0 {
		s.underway = append(s.underway, <-s.evictions)
		return
	}
	for e.running(e.preemptor) {
		runtime.Gosched() // upstream's goroutine has one line left
	}
}

// Renominate makes the preemption of pod, which an attempt nominated to another of several nodes that
// would do as well, one on node: the evictions that it has asked for are given up, and those on node
// asked for. Upstream picks among equal nodes by chance.
func (s *Scheduler) Renominate(now time.Time, pod *v1.Pod, node string) {
	s.now = now
	for _, e := range s.Evictions() {
		for e.preemptor == pod.UID && slices.Contains(s.underway, e) {
			s.Evicted(e)
		}
	}
	s.queue.AddNominatedPod(pod, node)
	profile, ok := s.profiles[pod.Spec.SchedulerName]
	if !ok {
		return
	}
	ctx, state := quiet(context.Background()), framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
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

// Ending reports whether pod is gone or is being deleted.
func (s *Scheduler) Ending(pod *v1.Pod) bool {
	stored, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return !ok || stored.UID != pod.UID || stored.DeletionTimestamp != nil
}
