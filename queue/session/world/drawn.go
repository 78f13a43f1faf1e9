package world

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
)

// Recordings draws recordings: pods that move as in a scheduler log, with object changes and marks in
// between.
func Recordings(events int) *rapid.Generator[*sources.Recording] {
	return rapid.Custom(func(t *rapid.T) *sources.Recording {
		rec := &sources.Recording{Name: "drawn"}
		now := Noon
		for range rapid.IntRange(1, events).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond)
			rec.Events = append(rec.Events, sources.Event{Time: now, Fact: facts(now).Draw(t, "fact")})
		}
		return rec
	})
}

func facts(now time.Time) *rapid.Generator[sources.Fact] {
	name := rapid.Map(rapid.IntRange(1, 6), func(i int) string { return fmt.Sprint("p-", i) })
	move := func(to sources.Tier, event string, plugins ...string) *rapid.Generator[sources.Fact] {
		return rapid.Map(name, func(n string) sources.Fact {
			return &sources.Move{Pod: Key(n), To: to, Event: event, Plugins: plugins}
		})
	}
	return rapid.OneOf(
		move(sources.TierActive, "UnscheduledPodAdd"),
		move(sources.TierInFlight, ""),
		move(sources.TierInFlight, ""),
		move(sources.TierUnschedulable, queue.ScheduleAttemptFailure, "NodeResourcesFit"),
		move(sources.TierBackoff, queue.ScheduleAttemptFailure),
		move(sources.TierBackoff, "NodeAdd"),
		move(sources.TierActive, queue.BackoffComplete),
		move(sources.TierGated, "UnscheduledPodAdd"),
		move(sources.TierScheduled, ""),
		move(sources.TierDeleted, ""),
		rapid.Map(name, func(n string) sources.Fact {
			pod := cluster.Placeholder(Key(n))
			pod.UID = types.UID("real-" + n)
			prio := int32(now.Second())
			pod.Spec.Priority = &prio
			pod.Labels = map[string]string{"second": fmt.Sprint(now.Second())}
			return &sources.ObjectChange{Verb: sources.Updated, Object: pod}
		}),
		rapid.Just[sources.Fact](&sources.Mark{Text: "a mark"}),
	)
}

// Config returns the default configuration of kube-scheduler.
func Config(t interface{ Fatal(...any) }) *schedulerconfig.Config {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// SmallRecording returns a recording in which batch-1 does not fit, is woken by a node and backs off, and
// web-1 is bound. Then nothing happens for four minutes until late-1 arrives.
func SmallRecording() *sources.Recording {
	move := func(seconds float64, pod string, to sources.Tier, event string, plugins ...string) sources.Event {
		return sources.Event{Time: At(seconds), Fact: &sources.Move{Pod: Key(pod), To: to, Event: event, Plugins: plugins}}
	}
	return &sources.Recording{Name: "small", Formats: []string{"schedlog"}, Events: []sources.Event{
		{Time: At(0), Fact: &sources.SchedulerStarted{
			Release: "v1.37.1", Gates: map[string]bool{"SchedulerPopFromBackoffQ": false},
			PodInitialBackoff: time.Second, PodMaxBackoff: 10 * time.Second, PodMaxInUnschedulablePods: 5 * time.Minute,
		}},
		move(10, "batch-1", "active", "UnscheduledPodAdd"),
		move(10.1, "batch-1", "inflight", ""),
		move(10.7, "batch-1", "unschedulable", "ScheduleAttemptFailure", "NodeResourcesFit"),
		{Time: At(11), Fact: &sources.Counts{Unschedulable: 1}},
		move(11.2, "batch-1", "backoff", "NodeAdd"),
		{Time: At(11.5), Fact: &sources.Mark{Text: "a node came"}},
		move(12, "web-1", "active", "UnscheduledPodAdd"),
		move(12, "web-1", "inflight", ""),
		move(12.1, "web-1", "scheduled", ""),
		move(12.3, "batch-1", "active", "BackoffComplete"),
		move(250, "late-1", "active", "UnscheduledPodAdd"),
	}}
}

// Filter parses a filter, and fails the test on an error.
func Filter(t interface{ Fatal(...any) }, text string) filter.Filter {
	f, err := filter.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// RecordingOf returns a recording of the scheduler's moves.
func RecordingOf(moves ...sources.Event) *sources.Recording {
	return &sources.Recording{Name: "moves", Events: moves}
}

// Move returns a move in a scheduler log, seconds after Noon.
func Move(seconds float64, pod string, to sources.Tier, event string) sources.Event {
	m := &sources.Move{Pod: Key(pod), To: to, Event: event}
	if event == queue.ScheduleAttemptFailure {
		m.Plugins = []string{"NodeResourcesFit"}
	}
	if to == sources.TierGated {
		m.GatingPlugin = "SchedulingGates"
	}
	return sources.Event{Time: At(seconds), Fact: m}
}
