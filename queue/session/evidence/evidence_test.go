package evidence

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/sources"
)

const (
	lookahead   = 10 * time.Second
	requestTime = 3 * time.Millisecond
)

var start = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func changed(ms int, verb sources.Verb, obj runtime.Object) sources.Event {
	return sources.Event{Time: at(ms), Fact: &sources.ObjectChange{Verb: verb, Object: obj}}
}

func pod(name, node string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: v1.PodSpec{NodeName: node}}
}

func failed(ms int, name string) sources.Event {
	return sources.Event{Time: at(ms), Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Name: name}, UID: types.UID(name)}}
}

// patched returns the answer to a patch. The send time is unknown if sent is 0.
func patched(sent, ms int, name string) sources.Event {
	f := &sources.StatusPatched{Pod: types.NamespacedName{Name: name}, UID: types.UID(name)}
	if sent > 0 {
		f.Sent = at(sent)
	}
	return sources.Event{Time: at(ms), Fact: f}
}

func requested(ms int) sources.Event { return sources.Event{Time: at(ms), Fact: &sources.Requested{}} }

func unlimited() *rate.Limiter { return rate.NewLimiter(rate.Inf, 0) }

// reading returns a Future that reads events, from a source that records requests.
func reading(limit *rate.Limiter, events []sources.Event) *Future {
	f := New(lookahead, requestTime, limit)
	f.Read(Iterate(events))
	return f
}

// readingVisible is reading from a source that does not record requests.
func readingVisible(limit *rate.Limiter, low float64, events []sources.Event) *Future {
	f := newVisible(lookahead, requestTime, limit, low, 0)
	f.Read(Iterate(events))
	return f
}

// order removes all observations of f and formats them as UID:milliseconds:started.
func order(f *Future) string {
	var all []string
	for ; f.First() != nil; f.RemoveFirst() {
		s := f.First()
		all = append(all, fmt.Sprintf("%s:%d:%v", s.UID, s.Time.Sub(start).Milliseconds(), s.Kind == Started))
	}
	return fmt.Sprint(all)
}

// TestStarts: if a log records when an attempt started, the start is an observation of its own.
func TestStarts(t *testing.T) {
	started := func(ms, since int, name string) sources.Event {
		ev := failed(ms, name)
		ev.Fact.(*sources.FailedAttempt).Began = at(since)
		return ev
	}
	bound := sources.Event{Time: at(40), Fact: &sources.Bound{Pod: types.NamespacedName{Name: "c"}, UID: "c", Began: at(15)}}
	f := reading(unlimited(), []sources.Event{started(10, 5, "a"), started(20, 11, "b"), failed(30, "d"), bound})
	for name, want := range map[types.UID]int{"a": 5, "b": 11, "c": 15} {
		if got, ok := f.NextStart(name, at(0), time.Second); !ok || !got.Equal(at(want)) {
			t.Errorf("%s starts at %v, %v, want %d ms", name, got, ok, want)
		}
	}
	if _, ok := f.NextStart("b", at(12), time.Second); ok {
		t.Error("an attempt that has started starts again")
	}
	if _, ok := f.NextStart("d", at(0), time.Second); ok {
		t.Error("an attempt without a recorded start starts")
	}
	if got, want := order(f), "[a:5:true a:10:false b:11:true c:15:true b:20:false d:30:false :40:false]"; got != want {
		t.Errorf("observations in the order %v, want %s", got, want)
	}
}

// TestStartBeyondLookahead: the start of an attempt that took longer than the look-ahead is read too late. It
// comes next, so that time does not go backwards.
func TestStartBeyondLookahead(t *testing.T) {
	bound := sources.Event{Time: at(15000), Fact: &sources.Bound{Pod: types.NamespacedName{Name: "c"}, UID: "c", Began: at(10)}}
	f := reading(unlimited(), []sources.Event{failed(0, "a"), failed(20, "b"), failed(14900, "d"), bound})
	if got, want := order(f), "[a:0:false b:20:false c:20:true d:14900:false :15000:false]"; got != want {
		t.Errorf("observations in the order %v, want %s", got, want)
	}
}

