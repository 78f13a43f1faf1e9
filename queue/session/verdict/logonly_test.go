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

// TestAsMoves: what a log tells of attempts stands as moves in the order of time, as if all of it were at hand, whoever picks from it
// what it tells.
func TestAsMoves(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pods := rapid.Map(rapid.SampledFrom([]string{"a", "b", "c"}), func(n string) types.NamespacedName { return types.NamespacedName{Name: n} })
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		var told, picked []sources.Event
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) * time.Second)
			pod, began := pods.Draw(t, "pod"), time.Time{}
			if rapid.Bool().Draw(t, "tells when it began") {
				began = now.Add(-time.Duration(rapid.IntRange(0, 8).Draw(t, "took")) * time.Second)
			}
			told = append(told, sources.Event{Time: now, Fact: rapid.OneOf(
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, Began: began}),
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, Began: began, Error: true}),
				rapid.Just[sources.Fact](&sources.FailedAttempt{Pod: pod, Began: began, To: sources.TierActive}),
				rapid.Just[sources.Fact](&sources.Bound{Pod: pod, Began: began}),
				rapid.Just[sources.Fact](&sources.Dumped{Pod: pod, In: sources.TierBackoff}),
				rapid.Just[sources.Fact](&sources.Move{Pod: pod, To: sources.TierActive, Event: "NodeAdd"}),
				rapid.Just[sources.Fact](&sources.Mark{}),
			).Draw(t, "fact")})
		}
		for _, ev := range told {
			if len(picked) == 0 || sources.Took(ev) > sources.Took(picked[0]) {
				picked = []sources.Event{ev}
			}
		}
		want := says(asWhole(told))
		for _, tells := range [][]sources.Event{told, picked} {
			var got []sources.Event
			next := AsMoves(tells, time.Hour, of(told))
			for ev, some := next(); some; ev, some = next() {
				got = append(got, ev)
			}
			if said := says(got); said != want {
				t.Fatalf("it tells\n%s\nwant\n%s", said, want)
			}
		}
	})
}

// TestAsMovesHolds: of a log is held what came within the time of its longest attempt, and where the pods are that are there.
func TestAsMovesHolds(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var told []sources.Event
	for i := range 2000 {
		at = at.Add(time.Second)
		told = append(told, sources.Event{Time: at, Fact: &sources.Bound{Pod: types.NamespacedName{Name: fmt.Sprint(i)}, Began: at.Add(-3 * time.Second)}})
	}
	m := &asMoves{more: of(told), longest: 3 * time.Second, retried: time.Minute, last: map[types.NamespacedName]sources.Event{}}
	count := 0
	for _, some := m.next(); some; _, some = m.next() {
		if count++; len(m.waiting) > 8 || len(m.last) > 70 || len(m.left) > 70 || len(m.failed) > 0 {
			t.Fatalf("%d wait, %d pods are known, and %d that left", len(m.waiting), len(m.last), len(m.left))
		}
	}
	if count != 2*len(told) {
		t.Errorf("%d moves are told", count)
	}
}

// TestWithMovesOfUnknown: beside objects, what a log shows of the pods without one is added as moves, and all else is passed on as it came.
func TestWithMovesOfUnknown(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		var told, unknown []sources.Event
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
			if told = append(told, ev); sources.LacksObject(ev.Fact) {
				unknown = append(unknown, ev)
			}
		}
		var passed, made []sources.Event
		next, last := WithMovesOfUnknown(told, of(told)), noon.Add(-time.Hour)
		for ev, some := next(); some; ev, some = next() {
			if ev.Time.Before(last) {
				t.Fatalf("%v comes behind %v", ev, last)
			}
			if last = ev.Time; isMove(ev) {
				made = append(made, ev)
			} else {
				passed = append(passed, ev)
			}
		}
		if got, want := says(passed), says(told); got != want {
			t.Fatalf("it passes on\n%s\nwant\n%s", got, want)
		}
		if got, want := says(made), says(asWhole(unknown)); got != want {
			t.Fatalf("it adds\n%s\nwant\n%s", got, want)
		}
	})
}

func isMove(ev sources.Event) bool {
	_, is := ev.Fact.(*sources.Move)
	return is
}

// of returns what returns events one after the other.
func of(events []sources.Event) func() (sources.Event, bool) {
	return func() (ev sources.Event, some bool) {
		if len(events) > 0 {
			ev, events, some = events[0], events[1:], true
		}
		return ev, some
	}
}

func says(events []sources.Event) (said string) {
	for _, ev := range events {
		said += fmt.Sprintf("%s %T %+v\n", ev.Time.Format("05"), ev.Fact, ev.Fact)
	}
	return said
}

// asWhole is AsMoves the plain way: all that is told is put in order, and then a pod goes nowhere where it is.
func asWhole(told []sources.Event) (all []sources.Event) {
	for _, ev := range told {
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

// TestAbsent: a pod of which no attempt shows that was due is probably gone, once an attempt of another shows that the log goes on. An
// error does not show that: a log tells of it at any verbosity.
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
		"the log goes on":           {[]sources.Event{at(8, &sources.Bound{Pod: other})}, "12:08 failed since 12:06"},
		"the pod may be in activeQ": {[]sources.Event{at(7, &sources.Bound{Pod: other})}, ""},
		"an error":                  {[]sources.Event{at(9, &sources.FailedAttempt{Pod: other, Error: true})}, ""},
		"it was tried":              {[]sources.Event{at(5, &sources.FailedAttempt{Pod: failed}), at(8, &sources.Bound{Pod: other})}, ""},
		"it was bound":              {[]sources.Event{at(5, &sources.Bound{Pod: failed}), at(8, &sources.Bound{Pod: other})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			told := append([]sources.Event{at(0, &sources.FailedAttempt{Pod: failed})}, c.after...)
			got := ""
			next := AsMoves(told, 6*time.Minute, of(told))
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
