package verdict

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// TestMovesFromAttempts: the moves are in time order, as if the log were read at once, whether the summary contains the whole
// log or just the longest attempt.
func TestMovesFromAttempts(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pods := rapid.Map(rapid.SampledFrom([]string{"a", "b", "c"}), func(n string) types.NamespacedName { return types.NamespacedName{Name: n} })
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		var log, longest []sources.Event
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) * time.Second)
			pod, began := pods.Draw(t, "pod"), time.Time{}
			if rapid.Bool().Draw(t, "start is known") {
				began = now.Add(-time.Duration(rapid.IntRange(0, 8).Draw(t, "took")) * time.Second)
			}
			log = append(log, sources.Event{Time: now, Fact: rapid.OneOf(
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, Began: began}),
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, Began: began, Error: true}),
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, Began: began, To: sources.TierActive}),
				rapid.Just[sources.Fact](&sources.Bound{Pod: pod, Began: began}),
				rapid.Just[sources.Fact](&sources.Dumped{Pod: pod, In: sources.TierBackoff}),
				rapid.Just[sources.Fact](&sources.Move{Pod: pod, To: sources.TierActive, Event: "NodeAdd"}),
				rapid.Just[sources.Fact](&sources.Mark{}),
			).Draw(t, "fact")})
		}
		for _, ev := range log {
			if len(longest) == 0 || sources.Took(ev) > sources.Took(longest[0]) {
				longest = []sources.Event{ev}
			}
		}
		want := textOf(movesAtOnce(log))
		for _, summary := range [][]sources.Event{log, longest} {
			var got []sources.Event
			next := MovesFromAttempts(summary, time.Hour, reader(log))
			for ev, some := next(); some; ev, some = next() {
				got = append(got, ev)
			}
			if text := textOf(got); text != want {
				t.Fatalf("got\n%s\nwant\n%s", text, want)
			}
		}
	})
}

// TestMovesFromAttemptsMemory: in memory are only the events within the longest attempt, and pods in the queue.
func TestMovesFromAttemptsMemory(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var log []sources.Event
	for i := range 2000 {
		at = at.Add(time.Second)
		log = append(log, sources.Event{Time: at, Fact: &sources.Bound{Pod: types.NamespacedName{Name: fmt.Sprint(i)}, Began: at.Add(-3 * time.Second)}})
	}
	m := &attemptMoves{read: reader(log), longest: 3 * time.Second, retryLimit: time.Minute, last: map[types.NamespacedName]sources.Event{}}
	count := 0
	for _, some := m.next(); some; _, some = m.next() {
		if count++; len(m.waiting) > 8 || len(m.last) > 70 || len(m.left) > 70 || len(m.failed) > 0 {
			t.Fatalf("%d events wait, %d pods are in memory, %d of them left", len(m.waiting), len(m.last), len(m.left))
		}
	}
	if count != 2*len(log) {
		t.Errorf("%d moves", count)
	}
}

// TestAddMovesOfUnknownPods: moves are added for the attempts of pods without an object, and all events are returned
// unchanged.
func TestAddMovesOfUnknownPods(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		var log, unknown []sources.Event
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) * time.Second)
			name, uid := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pod"), types.UID("")
			if rapid.Bool().Draw(t, "has an object") {
				name, uid = "known", "u1"
			}
			pod, began := types.NamespacedName{Name: name}, now.Add(-time.Duration(rapid.IntRange(1, 8).Draw(t, "took"))*time.Second)
			ev := sources.Event{Time: now, Fact: rapid.OneOf(
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, UID: uid, Log: true, Began: began}),
				rapid.Just[sources.Fact](&sources.Bound{Pod: pod, UID: uid, Began: began}),
				rapid.Just[sources.Fact](&sources.Mark{}),
			).Draw(t, "fact")}
			if log = append(log, ev); sources.LacksObject(ev.Fact) {
				unknown = append(unknown, ev)
			}
		}
		var passed, made []sources.Event
		next, last := AddMovesOfUnknownPods(log, reader(log)), noon.Add(-time.Hour)
		for ev, some := next(); some; ev, some = next() {
			if ev.Time.Before(last) {
				t.Fatalf("%v after %v", ev, last)
			}
			if last = ev.Time; isMove(ev) {
				made = append(made, ev)
			} else {
				passed = append(passed, ev)
			}
		}
		if got, want := textOf(passed), textOf(log); got != want {
			t.Fatalf("unchanged events are\n%s\nwant\n%s", got, want)
		}
		if got, want := textOf(made), textOf(movesAtOnce(unknown)); got != want {
			t.Fatalf("added moves are\n%s\nwant\n%s", got, want)
		}
	})
}

