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
	reach      = 10 * time.Second
	requesting = 3 * time.Millisecond
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

// patched is the answer to a patch. It is not told when it was sent if that is 0.
func patched(sent, ms int, name string) sources.Event {
	f := &sources.StatusPatched{Pod: types.NamespacedName{Name: name}, UID: types.UID(name)}
	if sent > 0 {
		f.Sent = at(sent)
	}
	return sources.Event{Time: at(ms), Fact: f}
}

func requested(ms int) sources.Event { return sources.Event{Time: at(ms), Fact: &sources.Requested{}} }

// unlimited is the rate limit of a client that has none.
func unlimited() *rate.Limiter { return rate.NewLimiter(rate.Inf, 0) }

// TestBeginnings: where a log says when the attempt began whose end it tells, that is a sighting of its own, at its time.
func TestBeginnings(t *testing.T) {
	began := func(ms, since int, name string) sources.Event {
		ev := failed(ms, name)
		ev.Fact.(*sources.FailedAttempt).Began = at(since)
		return ev
	}
	bound := sources.Event{Time: at(40), Fact: &sources.Bound{Pod: types.NamespacedName{Name: "c"}, UID: "c", Began: at(15)}}
	f := New(Of([]sources.Event{began(10, 5, "a"), began(20, 11, "b"), failed(30, "d"), bound}), reach, requesting, unlimited())
	for name, want := range map[types.UID]int{"a": 5, "b": 11, "c": 15} {
		if got, ok := f.Begins(name, at(0), time.Second); !ok || !got.Equal(at(want)) {
			t.Errorf("%s begins at %v, %v, want %d ms", name, got, ok, want)
		}
	}
	if _, ok := f.Begins("b", at(12), time.Second); ok {
		t.Error("an attempt that has begun begins again")
	}
	if _, ok := f.Begins("d", at(0), time.Second); ok {
		t.Error("an attempt begins of which no log says when")
	}
	var told []string
	for ; f.First() != nil; f.RemoveFirst() {
		s := f.First()
		told = append(told, fmt.Sprintf("%s:%d:%v", s.UID, s.Time.Sub(start).Milliseconds(), s.Kind == Began))
	}
	if want := "[a:5:true a:10:false b:11:true c:15:true b:20:false d:30:false :40:false]"; fmt.Sprint(told) != want {
		t.Errorf("told in the order %v, want %s", told, want)
	}
}

// TestBeganLongAgo: the beginning of an attempt that took longer than the look-ahead is found too late for its place. It comes next: time
// does not go back.
func TestBeganLongAgo(t *testing.T) {
	bound := sources.Event{Time: at(15000), Fact: &sources.Bound{Pod: types.NamespacedName{Name: "c"}, UID: "c", Began: at(10)}}
	f := New(Of([]sources.Event{failed(0, "a"), failed(20, "b"), failed(14900, "d"), bound}), reach, requesting, unlimited())
	var told []string
	for ; f.First() != nil; f.RemoveFirst() {
		s := f.First()
		told = append(told, fmt.Sprintf("%s:%d:%v", s.UID, s.Time.Sub(start).Milliseconds(), s.Kind == Began))
	}
	if want := "[a:0:false b:20:false c:20:true d:14900:false :15000:false]"; fmt.Sprint(told) != want {
		t.Errorf("told in the order %v, want %s", told, want)
	}
}

