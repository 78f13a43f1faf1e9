package scenario_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/scenario"
)

// small is a scenario with all that one can have.
const small = `# a comment
schedq: scenario
version: 1
name: small
release: v1.32
end: 1m
podInitialBackoff: 2s
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: old-1}
spec:
  nodeName: node-a
  containers: [{name: main, resources: {requests: {cpu: "2"}}}]
---
at: 5s
mark: web-1 comes
---
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: main, resources: {requests: {cpu: "1"}}}]
---
when: web-1 enters unschedulable
after: 500ms
delete: [pod/old-1]
---
at: 30s
delete: [pod/web-1]
---
at: 40s
---
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: main, resources: {requests: {cpu: "1"}}}]
`

// parse reads a scenario that is right.
func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// moves plays a recording and tells its pods' moves, with the seconds from its start on.
func moves(t *testing.T, rec *sources.Recording) []string {
	t.Helper()
	var all []string
	start := rec.Events[0].Time
	err := timeline.Replay(t.Context(), rec, timeline.Options{}, func(m *board.Transition) error {
		all = append(all, fmt.Sprintf("%.1f %s %s>%s %s", m.Time.Sub(start).Seconds(), m.Pod.Key.Name, m.From, m.To, m.Event))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAScenarioIsPlayed: its moments happen when they are due and when a move sets them off, by the rules of its
// release and by its settings.
func TestAScenarioIsPlayed(t *testing.T) {
	want := []string{
		"5.0 web-1 >active UnschedulablePodAdd",
		"5.0 web-1 active>inflight ",
		"5.0 web-1 inflight>unschedulable ScheduleAttemptFailure",
		"5.5 web-1 unschedulable>backoff AssignedPodDelete", // half a second later, and its backoff is 2 s
		"8.0 web-1 backoff>active BackoffComplete",          // since nothing is popped early in v1.32
		"8.0 web-1 active>inflight ",
		"8.0 web-1 inflight>scheduled ",
		"40.0 web-1 >active UnschedulablePodAdd", // another pod of that name
		"40.0 web-1 active>inflight ",
		"40.0 web-1 inflight>scheduled ",
	}
	got := moves(t, parse(t, small).Recording())
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("these are its moves:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAMoveDeletesWhatComesLater: what a pod's move deletes need not be there from the start.
func TestAMoveDeletesWhatComesLater(t *testing.T) {
	const story = `schedq: scenario
version: 1
name: later
end: 30s
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
---
at: 5s
---
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: main, resources: {requests: {cpu: "3"}}}]
---
when: web-1 enters unschedulable
after: 1s
delete: [pod/web-1]
---
at: 20s
---
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: main, resources: {requests: {cpu: "1"}}}]
`
	want := []string{
		"5.0 web-1 >active UnscheduledPodAdd",
		"5.0 web-1 active>inflight ",
		"5.0 web-1 inflight>unschedulable ScheduleAttemptFailure",
		"6.0 web-1 unschedulable>deleted ",
		"20.0 web-1 >active UnscheduledPodAdd", // another pod of that name
		"20.0 web-1 active>inflight ",
		"20.0 web-1 inflight>scheduled ",
	}
	if got := moves(t, parse(t, story).Recording()); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("these are its moves:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWhatIsWrittenIsRead: a scenario that is written and read again plays as it did.
func TestWhatIsWrittenIsRead(t *testing.T) {
	s := parse(t, small)
	var file bytes.Buffer
	if err := scenario.Write(&file, s); err != nil {
		t.Fatal(err)
	}
	again, err := scenario.Parse("again.yaml", file.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, file.String())
	}
	if a, b := moves(t, s.Recording()), moves(t, again.Recording()); strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("it played\n%s\nand now\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// TestCut cuts scenarios out of real clusters' recordings: what is written can be read and played.
func TestCut(t *testing.T) {
	recordings := embedded.All()
	if testing.Short() {
		recordings = recordings[:1]
	}
	for _, e := range recordings {
		t.Run(e.Name, func(t *testing.T) {
			rec, err := embedded.Open(context.Background(), e.Name)
			if err != nil {
				t.Fatal(err)
			}
			start := rec.Events[0].Time
			for _, part := range [][2]time.Duration{{0, time.Minute}, {time.Minute, 2 * time.Minute}} {
				s, err := scenario.Cut(t.Context(), rec, start.Add(part[0]), start.Add(part[1]))
				if err != nil {
					t.Fatal(err)
				}
				var file bytes.Buffer
				if err := scenario.Write(&file, s); err != nil {
					t.Fatal(err)
				}
				again, err := scenario.Parse("cut.yaml", file.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				if got := moves(t, again.Recording()); len(got) == 0 {
					t.Errorf("nothing moves from %s to %s", part[0], part[1])
				}
			}
			if _, err := scenario.Cut(t.Context(), rec, start.Add(24*time.Hour), start.Add(25*time.Hour)); err == nil {
				t.Error("a part that is not there is cut")
			}
		})
	}
}

func TestBadScenarios(t *testing.T) {
	for _, c := range []struct{ name, is, becomes, wants string }{
		{"unknown key", "release: v1.32", "relaese: v1.32", "small.yaml:5: there is no key relaese here"},
		{"another version", "version: 1", "version: 9", "small.yaml:3: version 9 of scenarios is not known, only 1"},
		{"a lesson", "schedq: scenario", "schedq: lesson", "small.yaml:2: this is a lesson: schedq learn"},
		{"typo in a manifest", "cpu: \"2\", memory", "cpu: two, memory", "small.yaml:12:"},
		{"typo in a later manifest", "  containers: [{name: main, resources: {requests: {cpu: \"1\"}}}]\n---\nwhen", "  container: []\n---\nwhen", "small.yaml:28:"},
		{"no moment", "at: 5s\nmark", "mark", "small.yaml:21: this moment needs either at"},
		{"two moments in one", "at: 5s", "at: 5s\nwhen: web-1 enters active", "this moment needs either at"},
		{"a time that is none", "at: 5s", "at: -5s", `small.yaml:21: "-5s" is not a time like 5s`},
		{"a trigger that is none", "when: web-1 enters unschedulable", "when: web-1 fails", `small.yaml:30: "web-1 fails" is not written like`},
		{"nothing to delete", "delete: [pod/old-1]", "delete: [pod/old-9]", "small.yaml:32: there is no pod old-9 to delete by then"},
		{"an end before its last moment", "end: 1m", "end: 10s", "ends at 10s, before its last moment at 40s"},
		{"a mark nobody can place", "after: 500ms", "after: 500ms\nmark: now", "small.yaml:32: a mark needs a time"},
		{"nothing to inject", "after: 500ms", "after: 500ms\ninject: [NodeAdd, NodeFlies]", `small.yaml:32: "NodeFlies" can't be injected; what can is move request for all, flush of backoffQ`},
		{"an injection that is no list", "after: 500ms", "after: 500ms\ninject: NodeAdd", "small.yaml:32: inject is a list of events"},
		{"a pod that is none", "after: 500ms", "after: 500ms\nactivate: [a/b/c]", "small.yaml:32:"},
		{"an alias bomb", "name: small", "name: &a [x, x]\ntitle: [*a, *a]", "small.yaml:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(small, c.is) {
				t.Fatalf("%q is not in the scenario", c.is)
			}
			_, err := scenario.Parse("small.yaml", []byte(strings.Replace(small, c.is, c.becomes, 1)))
			if err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("it says %v, want %s", err, c.wants)
			}
		})
	}
	for _, text := range []string{"", "---\n", "# nothing\n", "\x00", "schedq: scenario", strings.Repeat("x: y\n", 1<<20)} {
		if _, err := scenario.Parse("x.yaml", []byte(text)); err == nil {
			t.Errorf("%.20q is taken", text)
		}
	}
}

// FuzzParse: whatever is in a file, it is read or refused, and what is read can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	if text, err := os.ReadFile("../../lessons/template.txt"); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scenario.Parse("x.yaml", text)
		if err != nil {
			return
		}
		s.Recording()
		var file bytes.Buffer
		if err := scenario.Write(&file, s); err != nil {
			return
		}
		if _, err := scenario.Parse("y.yaml", file.Bytes()); err != nil {
			t.Errorf("what was written can't be read: %v\n%s", err, file.String())
		}
	})
}
