package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

// inputs are the parts of a recording that the model gets: its audit log alone or with the scheduler's log at -v=2, what an
// attached session receives, from the scheduler's start or from half-way on, or the second half of the audit log.
var inputs = []string{"audit log", "audit log, `-v=2`", "attached", "attached half-way", "second half of the audit log"}

// halfway is the first of inputs that lacks earlier events.
const halfway = 3

// checkAnswers checks the shares of right answers, and for how long a tier was wrong.
func checkAnswers(t *testing.T, input string, a report.Answers) {
	t.Helper()
	for _, q := range []struct {
		what   string
		answer report.Answer
		least  float64
	}{{"tier", a.Tier, 0.985}, {"plugins", a.Plugins, 0.985}, {"end of backoff", a.Return, 0.95}, {"attempts", a.Attempts, 0.95}} {
		if got := q.answer.Share(); got < q.least {
			t.Errorf("%s: %s is right for %.2f %%, want %g %% at least", input, q.what, 100*got, 100*q.least)
		}
	}
	if a.LongestWrong > 3 {
		t.Errorf("%s: the tier of %s is wrong for %d s, want 3 at most", input, a.Of, a.LongestWrong)
	}
}

// TestAnswers measures the model's answers about waiting pods: see report.Answers. It appends them in JSON to the file
// SCHEDQ_ANSWERS. SCHEDQ_INPUTS limits the inputs to those numbers.
func TestAnswers(t *testing.T) {
	rows := map[string][]string{}
	eachAttached(t, func(t *testing.T, dir, log string, rec, truth *sources.Recording, cfg *schedulerconfig.Config) {
		name := recordingOf(t)
		row := []string{name}
		for i, input := range inputs {
			if only := os.Getenv("SCHEDQ_INPUTS"); only != "" && !strings.Contains(only, fmt.Sprint(i)) {
				continue
			}
			v := answersOf(t, i, dir, log, rec, truth, cfg)
			row = append(row, answersCell(v.Answers))
			if i < halfway {
				checkAnswers(t, input, v.Answers)
			}
			writeAnswers(t, name, input, v.Answers)
		}
		rows[name] = row
	})
	var all [][]string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range rows {
			if !yield(name) {
				return
			}
		}
	}) {
		all = append(all, rows[name])
	}
	if os.Getenv("SCHEDQ_INPUTS") == "" {
		checkTable(t, "answers", append([]string{"recording"}, inputs...), all)
	}
}

func answersOf(t *testing.T, input int, dir, log string, rec, truth *sources.Recording, cfg *schedulerconfig.Config) *report.Verification {
	t.Helper()
	opts := timeline.Options{Scheduler: cfg}
	var v *report.Verification
	var err error
	switch input {
	case 0:
		v, err = report.Verify(t.Context(), rec, truth, opts, 0)
	case 1:
		cut := filepath.Join(t.TempDir(), "cut.log")
		if err := os.WriteFile(cut, cutLog(t, log, 2), 0o600); err != nil {
			t.Fatal(err)
		}
		return verify(t, dir, log, cut)
	case 2:
		stream := newAsLive(rec, 0)
		v, err = report.VerifyMoves(t.Context(), movesOf(t, stream, rec.End, cfg), stream.attached, truth, opts, 0)
	case 4:
		return verifyHalf(t, dir, log, cfg)
	case 3:
		stream := newHalfway(rec, rec.Events[len(rec.Events)/2].Time)
		v, err = report.VerifyMoves(t.Context(), movesOf(t, stream, rec.End, cfg), stream.attached.Add(settled), truth, opts, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// verifyHalf compares the second half of an audit log with the scheduler's log of the pods that it names: nothing can be known of
// the others.
func verifyHalf(t *testing.T, dir, log string, cfg *schedulerconfig.Config) *report.Verification {
	t.Helper()
	text := unzip(t, filepath.Join(dir, "audit.log.gz"))
	text = text[len(text)/2:]
	text = text[bytes.IndexByte(text, '\n')+1:]
	half := filepath.Join(t.TempDir(), "half.log")
	if err := os.WriteFile(half, text, 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := files.Open(t.Context(), []string{half}, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := files.Open(t.Context(), []string{log}, files.Options{Beside: rec})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	truth.Events = slices.DeleteFunc(truth.Events, func(ev sources.Event) bool {
		m, ok := ev.Fact.(*sources.Move)
		if !ok {
			return false
		}
		if _, known := named[m.Pod.Name]; !known {
			named[m.Pod.Name] = bytes.Contains(text, []byte(strconv.Quote(m.Pod.Name)))
		}
		return !named[m.Pod.Name]
	})
	v, err := report.Verify(t.Context(), rec, truth, timeline.Options{Scheduler: cfg}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// movesOf returns the moves of a session of stream up to end.
func movesOf(t *testing.T, stream *asLive, end time.Time, cfg *schedulerconfig.Config) (made []*board.Transition) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(stream.left[0].at))
		ctx, stop := context.WithDeadline(t.Context(), end)
		defer stop()
		if err := timeline.Follow(ctx, stream, timeline.Options{Scheduler: cfg}, timeline.Handlers{Move: func(m *board.Transition) error {
			made = append(made, m)
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
	})
	return made
}

// answersCell returns the shares of right answers about tier, plugins, return and attempts, and the longest time in seconds for
// which a tier was wrong.
func answersCell(a report.Answers) string {
	cells := []string{}
	for _, of := range []report.Answer{a.Tier, a.Plugins, a.Return, a.Attempts} {
		if of.Asked == 0 {
			cells = append(cells, "–")
			continue
		}
		cells = append(cells, percent(math.Floor(1000*of.Share()+1e-9)/1000))
	}
	return fmt.Sprintf("%s, %d s", strings.Join(cells, " / "), a.LongestWrong)
}

func writeAnswers(t *testing.T, recording, input string, a report.Answers) {
	t.Helper()
	t.Logf("%s: %s", input, answersCell(a))
	path := os.Getenv("SCHEDQ_ANSWERS")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(map[string]any{"recording": recording, "input": input, "answers": a}); err != nil {
		t.Fatal(err)
	}
}
