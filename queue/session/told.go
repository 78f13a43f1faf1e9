package session

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// What a shadow tells of its queue: events, as a source's.

// modelledMove is a move that no source told: a shadow worked it out.
type modelledMove struct {
	*sources.Move
	// observed is true if the source showed at least that this happened: a binding, a condition.
	observed bool
	// verdict is what an attempt came to that is behind the move, or nil.
	verdict *Verdict
	// expiry is when the backoff ends of a pod that is queued with its group. Else it is worked out.
	expiry time.Time
	// estimate is where the pod is thought to have been before the source came, or nil.
	estimate *guess
}

// settled implements driven: it hands on what the queue told as events.
func (s *shadow) settled(now time.Time, a *cycle.Attempt) {
	if a != nil {
		s.tried[a.Pod.UID] = tried{at: now}
		for _, r := range a.Reasons {
			if r.Plugin != "" {
				s.plugins[r.Text] = r.Plugin
			}
		}
	}
	for _, t := range s.told {
		key := types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}
		if !s.isShown(key, &t) {
			continue
		}
		m := &modelledMove{observed: t.Observed, Move: &sources.Move{
			Pod: key, To: sources.Tier(t.To.String()), Event: t.Event, GatingPlugin: t.GatingPlugin,
		}}
		if t.To == queue.Backoff && s.grouped(t.Pod) {
			m.expiry = t.BackoffExpiry
		}
		if t.Event == queue.ScheduleAttemptFailure {
			m.Plugins = append(slices.Clone(t.UnschedulablePlugins), t.PendingPlugins...)
			if a != nil && a.Pod.UID == t.Pod.UID {
				m.verdict = newVerdict(s.driver.began, now, a)
				m.Message, m.Node = sources.Sanitize(a.Message), a.Nominated
			}
		}
		if t.To == queue.Scheduled {
			if pod := s.objects.pod(key); pod != nil {
				m.Node = pod.Spec.NodeName
			}
		}
		s.emit(sources.Event{Time: t.Time, Fact: m})
		if strings.HasPrefix(t.Event, targetPod) && (t.To == queue.Active || t.To == queue.Backoff) {
			again := *m.Move
			again.Restated = true
			s.emit(sources.Event{Time: t.Time, Fact: &modelledMove{Move: &again}})
		}
	}
	if len(s.told) > 0 {
		s.release(now) // there may be another to take
	}
	s.told = s.told[:0]
}

// isShown reports whether t is a move of the pod that was told to be in the queue under that name, or makes it
// that. An attempt may end after its pod was deleted, when another has its name.
func (s *shadow) isShown(key types.NamespacedName, t *queue.Transition) bool {
	if t.From == queue.None && t.To != queue.Deleted {
		s.shown[key] = t.Pod.UID
	}
	is := s.shown[key] == t.Pod.UID
	if is && t.To == queue.Deleted {
		delete(s.shown, key)
	}
	return is
}

// targetPod begins the labels of events by which a pod's own update moves it. Upstream logs such a move
// twice (scheduling_queue.go, Update), and so does the model.
const targetPod = "TargetPod"

// tellGone tells of the pods whose end the scheduler before did not come to hear of.
func (s *shadow) tellGone(now time.Time) {
	var gone []types.NamespacedName
	for key, uid := range s.shown {
		if pod := s.objects.pod(key); pod == nil || pod.UID != uid || !waiting(pod) {
			gone = append(gone, key)
			delete(s.shown, key)
		}
	}
	slices.SortFunc(gone, byKey)
	for _, key := range gone {
		s.emit(sources.Event{Time: now, Fact: &modelledMove{Move: &sources.Move{Pod: key, To: sources.Tier(queue.Deleted.String())}}})
	}
}
