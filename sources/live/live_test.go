package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/livetest"
)

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"secret": "s3cret"}},
		Spec: corev1.PodSpec{NodeName: node, SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{{
			Name: "c", Env: []corev1.EnvVar{{Name: "TOKEN", Value: "s3cret"}}, Args: []string{"s3cret"},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func node(name, cpu string) *corev1.Node {
	room := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}
}

// failedScheduling is the Event of a failed attempt of the pod stuck.
func failedScheduling(name string, at time.Time) *eventsv1.Event {
	return &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Reason: "FailedScheduling", Note: "0/1 nodes are available: 1 Too many pods.",
		EventTime: metav1.NewMicroTime(at), Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "stuck", UID: "default/stuck", ResourceVersion: "7"}}
}

// watched is a source at work, and what it told so far.
type watched struct {
	*testing.T
	source *live.Source
	events []sources.Event
	status sources.Status
	clocks []*sources.Clocks // apart from the events: how late this machine hears is by chance
}

// watch returns a source of the server that has read the first lists.
func watch(t *testing.T, server *livetest.Server) *watched {
	t.Helper()
	source, err := live.New(&rest.Config{Host: server.URL}, live.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return watchSource(t, source)
}

func watchSource(t *testing.T, source *live.Source) *watched {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- source.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	w := &watched{T: t, source: source}
	w.until("the first lists", w.attached)
	return w
}

// until takes what the source tells until ok.
func (w *watched) until(what string, ok func() bool) {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		events, status := w.source.Take()
		for _, ev := range events {
			if c, is := ev.Fact.(*sources.Clocks); is {
				w.clocks = append(w.clocks, c)
			} else {
				w.events = append(w.events, ev)
			}
		}
		w.status = status
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s did not come; told were %v, and %+v", what, w.told(), status)
		}
	}
}

func (w *watched) attached() bool { return !w.status.Attached.IsZero() }

// told returns the events in short, without the release.
func (w *watched) told() []string {
	var list []string
	for _, ev := range w.events {
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			list = append(list, fmt.Sprintf("%s %s", f.Verb, f.Object.(metav1.Object).GetName()))
		case *sources.SchedulerRunning: // by TestRelease
		default:
			list = append(list, fmt.Sprintf("%T", f)[len("*sources."):])
		}
	}
	return list
}

func (w *watched) tells(want ...string) {
	w.Helper()
	w.until(fmt.Sprint(want), func() bool { return len(w.told()) >= len(want) })
	if got := w.told(); !slices.Equal(got, want) {
		w.Errorf("told %v, want %v", got, want)
	}
	w.events = nil
}

// TestAttach: the existing objects come first, all at once, and then every change.
func TestAttach(t *testing.T) {
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("streams=%v", streams), func(t *testing.T) {
			server := livetest.New(t)
			if !streams {
				server.NoStreams()
			}
			server.Put(node("n-1", "4"), pod("web-1", "n-1"), pod("web-2", ""))
			w := watch(t, server)
			w.tells("added n-1", "added web-1", "added web-2", "Attached")

			server.Put(pod("web-2", "n-1"))
			server.Put(pod("web-3", ""))
			server.Delete(pod("web-1", ""))
			w.tells("updated web-2", "added web-3", "deleted web-1")
		})
	}
}

// TestHeartbeats: what changes nothing that the scheduler reads is not told.
func TestHeartbeats(t *testing.T) {
	server := livetest.New(t)
	n := node("n-1", "4")
	server.Put(n)
	w := watch(t, server)
	w.tells("added n-1", "Attached")

	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	server.Put(n)
	for range 3 {
		n.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
		server.Put(n)
	}
	n.Labels = map[string]string{"zone": "a"}
	server.Put(n)
	w.tells("updated n-1", "updated n-1")
}

