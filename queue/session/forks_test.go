package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board/boardtest"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
)

// TestUndo: injections are undone one by one, redone, and dropped after another injection.
func TestUndo(t *testing.T) {
	o, _ := journey(t)
	o.seek(world.At(11))
	replies := func(do func(), want string) {
		t.Helper()
		do()
		if o.reply.Text != want {
			t.Errorf("got %q, want %q", o.reply.Text, want)
		}
	}
	replies(o.undo, "nothing to undo in the recording")
	replies(func() { o.injectNamed("NodeAdd") }, "NodeAdd: default/batch-1 unschedulable → backoff")
	o.seek(world.At(11.4))
	replies(func() { o.addPod(NewPod{Key: world.Key("mine")}) }, "new pod default/mine: default/mine → active")
	o.seek(world.At(14))
	replies(o.undo, "undone: new pod default/mine")
	if f := o.frame(); !f.Now.Equal(world.At(11.4)) || tierOf(f, "mine") != "" || tierOf(f, "batch-1") != "backoff" || f.Fork.Undo != 1 || f.Fork.Redo != 1 {
		t.Errorf("at %s mine is %q, batch-1 %q; %+v", f.Now, tierOf(f, "mine"), tierOf(f, "batch-1"), f.Fork)
	}
	replies(o.undo, "undone: NodeAdd")
	replies(o.undo, "nothing to undo in this what-if")
	if f := o.frame(); !f.Now.Equal(world.At(11)) || tierOf(f, "batch-1") != "unschedulable" {
		t.Errorf("at %s batch-1 is %s", f.Now, tierOf(f, "batch-1"))
	}
	replies(o.redo, "redone: NodeAdd")
	replies(o.redo, "redone: new pod default/mine")
	replies(o.redo, "nothing to redo")
	if f := o.frame(); tierOf(f, "mine") != "active" || tierOf(f, "batch-1") != "backoff" || !f.Now.Equal(world.At(11.4)) {
		t.Errorf("redone, at %s mine is %q, batch-1 %q", f.Now, tierOf(f, "mine"), tierOf(f, "batch-1"))
	}
	o.undo()
	replies(func() { o.injectNamed(MoveRequest) }, "move request for all: nothing moved")
	replies(o.redo, "nothing to redo")
}

// TestUndoRestoresState: undoing injections restores the state before them, and redoing them the
// state after them.
func TestUndoRestoresState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(60).Draw(t, "recording")
		o := newOwner(rec, timeline.Options{Paused: true})
		o.seek(o.recording.Start.Add(time.Duration(rapid.Int64Range(0, int64(o.recording.End.Sub(o.recording.Start))).Draw(t, "from"))))
		o.forkHere()
		var before []string // the boards before each action
		for range rapid.IntRange(1, 6).Draw(t, "deeds") {
			o.seek(o.now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond))
			before = append(before, fmt.Sprint(o.now, boardtest.Picture(o.fork.Shown)))
			o.injectNamed(rapid.SampledFrom([]string{MoveRequest, BackoffFlush, LeftoverFlush, "NodeAdd"}).Draw(t, "deed"))
			if rapid.Bool().Draw(t, "pops") && o.fork.Engine.Queue.PendingPods(queue.Active) > 0 {
				before = append(before, fmt.Sprint(o.now, boardtest.Picture(o.fork.Shown)))
				o.pop()
			}
		}
		last := fmt.Sprint(o.now, boardtest.Picture(o.fork.Shown))
		for i := len(before) - 1; i >= 0; i-- {
			o.undo()
			if got := fmt.Sprint(o.now, boardtest.Picture(o.fork.Shown)); got != before[i] {
				t.Fatalf("action %d undone:\n%s\nbefore it\n%s", i, got, before[i])
			}
		}
		for range before {
			o.redo()
		}
		if got := fmt.Sprint(o.now, boardtest.Picture(o.fork.Shown)); got != last {
			t.Fatalf("all redone:\n%s\nbefore\n%s", got, last)
		}
	})
}