// TestWrote: a patch wrote the condition of the change just before it.
func TestWrote(t *testing.T) {
	rejected := pod("a", "")
	rejected.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: "no room"}}
	change, cleared := changed(44, sources.Updated, rejected), patched(40, 44, "a")
	cleared.Fact.(*sources.StatusPatched).Clears = true
	for _, c := range []struct {
		name string
		told []sources.Event
		want string
	}{
		{"the change", []sources.Event{change, patched(40, 44, "a")}, "no room"},
		{"no change", []sources.Event{patched(40, 44, "a")}, ""},
		{"the change, and something else", []sources.Event{change, requested(44), patched(40, 44, "a")}, ""},
		{"the change of another pod", []sources.Event{change, patched(40, 44, "b")}, ""},
		{"a change without the condition", []sources.Event{changed(44, sources.Updated, pod("a", "")), patched(40, 44, "a")}, ""},
		{"that it was nominated before", []sources.Event{change, cleared}, ""},
		{"a patch of nothing, and no pod's change", []sources.Event{changed(44, sources.Updated, &v1.Node{}), patched(40, 44, "")}, ""},
	} {
		f := New(Of(c.told), reach, requesting, unlimited())
		if got := f.all[len(f.all)-1].Wrote; got != c.want {
			t.Errorf("%s: it wrote %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFailedAt: an Event of a pod is of the attempt that its next patch follows, unless the loop has gone on in between.
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
		{"another fails", []sources.Event{failed(30, "b")}, false},
		{"another is patched", []sources.Event{patched(30, 34, "b")}, false},
		{"another would be patched, and was deleted", []sources.Event{refused}, false},
		{"another is patched whose binding was refused, beside the loop", []sources.Event{unbound, refused}, true},
		{"another's nomination is taken away, beside the loop", []sources.Event{cleared}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Of(append(append([]sources.Event{failed(20, "a")}, c.between...), patched(40, 44, "a"))), reach, requesting, unlimited())
			patch := f.NextPatch(at(35), time.Second)
			if patch == nil || patch.UID != "a" || patch.FailedAt.Equal(at(20)) != c.want {
				t.Errorf("got %+v, want one that failed at 20 ms: %v", patch, c.want)
			}
		})
	}
}

// TestWaited: of a client that may send two requests at once and then one in 20 ms, those wait that are sent as soon as
// they may be.
func TestWaited(t *testing.T) {
	bound := func(ms int, name string) sources.Event { return changed(ms, sources.Updated, pod(name, "node")) }
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   []string // those that waited
	}{
		{"nobody tells of requests", []sources.Event{patched(1, 5, "a")}, nil},
		{"there is room", []sources.Event{requested(1), patched(1, 5, "a")}, nil},
		{"the third at once", []sources.Event{requested(0), requested(0), requested(20), patched(20, 25, "a")}, []string{"a"}},
		{"the third, later", []sources.Event{requested(0), requested(0), requested(60), patched(60, 65, "a")}, nil},
		{"one after the other", []sources.Event{
			requested(0), requested(0), requested(20), bound(22, "a"), requested(40), bound(42, "b"), requested(60), patched(60, 63, "c"), requested(300), bound(302, "d"),
		}, []string{"a", "b", "c"}},
		{"what is answered after another was sent", []sources.Event{
			requested(0), requested(0), requested(20), requested(200), patched(20, 203, "a"), patched(200, 205, "b"),
		}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Of(c.events), reach, requesting, rate.NewLimiter(rate.Every(20*time.Millisecond), 2))
			var got []string
			for _, s := range f.all {
				if s.Waited {
					got = append(got, string(s.UID))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v waited, want %v", got, c.want)
			}
		})
	}
}

// TestWaitedUntold: if requests are not recorded, those waited that follow each other as closely as the rate limit allows.
func TestWaitedUntold(t *testing.T) {
	bound := func(ms int, name string) sources.Event { return changed(ms, sources.Updated, pod(name, "node")) }
	runs := pod("b", "node")
	runs.Status.Phase = v1.PodRunning
	for _, c := range []struct {
		name   string
		events []sources.Event
		want   []string // those that waited
	}{
		{"there is room", []sources.Event{patched(0, 3, "a"), patched(0, 6, "b")}, nil},
		{"the third at once", []sources.Event{patched(0, 3, "a"), bound(6, "b"), patched(0, 13, "c")}, []string{"c"}},
		{"the third, later", []sources.Event{patched(0, 3, "a"), bound(6, "b"), patched(0, 63, "c")}, nil},
		{"one after the other", []sources.Event{patched(0, 3, "a"), bound(3, "b"), bound(3, "c"), patched(0, 23, "d"), bound(44, "e"), patched(0, 303, "f")}, []string{"c", "d", "e"}},
		{"changes of a pod that has its node are not requests of the scheduler", []sources.Event{
			bound(3, "b"), bound(4, "b"), changed(5, sources.Updated, runs), changed(6, sources.Deleted, runs), patched(0, 7, "a")}, nil},
		{"a pod that comes with its node was not bound", []sources.Event{changed(1, sources.Added, pod("a", "node")), patched(0, 4, "b"), patched(0, 7, "c")}, nil},
		{"nobody knows what was sent before the source came", []sources.Event{{Time: at(0), Fact: &sources.Attached{}}, patched(0, 23, "a"), patched(0, 103, "b")}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := NewUntold(Of(c.events), reach, requesting, rate.NewLimiter(rate.Every(20*time.Millisecond), 3), 2, 0)
			var got []string
			for _, s := range f.all {
				if s.Waited && !slices.Contains(got, string(s.UID)) {
					got = append(got, string(s.UID))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v waited, want %v", got, c.want)
			}
		})
	}
}

