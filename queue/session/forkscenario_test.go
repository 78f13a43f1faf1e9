package session

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/sources/scenario"
)

// smallBegin is a cluster of one node that a running pod fills.
const smallBegin = `schedq: scenario
version: 1
name: small
release: v1.33
podMaxBackoff: 20s
end: 5m
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: old}
spec:
  nodeName: node-a
  containers: [{name: main, resources: {requests: {cpu: "2"}}}]
`

// TestForkScenario: the scenario of a what-if with a local scheduler makes the same moves.
func TestForkScenario(t *testing.T) {
	story, err := scenario.Parse("small.yaml", []byte(smallBegin))
	if err != nil {
		t.Fatal(err)
	}
	o := newOwner(story.Recording(), timeline.Options{Paused: true})
	defer o.close()
	if _, err := o.forkScenario(); err == nil {
		t.Error("there is one of the recording")
	}
	o.toggleScheduler()
	begin := o.fork.Start
	wait := func(d time.Duration) { o.seek(o.now.Add(d)) }
	bring := func(name, cpu string) {
		read, err := manifest.Parse(name, fmt.Appendf(nil, "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  containers: [{name: main, resources: {requests: {cpu: %q}}}]\n", name, cpu))
		if err != nil {
			t.Fatal(err)
		}
		o.apply(name, read.Objects)
	}
	wait(1300 * time.Millisecond)
	bring("web", "1")
	wait(2400 * time.Millisecond)
	o.injectNamed(MoveRequest)
	wait(5 * time.Second)
	o.injectNamed("AssignedPodDelete")
	o.addPod(NewPod{Key: world.Key("gated"), Priority: 7, Gated: true})
	wait(time.Second)
	o.openGate(world.Key("gated"))
	wait(700 * time.Millisecond)
	bring("large", "3")
	wait(10 * time.Second)
	o.activate(world.Key("large"))
	wait(5 * time.Second)
	o.editNode("node-a", []string{"zone=a"})
	wait(time.Second)
	o.deleteObject("pod", world.Key("old"))
	wait(3 * time.Second)
	o.injectNamed(BackoffFlush)
	bring("late", "9")
	o.undo() // an undone action leaves no trace
	wait(40 * time.Second)

	made, err := o.forkScenario()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := scenario.Write(&file, made); err != nil {
		t.Fatal(err)
	}
	again, err := scenario.Parse("made.yaml", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again.Release != "v1.33" || again.PodMaxBackoff != 20*time.Second || again.PodInitialBackoff != -1 || !again.Start.Equal(begin) || again.Start.Add(again.End).Before(o.now) {
		t.Errorf("it is %+v", again)
	}

	want := movesOf(o.fork.MovesFrom(0), o.now)
	var replayed []*board.Transition
	if err := timeline.Replay(t.Context(), again.Recording(), timeline.Options{}, func(m *board.Transition) error {
		replayed = append(replayed, m)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got := movesOf(replayed, o.now)
	for _, pod := range []string{"web", "gated", "large", "late"} {
		if a, b := strings.Join(want[world.Key(pod)], "\n"), strings.Join(got[world.Key(pod)], "\n"); a != b {
			t.Errorf("%s moves in the what-if\n%s\nand in its scenario\n%s\n%s", pod, a, b, file.String())
		}
	}
	// Without UIDs, as made, it plays the same.
	var unwritten []*board.Transition
	if err := timeline.Replay(t.Context(), made.Recording(), timeline.Options{}, func(m *board.Transition) error {
		unwritten = append(unwritten, m)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if a, b := movesOf(replayed, o.now), movesOf(unwritten, o.now); !maps.EqualFunc(a, b, slices.Equal) {
		t.Errorf("written and read, it plays\n%s\nand as made\n%s", a, b)
	}
	if n := len(want[world.Key("large")]); n < 6 || len(want[world.Key("web")]) < 6 || len(want[world.Key("late")]) > 0 {
		t.Errorf("little happens: %v", want)
	}
}

// movesOf formats the moves up to until by pod: time to a tenth of a second, tiers, event and node.
func movesOf(moves []*board.Transition, until time.Time) map[types.NamespacedName][]string {
	all := map[types.NamespacedName][]string{}
	for _, m := range moves {
		if !m.Time.After(until) {
			all[m.Pod.Key] = append(all[m.Pod.Key], fmt.Sprintf("%s %s→%s %s %s", m.Time.Truncate(100*time.Millisecond).Format("15:04:05.0"), m.From, m.To, m.Event, m.Pod.Node))
		}
	}
	return all
}

// TestForkScenarioWithoutNodes: without nodes there is no scenario, and the error says why.
func TestForkScenarioWithoutNodes(t *testing.T) {
	o, _ := journey(t)
	o.injectNamed("NodeAdd")
	if _, err := o.forkScenario(); err == nil || !slices.Contains([]string{errNoNodesKnown.Error()}, err.Error()) {
		t.Errorf("got %v", err)
	}
}
