package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// withEvents returns rec, whose moves are the scheduler's own, with the Events that the scheduler's recorder writes: the first two
// attempts that fail at a resourceVersion of the pod (client-go, tools/events).
func withEvents(rec *sources.Recording) *sources.Recording {
	type state struct {
		uid     types.UID
		version string
	}
	with := *rec
	with.Events = nil
	objects, counts := cluster.NewObjects(), map[state]int{}
	for _, ev := range rec.Events {
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			if pod, ok := f.Object.(*corev1.Pod); ok && f.Verb == sources.Updated {
				if old := objects.Pod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}); old != nil && cluster.ShowsFailedAttempt(old, pod) {
					with.Events = append(with.Events, sources.Event{Time: ev.Time, Fact: &sources.StatusPatched{Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, UID: pod.UID}})
				}
			}
			objects.Apply(f)
		case *sources.Move:
			pod := objects.Pod(f.Pod)
			if f.Event != queue.ScheduleAttemptFailure || f.To == sources.TierDeleted || pod == nil {
				continue
			}
			s := state{pod.UID, pod.ResourceVersion}
			if counts[s]++; counts[s] > 2 {
				continue
			}
			ev.Fact = &sources.FailedAttempt{Pod: f.Pod, UID: pod.UID, Message: f.Message, Recorded: sources.NewRecorded(s.version, counts[s]), Received: ev.Time}
		}
		with.Events = append(with.Events, ev)
	}
	return &with
}

// attachedTo returns what a client records that attaches at that time, and watches for so long: the lists of objects and Events,
// and what the watches deliver.
func attachedTo(rec *sources.Recording, attached time.Time, lasts time.Duration) *sources.Recording {
	live := &sources.Recording{Name: rec.Name, Formats: []string{"live"}, End: attached.Add(lasts)}
	objects := cluster.NewObjects()
	type state struct {
		uid     types.UID
		version string
	}
	written := map[state]*eventsv1.Event{}
	var order []*eventsv1.Event
	began, release := time.Time{}, &sources.SchedulerRunning{From: sources.ReleaseImage}
	i := 0
	for ; i < len(rec.Events) && !rec.Events[i].Time.After(attached); i++ {
		ev := rec.Events[i]
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			objects.Apply(f)
		case *sources.SchedulerStarted:
			began, release.Release = ev.Time, f.Release
		case *sources.SchedulerRunning:
			release.Release = f.Release
		case *sources.FailedAttempt:
			if f.Version == "" || f.Received.After(attached) {
				continue
			}
			s := state{f.UID, f.Version}
			e := written[s]
			if e == nil {
				e = &eventsv1.Event{Reason: "FailedScheduling", EventTime: metav1.NewMicroTime(ev.Time),
					Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: f.Pod.Namespace, Name: f.Pod.Name, UID: f.UID, ResourceVersion: f.Version}}
				written[s], order = e, append(order, e)
			}
			if e.Note = string(f.Message); f.Count > 1 {
				e.Series = &eventsv1.EventSeries{Count: int32(f.Count), LastObservedTime: metav1.NewMicroTime(ev.Time)}
			}
		}
	}
	add := func(at time.Time, f sources.Fact) {
		live.Events = append(live.Events, sources.Event{Time: at, Fact: f})
	}
	var listed []runtime.Object
	objects.Each("", func(obj runtime.Object) bool {
		listed = append(listed, obj)
		return true
	})
	slices.SortStableFunc(listed, func(a, b runtime.Object) int {
		return a.(metav1.Object).GetCreationTimestamp().Compare(b.(metav1.Object).GetCreationTimestamp().Time)
	})
	for _, obj := range listed {
		add(attached, &sources.ObjectChange{Verb: sources.Added, Object: obj})
	}
	for _, t := range attempts.SumUp(slices.Values(order), func(name types.NamespacedName) *corev1.Pod { return objects.Pod(name) }) {
		add(attached, t)
	}
	add(attached, release)
	add(attached, &sources.Attached{Began: began, Nodes: true})
	for ; i < len(rec.Events); i++ {
		ev := rec.Events[i]
		switch f := ev.Fact.(type) {
		case *sources.StatusPatched:
			ev.Fact = &sources.StatusPatched{Pod: f.Pod, UID: f.UID}
		case *sources.FailedAttempt:
			if f.Received.After(live.End) {
				continue
			}
		case *sources.ObjectChange, *sources.SchedulerRunning:
		default:
			continue
		}
		if !ev.Time.After(live.End) {
			live.Events = append(live.Events, ev)
		}
	}
	slices.SortStableFunc(live.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return live
}

// answers count pods that the scheduler has waiting at a moment, and those of which the list is right.
type answers struct{ pods, tier, age, plugins, attempts, exact, next int }

// delivered is how long ago a move may be that has not reached an attached schedq.
const delivered = 250 * time.Millisecond