// TestWaitsInARow: if requests are not recorded, one has waited only if it follows another so closely that no token was left: within twice
// the interval of the rate limit.
func TestWaitsInARow(t *testing.T) {
	var events []sources.Event
	for i := range 15 {
		events = append(events, patched(0, 3, fmt.Sprint("first-", i)))
	}
	for _, c := range []struct {
		sent int
		want bool
	}{{39, true}, {41, false}} {
		f := NewUntold(Of(append(slices.Clone(events), patched(c.sent, c.sent+3, "last"))), reach, requesting, rate.NewLimiter(rate.Every(20*time.Millisecond), 20), 10, 0)
		if last := f.all[len(f.all)-1]; last.Waited != c.want {
			t.Errorf("sent %d ms after the others it has waited: %t", c.sent, last.Waited)
		}
	}
}

// TestWaitsBehindRefused: if requests are not recorded, pods deleted while requests wait may have been placed. Their bindings are refused and
// not visible, so a request behind them has waited if it comes as late as they take.
func TestWaitsBehindRefused(t *testing.T) {
	gone := func(ms int, name, node string) sources.Event { return changed(ms, sources.Deleted, pod(name, node)) }
	for _, c := range []struct {
		name  string
		first int // how many are sent before the pods go
		goes  []sources.Event
		sent  int
		want  bool
	}{
		{"none goes", 15, nil, 110, false},
		{"four go", 15, []sources.Event{gone(5, "a", ""), gone(6, "b", ""), gone(7, "c", ""), gone(50, "d", "")}, 110, true},
		{"four go, and there was time for more requests", 15, []sources.Event{gone(5, "a", ""), gone(6, "b", ""), gone(7, "c", ""), gone(50, "d", "")}, 121, false},
		{"four go that have their nodes", 15, []sources.Event{gone(5, "a", "n"), gone(6, "b", "n"), gone(7, "c", "n"), gone(50, "d", "n")}, 110, false},
		{"four go, and one that had not waited comes first", 15, []sources.Event{gone(5, "a", ""), gone(6, "b", ""), gone(7, "c", ""), gone(50, "d", ""), patched(121, 124, "e")}, 200, false},
		{"none had waited before", 9, []sources.Event{gone(5, "a", ""), gone(6, "b", ""), gone(7, "c", ""), gone(50, "d", "")}, 110, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var events []sources.Event
			for i := range c.first {
				events = append(events, patched(0, 3, fmt.Sprint("first-", i)))
			}
			events = append(append(events, c.goes...), patched(c.sent, c.sent+3, "last"))
			f := NewUntold(Of(events), reach, requesting, rate.NewLimiter(rate.Every(20*time.Millisecond), 20), 10, 0)
			if last := f.all[len(f.all)-1]; last.Waited != c.want {
				t.Errorf("it has waited: %t, want %t", last.Waited, c.want)
			}
		})
	}
}

// TestNextPatch: the patch that is sent first from now on, whichever is answered first.
func TestNextPatch(t *testing.T) {
	f := New(Of([]sources.Event{patched(30, 35, "b"), patched(20, 40, "a"), patched(8, 45, "past"), patched(3000, 3010, "far")}), reach, requesting, unlimited())
	next := func(now int, within time.Duration) string {
		if s := f.NextPatch(at(now), within); s != nil {
			return string(s.UID)
		}
		return ""
	}
	if a, b, far, none := next(10, time.Second), next(20, time.Second), next(30, 10*time.Second), next(30, time.Second); a != "a" || b != "b" || far != "far" || none != "" {
		t.Errorf("they are %q, %q, %q and %q", a, b, far, none)
	}
	f.NextPatch(at(10), time.Second).Used = true
	if got := next(10, time.Second); got != "b" {
		t.Errorf("after one was used up it is %q", got)
	}
}

