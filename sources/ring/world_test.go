package ring_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a small cluster with a clock. Its methods return the events of a live source.
type world struct {
	now     time.Time
	pods    map[string]*corev1.Pod
	version int
	marks   int
}

func newWorld() *world { return &world{now: noon, pods: map[string]*corev1.Pod{}} }

func (w *world) event(f sources.Fact) sources.Event { return sources.Event{Time: w.now, Fact: f} }

// attach returns the events of attaching to the cluster.
func (w *world) attach() []sources.Event {
	var events []sources.Event
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		events = append(events, w.event(&sources.ObjectChange{Verb: sources.Added, Object: w.pods[name]}))
	}
	return append(events, w.event(&sources.Attached{Began: noon.Add(-time.Hour), Nodes: true}))
}

// run writes events, and then a change of a pod each second for that long.
func (w *world) run(out *ring.Writer, d time.Duration, events ...sources.Event) {
	for until := w.now.Add(d); w.now.Before(until); events = nil {
		w.now = w.now.Add(time.Second)
		out.Write(w.now, append(events, w.put(fmt.Sprint("pod-", w.now.Unix()%10), nil)))
	}
}

// put creates or changes a pod.
func (w *world) put(name string, change func(*corev1.Pod)) sources.Event {
	w.version++
	verb, pod := sources.Updated, w.pods[name]
	if pod == nil {
		verb = sources.Added
		pod = &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(fmt.Sprintf("%s-%d", name, w.version)), CreationTimestamp: metav1.NewTime(w.now.Truncate(time.Second))}}
	}
	pod = pod.DeepCopy()
	if pod.ResourceVersion = fmt.Sprint(w.version); change != nil {
		change(pod)
	}
	obj, err := sources.Trim(pod)
	if err != nil {
		panic(err)
	}
	w.pods[name] = obj.(*corev1.Pod)
	return w.event(&sources.ObjectChange{Verb: verb, Object: obj})
}

func (w *world) remove(name string) sources.Event {
	pod := w.pods[name]
	delete(w.pods, name)
	return w.event(&sources.ObjectChange{Verb: sources.Deleted, Object: pod})
}

// mark returns a numbered event.
func (w *world) mark() sources.Event {
	w.marks++
	return w.event(&sources.Mark{Text: sources.SafeText(fmt.Sprintf("mark %d", w.marks))})
}

// content is the content of a recording: the numbers of its marks, and the pods at its end with their versions.
type content struct {
	marks   []int
	pods    map[string]string
	events  []sources.Event
	notices []string
}

// read reads a ring. It fails the test unless events are in order of time and changes match the objects.
func read(t testing.TB, folder string, opts ring.ReadOptions) *content {
	t.Helper()
	got, err := tryRead(t, folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func tryRead(t testing.TB, folder string, opts ring.ReadOptions) (*content, error) {
	t.Helper()
	r, err := ring.Open(t.Context(), folder)
	if err != nil {
		return nil, err
	}
	got := &content{pods: map[string]string{}}
	opts.Notice = func(n string) { got.notices = append(got.notices, n) }
	var last time.Time
	for ev, err := range r.Events(t.Context(), opts) {
		if err != nil {
			return nil, err
		}
		if ev.Time.Before(last) {
			t.Fatalf("%v after %v", ev.Time, last)
		}
		last = ev.Time
		got.events = append(got.events, ev)
		switch f := ev.Fact.(type) {
		case *sources.Mark:
			var n int
			if _, err := fmt.Sscanf(string(f.Text), "mark %d", &n); err == nil {
				got.marks = append(got.marks, n)
			}
		case *sources.ObjectChange:
			pod := f.Object.(*corev1.Pod)
			before, there := got.pods[pod.Name]
			switch {
			case f.Verb == sources.Added && there, f.Verb == sources.Updated && before[:len(pod.UID)] != string(pod.UID), f.Verb == sources.Deleted && !there:
				t.Fatalf("%s is %s, and it was %q", pod.Name, f.Verb, before)
			case f.Verb == sources.Deleted:
				delete(got.pods, pod.Name)
			default:
				got.pods[pod.Name] = string(pod.UID) + " " + pod.ResourceVersion
			}
		}
	}
	return got, nil
}

// there returns the pods as in content.
func (w *world) there() map[string]string {
	pods := map[string]string{}
	for name, pod := range w.pods {
		pods[name] = string(pod.UID) + " " + pod.ResourceVersion
	}
	return pods
}

func copyFolder(t testing.TB, from string) string {
	t.Helper()
	to, err := os.MkdirTemp(t.TempDir(), "ring")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(from, "ring-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(f)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func podNamed(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}