// TestReconnect: whatever cuts the source off, afterwards it has told what a fresh list tells, each change
// once, and it says since when it knew nothing.
func TestReconnect(t *testing.T) {
	for name, fault := range map[string]struct{ begin, end func(*livetest.Server) }{
		"connection cut":           {func(s *livetest.Server) { s.CutWatches() }, func(*livetest.Server) {}},
		"API server stopped":       {refuse(503), answer},
		"credentials refused":      {refuse(401), answer},
		"too many requests":        {refuse(429), answer},
		"compacted, then 410 Gone": {refuse(503), func(s *livetest.Server) { s.Compact(); answer(s) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := livetest.New(t)
			server.Put(node("n-1", "4"), pod("stays", ""), pod("goes", ""), pod("changes", ""), pod("again", ""))
			w := watch(t, server)
			w.tells("added n-1", "added again", "added changes", "added goes", "added stays", "Attached")

			fault.begin(server)
			if name != "connection cut" {
				w.until("word that it is stale", func() bool { return !w.status.StaleSince.IsZero() && w.status.Trouble != "" })
			}
			server.Delete(pod("goes", ""), pod("again", ""))
			other := pod("again", "")
			other.UID = "another"
			server.Put(other, pod("changes", "n-1"), pod("new", ""))
			fault.end(server)
			changes := func() []string {
				return slices.DeleteFunc(w.told(), func(s string) bool { return s == "Mark" }) // that it was stale
			}
			w.until("all changes", func() bool { return len(changes()) >= 5 && w.status.StaleSince.IsZero() })
			got := changes()
			slices.Sort(got)
			if want := []string{"added again", "added new", "deleted again", "deleted goes", "updated changes"}; !slices.Equal(got, want) {
				t.Errorf("told %v, want %v", got, want)
			}
		})
	}
}

func refuse(code int) func(*livetest.Server) {
	return func(s *livetest.Server) { s.Refuse("", code); s.CutWatches() }
}

func answer(s *livetest.Server) { s.Refuse("", 0) }

// state is how the reading of a resource stood when the source was last asked.
func (w *watched) state(name string) sources.Resource {
	i := slices.IndexFunc(w.status.Resources, func(r sources.Resource) bool { return r.Name == name })
	return w.status.Resources[i]
}

// TestOneWatchBroken: while one watch can't restart, the others go on, and the status says which one is broken, since when and why. An
// attempt that failed meanwhile comes with its own time, once the Events are listed anew.
func TestOneWatchBroken(t *testing.T) {
	for _, compacts := range []bool{false, true} {
		server := livetest.New(t)
		server.Put(node("n-1", "4"), pod("stuck", ""))
		w := watch(t, server)
		w.tells("added n-1", "added stuck", "Attached")

		began := time.Now()
		server.Refuse("events", 503)
		server.CutWatches("events")
		w.until("word of it", func() bool { return w.state("events").State == sources.ResourceFailing && w.status.Trouble != "" })
		if since := w.state("events").Gap; !since.Lasts() || since.Since.Before(began) || since.Since.After(time.Now()) {
			t.Errorf("Events are not heard: %+v", since)
		}
		if text := string(w.status.Trouble); !w.status.StaleSince.IsZero() || !strings.HasPrefix(text, "events can't be read: ") {
			t.Errorf("stale since %v, the trouble is %q", w.status.StaleSince, text)
		}
		server.Put(pod("new", ""))
		w.until("the new pod", func() bool { return slices.Contains(w.told(), "added new") })
		w.events = nil
		if r := w.state("pods"); r.State != sources.ResourceWatched || !r.Gap.Since.IsZero() {
			t.Errorf("pods are %+v", r)
		}

		failed := time.Now().Truncate(time.Microsecond)
		server.Put(failedScheduling("first", failed))
		if compacts {
			server.Compact()
		}
		server.Refuse("events", 0)
		attempts := func() []sources.Event {
			return slices.DeleteFunc(slices.Clone(w.events), func(ev sources.Event) bool { _, is := ev.Fact.(*sources.Mark); return is }) // without marks of broken watches
		}
		w.until("what was missed", func() bool { return len(attempts()) > 0 && w.status.Trouble == "" })
		if got := attempts(); len(got) != 1 || !got[0].Time.Equal(failed) {
			t.Errorf("told %v, at %v, want an attempt at %v", w.told(), got[0].Time, failed)
		}
		if r := w.state("events"); r.State != sources.ResourceWatched || r.Gap.Lasts() || !r.Gap.Since.Before(failed) || !r.Gap.Until.After(failed) {
			t.Errorf("Events are %+v, and the attempt failed at %v", r, failed)
		}
	}
}

// TestWatchBeginsAgain: that one watch ended is known also where the next one begins at once, or all is listed anew.
func TestWatchBeginsAgain(t *testing.T) {
	for name, end := range map[string]func(*livetest.Server){
		"it goes on":     func(*livetest.Server) {},
		"it lists anew":  (*livetest.Server).Compact,
		"it lists pages": func(s *livetest.Server) { s.NoStreams(); s.Compact() },
	} {
		t.Run(name, func(t *testing.T) {
			server := livetest.New(t)
			server.Put(node("n-1", "4"), pod("old", ""))
			w := watch(t, server)
			w.until("all watches", func() bool { return !w.state("pods").Gap.Lasts() })
			began := time.Now()
			end(server)
			server.CutWatches("pods")
			w.until("the gap", func() bool { return w.state("pods").Gap.Since.After(began) && !w.state("pods").Gap.Lasts() })
			if r := w.state("nodes"); r.Gap.Since.After(began) {
				t.Errorf("nodes were not heard: %+v", r)
			}
			if !w.status.StaleSince.IsZero() || w.status.Trouble != "" || w.state("pods").State != sources.ResourceWatched {
				t.Errorf("it is %+v", w.status)
			}
		})
	}
}