// TestConditionMessage: a patch wrote the condition in the change just before it.
func TestConditionMessage(t *testing.T) {
	rejected := pod("a", "")
	rejected.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: "no room"}}
	change, cleared := changed(44, sources.Updated, rejected), patched(40, 44, "a")
	cleared.Fact.(*sources.StatusPatched).Clears = true
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   string
	}{
		{"the change", []sources.Event{change, patched(40, 44, "a")}, "no room"},
		{"no change", []sources.Event{patched(40, 44, "a")}, ""},
		{"another event in between", []sources.Event{change, requested(44), patched(40, 44, "a")}, ""},
		{"a change of another pod", []sources.Event{change, patched(40, 44, "b")}, ""},
		{"a change without the condition", []sources.Event{changed(44, sources.Updated, pod("a", "")), patched(40, 44, "a")}, ""},
		{"a patch that clears the nomination", []sources.Event{change, cleared}, ""},
		{"a patch of an unknown pod after a change of a node", []sources.Event{changed(44, sources.Updated, &v1.Node{}), patched(40, 44, "")}, ""},
	} {
		f := reading(unlimited(), c.events)
		if got := f.all[len(f.all)-1].ConditionMessage; got != c.want {
			t.Errorf("%s: the message is %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFailedAt: a patch belongs to the attempt of the last Event of its pod, unless the loop has made another
// attempt in between.
func TestFailedAt(t *testing.T) {
	cleared := patched(30, 34, "b")
	cleared.Fact.(*sources.StatusPatched).Clears = true
	refused := sources.Event{Time: at(34), Fact: &sources.Refused{Pod: types.NamespacedName{Name: "b"}, UID: "b", Sent: at(30)}}
	unbound := sources.Event{Time: at(24), Fact: &sources.Refused{Pod: types.NamespacedName{Name: "b"}, UID: "b", Sent: at(22), Binding: true}}
	for _, c := range []struct {
		name    string
		between []sources.Event
		want    bool
	}{
		{"nothing", nil, true},
		{"another pod fails", []sources.Event{failed(30, "b")}, false},
		{"another pod is patched", []sources.Event{patched(30, 34, "b")}, false},
		{"the patch of another pod is refused", []sources.Event{refused}, false},
		{"a binding cycle patches another pod after a failed binding", []sources.Event{unbound, refused}, true},
		{"the nomination of another pod is cleared", []sources.Event{cleared}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := reading(unlimited(), append(append([]sources.Event{failed(20, "a")}, c.between...), patched(40, 44, "a")))
			patch := f.NextPatch(at(35), time.Second)
			if patch == nil || patch.UID != "a" || patch.FailedAt.Equal(at(20)) != c.want {
				t.Errorf("the patch is %+v, want FailedAt 20 ms: %v", patch, c.want)
			}
		})
	}
}

// TestRateLimited: with a limit of one request per 20 ms and a burst of two, requests have waited if they are
// sent as soon as the limit allows.
func TestRateLimited(t *testing.T) {
	bound := func(ms int, name string) sources.Event { return changed(ms, sources.Updated, pod(name, "node")) }
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   []string // UIDs of the pods whose requests waited
	}{
		{"no recorded requests", []sources.Event{patched(1, 5, "a")}, nil},
		{"below the limit", []sources.Event{requested(1), patched(1, 5, "a")}, nil},
		{"the third as soon as allowed", []sources.Event{requested(0), requested(0), requested(20), patched(20, 25, "a")}, []string{"a"}},
		{"the third, later", []sources.Event{requested(0), requested(0), requested(60), patched(60, 65, "a")}, nil},
		{"one after the other", []sources.Event{
			requested(0), requested(0), requested(20), bound(22, "a"), requested(40), bound(42, "b"), requested(60), patched(60, 63, "c"), requested(300), bound(302, "d"),
		}, []string{"a", "b", "c"}},
		{"answered after a later request was sent", []sources.Event{
			requested(0), requested(0), requested(20), requested(200), patched(20, 203, "a"), patched(200, 205, "b"),
		}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := reading(rate.NewLimiter(rate.Every(20*time.Millisecond), 2), c.events)
			var got []string
			for _, s := range f.all {
				if s.RateLimited {
					got = append(got, string(s.UID))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v waited, want %v", got, c.want)
			}
		})
	}
}

// TestVisibleRateLimited: if requests are not recorded, those have waited that follow each other as closely as
// the rate limit allows.
func TestVisibleRateLimited(t *testing.T) {
	bound := func(ms int, name string) sources.Event { return changed(ms, sources.Updated, pod(name, "node")) }
	runs := pod("b", "node")
	runs.Status.Phase = v1.PodRunning
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   []string // UIDs of the pods whose requests waited
	}{
		{"below the limit", []sources.Event{patched(0, 3, "a"), patched(0, 6, "b")}, nil},
		{"the third as soon as allowed", []sources.Event{patched(0, 3, "a"), bound(6, "b"), patched(0, 13, "c")}, []string{"c"}},
		{"the third, later", []sources.Event{patched(0, 3, "a"), bound(6, "b"), patched(0, 63, "c")}, nil},
		{"one after the other", []sources.Event{patched(0, 3, "a"), bound(3, "b"), bound(3, "c"), patched(0, 23, "d"), bound(44, "e"), patched(0, 303, "f")}, []string{"c", "d", "e"}},
		{"later changes of a bound pod are not requests of the scheduler", []sources.Event{
			bound(3, "b"), bound(4, "b"), changed(5, sources.Updated, runs), changed(6, sources.Deleted, runs), patched(0, 7, "a")}, nil},
		{"a pod that is created with a node was not bound", []sources.Event{changed(1, sources.Added, pod("a", "node")), patched(0, 4, "b"), patched(0, 7, "c")}, nil},
		{"the source attaches to a running scheduler", []sources.Event{{Time: at(0), Fact: &sources.Attached{}}, patched(0, 23, "a"), patched(0, 103, "b")}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := readingVisible(rate.NewLimiter(rate.Every(20*time.Millisecond), 3), 2, c.events)
			var got []string
			for _, s := range f.all {
				if s.RateLimited && !slices.Contains(got, string(s.UID)) {
					got = append(got, string(s.UID))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v waited, want %v", got, c.want)
			}
		})
	}
}