// TestUndoStopsScheduler: undoing a change that started a scheduler stops it, and redoing starts it again.
func TestUndoStopsScheduler(t *testing.T) {
	reply, o := asked(t, fullNode(), func(o *owner) { o.addNodeLike("node-a", "") })
	world.ExpectText(t, reply, "a node like node-a: 1 bound (web on node-a-2), none waiting")
	then := o.now
	o.undo()
	world.ExpectText(t, o.reply.Text, "undone: a node like node-a")
	if f := o.frame(); f.Fork.Scheduling || tierOf(f, "web") != "unschedulable" || f.Fork.Undo != 0 {
		t.Errorf("a scheduler runs: %t, web is %s, %+v", f.Fork.Scheduling, tierOf(f, "web"), f.Fork)
	}
	o.redo()
	world.ExpectText(t, o.reply.Text, "redone: a node like node-a")
	if f := o.frame(); !f.Fork.Scheduling || f.Board.Get(world.Key("web")).Node != "node-a-2" || !f.Now.Equal(then) {
		t.Errorf("a scheduler runs: %t, web is on %q at %s", f.Fork.Scheduling, f.Board.Get(world.Key("web")).Node, f.Now)
	}
}

// TestForkTree: what-ifs branch off the recording and each other, can be revisited, named and closed.
func TestForkTree(t *testing.T) {
	o, _ := journey(t)
	tree := func() string {
		var all []string
		for _, f := range o.forkInfos() {
			current := ""
			if f.Current {
				current = "*"
			}
			all = append(all, fmt.Sprintf("%s%s<%d %v", f.Name, current, f.Parent, f.Injected))
		}
		return strings.Join(all, "; ")
	}
	o.seek(world.At(11))
	o.injectNamed("NodeAdd")
	o.seek(world.At(11.6))
	o.branchHere()
	world.ExpectText(t, o.reply.Text, "what-if 2 branches off what-if 1 at 12:00:11.6")
	o.nameFork("with a pod")
	world.ExpectText(t, o.reply.Text, "what-if 2 renamed to with a pod")
	o.addPod(NewPod{Key: world.Key("mine")})
	o.leaveFork()
	if got, want := tree(), "what-if 1<0 [NodeAdd]; with a pod<1 [NodeAdd new pod default/mine]"; got != want {
		t.Errorf("the tree is %s, want %s", got, want)
	}
	if f := o.frame(); f.Fork != nil || !f.Now.Equal(world.At(11)) || tierOf(f, "batch-1") != "unschedulable" {
		t.Errorf("back in the recording at %s batch-1 is %s", f.Now, tierOf(f, "batch-1"))
	}
	o.forkHere() // without any action
	o.leaveFork()
	if got := len(o.forks); got != 2 {
		t.Errorf("an unused what-if was kept: %s", tree())
	}
	o.goToFork(2)
	if f := o.frame(); f.Fork.Name != "with a pod" || !f.Now.Equal(world.At(11.6)) || tierOf(f, "mine") != "active" || f.Fork.Undo != 1 {
		t.Errorf("%+v at %s: mine is %q", f.Fork, f.Now, tierOf(f, "mine"))
	}
	o.undo()
	o.undo() // NodeAdd is inherited
	world.ExpectText(t, o.reply.Text, "nothing to undo in this what-if")
	o.goToFork(1)
	if f := o.frame(); tierOf(f, "mine") != "" || tierOf(f, "batch-1") != "backoff" || !f.Fork.From.Equal(world.At(11)) {
		t.Errorf("in what-if 1 mine is %q, batch-1 %s", tierOf(f, "mine"), tierOf(f, "batch-1"))
	}
	o.nameFork("with a pod")
	world.ExpectText(t, o.reply.Text, "another what-if is named with a pod")
	o.nameFork(" ")
	world.ExpectText(t, o.reply.Text, "a what-if needs a name")
	o.goToFork(1)
	world.ExpectText(t, o.reply.Text, "what-if 1 is already shown")
	o.goToFork(9)
	world.ExpectText(t, o.reply.Text, "no such what-if")
	o.closeFork(1)
	world.ExpectText(t, o.reply.Text, "closed what-if 1")
	if got, want := tree(), "with a pod<0 [NodeAdd]"; got != want || o.fork != nil {
		t.Errorf("the tree is %s, want %s, and the recording is shown", got, want)
	}
}