// TestDoneWithout: what may not be read, or is not served, is named, and the rest goes on.
func TestDoneWithout(t *testing.T) {
	server := livetest.New(t)
	server.Put(node("n-1", "4"))
	server.Refuse("persistentvolumes", 403)
	server.Refuse("podgroups", 404)
	w := watch(t, server)
	states := map[string]sources.ResourceState{}
	for _, r := range w.status.Resources {
		states[r.Name] = r.State
	}
	if states["persistentvolumes"] != sources.ResourceForbidden || states["podgroups"] != sources.ResourceNotServed || states["nodes"] != sources.ResourceWatched {
		t.Errorf("the states are %v", states)
	}
	if n := w.status.Notices; len(n) != 1 || n[0] != "limited view: 1 kind is not readable; schedq doctor lists it" {
		t.Errorf("the notices are %q", n)
	}
}

// TestAttemptsBefore: the scheduler's Events tell of attempts from before, and of each new one once.
func TestAttemptsBefore(t *testing.T) {
	began := time.Now().Add(-time.Minute).Truncate(time.Second)
	event := func(name string, at time.Time, count int32, last time.Time) *eventsv1.Event {
		e := failedScheduling(name, at)
		if count > 0 {
			e.Series = &eventsv1.EventSeries{Count: count, LastObservedTime: metav1.NewMicroTime(last)}
		}
		return e
	}
	server := livetest.New(t)
	server.Put(node("n-1", "4"), pod("stuck", ""), event("first", began, 0, began), event("second", began.Add(time.Second), 3, began.Add(20*time.Second)))
	w := watch(t, server)
	w.until("what was before", func() bool { return len(w.told()) == 4 })
	tried, ok := w.events[2].Fact.(*sources.Tried)
	if !ok || tried.Attempts != 4 || !tried.First.Equal(began) || !tried.Failed.Equal(began.Add(20*time.Second)) || tried.Recorded != (sources.Recorded{Version: "7", Count: 3}) {
		t.Errorf("told %+v", w.events[2].Fact)
	}
	w.events = nil

	now := time.Now().Truncate(time.Microsecond)
	server.Put(event("second", began.Add(time.Second), 4, now))
	server.Put(event("second", began.Add(time.Second), 4, now)) // written again, as it is
	server.Put(event("third", now.Add(time.Millisecond), 0, now))
	w.tells("FailedAttempt", "FailedAttempt")
}

// TestEventsOfOthers: Karpenter, Volcano and other schedulers write Events of the same reason about a pod that
// kube-scheduler schedules. Those are not its attempts.
func TestEventsOfOthers(t *testing.T) {
	now := time.Now().Truncate(time.Microsecond)
	event := func(name, by string, at time.Time) *eventsv1.Event {
		e := failedScheduling(name, at)
		e.ReportingController = by
		return e
	}
	server := livetest.New(t)
	legacy := event("legacy", "", now)
	legacy.DeprecatedSource.Component = "karpenter"
	server.Put(node("n-1", "4"), pod("stuck", ""), event("first", "karpenter", now), event("own", "default-scheduler", now.Add(-time.Second)), legacy)
	w := watch(t, server)
	w.until("what was before", func() bool { return len(w.told()) == 4 })
	if tried, ok := w.events[2].Fact.(*sources.Tried); !ok || tried.Attempts != 1 || !tried.Failed.Equal(now.Add(-time.Second)) {
		t.Errorf("told %+v", w.events[2].Fact)
	}
	w.events = nil
	server.Put(event("second", "karpenter", now.Add(time.Millisecond)), event("third", "volcano", now.Add(time.Millisecond)))
	server.Put(event("fourth", "default-scheduler", now.Add(2*time.Millisecond)))
	w.tells("FailedAttempt")
}

