package joined

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// TestDeliver: a delivery in a scheduler's log is matched with the change in the audit log at about that time.
func TestDeliver(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	pod := func(uid, node string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: types.UID(uid)}, Spec: corev1.PodSpec{NodeName: node},
			Status: corev1.PodStatus{Phase: phase}}
	}
	var changes []sources.Event
	change := func(ms int, verb sources.Verb, pod *corev1.Pod) {
		changes = append(changes, sources.Event{Time: at(ms), Fact: &sources.ObjectChange{Verb: verb, Object: pod}})
	}
	change(0, sources.Added, pod("1", "", corev1.PodPending))
	change(10, sources.Updated, pod("1", "", corev1.PodPending))
	change(20, sources.Updated, pod("1", "node-a", corev1.PodPending)) // delivered 8 ms later
	change(30, sources.Updated, pod("1", "node-a", corev1.PodRunning))
	change(5000, sources.Updated, pod("1", "node-a", corev1.PodSucceeded)) // as if it were deleted
	change(9000, sources.Deleted, pod("1", "node-a", corev1.PodSucceeded))
	change(9001, sources.Updated, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db", UID: "db"}})
	change(9003, sources.Added, pod("2", "", corev1.PodPending)) // delivered before its response
	change(9500, sources.Deleted, pod("2", "", corev1.PodPending))
	var log []sources.Event
	heard := func(ms int, verb sources.Verb, assigned bool) {
		log = append(log, sources.Event{Time: at(ms), Fact: &sources.Delivered{Verb: verb, Assigned: assigned,
			Name: types.NamespacedName{Namespace: "default", Name: "web"}}})
	}
	heard(1, sources.Added, false)
	heard(28, sources.Added, true)
	heard(29, sources.Deleted, false) // upstream says so of a pod that is bound
	heard(5001, sources.Deleted, true)
	heard(9000, sources.Added, false)
	heard(9504, sources.Deleted, false)
	log = append(log, sources.Event{Time: at(0), Fact: &sources.Logged{Verbosity: 3}})
	run := recordingOf(changes, log)

	var times, delivered []time.Time
	for e := range run.Events(t.Context()) {
		if isFact[*sources.Logged](e) {
			continue
		}
		times, delivered = append(times, e.Time), append(delivered, e.Fact.(*sources.ObjectChange).Delivered)
	}
	if want := []time.Time{at(0), at(10), at(20), at(30), at(5000), at(9000), at(9000), at(9000), at(9500)}; !slices.Equal(times, want) {
		t.Errorf("they become so at %v, want %v", times, want)
	}
	none := time.Time{}
	if want := []time.Time{at(1), none, at(28), none, at(5001), none, none, at(9000), at(9504)}; !slices.Equal(delivered, want) {
		t.Errorf("delivered at %v, want %v", delivered, want)
	}
}