// TestTooManyForks: every way to start one more what-if is refused.
func TestTooManyForks(t *testing.T) {
	_, o := asked(t, fullNode(), func(o *owner) { o.addNodeLike("node-a", "") })
	for o.leaveFork(); len(o.forks) < maxForks; o.leaveFork() {
		o.forkHere()
		o.injectNamed(MoveRequest)
	}
	for name, deed := range map[string]func(){
		"a what-if": o.forkHere, "a branch": o.branchHere, "an injection": func() { o.injectNamed(MoveRequest) },
		"a flush": o.flushBackoff, "the other flush": o.flushLeftover, "a scheduler": o.toggleScheduler,
		"a pod": func() { o.addPod(NewPod{Key: world.Key("small")}) }, "a node": func() { o.addNodeLike("node-a", "") },
	} {
		o.reply = Reply{}
		if deed(); o.fork != nil {
			t.Errorf("%s: not refused", name)
		}
		world.ExpectText(t, o.reply.Text, "there are 32 what-ifs: close one first")
	}
}

// TestSuspendedForkContinues: a revisited what-if continues as if it had not been left.
func TestSuspendedForkContinues(t *testing.T) {
	_, o := asked(t, fullNode(), func(o *owner) { o.addNodeLike("node-a", "") })
	o.addPod(NewPod{Key: world.Key("small")})
	before := boardtest.Words(o.fork.MovesFrom(0))
	fork := o.fork
	o.leaveFork()
	if fork.Engine.Driver != nil {
		t.Error("the scheduler of a what-if that is not shown runs")
	}
	o.goToFork(fork.Branch.ID)
	if got := boardtest.Words(o.fork.MovesFrom(0)); !slices.Equal(got, before) {
		t.Errorf("revisited:\n%s\nbefore:\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
	o.seek(o.now.Add(time.Second))
	if p := o.fork.Shown.Get(world.Key("small")); p == nil || p.Node == "" {
		t.Errorf("small is not bound: %+v", p)
	}
}

// TestPreview: each preview equals the result of the injection, whatever is shown.
func TestPreview(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(60).Draw(t, "recording")
		o := newOwner(rec, timeline.Options{Paused: true})
		random := func() time.Time {
			return o.recording.Start.Add(time.Duration(rapid.Int64Range(0, int64(o.recording.End.Sub(o.recording.Start))).Draw(t, "to")))
		}
		o.seek(o.recording.End)
		o.seek(random())
		if rapid.Bool().Draw(t, "forks") {
			o.injectNamed("NodeAdd")
			o.seek(o.now.Add(5 * time.Second))
			o.injectNamed(MoveRequest)
			if rapid.Bool().Draw(t, "back") {
				o.seek(o.now.Add(-3 * time.Second))
			}
		}
		o.preview(Injectables())
		for o.working() {
			o.work()
		}
		previews := o.frame().Previews
		if len(previews) != len(Injectables()) {
			t.Fatalf("%d previews of %d", len(previews), len(Injectables()))
		}
		p := previews[rapid.IntRange(0, 6).Draw(t, "which")]
		before := 0
		if o.fork != nil {
			before = o.fork.Moved
		} else {
			before = o.recording.Moved
		}
		o.injectNamed(p.What)
		moved := 0
		for _, m := range o.fork.MovesFrom(before) {
			if m.From != m.To {
				moved++
			}
		}
		if moved != p.Moved {
			t.Fatalf("%s: %s; it moved %d: %s", p.What, p, moved, o.reply.Text)
		}
		if o.frame().Previews != nil {
			t.Fatal("the previews outlive the injection")
		}
	})
}

func TestPreviewWords(t *testing.T) {
	p := timeline.Preview{Of: 37, Moved: 12}
	p.To[queue.Backoff], p.To[queue.Active] = 9, 3
	world.ExpectText(t, p.String(), "would move 12 of 37: 9 to backoff, 3 to active")
	world.ExpectText(t, timeline.Preview{Of: 37}.String(), "would move none of 37")
}

