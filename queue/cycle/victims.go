package cycle

import (
	"context"
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// seededPreemption starts the search for victims at a node that depends on the seed and the preemptor, and breaks ties
// between nodes in the same way. Upstream does both at random.
type seededPreemption struct {
	preemption.Interface
	scheduler  *Scheduler
	seed       uint64
	candidates *search
}

// GetOffsetAndNumCandidates implements preemption.Interface.
func (p seededPreemption) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) {
	_, candidates = p.Interface.GetOffsetAndNumCandidates(nodes)
	p.candidates.need = int(candidates)
	return int32(hash(p.seed, string(p.scheduler.preemptor)) % uint64(max(1, nodes))), candidates
}

// OrderedScoreFuncs implements preemption.Interface with upstream's criteria, each of which breaks the ties of those before
// it, and the seed as the last one. It models pickOneNodeForPreemption in preemption.go.
func (p seededPreemption) OrderedScoreFuncs(_ context.Context, nodes map[string]*extenderv1.Victims) []func(node string) int64 {
	// Victims are sorted by importance.
	return []func(string) int64{
		func(node string) int64 { return -nodes[node].NumPDBViolations },
		func(node string) int64 { return -int64(corev1helpers.PodPriority(nodes[node].Pods[0])) },
		func(node string) int64 {
			var sum int64
			for _, pod := range nodes[node].Pods {
				sum += int64(corev1helpers.PodPriority(pod)) + math.MaxInt32 + 1 // positive, so that more pods add more
			}
			return -sum
		},
		func(node string) int64 { return -int64(len(nodes[node].Pods)) },
		func(node string) int64 { return p.scheduler.earliest(nodes[node].Pods).UnixNano() },
		func(node string) int64 { return int64(hash(p.seed, string(p.scheduler.preemptor), node) >> 1) },
	}
}

// earliest returns the earliest start time of the victims with the highest priority.
func (s *Scheduler) earliest(victims []*v1.Pod) time.Time {
	first := s.started(victims[0])
	for _, pod := range victims[1:] {
		if t := s.started(pod); t.Before(first) && corev1helpers.PodPriority(pod) == corev1helpers.PodPriority(victims[0]) {
			first = t
		}
	}
	return first
}

// moreImportantVictim models MoreImportantVictim in preemption/util.go for single pods.
func (s *Scheduler) moreImportantVictim(a, b preemption.Victim) bool {
	if a.Priority() != b.Priority() {
		return a.Priority() > b.Priority()
	}
	return s.started(a.Pods()[0].GetPod()).Before(s.started(b.Pods()[0].GetPod()))
}

// started returns the start time of pod, and the model's time for a pod that has not started. It models
// util.GetPodStartTime, which uses the wall clock.
func (s *Scheduler) started(pod *v1.Pod) time.Time {
	if t := pod.Status.StartTime; t != nil {
		return t.Time
	}
	return s.now
}
