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

// TestPrecede: a pod is there when the scheduler queues it, and gone when it says so, and nothing overtakes what comes behind it.
func TestPrecede(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	var changes []sources.Event
	var log []sources.Event
	change := func(ms int, verb sources.Verb, name string) {
		changes = append(changes, sources.Event{Time: at(ms), Fact: &sources.ObjectChange{Verb: verb, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}}})
	}
	move := func(ms int, name string, to sources.Tier, event string) {
		log = append(log, sources.Event{Time: at(ms), Fact: &sources.Move{Pod: types.NamespacedName{Namespace: "default", Name: name}, To: to, Event: event}})
	}
	change(9, sources.Updated, "db") // stays before web
	change(10, sources.Added, "web")
	move(6, "web", sources.TierActive, "UnscheduledPodAdd")
	change(700, sources.Deleted, "web")
	move(690, "web", sources.TierDeleted, "")
	change(2000, sources.Added, "late") // a second is too long
	move(900, "late", sources.TierActive, "UnscheduledPodAdd")
	change(5000, sources.Added, "web") // again, long after the one before
	move(4990, "web", sources.TierActive, "UnscheduledPodAdd")
	change(9000, sources.Added, "web")
	move(8990, "web", sources.TierActive, "UnscheduledPodAdd")
	change(9500, sources.Deleted, "web")
	change(9600, sources.Added, "web") // at once, so that it is not known which of them the log means
	move(9590, "web", sources.TierActive, "UnscheduledPodAdd")
	run := recordingOf(changes, log)

	var times []time.Time
	for ev := range run.Events(t.Context()) {
		if isFact[*sources.ObjectChange](ev) {
			times = append(times, ev.Time)
		}
	}
	if want := []time.Time{at(6), at(6), at(690), at(2000), at(4990), at(9000), at(9500), at(9600)}; !slices.Equal(times, want) {
		t.Errorf("they become so at %v, want %v", times, want)
	}
}

// recordingOf returns a recording of changes and of what a scheduler's log tells.
func recordingOf(changes, told []sources.Event) *Recording {
	log := &Log{Events: Kept(told)}
	for _, ev := range told {
		switch ev.Fact.(type) {
		case *sources.Logged:
			log.Spans = append(log.Spans, ev)
		case *sources.Move:
			log.Moves = true
		}
	}
	r := &Recording{Changes: Kept(changes), Logs: []*Log{log}}
	r.Prepare()
	return r
}