// TestUsed: an attempt that the model has had shows no other.
func TestUsed(t *testing.T) {
	f := New(Of([]sources.Event{failed(5, "a"), patched(0, 9, "a"), changed(20, sources.Updated, pod("a", "node"))}), reach, requesting, unlimited())
	for _, want := range []Kind{Failed, Patched, Bound} {
		seen := f.Attempt("a", at(0), 100*time.Millisecond)
		if seen == nil || seen.Kind != want {
			t.Fatalf("%+v shows an attempt, want kind %d", seen, want)
		}
		if seen.Used = true; want == Patched && !seen.By.Equal(at(6)) {
			t.Errorf("the attempt was over by %s", seen.By)
		}
	}
	if seen := f.Failure(at(0), time.Second); seen != nil {
		t.Errorf("%+v is one more failure", seen)
	}
}

// TestReach: events beyond the look-ahead are not read before their time, and are not lost.
func TestReach(t *testing.T) {
	var events []sources.Event
	for i := range 1000 {
		events = append(events, failed(1000*i, "a"))
	}
	f := New(Of(events), reach, requesting, unlimited())
	for i := range events {
		if first := f.First(); first == nil || !first.Time.Equal(at(1000*i)) {
			t.Fatalf("the %d-th is %+v", i, first)
		}
		if most := len(f.sightingsOf("a")); most > 12 || i < 900 && most < 10 {
			t.Fatalf("%d sightings are known after %d", most, i)
		}
		f.RemoveFirst()
	}
	if f.First() != nil || len(f.byPod)+len(f.failures)+len(f.patches) > 0 {
		t.Error("something is left")
	}
}

// TestAsScanned: what is found is what reading all that is to come would find, however it came to be known.
func TestAsScanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []sources.Event
		ms := 0
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			ms += rapid.SampledFrom([]int{0, 1, 5, 40, 700}).Draw(t, "gap")
			events = append(events, anEvent(t, ms))
		}
		f := New(Of(events), reach, requesting, unlimited())
		if rapid.Bool().Draw(t, "live") { // then they come in any order
			f = New(nil, reach, requesting, unlimited())
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
			if !slices.IsSortedFunc(ahead, func(a, b *Sighting) int { return a.Time.Compare(b.Time) }) {
				t.Fatal("they are not in the order of time")
			}
			if len(ahead) == 0 {
				return
			}
			for _, uid := range []types.UID{"a", "b"} {
				ask(t, f, ahead, uid, ahead[0].Time.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "before"))*time.Millisecond))
			}
			if i := rapid.IntRange(0, 9).Draw(t, "used"); i < len(ahead) {
				ahead[i].Used = true
			}
			f.RemoveFirst()
		}
	})
}