// TestClocksApart: by the scheduler's clock it is five seconds earlier than here. Its lease tells so, and an attempt that it made after
// a pod came is placed after that.
func TestClocksApart(t *testing.T) {
	const behind = 5 * time.Second
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	by := "a_1"
	lease.Spec.HolderIdentity = &by
	server := livetest.New(t)
	server.Put(node("n-1", "4"), lease)
	w := watch(t, server)
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-behind)}
	server.Put(lease)
	w.until("that it is renewed", func() bool { return w.status.Ahead != 0 })
	if off := (w.status.Ahead - behind).Abs(); off > time.Second || w.status.Answers == 0 {
		t.Errorf("the clocks are %v apart, and answers take %v", w.status.Ahead, w.status.Answers)
	}
	if len(w.clocks) != 1 || (w.clocks[0].Ahead-behind).Abs() > time.Second {
		t.Errorf("it tells of the clocks %+v", w.clocks)
	}
	w.events = nil

	server.Put(pod("stuck", ""))
	w.tells("added stuck")
	server.Put(failedScheduling("first", time.Now().Add(-behind)))
	now := time.Now()
	w.until("the attempt", func() bool { return len(w.events) == 1 })
	if off := w.events[0].Time.Sub(now).Abs(); off > time.Second {
		t.Errorf("the attempt was %v away from now", off)
	}
}

// TestOutcomeWritten: a condition that changes shows that the scheduler wrote an attempt's outcome.
func TestOutcomeWritten(t *testing.T) {
	server := livetest.New(t)
	p := pod("stuck", "")
	server.Put(node("n-1", "4"), p)
	w := watch(t, server)
	w.events = nil

	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available"}}
	server.Put(p)
	w.tells("updated stuck", "StatusPatched")
	p.Labels = map[string]string{"a": "b"}
	server.Put(p)
	w.tells("updated stuck")
	p.Status.NominatedNodeName = "n-1" // a binding that takes its time
	server.Put(p)
	w.tells("updated stuck")
	p.Status.NominatedNodeName = "" // an attempt that failed as the one before
	server.Put(p)
	w.tells("updated stuck", "StatusPatched")
}

