package session_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// script is a stream that a test controls.
type script struct {
	mu     sync.Mutex
	events []sources.Event
	status sources.Status
	fails  chan error
}

func newScript() *script { return &script{fails: make(chan error, 1)} }

func (s *script) Name() sources.SafeText { return "script" }

func (s *script) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.fails:
		return err
	}
}

func (s *script) Take() ([]sources.Event, sources.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events = nil
	return events, s.status
}

// deliver makes the stream deliver facts now.
func (s *script) deliver(facts ...sources.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UTC()
	for _, f := range facts {
		if _, ok := f.(*sources.Attached); ok {
			s.status.Attached = now
		}
		s.events = append(s.events, sources.Event{Time: now, Fact: f})
	}
}

// there returns the fact that obj was added.
func there(obj runtime.Object) sources.Fact {
	return &sources.ObjectChange{Verb: sources.Added, Object: obj}
}

// waits returns an unbound pod that requests that much CPU.
func waits(name, cpu string) *v1.Pod {
	zero := int32(0)
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: "1"},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Priority: &zero, Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse(cpu)}}}}},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

// tooSmall is the scheduler's message about a pod that fits no node.
const tooSmall = "0/1 nodes are available: 1 Insufficient cpu."

// rejected returns pod with the scheduler's condition at that time.
func rejected(pod *v1.Pod, at time.Time, message string) *v1.Pod {
	pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable,
		Message: message, LastTransitionTime: metav1.NewTime(at)}}
	return pod
}

func ready(name, cpu string) *v1.Node {
	room := v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	return &v1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Status: v1.NodeStatus{Capacity: room, Allocatable: room}}
}

