package lessons_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// TestNew: the template of `schedq learn new` passes the linter.
func TestNew(t *testing.T) {
	text, err := lessons.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(t, string(text)); err != nil {
		t.Error(err)
	}
	if _, err := lessons.New("No Name"); err == nil {
		t.Error("an invalid name is accepted")
	}
}

// check parses and plays a lesson.
func check(t *testing.T, text string) error {
	t.Helper()
	l, err := lessons.Parse("mine.yaml", []byte(text))
	if err != nil {
		return err
	}
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Check(t.Context(), opts)
	return err
}

// TestLint breaks one line of a valid lesson and checks the line and the reason in the error.
func TestLint(t *testing.T) {
	right, err := lessons.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, is, becomes, wants string
		// above is the distance from the broken line up to the line in the error, where a larger
		// block is wrong.
		above int
	}{
		{"unknown key", "title: What", "titel: What", "there is no key titel here", 0},
		{"unknown key in a step", "notes: What", "note: What", "there is no key note here", 0},
		{"unknown key in a prediction", "  ask:", "  asks:", "unknown key asks", 0},
		{"unknown key in an answer", "      says: When old-1", "      say: When old-1", "unknown key say", 0},
		{"unknown key in a goal", "  without: [Assi", "  whitout: [Assi", "unknown key whitout", 0},
		{"unknown key in a moment", "after: 20s", "afer: 20s", "there is no key afer here", 0},
		{"typo in a manifest", "  nodeName: node-a", "  nodename: node-a", `Pod old-1 has no field "spec.nodename"`, 0},
		{"an invalid quantity", `requests: {cpu: "1"}`, `requests: {cpu: "one"}`, "is not a quantity", 0},
		{"an unknown release", "release: v1.37\n", "release: v1.2\n", "unknown release", 0},
		{"not YAML", "delete: [pod/old-1]", "delete: [pod/old-1", "did not find", 1},
		{"nothing to delete", "delete: [pod/old-1]", "delete: [pod/old-2]", "there is no pod old-2 to delete by then", 0},
		{"an unknown tier", "when: web-1 enters unschedulable", "when: web-1 enters limbo", `there is no tier "limbo"`, 0},
		{"an invalid condition", "until: web-1 enters unschedulable", "until: web-1 enters limbo", "invalid condition", 0},
		{"a move that does not come", "until: web-1 enters unschedulable", "until: web-9 enters unschedulable", `matches "web-9 enters unschedulable"`, 0},
		{"an invalid time", "at: 4s", "at: soon", `"soon" is not a time`, 0},
		{"a step after the end", "at: 10s", "at: 10m", "the scenario ends at 1m0s", 0},
		{"a wrong prediction of a queue", "- answer: active", "- answer: gated", "gated is not the right answer to queue: in the model it is active", 0},
		{"a wrong prediction of a time", "- answer: 20s", "- answer: 30s", "30s is not the right answer to when: in the model it is 20s", 0},
		{"an answer without says", "      says: That is the leftover flush, for pods that no event wakes.", "      # nothing", "has no says", 1},
		{"an unreachable goal", "  enters: scheduled", "  enters: gated", "the solution does not reach the goal", 1},
		{"a solution that does not reach the goal", "    - like node-a", "    - wait 1s", "the solution does not reach the goal", 7},
		{"an impossible action", "    - like node-a", "    - like node-z", `can't do "like node-z"`, 0},
		{"an unknown action", "    - like node-a", "    - pray", `unknown action "pray"`, 0},
		{"a missing pod", "at: 4s", "at: 4s\nlook: web-9", "there is no pod default/web-9", 4},
		{"a claim about missing words", "of: Its backoff was over long ago", "of: Its backoff is over", `claims: the text does not contain "Its backoff is over"`, 0},
		{"an empty claim", "pod: web-1, tier: unschedulable, backoff: 1s}", "pod: web-1}", "empty claim about default/web-1", 0},
		{"a claim without a moment", "at: 20s, pod: web-1", "pod: web-1", "missing at", 0},
		{"a claim with a wrong tier", "pod: web-1, tier: unschedulable", "pod: web-1, tier: active", `"Its backoff was over long ago" does not hold under v1.37: web-1 is unschedulable`, 0},
		{"a claim with a wrong time", "backoff: 1s}", "backoff: 2s}", "the backoff of web-1 is 99", 0},
		{"a claim with a wrong event", "event: AssignedPodDelete, wakes: [web-1]", "event: NodeAdd, wakes: [web-1]", "NodeAdd wakes no pod", 0},
		{"a claim with wrong pods", "wakes: [web-1]", "wakes: []", "AssignedPodDelete wakes default/web-1", 0},
		{"a claim with a move at another time", `move: web-1 enters unschedulable}`, `move: web-1 enters active, after: 10s}`, "that move comes at 25.00", 0},
		{"a claim for another release", "since: v1.16", "since: v1.33", `"a pod waits for an event that a plugin that rejected it listens for" also holds under v1.32`, 0},
		{"a claim for old releases", "since: v1.16", "up-to: v1.28", "also holds under v1.37", 0},
		{"a claim for an unknown release", "since: v1.16", "since: v1.2", "unknown release", 0},
		{"an invalid source", "scheduling_queue.go@v1.37.1 flush", "scheduling_queue.go flush", "use a source like", 0},
		{"an old release without a reason", "release: v1.37\n", "release: v1.32\n", "the lesson runs under v1.32 instead of v1.37: say why in because", 0},
		{"too much text", "  web-1 wants 1 CPU, and none is free.", "  web-1 wants 1 CPU. " + strings.Repeat("much ", 200), "screen fits", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := string(right)
			if n := strings.Count(text, c.is); n < 1 {
				t.Fatalf("%q is not in the lesson", c.is)
			}
			before, _, _ := strings.Cut(text, c.is)
			line := strings.Count(before, "\n") + 1
			err := check(t, strings.Replace(text, c.is, c.becomes, 1))
			if err == nil {
				t.Fatal("lint finds nothing")
			}
			if !strings.Contains(err.Error(), c.wants) {
				t.Errorf("lint: %v, want %s", err, c.wants)
			}
			var at int
			if _, scan := fmt.Sscanf(err.Error(), "mine.yaml:%d:", &at); (scan != nil || at != line-c.above) && !strings.HasPrefix(c.becomes, "release: v1.32") {
				t.Errorf("%v does not name line %d", err, line-c.above)
			}
		})
	}
}

