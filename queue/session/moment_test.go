package session

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/board/boardtest"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
)

// traveller gives an owner commands, and checks its frame after each.
type traveller struct {
	*rapid.T
	o    *owner
	rec  *sources.Recording
	opts timeline.Options
	did  []string
}

// TestFrameEqualsFreshSession: after any commands, the frame equals that of a new session at the same moment, in which a
// what-if's actions are repeated.
func TestFrameEqualsFreshSession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := rapid.OneOf(world.Recordings(60), rapid.Just(world.SmallRecording()), rapid.Just(busyWorld()), rapid.Just(busyWorld())).Draw(t, "recording")
		tour(t, rec, rapid.IntRange(1, 15).Draw(t, "commands"))
	})
}

// TestFrameEqualsFreshSessionEmbedded is TestFrameEqualsFreshSession with the embedded recordings.
func TestFrameEqualsFreshSessionEmbedded(t *testing.T) {
	recordings := map[string]*sources.Recording{}
	names := []string{"workshop"}
	if !testing.Short() {
		names = append(names, "crowded", "lively-nopop", "workshop-nopop")
	}
	for _, name := range names {
		rec, err := embedded.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		recordings[name] = rec
	}
	rapid.Check(t, func(t *rapid.T) {
		tour(t, recordings[rapid.SampledFrom(names).Draw(t, "recording")], rapid.IntRange(1, 8).Draw(t, "commands"))
	})
}

// busyWorld returns a cluster of two nodes in which pods and nodes are created and deleted.
func busyWorld() *sources.Recording {
	c := &world.Cluster{}
	small := c.Small()
	for i := range 4 {
		c.AddStuck(float64(2+3*i), fmt.Sprint("stuck-", i))
	}
	node := world.Change(c, 20, sources.Added, world.Node("node-b", "1"), nil)
	c.Delete(22, small)
	world.Change(c, 25, sources.Updated, node, func(n *v1.Node) { n.Labels["disk"] = "ssd" })
	c.Add(26, &sources.Mark{Text: "later"})
	pod := world.Change(c, 30, sources.Added, world.PendingPod("fits", "200m"), nil)
	c.Bound(30.2, pod, "node-b")
	world.Change(c, 40, sources.Deleted, node, nil)
	return c.Recording(60)
}

func tour(t *rapid.T, rec *sources.Recording, commands int) {
	w := &traveller{T: t, rec: rec, opts: timeline.Options{Paused: true}}
	w.o = newOwner(rec, w.opts)
	defer w.o.close()
	for range commands {
		w.command()
		w.check()
	}
}

// conditions contain each kind; some are never met.
var conditions = []string{"enters active", "leaves unschedulable", "active > 0", "unschedulable >= 3", "active > 900", "event NodeAdd",
	"waiting>5s", "waiting>=7s tier:unsched", "waiting>400d", "mark", "p-1", "never"}