// TestVisibleBackToBack: if requests are not recorded, one has waited only if it follows another within twice
// the interval of the rate limit.
func TestVisibleBackToBack(t *testing.T) {
	var events []sources.Event
	for i := range 15 {
		events = append(events, patched(0, 3, fmt.Sprint("first-", i)))
	}
	for _, c := range []struct {
		sent int
		want bool
	}{{39, true}, {41, false}} {
		f := readingVisible(rate.NewLimiter(rate.Every(20*time.Millisecond), 20), 10, append(slices.Clone(events), patched(c.sent, c.sent+3, "last")))
		if last := f.all[len(f.all)-1]; last.RateLimited != c.want {
			t.Errorf("sent %d ms after the others, RateLimited is %t", c.sent, last.RateLimited)
		}
	}
}

// TestVisibleAfterRefused: pods that are deleted while requests wait may have been placed. Their bindings are
// refused, which is not visible if requests are not recorded. The next request has waited even if it comes
// later by as many intervals.
func TestVisibleAfterRefused(t *testing.T) {
	deleted := func(ms int, name, node string) sources.Event { return changed(ms, sources.Deleted, pod(name, node)) }
	for _, c := range []struct {
		name      string
		first     int // requests before the deletions
		deletions []sources.Event
		sent      int
		want      bool
	}{
		{"no deletions", 15, nil, 110, false},
		{"four pods", 15, []sources.Event{deleted(5, "a", ""), deleted(6, "b", ""), deleted(7, "c", ""), deleted(50, "d", "")}, 110, true},
		{"four pods, with time for more requests", 15, []sources.Event{deleted(5, "a", ""), deleted(6, "b", ""), deleted(7, "c", ""), deleted(50, "d", "")}, 121, false},
		{"four bound pods", 15, []sources.Event{deleted(5, "a", "n"), deleted(6, "b", "n"), deleted(7, "c", "n"), deleted(50, "d", "n")}, 110, false},
		{"four pods, then a request that had not waited", 15, []sources.Event{deleted(5, "a", ""), deleted(6, "b", ""), deleted(7, "c", ""), deleted(50, "d", ""), patched(121, 124, "e")}, 200, false},
		{"no requests wait", 9, []sources.Event{deleted(5, "a", ""), deleted(6, "b", ""), deleted(7, "c", ""), deleted(50, "d", "")}, 110, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var events []sources.Event
			for i := range c.first {
				events = append(events, patched(0, 3, fmt.Sprint("first-", i)))
			}
			events = append(append(events, c.deletions...), patched(c.sent, c.sent+3, "last"))
			f := readingVisible(rate.NewLimiter(rate.Every(20*time.Millisecond), 20), 10, events)
			if last := f.all[len(f.all)-1]; last.RateLimited != c.want {
				t.Errorf("RateLimited is %t, want %t", last.RateLimited, c.want)
			}
		})
	}
}