// TestLintWarns checks the linter's warnings.
func TestLintWarns(t *testing.T) {
	text, err := lessons.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, is, becomes, wants string }{
		{"a figure without a claim", "web-1 wants 1 CPU, and none is free.", "web-1 wants 1 CPU. It failed at 10:00:07.", `no claim or source backs "It failed at 10:00:07."`},
		{"an answer on a countdown", "- answer: 5m\n", "- answer: 5m25s\n", "the board counts down 5m25s for web-1, and 5m25s is an answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(string(text), c.is) {
				t.Fatalf("%q is not in the lesson", c.is)
			}
			l, err := lessons.Parse("mine.yaml", []byte(strings.Replace(string(text), c.is, c.becomes, 1)))
			if err != nil {
				t.Fatal(err)
			}
			opts, err := lessons.Options()
			if err != nil {
				t.Fatal(err)
			}
			plan, err := l.Check(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(plan.Warnings, "\n"), c.wants) {
				t.Errorf("lint warns: %q, want %s", plan.Warnings, c.wants)
			}
		})
	}
}

// TestLintWarnsOfVisibleAnswers checks the warning about a question that the board beside it
// answers: where a pod is now, not where it will be.
func TestLintWarnsOfVisibleAnswers(t *testing.T) {
	const later, before = "Where is cpu-2 five seconds from now?", "at: 30.0001s\n" // before it was tried
	text, err := os.ReadFile("06-deleting-a-pod.yaml")
	if err != nil || !strings.Contains(string(text), later) || !strings.Contains(string(text), before) {
		t.Fatalf("%q and %q are not in the lesson: %v", later, before, err)
	}
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	for question, warns := range map[string]bool{later: false, "Where is cpu-2 now?": true} {
		l, err := lessons.Parse("mine.yaml", []byte(strings.NewReplacer(later, question, before, "").Replace(string(text))))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := l.Check(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(plan.Warnings, "\n"), "the board already shows the answer unschedulable"); got != warns {
			t.Errorf("for %q lint warns: %q", question, plan.Warnings)
		}
	}
}

// FuzzParse: Parse returns a complete lesson or an error.
func FuzzParse(f *testing.F) {
	if text, err := lessons.New("mine"); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := lessons.Parse("x.yaml", text)
		if err == nil && (len(l.Steps) == 0 || l.Scenario == nil) {
			t.Error("a lesson without steps or scenario is accepted")
		}
	})
}