// command gives the owner a random command, and lets it work until it is done or interrupted.
func (w *traveller) command() {
	o := w.o
	at := func() time.Time {
		length := max(o.recording.End.Sub(o.recording.Start), time.Minute)
		return o.recording.Start.Add(time.Duration(rapid.Int64Range(int64(-time.Second), int64(length+time.Second)).Draw(w.T, "at"))).Truncate(time.Millisecond)
	}
	pod := func() types.NamespacedName {
		var all []types.NamespacedName
		o.shownTimeline().Shown.Pods.Scan(func(p *board.Pod) bool { all = append(all, p.Key); return len(all) < 50 })
		return rapid.SampledFrom(append(all, world.Key("nobody"))).Draw(w.T, "pod")
	}
	node := func() string {
		names := []string{"no-node"}
		o.shownTimeline().Engine.Objects.Each("Node", func(obj runtime.Object) bool {
			names = append(names, obj.(*v1.Node).Name)
			return len(names) < 5
		})
		return rapid.SampledFrom(names).Draw(w.T, "node")
	}
	id := func() int {
		ids := []int{TheRecording, 99}
		for _, f := range o.forks {
			ids = append(ids, f.Branch.ID)
		}
		return rapid.SampledFrom(ids).Draw(w.T, "what-if")
	}
	commands := []struct {
		name string
		do   func()
	}{
		{"seek", func() { o.travel(at()) }},
		{"seek", func() { o.travel(at()) }},
		{"seek start", o.seekStart},
		{"seek end", o.seekEnd},
		{"step", func() { o.step(rapid.SampledFrom([]int{-5, -1, 1, 1, 7}).Draw(w.T, "moves")) }},
		{"step time", func() {
			o.stepTime(rapid.SampledFrom([]time.Duration{-10 * time.Second, -time.Millisecond, time.Millisecond, time.Second, time.Minute}).Draw(w.T, "d"))
		}},
		{"find", func() {
			c, err := board.ParseCondition(rapid.SampledFrom(conditions).Draw(w.T, "condition"))
			if err != nil {
				w.Fatal(err)
			}
			o.find(c, rapid.Bool().Draw(w.T, "forward"))
			if rapid.IntRange(0, 3).Draw(w.T, "stopped") == 0 && o.working() {
				o.commandWaiting = func() bool { return true }
				o.work()
				o.commandWaiting = nil
				w.check()
				o.pause()
			}
		}},
		{"play", func() {
			o.play()
			for range rapid.IntRange(1, 20).Draw(w.T, "ticks") {
				o.advance(rapid.SampledFrom([]time.Duration{50 * time.Millisecond, time.Second}).Draw(w.T, "tick"))
			}
			o.pause()
		}},
		{"filter", func() {
			o.setFilter(world.Filter(w, rapid.SampledFrom([]string{"", "waiting>5s", "p-1", "tier:unsched"}).Draw(w.T, "filter")))
		}},
		{"sort", func() { o.sortBy(board.Sort{By: "name"}, board.Tiers[:]) }},
		{"diagnose", func() { o.diagnose(pod(), false) }},
		{"survey", o.survey},
		{"mark", func() { o.setMark("mark") }},
		{"fork", o.forkHere},
		{"fork", o.forkHere},
		{"leave", o.leaveFork},
		{"branch", o.branchHere},
		{"go to fork", func() { o.goToFork(id()) }},
		{"go to fork", func() { o.goToFork(id()) }},
		{"close fork", func() { o.closeFork(id()) }},
		{"compare", func() { o.compare(id()) }},
		{"compare", func() { o.compare(id()) }},
		{"undo", o.undo},
		{"redo", o.redo},
		{"preview", func() { o.preview([]string{MoveRequest, "NodeAdd", BackoffFlush}) }},
		{"inject", func() {
			o.injectNamed(rapid.SampledFrom([]string{MoveRequest, "NodeAdd", BackoffFlush, LeftoverFlush}).Draw(w.T, "what"))
		}},
		{"add pod", func() { o.addPod(NewPod{Key: world.Key(fmt.Sprint("new-", o.version))}) }},
		{"delete pod", func() { o.deletePod(pod()) }},
		{"pop", o.pop},
		{"reject", func() { o.reject(pod(), []string{"NodeName"}) }},
		{"scheduler", o.toggleScheduler},
		{"add node", func() { o.addNodeLike(node(), "") }},
		{"edit node", func() {
			o.editNode(node(), []string{rapid.SampledFrom([]string{"cordon", "uncordon", "a=b"}).Draw(w.T, "edit")})
		}},
		{"delete node", func() { o.deleteObject("node", types.NamespacedName{Name: node()}) }},
	}
	c := commands[rapid.IntRange(0, len(commands)-1).Draw(w.T, "command")]
	c.do()
	for o.working() {
		o.work()
	}
	w.did = append(w.did, fmt.Sprintf("%s → %s %q", c.name, o.now.Format(time.StampMilli), o.reply.Text))
}

