package decisions

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedq/schedq/docs/doctable"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

const accuracy = "../../../docs/development/accuracy.md"

var update = flag.Bool("update", false, "write the measured figures into docs/development/accuracy.md")

// TestDecisions asks the model for its verdict at every attempt of the recordings' schedulers, over the
// objects as the real one knew them. A difference must have one of the causes that docs/development/accuracy.md
// lists, and the figures must be those of its table. SCHEDQ_RECORDINGS is a folder of recordings, each a folder with
// audit.log.gz and sched.log.gz.
func TestDecisions(t *testing.T) {
	listed, err := os.ReadFile(accuracy)
	if err != nil {
		t.Fatal(err)
	}
	measured := doctable.Table{Header: []string{"recording", "attempts", "compared", "same verdict and plugins", "rejected", "same message", "bound", "node fits"}}
	forEachRecording(t, math.MaxInt64, func(t *testing.T, events []sources.Event, log []line) {
		s := summarize(t, events, log, timing{claims: true, delay: watchDelay})
		t.Log(s)
		if s.compared == 0 && s.attempts > 0 {
			t.Error("no attempt could be compared")
		}
		for cause := range s.causes {
			if !strings.Contains(string(listed), cause) {
				t.Errorf("docs/development/accuracy.md does not list the cause %q", cause)
			}
		}
		row := []string{filepath.Base(t.Name())}
		for _, n := range []int{s.attempts, s.compared, s.equal, s.failed, s.words, s.compared - s.failed, s.placed} {
			row = append(row, strconv.Itoa(n))
		}
		if !t.Failed() {
			measured.Rows = append(measured.Rows, row)
		}
	})
	doctable.Check(t, accuracy, "decisions:verdicts", measured, *update)
}

// TestCauses applies changes of claims too early or too late, and checks that all resulting
// differences have that cause.
func TestCauses(t *testing.T) {
	asked, found := 0, 0
	forEachRecording(t, 1<<20, func(t *testing.T, events []sources.Event, log []line) { // the shorter ones will do
		for _, how := range []timing{{delay: watchDelay}, {delay: -20 * watchDelay}} {
			s := summarize(t, events, log, how)
			t.Log(s)
			asked++
			found += s.causes[causeEstimated]
			if s.compared-s.equal != s.causes[causeEstimated] {
				t.Errorf("with a delay of %s: %s", how.delay, s)
			}
		}
	})
	if asked > 0 && found == 0 {
		t.Error("the delays caused no differences")
	}
}

// forEachRecording calls test with every recording whose scheduler log has at most largest bytes.
func forEachRecording(t *testing.T, largest int64, test func(*testing.T, []sources.Event, []line)) {
	if os.Getenv("SCHEDQ_DECISIONS") == "" {
		t.Skip("make decisions runs this: it takes minutes with -race")
	}
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS names no folder of recordings")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	for _, file := range logs {
		if info, err := os.Stat(file); err != nil || info.Size() > largest {
			continue
		}
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			rec, err := files.Open(t.Context(), []string{filepath.Join(dir, "audit.log.gz")}, files.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range rec.Events {
				if heard, is := ev.Fact.(*sources.SchedulerRunning); is && !strings.HasPrefix(string(heard.Release), "v1.37.") {
					t.Skipf("the scheduler is %s: the test compares with lines and plugins of v1.37", heard.Release)
				}
			}
			test(t, rec.Events, readLog(t, file, rec.Events[0].Time))
		})
	}
}

// summary compares the model's verdicts with a log.
type summary struct {
	changes, inLog int // all changes, and those in the log
	attempts       int
	compared       int // attempts with known objects and a logged outcome
	failed         int // of the compared: the real scheduler found no node
	equal          int
	words          int // of the failed: the message is the same, too
	placed         int // of the others: the node that the real scheduler chose fits
	causes         map[string]int
}

func (s *summary) String() string {
	return fmt.Sprintf("%d changes, %d by their own lines; %d attempts, %d compared: %d equal, causes of the others %v; %d failed, %d in the same words; %d on a node that fits",
		s.changes, s.inLog, s.attempts, s.compared, s.equal, s.causes, s.failed, s.words, s.placed)
}

// summarize replays a log and fails for a difference without a known cause.
func summarize(t *testing.T, events []sources.Event, log []line, how timing) *summary {
	all, unknown := arrivals(events, log, how)
	s := &summary{changes: len(all), causes: map[string]int{}}
	for _, h := range all {
		if h.inLog {
			s.inLog++
		}
	}
	for _, l := range log {
		if l.kind == attempting {
			s.attempts++
		}
	}
	for _, a := range replay(t, all, log) {
		if slices.ContainsFunc(unknown, func(u span) bool { return u.from <= a.line && a.line < u.to }) {
			continue
		}
		s.compared++
		if a.real.Node == "" {
			s.failed++
			if a.ours.Node == "" && strings.HasPrefix(a.real.Message, a.ours.Message) { // preemption's part follows
				s.words++
			}
		} else if a.misplaced == nil {
			s.placed++
		}
		switch {
		case a.same(a.ours):
			s.equal++
		case a.cause != "":
			s.causes[a.cause]++
		default:
			t.Errorf("%s %s:\nreal %+v\nours %+v", log[a.line].at, nameOf(a.pod), a.real.Verdict, a.ours)
		}
	}
	return s
}