// follow runs s and returns its moves, and a function that stops it.
func follow(t *testing.T, s *script, opts timeline.Options) (moves chan *board.Transition, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	moves = make(chan *board.Transition, 1000)
	ended := make(chan error, 1)
	go func() {
		ended <- timeline.Follow(ctx, s, opts, timeline.Handlers{Move: func(m *board.Transition) error { moves <- m; return nil }})
		close(moves)
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return moves, stop
}

// until returns the moves up to the first that equals want.
func until(t *testing.T, moves chan *board.Transition, want string) []string {
	t.Helper()
	var seen []string
	for deadline := time.After(20 * time.Second); ; {
		select {
		case m, ok := <-moves:
			if !ok {
				t.Fatalf("%s did not come before the end, but %q", want, seen)
			}
			seen = append(seen, formatMove(m))
			if seen[len(seen)-1] == want {
				return seen
			}
		case <-deadline:
			t.Fatalf("%s did not come, but %q", want, seen)
		}
	}
}

func formatMove(m *board.Transition) string {
	s := fmt.Sprintf("%s %s %d %s", m.Pod.Key.Name, m.To, m.Attempts, m.Provenance())
	if m.Event != "" {
		s += " " + m.Event
	}
	return s
}

// TestPodsFromBeforeAttaching: the tier of existing pods is estimated from the cluster, and marked as estimated
// until an attempt.
func TestPodsFromBeforeAttaching(t *testing.T) {
	s := newScript()
	now := time.Now()
	moves, _ := follow(t, s, timeline.Options{})
	gated := waits("gated", "1")
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/hold"}}
	s.deliver(
		there(ready("n-1", "4")),
		there(rejected(waits("stuck", "6"), now.Add(-time.Hour), tooSmall)),
		there(rejected(waits("fits-now", "1"), now.Add(-time.Second), tooSmall)),
		there(gated),
		there(waits("fresh", "1")),
		&sources.Tried{Pod: types.NamespacedName{Namespace: "default", Name: "stuck"}, UID: "stuck", Attempts: 5, Failed: now.Add(-time.Minute)},
		&sources.Tried{Pod: types.NamespacedName{Namespace: "default", Name: "fits-now"}, UID: "fits-now", Attempts: 4, Failed: now.Add(-time.Second)},
		&sources.Attached{},
	)
	first := until(t, moves, "stuck unschedulable 5 estimated")
	for _, want := range []string{"fits-now backoff 4 estimated", "gated gated 0 modelled UnscheduledPodAdd", "fresh active 0 modelled UnscheduledPodAdd"} {
		if !slices.Contains(first, want) {
			t.Errorf("%q is not among %q", want, first)
		}
	}
	s.deliver(there(ready("n-2", "8")))
	second := until(t, moves, "stuck inflight 6 modelled")
	if !slices.Contains(second, "stuck active 5 estimated NodeAdd") {
		t.Errorf("woken it was still estimated, and in activeQ: %q", second)
	}
}

// TestNewLeader: a new scheduler's queue is known from its start.
func TestNewLeader(t *testing.T) {
	s := newScript()
	moves, _ := follow(t, s, timeline.Options{})
	s.deliver(there(ready("n-1", "4")), there(rejected(waits("stuck", "6"), time.Now().Add(-time.Hour), tooSmall)), &sources.Attached{})
	until(t, moves, "stuck unschedulable 1 estimated")
	s.deliver(&sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	until(t, moves, "stuck unschedulable 1 modelled ScheduleAttemptFailure")
}

// TestMovesFromLog: if the scheduler's log contains its moves, none is modelled.
func TestMovesFromLog(t *testing.T) {
	s := newScript()
	moves, stop := follow(t, s, timeline.Options{})
	key := types.NamespacedName{Namespace: "default", Name: "a"}
	s.deliver(there(ready("n-1", "4")), there(waits("a", "1")), &sources.Attached{}, &sources.Logged{Verbosity: sources.MovesVerbosity})
	until(t, moves, "a active 0 modelled UnscheduledPodAdd")
	s.deliver(&sources.Move{Pod: key, To: sources.TierInFlight})
	until(t, moves, "a inflight 1 observed")
	stop()
	for m := range moves {
		t.Errorf("not in the log: %s", formatMove(m))
	}
}

// TestLowVerbosityLog: a log at -v=2 corrects the model: attempts missing from it did not happen, and the Event
// of a logged attempt is not another attempt.
func TestLowVerbosityLog(t *testing.T) {
	s := newScript()
	moves, _ := follow(t, s, timeline.Options{})
	key := types.NamespacedName{Namespace: "default", Name: "a"}
	pod := waits("a", "6")
	s.deliver(there(ready("n-1", "4")), &sources.Attached{}, &sources.Logged{Verbosity: sources.AttemptsVerbosity})
	s.deliver(there(pod))
	until(t, moves, "a active 0 modelled UnscheduledPodAdd")
	s.deliver(&sources.FailedAttempt{Pod: key, UID: pod.UID, Message: tooSmall, Log: true},
		&sources.FailedAttempt{Pod: key, UID: pod.UID, Message: tooSmall, Recorded: sources.NewRecorded("1", 1)})
	until(t, moves, "a unschedulable 1 modelled ScheduleAttemptFailure")
	s.deliver(there(waits("b", "1")))
	seen := until(t, moves, "b active 0 modelled UnscheduledPodAdd")
	s.deliver(there(waits("c", "1")))
	if seen = append(seen, until(t, moves, "c active 0 modelled UnscheduledPodAdd")...); len(seen) != 2 {
		t.Errorf("not in the log: %q", seen)
	}
}

// TestStreamEnds: Follow returns the stream's error.
func TestStreamEnds(t *testing.T) {
	s := newScript()
	s.fails <- fmt.Errorf("the cluster is gone")
	if err := timeline.Follow(t.Context(), s, timeline.Options{}, timeline.Handlers{}); err == nil || err.Error() != "the cluster is gone" {
		t.Error(err)
	}
}

// show runs a live session.
func show(t *testing.T, s *script) *session.Session {
	t.Helper()
	shown := session.NewLive(s, timeline.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); shown.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return shown
}

// shows waits for a frame that satisfies want.
func shows(t *testing.T, s *session.Session, what string, want func(*session.Frame) bool) *session.Frame {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		f := s.Frame()
		if want(f) {
			return f
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come; live is %+v", what, f.Live)
		}
	}
}

func has(tier queue.Tier, n int) func(*session.Frame) bool {
	return func(f *session.Frame) bool { return f.Board.Total(tier) == n }
}

// TestLiveSession: it shows the newest state, can be paused while the model continues, and catches up.
func TestLiveSession(t *testing.T) {
	s := newScript()
	shown := show(t, s)
	if f := shown.Frame(); f.Live == nil || !f.Live.Attached.IsZero() {
		t.Fatalf("before the first event: %+v", f.Live)
	}
	s.deliver(there(ready("n-1", "4")), there(rejected(waits("a", "6"), time.Now(), tooSmall)), &sources.Attached{})
	f := shows(t, shown, "the first pod", has(queue.Unschedulable, 1))
	if !f.Live.Following || f.AtEnd || time.Since(f.Now) > 5*time.Second {
		t.Errorf("it does not follow: %+v at %s", f.Live, f.Now)
	}

	shown.Pause()
	paused := shown.Sync()
	s.deliver(there(rejected(waits("b", "7"), time.Now(), tooSmall)))
	f = shows(t, shown, "the moves made meanwhile", func(f *session.Frame) bool { return f.Known > f.Log.Len() })
	if f.Board.Total(queue.Unschedulable) != 1 || !f.Now.Equal(paused.Now) || f.Live.Following {
		t.Errorf("paused at %s, %d pods are shown at %s", paused.Now, f.Board.Total(queue.Unschedulable), f.Now)
	}

	shown.Fork()
	if f := shown.Sync(); f.Fork == nil || f.Board.Total(queue.Unschedulable) != 1 {
		t.Errorf("the what-if does not start where it was paused: %+v", f.Fork)
	}
	shown.LeaveFork()
	shown.SeekEnd()
	shown.Play()
	f = shows(t, shown, "the newest", func(f *session.Frame) bool { return f.Live.Following && f.Board.Total(queue.Unschedulable) == 2 })
	if f.Known != f.Log.Len() {
		t.Errorf("%d of %d moves are shown", f.Log.Len(), f.Known)
	}
}

// TestLiveNeeds: a live session also shows what a pod needs.
func TestLiveNeeds(t *testing.T) {
	s := newScript()
	shown := show(t, s)
	s.deliver(there(ready("n-1", "4")), there(rejected(waits("a", "6"), time.Now(), tooSmall)), &sources.Attached{})
	shows(t, shown, "the first pod", has(queue.Unschedulable, 1))
	shown.Diagnose(types.NamespacedName{Namespace: "default", Name: "a"})
	f := shows(t, shown, "what it needs", func(f *session.Frame) bool { return f.Needs != nil })
	if f.Needs.Unknown != "" || f.Needs.Nodes != 1 || len(f.Needs.Nearest) != 1 {
		t.Errorf("it needs %+v", f.Needs)
	}
}
