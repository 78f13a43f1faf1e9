package schedlog

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// TestRecordings compares every recording's scheduler log with the transitions that an independent
// reader found in it. SCHEDQ_RECORDINGS is the folder of the recordings.
func TestRecordings(t *testing.T) {
	dir := os.Getenv("SCHEDQ_RECORDINGS")
	if dir == "" {
		t.Skip("SCHEDQ_RECORDINGS is not set")
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*", "sched.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	for _, log := range logs {
		t.Run(filepath.Base(filepath.Dir(log)), func(t *testing.T) {
			want, wantTimes := truth(t, filepath.Join(filepath.Dir(log), "truth.jsonl.gz"))
			r := open(t, log)
			start := time.Now()
			part, err := readKept(r, Year{NotAfter: r.ModTime()})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			long, err := Survey(open(t, log), Year{NotAfter: r.ModTime()}, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			compareLong(t, part, long, func() *lines.Reader { return open(t, log) })
			got, n, failures, explained := map[string][]string{}, 0, 0, 0
			var late time.Duration
			for i, e := range part.Events {
				if i > 0 && e.Time.Before(part.Events[i-1].Time) {
					t.Fatalf("event %d goes back in time", i)
				}
				m, ok := e.Fact.(*sources.Move)
				if !ok || m.Unplaced { // the recorder of the truth reads lines on moves alone
					continue
				}
				if m.Event == failure && m.To != sources.TierDeleted {
					failures++
					if m.Message != "" {
						explained++
					}
				}
				if n < len(wantTimes) {
					late = max(late, e.Time.Sub(wantTimes[n]))
				}
				n++
				got[m.Pod.String()] = append(got[m.Pod.String()], string(m.To)+" "+m.Event)
			}
			if len(got) != len(want) {
				t.Errorf("%d pods, want %d", len(got), len(want))
			}
			for pod, moves := range want {
				if n := len(got[pod]); n == len(moves)+1 && got[pod][n-1] == "deleted "+failure { // that of a deleted pod's attempt
					got[pod] = got[pod][:n-1]
				}
				for i, m := range moves {
					if i >= len(got[pod]) || got[pod][i] != m {
						t.Fatalf("%s, move %d: got %v, want %v", pod, i, got[pod], moves)
					}
				}
				if len(got[pod]) != len(moves) {
					t.Fatalf("%s: got %v, want %v", pod, got[pod], moves)
				}
			}
			if explained != failures {
				t.Errorf("%d of %d failures have a message", explained, failures)
			}
			t.Logf("%d moves of %d pods agree, at most %v late, read in %v", n, len(got), late, took)
		})
	}
}

func open(t *testing.T, path string) *lines.Reader {
	t.Helper()
	r, err := lines.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func truth(t *testing.T, path string) (moves map[string][]string, times []time.Time) {
	t.Helper()
	r, moves := open(t, path), map[string][]string{}
	for {
		line, err := r.Next()
		if err == io.EOF {
			return moves, times
		}
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Time           time.Time
			Pod, To, Event string
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		moves[m.Pod] = append(moves[m.Pod], m.To+" "+m.Event)
		times = append(times, m.Time)
	}
}