// TestForkComparison: comparing two timelines at one moment.
func TestForkComparison(t *testing.T) {
	o, _ := journey(t)
	o.seek(world.At(11))
	o.injectNamed(MoveRequest) // batch-1 backs off, as in the recording 0.2 s later
	o.addPod(NewPod{Key: world.Key("mine")})
	o.compare(TheRecording)
	differences := func() string {
		c := o.frame().Comparison
		if c == nil {
			return "none is compared"
		}
		all := []string{fmt.Sprintf("%s and %s, %d:", c.Names[0], c.Names[1], c.Total)}
		for _, d := range c.Differences {
			tiers := [2]string{"-", "-"}
			for i, p := range d.Pods {
				if p != nil {
					tiers[i] = p.Tier.String()
				}
			}
			all = append(all, fmt.Sprintf("%s %s|%s", d.Key.Name, tiers[0], tiers[1]))
		}
		return strings.Join(all, " ")
	}
	world.ExpectText(t, differences(), "what-if 1 and the recording, 2: batch-1 backoff|unschedulable mine active|-")
	o.seek(world.At(11.3))
	world.ExpectText(t, differences(), "what-if 1 and the recording, 1: mine active|-")
	o.leaveFork()
	world.ExpectText(t, differences(), "none is compared") // with itself
	o.compare(1)
	world.ExpectText(t, differences(), "the recording and what-if 1, 2: batch-1 unschedulable|backoff mine -|active")
	o.seek(world.At(12.2))
	world.ExpectText(t, differences(), "the recording and what-if 1, 3: batch-1 backoff|active mine -|active web-1 scheduled|-")
	if c := o.frame().Comparison; c.Bound != [2]int{1, 0} || c.Sizes[1][queue.Active] != 2 {
		t.Errorf("%+v", c)
	}
	o.compare(TheRecording) // the timeline shown, which ends the comparison
	world.ExpectText(t, differences(), "none is compared")
	o.compare(7)
	world.ExpectText(t, o.reply.Text, "compare: no such what-if")
}

// TestComparisonOfOutcomes: two what-ifs from one moment are compared with the effects of their actions
// settled, each at its time, and going to the other shows it as it was left.
func TestComparisonOfOutcomes(t *testing.T) {
	o := newOwner(fullNode().Recording(20), timeline.Options{Paused: true})
	defer o.close()
	o.seek(o.recording.End)
	o.addNodeLike("node-a", "") // binds web
	settled := o.now
	o.leaveFork()
	o.forkHere()
	o.addPod(NewPod{Key: world.Key("other")}) // takes no time
	if !o.now.Before(settled) {
		t.Fatalf("both settle at %s", settled)
	}
	o.compare(1)
	c := o.frame().Comparison
	if c.At != [2]time.Time{o.now, settled} || c.Bound[1] != c.Bound[0]+1 || c.Sizes[1][queue.InFlight] != 0 {
		t.Errorf("at %v %v are bound, and in the tiers there are %v", c.At, c.Bound, c.Sizes)
	}
	moves := o.forkOf(1).Moved
	o.seek(o.fork.Start)
	o.frame()
	if o.goToFork(1); o.fork.Moved != moves || !o.now.Equal(settled) {
		t.Errorf("what-if 1 shows %d moves at %s, and had %d", o.fork.Moved, o.now, moves)
	}
}

// TestStepWithoutMoveChangesNothing: a step that finds no move does not change a what-if, nor the consequences of its last
// action at the same time.
func TestStepWithoutMoveChangesNothing(t *testing.T) {
	o := newOwner(busyWorld(), timeline.Options{Paused: true})
	defer o.close()
	o.travel(o.recording.Start)
	o.addPod(NewPod{Key: world.Key("new")})
	o.deleteObject("node", types.NamespacedName{Name: "no-node"})
	o.travel(o.recording.Start) // its attempt, in which it is found to be gone
	before := o.shownTimeline().ChangeCount()
	o.step(1)
	if after := o.shownTimeline().ChangeCount(); after != before || before < 2 {
		t.Errorf("%d changes, and %d after the step", before, after)
	}
}