// TestNextPatch: patches are found in the order in which they are sent, not answered.
func TestNextPatch(t *testing.T) {
	f := reading(unlimited(), []sources.Event{patched(30, 35, "b"), patched(20, 40, "a"), patched(8, 45, "past"), patched(3000, 3010, "far")})
	next := func(now int, within time.Duration) string {
		if s := f.NextPatch(at(now), within); s != nil {
			return string(s.UID)
		}
		return ""
	}
	if a, b, far, none := next(10, time.Second), next(20, time.Second), next(30, 10*time.Second), next(30, time.Second); a != "a" || b != "b" || far != "far" || none != "" {
		t.Errorf("the next patches are %q, %q, %q and %q", a, b, far, none)
	}
	f.NextPatch(at(10), time.Second).Used = true
	if got := next(10, time.Second); got != "b" {
		t.Errorf("after one was used, the next patch is %q", got)
	}
}

// TestUsed: a used observation shows no further attempt.
func TestUsed(t *testing.T) {
	f := reading(unlimited(), []sources.Event{failed(5, "a"), patched(0, 9, "a"), changed(20, sources.Updated, pod("a", "node"))})
	for _, want := range []Kind{Failed, Patched, Bound} {
		seen := f.Attempt("a", at(0), 100*time.Millisecond)
		if seen == nil || seen.Kind != want {
			t.Fatalf("the attempt is %+v, want kind %d", seen, want)
		}
		if seen.Used = true; want == Patched && !seen.EndedBy.Equal(at(6)) {
			t.Errorf("the attempt ended by %s", seen.EndedBy)
		}
	}
	if seen := f.Failure(at(0), time.Second); seen != nil {
		t.Errorf("a further failure %+v", seen)
	}
}

// TestLookahead: events beyond the look-ahead are read later, and are not lost.
func TestLookahead(t *testing.T) {
	var events []sources.Event
	for i := range 1000 {
		events = append(events, failed(1000*i, "a"))
	}
	f := reading(unlimited(), events)
	for i := range events {
		if first := f.First(); first == nil || !first.Time.Equal(at(1000*i)) {
			t.Fatalf("observation %d is %+v", i, first)
		}
		if most := len(f.ofPod("a")); most > 12 || i < 900 && most < 10 {
			t.Fatalf("%d observations are read after %d", most, i)
		}
		f.RemoveFirst()
	}
	if f.First() != nil || len(f.byPod)+len(f.failures)+len(f.patches) > 0 {
		t.Error("observations are left")
	}
}

// TestQueriesMatchScan: queries return what a scan of all observations returns, in whatever order events are
// added.
func TestQueriesMatchScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []sources.Event
		ms := 0
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			ms += rapid.SampledFrom([]int{0, 1, 5, 40, 700}).Draw(t, "gap")
			events = append(events, drawEvent(t, ms))
		}
		f := reading(unlimited(), events)
		if rapid.Bool().Draw(t, "live") { // events arrive in any order
			f = New(lookahead, requestTime, unlimited())
			var late []sources.Event
			for _, ev := range events {
				if rapid.Bool().Draw(t, "late") {
					late = append(late, ev)
				} else {
					f.Add(ev)
				}
			}
			for _, ev := range late {
				f.Add(ev)
			}
		}
		for {
			ahead := slices.Clone(f.all)
			if !slices.IsSortedFunc(ahead, func(a, b *Observation) int { return a.Time.Compare(b.Time) }) {
				t.Fatal("observations are not in order of time")
			}
			if len(ahead) == 0 {
				return
			}
			for _, uid := range []types.UID{"a", "b"} {
				compareQueries(t, f, ahead, uid, ahead[0].Time.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "before"))*time.Millisecond))
			}
			if i := rapid.IntRange(0, 9).Draw(t, "used"); i < len(ahead) {
				ahead[i].Used = true
			}
			f.RemoveFirst()
		}
	})
}