func isMove(ev sources.Event) bool {
	_, is := ev.Fact.(*sources.Move)
	return is
}

// reader returns a function that returns events one by one.
func reader(events []sources.Event) func() (sources.Event, bool) {
	return func() (ev sources.Event, some bool) {
		if len(events) > 0 {
			ev, events, some = events[0], events[1:], true
		}
		return ev, some
	}
}

func textOf(events []sources.Event) (text string) {
	for _, ev := range events {
		text += fmt.Sprintf("%s %T %+v\n", ev.Time.Format("05"), ev.Fact, ev.Fact)
	}
	return text
}

// movesAtOnce is a simple MovesFromAttempts: it sorts all moves and then removes those that do not change a pod's tier.
func movesAtOnce(log []sources.Event) (all []sources.Event) {
	for _, ev := range log {
		add := func(at time.Time, m *sources.Move) { all = append(all, sources.Event{Time: at, Fact: m}) }
		switch f := ev.Fact.(type) {
		case *sources.FailedAttempt:
			to := map[bool]sources.Tier{true: sources.TierBackoff, false: sources.TierUnschedulable}[f.Error]
			if f.To != "" {
				to = f.To
			}
			add(ev.Time.Add(-sources.Took(ev)), &sources.Move{Pod: f.Pod, To: sources.TierInFlight})
			add(ev.Time, &sources.Move{Pod: f.Pod, To: to, Event: queue.ScheduleAttemptFailure})
		case *sources.Bound:
			add(ev.Time.Add(-sources.Took(ev)), &sources.Move{Pod: f.Pod, To: sources.TierInFlight})
			add(ev.Time, &sources.Move{Pod: f.Pod, To: sources.TierScheduled})
		case *sources.Dumped:
			add(ev.Time, &sources.Move{Pod: f.Pod, To: f.In})
		default:
			all = append(all, ev)
		}
	}
	slices.SortStableFunc(all, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	in := map[types.NamespacedName]sources.Tier{}
	return slices.DeleteFunc(all, func(ev sources.Event) bool {
		m, is := ev.Fact.(*sources.Move)
		if !is {
			return false
		}
		before := in[m.Pod]
		in[m.Pod] = m.To
		return before == m.To
	})
}

// TestAbsent: a pod without an attempt that was due is probably gone once another pod's attempt shows that the log continues.
// An error does not show that, because errors are logged at any verbosity.
func TestAbsent(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(minute int, f sources.Fact) sources.Event {
		return sources.Event{Time: noon.Add(time.Duration(minute) * time.Minute), Fact: f}
	}
	failed, other := types.NamespacedName{Name: "failed"}, types.NamespacedName{Name: "other"}
	for name, c := range map[string]struct {
		after []sources.Event
		want  string
	}{
		"the log ends":              {nil, ""},
		"the log continues":         {[]sources.Event{at(8, &sources.Bound{Pod: other})}, "12:08 failed since 12:06"},
		"the pod may be in activeQ": {[]sources.Event{at(7, &sources.Bound{Pod: other})}, ""},
		"an error":                  {[]sources.Event{at(9, &sources.FailedAttempt{Pod: other, Error: true})}, ""},
		"the pod was tried":         {[]sources.Event{at(5, &sources.FailedAttempt{Pod: failed}), at(8, &sources.Bound{Pod: other})}, ""},
		"the pod was bound":         {[]sources.Event{at(5, &sources.Bound{Pod: failed}), at(8, &sources.Bound{Pod: other})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			log := append([]sources.Event{at(0, &sources.FailedAttempt{Pod: failed})}, c.after...)
			got := ""
			next := MovesFromAttempts(log, 6*time.Minute, reader(log))
			for ev, some := next(); some; ev, some = next() {
				if f, is := ev.Fact.(*Absent); is {
					got += fmt.Sprintf("%s %s since %s", ev.Time.Format("15:04"), f.Pod.Name, f.Since.Format("15:04"))
				}
			}
			if got != c.want {
				t.Errorf("absent is %q, want %q", got, c.want)
			}
		})
	}
}
