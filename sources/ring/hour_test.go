package ring_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

var hour = flag.Bool("hour", false, "have TestHour write an hour of a busy cluster, not a minute")

// production returns a pod as production has them, trimmed.
func production(n int, at time.Time, uid string) *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("team-", n%40), Name: fmt.Sprintf("service-%d-%x-%x", n%300, uint32(n)*2654435761, rand.Uint32()&0xfffff), UID: types.UID(uid),
			CreationTimestamp: metav1.NewTime(at.Truncate(time.Second)), ResourceVersion: fmt.Sprint(n),
			Labels:          map[string]string{"app.kubernetes.io/name": fmt.Sprint("service-", n%300), "app.kubernetes.io/version": "v1.2.3", "pod-template-hash": fmt.Sprintf("%x", n%300)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("service-%d-%x", n%300, n%300), UID: types.UID(fmt.Sprint("rs-", n%300))}}},
		Spec: corev1.PodSpec{SchedulerName: "default-scheduler", Containers: []corev1.Container{{Name: "app", Image: "registry.example/service:v1.2.3", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi")}}}},
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending}}
	obj, err := sources.Trim(pod)
	if err != nil {
		panic(err)
	}
	return obj.(*corev1.Pod)
}

// load makes what a busy cluster tells: two hundred pods a second come, are rejected once, are bound and go. Each moves five
// times: into activeQ, in flight, unschedulable, in flight again, to a node.
type load struct {
	n     int
	alive []*corev1.Pod // that are bound
}

const podsASecond, movesOfPod = 200, 5

func (l *load) second(at time.Time) []sources.Event {
	var events []sources.Event
	tell := func(at time.Time, f sources.Fact) { events = append(events, sources.Event{Time: at, Fact: f}) }
	for i := range podsASecond {
		l.n++
		at := at.Add(time.Duration(i) * time.Second / podsASecond)
		uid := fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", rand.Uint32(), l.n&0xffff, rand.IntN(1<<12), rand.IntN(1<<12), rand.Uint64N(1<<48))
		pod := production(l.n, at, uid)
		name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		tell(at, &sources.ObjectChange{Verb: sources.Added, Object: pod})
		const message = "0/5000 nodes are available: 2000 Insufficient cpu, 3000 node(s) didn't match Pod's node affinity/selector. preemption: 0/5000 nodes are available."
		rejected := pod.DeepCopy()
		rejected.ResourceVersion += "1"
		rejected.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message, LastTransitionTime: metav1.NewTime(at.Truncate(time.Second))}}
		tell(at, &sources.ObjectChange{Verb: sources.Updated, Object: rejected})
		tell(at, &sources.StatusPatched{Pod: name, UID: pod.UID})
		tell(at, &sources.FailedAttempt{Pod: name, UID: pod.UID, Message: message, Recorded: sources.NewRecorded(pod.ResourceVersion, 1)})
		bound := rejected.DeepCopy()
		bound.ResourceVersion += "1"
		bound.Spec.NodeName, bound.Status.Conditions = fmt.Sprint("node-", rand.IntN(5000)), nil
		tell(at, &sources.ObjectChange{Verb: sources.Updated, Object: bound})
		k := rand.IntN(len(l.alive))
		tell(at, &sources.ObjectChange{Verb: sources.Deleted, Object: l.alive[k]})
		l.alive[k] = bound
	}
	return events
}

// TestHour: a busy cluster of 20,000 pods at 1,000 moves a second is written into 256 MiB by the recorder's own steps, on a clock
// that does not wait. Memory is flat, the bound holds, and the ring has all that it does not take. With -hour it is an hour.
func TestHour(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute's load: make long has it")
	}
	const bound = 256 << 20
	seconds := 60
	if *hour {
		seconds = 3600
	}
	l := &load{}
	for range 20_000 {
		l.n++
		pod := production(l.n, noon, fmt.Sprint("first-", l.n)).DeepCopy()
		pod.Spec.NodeName = fmt.Sprint("node-", rand.IntN(5000))
		l.alive = append(l.alive, pod)
	}
	var events []sources.Event
	for _, pod := range l.alive {
		events = append(events, sources.Event{Time: noon, Fact: &sources.ObjectChange{Verb: sources.Added, Object: pod}})
	}
	folder := t.TempDir()
	out, err := ring.Create(t.Context(), folder, ring.Bound{Bytes: bound})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(noon, append(events, sources.Event{Time: noon, Fact: &sources.Attached{Nodes: true}}))
	events = nil
	told, busy, most := 0, time.Duration(0), int64(0)
	var heaps []uint64
	for s := range seconds {
		at := noon.Add(time.Duration(s+1) * time.Second)
		made := l.second(at)
		told += len(made)
		began := time.Now()
		for i := range 5 { // two fifths of a second are written every two fifths of one
			out.Write(at.Add(time.Duration(i+1)*time.Second/5), made[i*len(made)/5:(i+1)*len(made)/5])
		}
		busy += time.Since(began)
		if s%(seconds/10) == seconds/10-1 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			heaps = append(heaps, m.HeapAlloc>>20)
			_, bytes := size(t, folder)
			most = max(most, bytes)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	files, bytes := size(t, folder)
	t.Logf("%d s, %d moves, %d events: %.3f of a core; heap %v MiB; %d MiB in %d segments", seconds, seconds*podsASecond*movesOfPod, told,
		busy.Seconds()/float64(seconds), heaps, bytes>>20, files)
	if most > bound {
		t.Errorf("the ring had %d bytes", most)
	}
	if last := heaps[len(heaps)-1]; last > heaps[1]*5/4+8 {
		t.Errorf("memory grows: %v MiB", heaps)
	}
	r, err := ring.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	var first time.Time
	for ev, err := range r.Events(t.Context(), ring.ReadOptions{Notice: func(n string) { t.Error(n) }}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, is := ev.Fact.(*sources.Attached); is {
			first = ev.Time
		}
		if _, is := ev.Fact.(*sources.FailedAttempt); is && ev.Time.After(first) {
			attempts++
		}
	}
	kept := noon.Add(time.Duration(seconds+1) * time.Second).Sub(first)
	t.Logf("the ring has the last %v", kept.Round(time.Second))
	if want := int(kept.Seconds() * podsASecond); attempts < want-podsASecond || attempts > want+podsASecond {
		t.Errorf("%d attempts in %v, want %d", attempts, kept, want)
	}
}