func drawEvent(t *rapid.T, ms int) sources.Event {
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pod")
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return failed(ms, name)
	case 1:
		return patched(max(0, ms-rapid.IntRange(0, 50).Draw(t, "sent")), ms, name)
	case 2:
		return changed(ms, sources.Updated, pod(name, "node"))
	case 3:
		return changed(ms, sources.Deleted, pod(name, rapid.SampledFrom([]string{"", "node"}).Draw(t, "node")))
	case 4:
		ending := pod(name, "")
		ending.DeletionTimestamp = &metav1.Time{Time: at(ms)}
		return changed(ms, sources.Updated, ending)
	case 5:
		return changed(ms, sources.Updated, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
	}
	return changed(ms, sources.Updated, pod(name, ""))
}

// compareQueries compares all queries about a pod with a scan.
func compareQueries(t *rapid.T, f *Future, ahead []*Observation, uid types.UID, now time.Time) {
	const within, slack = 2 * time.Second, 15 * time.Millisecond
	first := func(within time.Duration, is func(*Observation) bool) *Observation {
		for _, s := range ahead {
			if s.Time.Sub(now) > within {
				break
			}
			if is(s) {
				return s
			}
		}
		return nil
	}
	check := func(query string, got, want *Observation) {
		if got != want {
			t.Fatalf("%s of %s at %s: %+v, a scan finds %+v", query, uid, now, got, want)
		}
	}
	check("Failure", f.Failure(now, slack), first(slack, func(s *Observation) bool { return s.Failed() && !s.Used && !s.EndedBy.Before(now) }))
	check("Attempt", f.Attempt(uid, now, within), first(within, func(s *Observation) bool { return s.UID == uid && s.newAttempt() && !s.EndedBy.Before(now) }))
	check("Event", f.Event(uid, now, slack), first(slack, func(s *Observation) bool { return s.UID == uid && s.Kind == Failed && !s.Used && !s.Time.Before(now) }))
	check("BindingOutcome", f.BindingOutcome(uid, now, within), first(within, func(s *Observation) bool { return s.UID == uid && (s.Kind == Bound || s.Deleted()) }))
	ended := func(uid types.UID, _ string) bool { return uid == "a" }
	for _, late := range []bool{false, true} {
		check(fmt.Sprint("PatchUnderWay, late ", late), f.PatchUnderWay(now, within, slack, late, ended), first(within, func(s *Observation) bool {
			sent := !s.EndedBy.After(now) || ended(s.UID, s.ConditionMessage) && s.EndedBy.Sub(now) < slack
			return s.Kind == Patched && s.Time.After(now) && (sent || late && !s.FailedAt.IsZero() && !s.FailedAt.After(now))
		}))
	}
	for _, late := range []bool{false, true} {
		over := false
		patch := first(within, func(s *Observation) bool {
			switch {
			case over || s.Used || !s.Failed():
				return false
			case s.Kind == Patched && s.UID == uid:
				return true
			case s.Kind == Patched:
				over = !late && !s.EndedBy.Before(now)
			default:
				over = (s.UID == uid || !late) && s.Time.After(now)
			}
			return false
		})
		check(fmt.Sprint("Patch, late ", late), f.Patch(uid, now, within, late), patch)
	}
	if got, want := f.PodEnds(uid, now, within), first(within, func(s *Observation) bool { return s.UID == uid && s.isPodEnd() }) != nil; got != want {
		t.Fatalf("PodEnds: %v, a scan finds %v", got, want)
	}
	if got, want := f.WakesWithin(now, within), first(within, func(s *Observation) bool { return s.Change != nil && MayWake(s.Change) }) != nil; got != want {
		t.Fatalf("WakesWithin: %v, a scan finds %v", got, want)
	}
	bindings := slices.DeleteFunc(slices.Clone(ahead), func(s *Observation) bool { return s.Kind != Bound || s.Time.Sub(now) > within })
	if got := slices.Collect(f.Bindings(now, within)); !slices.Equal(got, bindings) {
		t.Fatalf("%d bindings, a scan finds %d", len(got), len(bindings))
	}
	changes := slices.DeleteFunc(slices.Clone(ahead), func(s *Observation) bool { return s.Change == nil || s.Time.Sub(now) > within })
	if got := slices.Collect(f.Changes(now, within)); !slices.Equal(got, changes) {
		t.Fatalf("%d changes, a scan finds %d", len(got), len(changes))
	}
}