// ask compares what a list shows with the truth at the moment, and for a pod's tier also shortly before. tried is when the
// scheduler takes each pod next.
func (a *answers) ask(t *testing.T, shown, truth, before []report.Waiting, tried map[sources.SafeText]time.Time) {
	t.Helper()
	byPod := func(pods []report.Waiting) map[sources.SafeText]report.Waiting {
		all := map[sources.SafeText]report.Waiting{}
		for _, p := range pods {
			all[p.Pod] = p
		}
		return all
	}
	isShown, was := byPod(shown), byPod(before)
	for _, want := range truth {
		a.pods++
		got, ok := isShown[want.Pod]
		if !ok {
			t.Logf("%s is not listed: %+v", want.Pod, want)
			continue
		}
		count := func(n *int, right bool, what string) {
			if right {
				*n++
			} else {
				t.Logf("%s: %s: shown %+v, truth %+v", want.Pod, what, got, want)
			}
		}
		count(&a.tier, got.Tier == want.Tier || got.Tier == was[want.Pod].Tier, "tier")
		count(&a.age, time.Duration(got.Age-want.Age).Abs() <= time.Second, "age")
		count(&a.plugins, slices.Equal(got.Plugins, want.Plugins), "plugins")
		count(&a.attempts, got.Attempts == want.Attempts || got.AttemptsAtLeast && got.Attempts < want.Attempts, "attempts")
		if got.Attempts == want.Attempts {
			a.exact++
		}
		next, known := tried[want.Pod]
		count(&a.next, got.NextTry == nil || !known || !next.After(got.NextTry.Add(delivered)), "next try at "+next.String())
	}
}

// TestListAttached attaches to a recorded cluster a minute and a hundred seconds into its work, with what an API server shows of
// it then, and compares the list of pending pods with the scheduler's own moves. With SCHEDQ_RECORDINGS, it does so with all
// recordings, and logs the figures.
func TestListAttached(t *testing.T) {
	truth, err := embedded.Open(t.Context(), "crowded")
	if err != nil {
		t.Fatal(err)
	}
	total := listAttached(t, withEvents(truth), truth, timeline.Options{})
	const want = 0.98
	for what, right := range map[string]int{
		"tier": total.tier, "age": total.age, "plugins": total.plugins, "attempts, or a bound of them": total.attempts, "next try": total.next,
	} {
		if share := float64(right) / float64(total.pods); total.pods < 50 || share < want {
			t.Errorf("%s: right for %d of %d pods, want %.0f %%", what, right, total.pods, 100*want)
		}
	}
	if total.exact == total.pods {
		t.Error("no pod had attempts that left no trace")
	}
}

// TestListAttachedRecordings logs the same figures of recordings.
func TestListAttachedRecordings(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if os.Getenv("SCHEDQ_VERIFY") == "" || root == "" {
		t.Skip("make verify runs this, with recordings")
	}
	logs, _ := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	for _, log := range logs {
		t.Run(filepath.Base(filepath.Dir(log)), func(t *testing.T) {
			rec, err := files.Open(t.Context(), []string{filepath.Join(filepath.Dir(log), "audit.log.gz")}, files.Options{})
			if err != nil {
				t.Fatal(err)
			}
			truth, err := files.Open(t.Context(), []string{log}, files.Options{Beside: rec})
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := schedulerconfig.Default()
			if err != nil {
				t.Fatal(err)
			}
			cfg.Queue.PopFromBackoffQ = !strings.HasSuffix(filepath.Dir(log), "-nopop")
			a := listAttached(t, rec, truth, timeline.Options{Scheduler: cfg})
			t.Logf("%+v", a)
			if float64(a.age) < 0.98*float64(a.pods) {
				t.Errorf("the age of %d of %d pods is right", a.age, a.pods)
			}
		})
	}
}

// listAttached attaches to rec, of which truth has the scheduler's own moves, and sums up the answers.
func listAttached(t *testing.T, rec, truth *sources.Recording, opts timeline.Options) (total answers) {
	t.Helper()
	start, end := timeline.Span(truth)
	for _, after := range []time.Duration{time.Minute, 100 * time.Second} {
		attached := start.Add(after)
		at := attached.Add(time.Second) // schedq list watches for so long
		if at.After(end) {
			break
		}
		tried := map[sources.SafeText]time.Time{}
		if err := timeline.Replay(t.Context(), truth, opts, func(m *board.Transition) error {
			key := sources.SafeText(m.Pod.Key.String())
			if _, done := tried[key]; !done && m.Time.After(at) && (m.To == queue.InFlight || m.To == queue.Active) {
				tried[key] = m.Time
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		list := func(rec *sources.Recording, at time.Time) []report.Waiting {
			pods, err := session.ListPods(t.Context(), rec, opts, at)
			if err != nil {
				t.Fatal(err)
			}
			return pods.Pods
		}
		total.ask(t, list(attachedTo(rec, attached, time.Second), at), list(truth, at), list(truth, at.Add(-delivered)), tried)
	}
	return total
}
