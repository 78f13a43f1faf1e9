package lessons_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// TestNewIsRight: what `schedq learn new` writes can be played as it is.
func TestNewIsRight(t *testing.T) {
	text, err := lessons.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(t, string(text)); err != nil {
		t.Error(err)
	}
	if _, err := lessons.New("No Name"); err == nil {
		t.Error("a name that is none is taken")
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

// TestLint spoils one line of a lesson that is right, and wants that line and the reason in the error.
func TestLint(t *testing.T) {
	right, err := lessons.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, is, becomes, wants string
		// above is how many lines above the spoilt one the error's is, where something larger is wrong with it.
		above int
	}{
		{"unknown key", "title: What", "titel: What", "there is no key titel here", 0},
		{"unknown key in a step", "notes: What", "note: What", "there is no key note here", 0},
		{"unknown key in a prediction", "  ask:", "  asks:", "there is no key asks here", 0},
		{"unknown key in an answer", "      says: When old-1", "      say: When old-1", "there is no key say here", 0},
		{"unknown key in a goal", "  without: [Assi", "  whitout: [Assi", "there is no key whitout here", 0},
		{"unknown key in a moment", "after: 20s", "afer: 20s", "there is no key afer here", 0},
		{"typo in a manifest", "  nodeName: node-a", "  nodename: node-a", `Pod old-1 has no field "spec.nodename"`, 0},
		{"a quantity that is none", `requests: {cpu: "1"}`, `requests: {cpu: "one"}`, "is not a quantity", 0},
		{"a release that is not there", "release: v1.37\n", "release: v1.2\n", "there is no release", 0},
		{"not YAML", "delete: [pod/old-1]", "delete: [pod/old-1", "did not find", 1},
		{"nothing to delete", "delete: [pod/old-1]", "delete: [pod/old-2]", "there is no pod old-2 to delete by then", 0},
		{"a tier that is none", "when: web-1 enters unschedulable", "when: web-1 enters limbo", `there is no tier "limbo"`, 0},
		{"a condition that is none", "until: web-1 enters unschedulable", "until: web-1 enters limbo", "is no condition", 0},
		{"a move that does not come", "until: web-1 enters unschedulable", "until: web-9 enters unschedulable", `no later moment matches "web-9 enters unschedulable"`, 0},
		{"a time that is none", "at: 4s", "at: soon", `"soon" is not a time`, 0},
		{"a step behind the end", "at: 10s", "at: 10m", "the scenario ends at 1m0s", 0},
		{"a wrong prediction of a queue", "- answer: active", "- answer: gated", "gated is not the right answer to queue: in the model it is active", 0},
		{"a wrong prediction of a time", "- answer: 20s", "- answer: 30s", "30s is not the right answer to when: in the model it is 20s", 0},
		{"an answer that says nothing", "      says: That is the leftover flush, for pods that no event wakes.", "      # nothing", "says nothing", 1},
		{"a goal that is out of reach", "  enters: scheduled", "  enters: gated", "the solution does not reach the goal", 1},
		{"a solution that does not do it", "    - like node-a", "    - wait 1s", "the solution does not reach the goal", 7},
		{"a deed that can't be done", "    - like node-a", "    - like node-z", `"like node-z" can't be done`, 0},
		{"a deed that is none", "    - like node-a", "    - pray", `there is no deed "pray"`, 0},
		{"a pod that is not there", "at: 4s", "at: 4s\nlook: web-9", "there is no pod default/web-9", 4},
		{"a claim about words that are not there", "of: Its backoff was over long ago", "of: Its backoff is over", `claims: nothing here says "Its backoff is over"`, 0},
		{"a claim of nothing", "pod: web-1, tier: unschedulable, backoff: 1s}", "pod: web-1}", "nothing is claimed of default/web-1", 0},
		{"a claim without a moment", "at: 20s, pod: web-1", "pod: web-1", "at is missing", 0},
		{"a claim with a wrong tier", "pod: web-1, tier: unschedulable", "pod: web-1, tier: active", `"Its backoff was over long ago" does not hold under v1.37: web-1 is unschedulable`, 0},
		{"a claim with a wrong time", "backoff: 1s}", "backoff: 2s}", "the backoff of web-1 is 99", 0},
		{"a claim of a wrong event", "event: AssignedPodDelete, wakes: [web-1]", "event: NodeAdd, wakes: [web-1]", "NodeAdd wakes nobody", 0},
		{"a claim of the wrong pods", "wakes: [web-1]", "wakes: []", "AssignedPodDelete wakes default/web-1", 0},
		{"a claim of a move at another time", `move: web-1 enters unschedulable}`, `move: web-1 enters active, after: 10s}`, "that move comes at 25.00", 0},
		{"a claim of another release", "since: v1.16", "since: v1.33", `"until a plugin that rejected it waits for what came" holds under v1.32, too`, 0},
		{"a claim of old releases", "since: v1.16", "up-to: v1.28", "holds under v1.37, too", 0},
		{"a claim of a release that is none", "since: v1.16", "since: v1.2", "there is no release", 0},
		{"a source that is none", "scheduling_queue.go@v1.37.1 flush", "scheduling_queue.go flush", "is not a source like", 0},
		{"an old release without a reason", "release: v1.37\n", "release: v1.32\n", "it runs under v1.32 and not under v1.37: because says why", 0},
		{"too much text", "  web-1 wants 1 CPU, and none is free.", "  web-1 wants 1 CPU. " + strings.Repeat("much ", 200), "has room for", 2},
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
				t.Errorf("lint says %v, want %s", err, c.wants)
			}
			var at int
			if _, scan := fmt.Sscanf(err.Error(), "mine.yaml:%d:", &at); (scan != nil || at != line-c.above) && !strings.HasPrefix(c.becomes, "release: v1.32") {
				t.Errorf("%v does not name line %d", err, line-c.above)
			}
		})
	}
}

// TestLintWarns: what is no mistake, but worth a look.
func TestLintWarns(t *testing.T) {
	text, err := lessons.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, is, becomes, wants string }{
		{"a figure that nothing backs", "web-1 wants 1 CPU, and none is free.", "web-1 wants 1 CPU. It failed at 10:00:07.", `neither a claim nor a source backs "It failed at 10:00:07."`},
		{"an answer that the board counts down", "- answer: 5m\n", "- answer: 5m25s\n", "the board counts down 5m25s for web-1, and 5m25s is an answer"},
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
				t.Errorf("lint warns of %q, want %s", plan.Warnings, c.wants)
			}
		})
	}
}

// A lesson that asked where a pod is now, beside a board that showed it, is warned of; where it is after a while is a question.
func TestLintWarnsOfWhatTheBoardShows(t *testing.T) {
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
		if got := strings.Contains(strings.Join(plan.Warnings, "\n"), "nothing happens up to the answer unschedulable, which the board shows"); got != warns {
			t.Errorf("of %q lint warns: %q", question, plan.Warnings)
		}
	}
}

// FuzzParse: whatever is in a file, it is a lesson or refused.
func FuzzParse(f *testing.F) {
	if text, err := lessons.New("mine"); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := lessons.Parse("x.yaml", text)
		if err == nil && (len(l.Steps) == 0 || l.Scenario == nil) {
			t.Error("a lesson without steps or without a scenario is taken")
		}
	})
}