func anEvent(t *rapid.T, ms int) sources.Event {
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

// ask compares the answers to all questions about a pod with those of a scan.
func ask(t *rapid.T, f *Future, ahead []*Sighting, uid types.UID, now time.Time) {
	const within, slack = 2 * time.Second, 15 * time.Millisecond
	first := func(within time.Duration, is func(*Sighting) bool) *Sighting {
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
	check := func(question string, got, want *Sighting) {
		if got != want {
			t.Fatalf("%s of %s at %s: %+v, a scan finds %+v", question, uid, now, got, want)
		}
	}
	check("Failure", f.Failure(now, slack), first(slack, func(s *Sighting) bool { return s.Failed() && !s.Used && !s.By.Before(now) }))
	check("Attempt", f.Attempt(uid, now, within), first(within, func(s *Sighting) bool { return s.UID == uid && s.ShowsAttempt() && !s.By.Before(now) }))
	check("Event", f.Event(uid, now, slack), first(slack, func(s *Sighting) bool { return s.UID == uid && s.Kind == Failed && !s.Used && !s.Time.Before(now) }))
	check("Fate", f.Fate(uid, now, within), first(within, func(s *Sighting) bool { return s.UID == uid && (s.Kind == Bound || s.Deleted()) }))
	ended := func(uid types.UID, _ string) bool { return uid == "a" }
	for _, late := range []bool{false, true} {
		check(fmt.Sprint("UnderWay, late ", late), f.PatchUnderWay(now, within, slack, late, ended), first(within, func(s *Sighting) bool {
			sent := !s.By.After(now) || ended(s.UID, s.Wrote) && s.By.Sub(now) < slack
			return s.Kind == Patched && s.Time.After(now) && (sent || late && !s.FailedAt.IsZero() && !s.FailedAt.After(now))
		}))
	}
	for _, late := range []bool{false, true} {
		over := false
		patch := first(within, func(s *Sighting) bool {
			switch {
			case over || s.Used || !s.Failed():
				return false
			case s.Kind == Patched && s.UID == uid:
				return true
			case s.Kind == Patched:
				over = !late && !s.By.Before(now)
			default:
				over = (s.UID == uid || !late) && s.Time.After(now)
			}
			return false
		})
		check(fmt.Sprint("Patch, late ", late), f.Patch(uid, now, within, late), patch)
	}
	if got, want := f.PodEnds(uid, now, within), first(within, func(s *Sighting) bool { return s.UID == uid && s.endsPod() }) != nil; got != want {
		t.Fatalf("it ends: %v, a scan finds %v", got, want)
	}
	if got, want := f.WakesWithin(now, within), first(within, func(s *Sighting) bool { return s.Change != nil && MayWake(s.Change) }) != nil; got != want {
		t.Fatalf("something may wake pods: %v, a scan finds %v", got, want)
	}
	bindings := slices.DeleteFunc(slices.Clone(ahead), func(s *Sighting) bool { return s.Kind != Bound || s.Time.Sub(now) > within })
	if got := slices.Collect(f.Bindings(now, within)); !slices.Equal(got, bindings) {
		t.Fatalf("%d bindings, a scan finds %d", len(got), len(bindings))
	}
	changes := slices.DeleteFunc(slices.Clone(ahead), func(s *Sighting) bool { return s.Change == nil || s.Time.Sub(now) > within })
	if got := slices.Collect(f.Changes(now, within)); !slices.Equal(got, changes) {
		t.Fatalf("%d changes, a scan finds %d", len(got), len(changes))
	}
}

// BenchmarkAhead: however much is known to come, an event costs the same.
func BenchmarkAhead(b *testing.B) {
	for _, perSecond := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(perSecond, " a second"), func(b *testing.B) {
			f := New(nil, reach, requesting, unlimited())
			n := 0
			tell := func() {
				name := fmt.Sprint("pod-", n%1000)
				f.Add(sources.Event{Time: start.Add(time.Second / time.Duration(perSecond) * time.Duration(n)), Fact: &sources.FailedAttempt{UID: types.UID(name)}})
				n++
			}
			for range 2 * perSecond {
				tell()
			}
			for b.Loop() {
				ev := f.First()
				f.Attempt("pod-7", ev.Time, 400*time.Millisecond)
				f.PatchUnderWay(ev.Time, 2*time.Second, 15*time.Millisecond, true, func(types.UID, string) bool { return false })
				f.Patch("pod-8", ev.Time, 2*time.Second, false)
				f.RemoveFirst()
				tell()
			}
		})
	}
}

// TestBindingFails: an Event that says that a binding cycle failed shows that the loop had placed the pod, and what is written into its
// status next is written beside the loop.
func TestBindingFails(t *testing.T) {
	event := failed(20, "a")
	event.Fact.(*sources.FailedAttempt).Message = `running Bind plugin "DefaultBinder": the server is going away`
	f := New(Of([]sources.Event{event, patched(30, 34, "a"), failed(50, "a"), patched(52, 54, "a")}), reach, requesting, unlimited())
	if seen := f.Attempt("a", at(0), time.Second); seen == nil || seen.Kind != Unbound {
		t.Errorf("it shows %+v, want a pod that was placed", seen)
	}
	if seen := f.Failure(at(0), time.Second); seen == nil || !seen.Time.Equal(at(50)) {
		t.Errorf("the next failed attempt is %+v, want the one at 50 ms", seen)
	}
	if patch := f.NextPatch(at(0), time.Second); patch == nil || !patch.By.Equal(at(52)) || !patch.FailedAt.Equal(at(50)) {
		t.Errorf("the next patch of an attempt is %+v, want the one at 52 ms", patch)
	}
}
