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

// toldTiers is where a log that tells all moves has put pods, while it is one that does: a scheduler's verbosity can be
// changed while it runs. In that time the model makes no moves. Its scheduler hears of the cluster, and its queue follows what
// is told, so that it can go on where the log falls silent.
type toldTiers map[types.NamespacedName]sources.Tier

// takeInVerbosity has the model follow that the scheduler's log is of another verbosity from now on.
func (s *shadow) takeInVerbosity(now time.Time, verbosity int) {
	s.oracle.channels.Verbosity = verbosity
	switch {
	case verbosity >= sources.MovesVerbosity && s.told == nil && s.driver != nil:
		if s.driver.UnderWay != nil {
			s.driver.Conclude(now)
		}
		s.told = toldTiers{}
		s.objects.Each("Pod", func(obj runtime.Object) bool {
			pod := obj.(*v1.Pod)
			if info, ok := s.driver.queue.Get(pod.Namespace, pod.Name); ok {
				s.told[keyOf(pod)] = sources.Tier(info.Tier.String())
			}
			return true
		})
	case verbosity < sources.MovesVerbosity && s.told != nil:
		s.goOn(now)
	}
}

// takeInMove has the model's queue follow a move that the log tells.
func (s *shadow) takeInMove(now time.Time, m *sources.Move) {
	if s.told == nil || m.Restated {
		return
	}
	s.told[m.Pod] = m.To
	if pod := s.objects.Pod(m.Pod); pod != nil {
		s.putWhere(now, pod, m)
		s.unsettled.moves = s.unsettled.moves[:0] // they are told
		s.shown[m.Pod] = pod.UID
		if m.To == sources.TierDeleted {
			delete(s.shown, m.Pod)
		}
	}
}

// putWhere puts pod where m says.
func (s *shadow) putWhere(now time.Time, pod *v1.Pod, m *sources.Move) {
	to, err := queue.ParseTier(string(m.To))
	if err != nil {
		return // readers let no other tier through
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

// takeInDumped has the model's queue follow that a dump of the scheduler's lists a pod there. A gated one is listed among the
// unschedulable.
func (s *shadow) takeInDumped(now time.Time, f *sources.Dumped) {
	pod := s.objects.Pod(f.Pod)
	if s.told != nil || s.driver == nil || pod == nil || pod.UID != f.UID || !cluster.Waiting(pod) || !s.driver.Scheduler.Responsible(pod) {
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
	s.putWhere(now, pod, m)
	s.handOnMoves(now, nil)
}

// hearQuietly lets the scheduler hear of what is on its way up to and at to, while the moves that follow are told.
func (s *shadow) hearQuietly(to time.Time) {
	for len(s.deliveries) > 0 && !s.deliveries[0].At.After(to) {
		s.deliver(s.deliveries[0].At, s.deliveries[0].Change)
		s.deliveries = s.deliveries[1:]
		s.unsettled.moves = s.unsettled.moves[:0]
	}
}

// goOn has the model make the moves again, from where they were told to have put the pods.
func (s *shadow) goOn(now time.Time) {
	s.driver.resumeAt(now)
	for key, tier := range s.told {
		pod := s.objects.Pod(key)
		if pod == nil {
			continue
		}
		if info, ok := s.driver.queue.Get(key.Namespace, key.Name); !ok || sources.Tier(info.Tier.String()) != tier {
			s.putWhere(now, pod, &sources.Move{Pod: key, To: tier})
		}
	}
	s.unsettled.moves = s.unsettled.moves[:0]
	s.told = nil
}

func keyOf(pod *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}
