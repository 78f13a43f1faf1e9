package report_test

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
)

// settled is how long after attaching to a running scheduler the measurement starts, as in e2e.
const settled = 10 * time.Second

// halfwayShort is how far the figures of a session attached half-way may be below those of the audit log
// alone for the same time, by recording; "" is the default.
var halfwayShort = map[string]float64{"": 0.01, "lively-nopop": 0.015}

// newHalfway extracts from rec what the API shows to a client that attaches at that time: first the lists
// of objects and Events, then each change, as newAsLive does.
func newHalfway(rec *sources.Recording, attached time.Time) *asLive {
	s := &asLive{attached: attached}
	add := func(f sources.Fact) {
		s.left = append(s.left, delivery{sources.Event{Time: attached, Fact: f}, attached})
	}
	objects, past := cluster.NewObjects(), &sources.Recording{}
	began, release := time.Time{}, &sources.SchedulerRunning{From: sources.ReleaseImage}
	for _, ev := range rec.Events {
		if ev.Time.After(attached) {
			break
		}
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			objects.Apply(f)
		case *sources.SchedulerStarted:
			began, release.Release = ev.Time, f.Release
		case *sources.SchedulerRunning:
			release.Release = f.Release
		case *sources.FailedAttempt:
			if !f.Received.After(attached) {
				past.Events = append(past.Events, ev)
			}
		}
	}
	for _, obj := range oldestFirst(objects) {
		add(&sources.ObjectChange{Verb: sources.Added, Object: obj})
	}
	listed := func(yield func(*eventsv1.Event) bool) {
		for _, e := range failedEvents(past) {
			if !yield(e.(*eventsv1.Event)) {
				return
			}
		}
	}
	for _, t := range attempts.SumUp(listed, func(name types.NamespacedName) *corev1.Pod { return objects.Pod(name) }) {
		add(t)
	}
	add(release)
	add(&sources.Attached{Began: began, Nodes: true})
	for _, later := range newAsLive(rec, 0).left {
		if later.at.After(attached) {
			s.left = append(s.left, later)
		}
	}
	return s
}

// oldestFirst returns the objects in the order in which a live source lists them.
func oldestFirst(objects cluster.Objects) (all []runtime.Object) {
	objects.Each("", func(obj runtime.Object) bool {
		all = append(all, obj)
		return true
	})
	slices.SortStableFunc(all, func(a, b runtime.Object) int {
		ma, mb := a.(metav1.Object), b.(metav1.Object)
		return cmp.Or(ma.GetCreationTimestamp().Compare(mb.GetCreationTimestamp().Time),
			cmp.Compare(ma.GetNamespace(), mb.GetNamespace()), cmp.Compare(ma.GetName(), mb.GetName()))
	})
	return all
}

// movesSince returns rec's moves from that time on, preceded by the tier of each pod then.
func movesSince(t *testing.T, rec *sources.Recording, from time.Time, cfg *schedulerconfig.Config) *sources.Recording {
	t.Helper()
	var since []sources.Event
	in := map[types.NamespacedName]sources.Tier{}
	if err := timeline.Replay(t.Context(), rec, timeline.Options{Scheduler: cfg}, func(m *board.Transition) error {
		switch {
		case !m.Time.Before(from):
			since = append(since, asMove(m))
		case m.Pod.Tier == queue.Scheduled, m.Pod.Tier == queue.Deleted:
			delete(in, m.Pod.Key)
		default:
			in[m.Pod.Key] = sources.Tier(m.Pod.Tier.String())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(since, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	moves := &sources.Recording{Name: rec.Name, End: rec.End}
	for pod, tier := range in {
		moves.Events = append(moves.Events, sources.Event{Time: from, Fact: &sources.Move{Pod: pod, To: tier}})
	}
	moves.Events = append(moves.Events, since...)
	return moves
}

// TestHalfway compares a session attached half-way with the scheduler's log, and the result with that of
// the audit log alone for the same time.
func TestHalfway(t *testing.T) {
	var rows [][]string
	eachAttached(t, func(t *testing.T, _, _ string, rec, truth *sources.Recording, cfg *schedulerconfig.Config) {
		attached := rec.Events[len(rec.Events)/2].Time
		opts := timeline.Options{Scheduler: cfg}
		want := movesSince(t, truth, attached.Add(settled), cfg)
		verified := func(made *sources.Recording) *report.Verification {
			v, err := report.Verify(t.Context(), movesSince(t, made, attached.Add(settled), cfg), want, opts, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		live := followed(t, newHalfway(rec, attached), rec.End, cfg)
		session, audit := verified(live), verified(rec)
		rows = append(rows, []string{recordingOf(t), cell(session), cell(audit)})
		compareLive(t, session, audit, halfwayShort)
	})
	checkTable(t, attached, []string{"recording", "half-way", "audit log of that time"}, rows)
}