// check compares what the owner shows with what is right.
func (w *traveller) check() {
	o := w.o
	f := o.frame()
	if f.Fork != nil {
		w.checkFork()
		return
	}
	fresh := newOwner(w.rec, w.opts)
	defer fresh.close()
	fresh.travel(o.now)
	fresh.finish(context.Background())
	fresh.setView(o.recording.Shown.View)
	w.compare(f, fresh.recording, o.recording)
	if len(f.Reply.Moved) > 0 {
		w.Fatalf("the recording shows what an action in a what-if moved, after\n%s", strings.Join(w.did, "\n"))
	}
	if t := o.recording; t.HasEventBy(o.now) || t.Cursor < t.ChangesBy(o.now) {
		return // between two events of one time
	}
	g := fresh.frame()
	for name, both := range map[string][2]any{
		"Start": {f.Start, g.Start}, "End": {f.End, g.End}, "Silent": {f.Silent, g.Silent},
		"SchedulerCounts": {f.SchedulerCounts, g.SchedulerCounts}, "LocalCounts": {f.LocalCounts, g.LocalCounts},
		"Scheduler": {f.Scheduler, g.Scheduler}, "series": {f.Series.Len(), g.Series.Len()}, "at end": {f.AtEnd, g.AtEnd},
	} {
		if !reflect.DeepEqual(both[0], both[1]) {
			w.Fatalf("%s is %v, want %v, after\n%s", name, both[0], both[1], strings.Join(w.did, "\n"))
		}
	}
	w.compareObjects(o.recording.EngineShown(o.now), fresh.recording.EngineShown(o.now))
}

// checkFork compares the what-if shown with its actions done again.
func (w *traveller) checkFork() {
	o := w.o
	again := o.fork.BranchOff(o.now)
	defer again.Close()
	again.GoTo(o.now)
	again.SetView(again.Shown, o.fork.Shown.View, o.now)
	w.compare(o.frame(), again, o.fork)

	fresh := newOwner(w.rec, w.opts)
	defer fresh.close()
	fresh.travel(o.fork.Start)
	fresh.finish(context.Background())
	if t := fresh.recording; t.Cursor == o.fork.FirstChange() {
		w.compareObjects(o.fork.Origin(), t.Fork(o.fork.Start).Origin())
	}
}

// compare compares the frame f of a timeline with that of another, which was taken to the same moment. Of several moves of
// one time some may be still to come.
func (w *traveller) compare(f *Frame, want, got *timeline.Timeline) {
	fail := func(format string, args ...any) {
		w.Helper()
		w.Fatalf("%s, after\n%s", fmt.Sprintf(format, args...), strings.Join(w.did, "\n"))
	}
	last := func(t *timeline.Timeline) string {
		if t.Cursor == 0 {
			return "nothing"
		}
		return t.Change(t.Cursor - 1).At.Format(time.StampMilli)
	}
	if got.Cursor > want.Cursor {
		fail("at %s it shows %d changes, the last of %s, and should %d", f.Now, got.Cursor, last(got), want.Cursor)
	}
	for i := got.Cursor; i < want.Cursor; i++ {
		if !want.Change(i).At.Equal(f.Now) {
			fail("at %s it does not show the change of %s", f.Now, want.Change(i).At)
		}
	}
	want.SetCursor(got.Cursor)
	want.Shown.Retime(f.Now)
	if a, b := boardtest.Picture(f.Board), boardtest.Picture(want.Shown); a != b {
		fail("at %s it shows\n%s\nwant\n%s", f.Now, a, b)
	}
	if a, b := boardtest.Picture(f.Board.Unfiltered()), boardtest.Picture(want.Shown.Unfiltered()); a != b {
		fail("at %s without a filter it shows\n%s\nwant\n%s", f.Now, a, b)
	}
	if f.Board.Bound() != want.Shown.Bound() || f.Log.Len() != want.Moved {
		fail("%d are bound and %d moves in the log, want %d and %d", f.Board.Bound(), f.Log.Len(), want.Shown.Bound(), want.Moved)
	}
}

// compareObjects compares the objects of two engines.
func (w *traveller) compareObjects(got, want *timeline.Engine) {
	objects := func(e *timeline.Engine) string {
		var all []string
		e.Objects.Each("", func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			all = append(all, fmt.Sprintf("%T %s/%s %s %v", obj, m.GetNamespace(), m.GetName(), m.GetResourceVersion(), m.GetLabels()))
			return true
		})
		return strings.Join(all, "\n")
	}
	if a, b := objects(got), objects(want); a != b {
		w.Fatalf("at %s the cluster has\n%s\nwant\n%s\nafter\n%s", w.o.now, a, b, strings.Join(w.did, "\n"))
	}
}