// TestLeader: a new holder of the lease is a scheduler that has just begun.
func TestLeader(t *testing.T) {
	server := livetest.New(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	hold := func(by string) {
		lease.Spec.HolderIdentity = &by
		lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
		server.Put(lease)
	}
	hold("a_1")
	w := watch(t, server)
	w.tells("Attached")
	hold("a_1")
	hold("")
	hold("a_1")
	hold("b_2")
	w.tells("SchedulerStarted", "Mark")
}

// TestLeaseLapses: nobody leads once the lease was not renewed for as long as it lasts, until it is.
func TestLeaseLapses(t *testing.T) {
	server := livetest.New(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	by, second := "a_1", int32(1)
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &by, &second
	server.Put(lease)
	w := watch(t, server)
	w.tells("Attached", "Silent")
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	server.Put(lease)
	w.until("that it is renewed", func() bool { return len(w.events) > 0 })
	if f, ok := w.events[0].Fact.(*sources.Silent); !ok || !f.Since.IsZero() {
		t.Errorf("renewed, it tells %+v", w.events[0].Fact)
	}
}

// TestLeaderOfOpenShift: its scheduler's lease is in a namespace of its own, and is found there unless another is named.
func TestLeaderOfOpenShift(t *testing.T) {
	server := livetest.New(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-kube-scheduler", Name: "kube-scheduler"}}
	hold := func(by string) {
		lease.Spec.HolderIdentity = &by
		server.Put(lease)
	}
	hold("master-0_1")
	source, err := live.New(&rest.Config{Host: server.URL}, live.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Check(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	w := watchSource(t, source)
	w.tells("Attached")
	hold("master-1_2")
	w.tells("SchedulerStarted", "Mark")
}

// TestHostileObjects: an object that can't be taken is left out and named; the others come.
func TestHostileObjects(t *testing.T) {
	server := livetest.New(t)
	bad := pod("bad", "")
	bad.Name = "b\x1b[31mad"
	server.Put(node("n-1", "4"), bad, pod("good", ""))
	w := watch(t, server)
	w.tells("added n-1", "added good", "Attached")
	if n := w.status.Notices; len(n) != 1 || !strings.Contains(n[0], "Skipped") || strings.Contains(n[0], "\x1b") {
		t.Errorf("the notices are %q", n)
	}
}

// TestTrimmed: nothing secret of an object is kept.
func TestTrimmed(t *testing.T) {
	server := livetest.New(t)
	server.Put(pod("web-1", ""))
	w := watch(t, server)
	text, err := json.Marshal(w.events[0].Fact)
	if err != nil || strings.Contains(string(text), "s3cret") || !strings.Contains(string(text), "web-1") {
		t.Errorf("%v: told was %s", err, text)
	}
}

// TestReadsOnly: nothing but GET and the access reviews gets out, whoever asks for it.
func TestReadsOnly(t *testing.T) {
	server := livetest.New(t)
	server.Put(pod("web-1", ""))
	client := live.ReadOnlyClient(t, server.URL)
	ctx := t.Context()
	p := pod("web-1", "")
	for name, request := range map[string]func() error{
		"create": func() error {
			_, err := client.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
			return err
		},
		"update": func() error {
			_, err := client.CoreV1().Pods("default").Update(ctx, p, metav1.UpdateOptions{})
			return err
		},
		"patch": func() error {
			_, err := client.CoreV1().Pods("default").Patch(ctx, "web-1", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
			return err
		},
		"delete": func() error { return client.CoreV1().Pods("default").Delete(ctx, "web-1", metav1.DeleteOptions{}) },
		"bind": func() error {
			return client.CoreV1().Pods("default").Bind(ctx, &corev1.Binding{ObjectMeta: p.ObjectMeta}, metav1.CreateOptions{})
		},
		"evict": func() error {
			return client.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/default/pods/web-1/eviction").Do(ctx).Error()
		},
		"exec": func() error {
			return client.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/pods/web-1/exec").SetHeader("Upgrade", "websocket").Do(ctx).Error()
		},
		"token": func() error {
			return client.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/default/serviceaccounts/default/token").Do(ctx).Error()
		},
	} {
		if err := request(); err == nil || !strings.Contains(err.Error(), "schedq only reads") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	for _, r := range server.Requests() {
		if !strings.HasPrefix(r, "GET ") && r != "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews" {
			t.Errorf("%s got out", r)
		}
	}
}

// TestRelease: of which release the scheduler is tells the image of the leader's pod, and where there is none, the API
// server. A new leader has its own.
func TestRelease(t *testing.T) {
	heard := func(events []sources.Event) (all []string) {
		for _, ev := range events {
			switch f := ev.Fact.(type) {
			case *sources.SchedulerRunning:
				all = append(all, fmt.Sprintf("heard %s by %s", f.Release, f.From))
			case *sources.SchedulerStarted:
				all = append(all, fmt.Sprintf("started %s by %s", f.Release, f.From))
			}
		}
		return all
	}
	scheduler := func(name, node, image string) *corev1.Pod {
		p := pod(name, node)
		p.Namespace, p.Labels = "kube-system", map[string]string{"component": "kube-scheduler"}
		p.Spec.Containers = []corev1.Container{{Name: "kube-scheduler", Image: image}}
		return p
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}}
	hold := func(server *livetest.Server, by string) {
		lease.Spec.HolderIdentity = &by
		server.Put(lease)
	}
	for _, c := range []struct {
		name   string
		pods   []*corev1.Pod
		leader string
		want   string
	}{
		{"no pod", nil, "", "heard v1.37.1 by server"},
		{"a pod", []*corev1.Pod{scheduler("kube-scheduler-a", "a", "registry.k8s.io/kube-scheduler:v1.31.4")}, "", "heard v1.31.4 by image"},
		{"a digest", []*corev1.Pod{scheduler("kube-scheduler-a", "a", "localhost:5000/kube-scheduler:v1.33.0@sha256:0123")}, "", "heard v1.33.0 by image"},
		{"a digest alone", []*corev1.Pod{scheduler("kube-scheduler-a", "a", "localhost:5000/kube-scheduler@sha256:0123")}, "", "heard v1.37.1 by server"},
		{"no release", []*corev1.Pod{scheduler("kube-scheduler-a", "a", "registry.k8s.io/kube-scheduler:latest")}, "", "heard v1.37.1 by server"},
		{"not its own", []*corev1.Pod{pod("kube-scheduler-a", "a")}, "", "heard v1.37.1 by server"},
		{"the leader's", []*corev1.Pod{scheduler("kube-scheduler-a", "a", "kube-scheduler:v1.31.4"), scheduler("kube-scheduler-b", "b", "kube-scheduler:v1.32.0")}, "b_1", "heard v1.32.0 by image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := livetest.New(t)
			for _, p := range c.pods {
				server.Put(p)
			}
			hold(server, c.leader)
			w := watch(t, server)
			if got := heard(w.events); !slices.Equal(got, []string{c.want}) {
				t.Errorf("told %v, want %s", got, c.want)
			}
			if c.leader != "b_1" {
				return
			}
			w.events = nil
			hold(server, "a_2")
			w.until("a new leader", func() bool { return len(w.events) > 0 })
			if got, want := heard(w.events), []string{"started v1.31.4 by image"}; !slices.Equal(got, want) {
				t.Errorf("told %v, want %v", got, want)
			}
		})
	}
}