// BenchmarkEvents: the cost of an event does not depend on how many are read ahead.
func BenchmarkEvents(b *testing.B) {
	for _, perSecond := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(perSecond, " a second"), func(b *testing.B) {
			f := New(lookahead, requestTime, unlimited())
			n := 0
			add := func() {
				name := fmt.Sprint("pod-", n%1000)
				f.Add(sources.Event{Time: start.Add(time.Second / time.Duration(perSecond) * time.Duration(n)), Fact: &sources.FailedAttempt{UID: types.UID(name)}})
				n++
			}
			for range 2 * perSecond {
				add()
			}
			for b.Loop() {
				ev := f.First()
				f.Attempt("pod-7", ev.Time, 400*time.Millisecond)
				f.PatchUnderWay(ev.Time, 2*time.Second, 15*time.Millisecond, true, func(types.UID, string) bool { return false })
				f.Patch("pod-8", ev.Time, 2*time.Second, false)
				f.RemoveFirst()
				add()
			}
		})
	}
}

// TestBindingFailed: the Event of a failed binding cycle shows that the loop had placed the pod. The next patch
// of its status is the binding cycle's, not the loop's.
func TestBindingFailed(t *testing.T) {
	event := failed(20, "a")
	event.Fact.(*sources.FailedAttempt).Message = `running Bind plugin "DefaultBinder": the server is going away`
	f := reading(unlimited(), []sources.Event{event, patched(30, 34, "a"), failed(50, "a"), patched(52, 54, "a")})
	if seen := f.Attempt("a", at(0), time.Second); seen == nil || seen.Kind != BindingFailed {
		t.Errorf("the attempt is %+v, want one that placed the pod", seen)
	}
	if seen := f.Failure(at(0), time.Second); seen == nil || !seen.Time.Equal(at(50)) {
		t.Errorf("the next failed attempt is %+v, want the one at 50 ms", seen)
	}
	if patch := f.NextPatch(at(0), time.Second); patch == nil || !patch.EndedBy.Equal(at(52)) || !patch.FailedAt.Equal(at(50)) {
		t.Errorf("the next patch of an attempt is %+v, want the one at 52 ms", patch)
	}
}

// TestSetResponsible: events of another scheduler's pods show no failure, binding or request of this one.
func TestSetResponsible(t *testing.T) {
	events := []sources.Event{
		changed(1, sources.Added, pod("ours", "")), changed(1, sources.Added, pod("theirs", "")), changed(1, sources.Added, pod("gone", "")),
		failed(10, "theirs"), patched(0, 12, "theirs"), changed(20, sources.Updated, pod("theirs", "node")), changed(25, sources.Deleted, pod("gone", "")),
		failed(30, "ours"), patched(0, 32, "ours"), changed(40, sources.Updated, pod("ours", "node")),
	}
	f := newVisible(lookahead, requestTime, rate.NewLimiter(rate.Every(time.Hour), 10), 8, 0)
	f.SetResponsible(func(p *v1.Pod) bool { return p.Name == "ours" })
	f.Read(Iterate(events))
	if first := f.Failure(at(0), time.Second); first == nil || first.UID != "ours" {
		t.Errorf("the first failure is %v", first)
	}
	var bound []string
	for s := range f.Bindings(at(0), time.Second) {
		bound = append(bound, string(s.UID))
	}
	if len(bound) != 1 || bound[0] != "ours" {
		t.Errorf("bound pods: %v", bound)
	}
	if n := f.BoundSince(at(0)); n != 1 {
		t.Errorf("%d pods are bound, want 1", n)
	}
	if seen := f.BindingOutcome("ours", at(35), time.Second); seen == nil || seen.RateLimited {
		t.Errorf("the binding waited for another scheduler's requests: %+v", seen)
	}
	for uid, want := range map[string]bool{"ours": false, "theirs": true, "gone": false, "unknown": false} {
		if got := f.HasOtherScheduler(pod(uid, "").UID); got != want {
			t.Errorf("%s has another scheduler: %v", uid, got)
		}
	}
}
