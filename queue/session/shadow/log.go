package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/sources"
)

// reportedTiers records the tier of each pod according to a log that contains all moves, for as
// long as the log does: a scheduler's verbosity can change while it runs. During that time the
// model makes no moves. Its scheduler still receives changes of the cluster and its queue follows
// the log, so that the model can continue when the log no longer contains moves.
type reportedTiers map[types.NamespacedName]sources.Tier

// applyVerbosity applies a change of the log's verbosity.
func (s *shadow) applyVerbosity(now time.Time, verbosity int) {
	s.oracle.channels.Verbosity = verbosity
	switch {
	case verbosity >= sources.MovesVerbosity && s.reported == nil && s.driver != nil:
		if s.driver.UnderWay != nil {
			s.driver.Conclude(now)
		}
		s.reported = reportedTiers{}
		s.objects.Each("Pod", func(obj runtime.Object) bool {
			pod := obj.(*v1.Pod)
			if info, ok := s.driver.queue.Get(pod.Namespace, pod.Name); ok {
				s.reported[keyOf(pod)] = sources.Tier(info.Tier.String())
			}
			return true
		})
	case verbosity < sources.MovesVerbosity && s.reported != nil:
		s.resumeMoves(now)
	}
}

// applyMove applies a move in the log to the model's queue.
func (s *shadow) applyMove(now time.Time, m *sources.Move) {
	if s.reported == nil || m.Restated {
		return
	}
	s.reported[m.Pod] = m.To
	if pod := s.objects.Pod(m.Pod); pod != nil {
		s.moveTo(now, pod, m)
		s.pending.moves = s.pending.moves[:0] // the log contains them
		s.shown[m.Pod] = pod.UID
		if m.To == sources.TierDeleted {
			delete(s.shown, m.Pod)
		}
	}
}

// moveTo moves pod to the tier in m.
func (s *shadow) moveTo(now time.Time, pod *v1.Pod, m *sources.Move) {
	to, err := queue.ParseTier(string(m.To))
	if err != nil {
		return // readers reject unknown tiers
	}
	if b := s.driver.bindingOf(pod.UID); b != nil && to != queue.InFlight {
		s.driver.dropBinding(b)
		if to != queue.Scheduled {
			s.driver.Scheduler.Forget(b.Binding)
		}
	}
	s.driver.queue.Observe(now, queue.Observation{Pod: pod, To: to, Event: m.Event, UnschedulablePlugins: m.Plugins,
		GatingPlugin: m.GatingPlugin})
}

// applyDumped moves a pod to the queue in which a dump of the scheduler lists it. Dumps list gated
// pods among the unschedulable ones.
func (s *shadow) applyDumped(now time.Time, f *sources.Dumped) {
	pod := s.objects.Pod(f.Pod)
	if s.reported != nil || s.driver == nil || pod == nil || pod.UID != f.UID || !cluster.Waiting(pod) || !s.driver.Scheduler.Responsible(pod) {
		return
	}
	if a := s.driver.UnderWay; a != nil && a.Pod.UID == pod.UID {
		s.driver.Conclude(now)
	}
	m := &sources.Move{Pod: f.Pod, To: f.In}
	info, known := s.driver.queue.Get(pod.Namespace, pod.Name)
	switch in := sources.Tier(info.Tier.String()); {
	case !known, in == f.In, in == sources.TierGated && f.In == sources.TierUnschedulable:
		return
	case in == sources.TierInFlight && f.In != sources.TierActive:
		m.Event = queue.ScheduleAttemptFailure
	}
	s.driver.because = reason.Cause{Rule: reason.ByDump, At: now}
	s.moveTo(now, pod, m)
	s.emitMoves(now, nil)
}

// deliverQuietly delivers pending changes up to and including to, and discards the resulting moves
// because the log contains them.
func (s *shadow) deliverQuietly(to time.Time) {
	for len(s.deliveries) > 0 && !s.deliveries[0].At.After(to) {
		s.deliver(s.deliveries[0].At, s.deliveries[0].Change)
		s.deliveries = s.deliveries[1:]
		s.pending.moves = s.pending.moves[:0]
	}
}

// resumeMoves resumes the model's own moves, from the tiers that the log reported last.
func (s *shadow) resumeMoves(now time.Time) {
	s.driver.resumeAt(now)
	for key, tier := range s.reported {
		pod := s.objects.Pod(key)
		if pod == nil {
			continue
		}
		if info, ok := s.driver.queue.Get(key.Namespace, key.Name); !ok || sources.Tier(info.Tier.String()) != tier {
			s.moveTo(now, pod, &sources.Move{Pod: key, To: tier})
		}
	}
	s.pending.moves = s.pending.moves[:0]
	s.reported = nil
}

func keyOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}
