package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// move is a line of schedq watch -o json.
type move struct {
	Time                 time.Time
	Pod, From, To, Event string
	Attempts             int
	Plugins              []string
}

// gone reports whether the pod leaves the queue.
func (m move) gone() bool { return m.To == "scheduled" || m.To == "deleted" }

// readMoves reads the output of schedq watch -o json so far, without an incomplete last line.
func readMoves(t *testing.T, path string) []move {
	t.Helper()
	var moves []move
	for _, line := range readLines(t, path) {
		var m move
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v: %s", path, err, line)
		}
		moves = append(moves, m)
	}
	return moves
}

// readLines returns the complete lines of a file.
func readLines(t *testing.T, path string) [][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines [][]byte
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return lines
		}
		lines = append(lines, line)
	}
}

// tiers returns the tier of each queued pod after moves.
func tiers(moves []move) map[string]string {
	in := map[string]string{}
	for _, m := range moves {
		if in[m.Pod] = m.To; m.gone() {
			delete(in, m.Pod)
		}
	}
	return in
}

// writeTrace writes moves to a trace for schedq verify. Moves before from are reduced to each pod's tier
// at that time.
func writeTrace(t *testing.T, path string, moves []move, from time.Time) {
	t.Helper()
	moves = slices.Clone(moves)
	slices.SortStableFunc(moves, func(a, b move) int { return a.Time.Compare(b.Time) })
	split, _ := slices.BinarySearchFunc(moves, from, func(m move, at time.Time) int { return m.Time.Compare(at) })
	var out []byte
	out = append(out, `{"schedq":"trace","version":1}`+"\n"...)
	write := func(at time.Time, pod, to, event string) {
		line, err := json.Marshal(map[string]any{"time": at, "move": struct {
			Pod   string `json:"pod"`
			To    string `json:"to"`
			Event string `json:"event,omitempty"`
		}{pod, to, event}})
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, line...), '\n')
	}
	for pod, tier := range tiers(moves[:split]) {
		write(from, pod, tier, "")
	}
	for _, m := range moves[split:] {
		if m.To == "deleted" {
			m.Event = "ScheduleAttemptFailure" // also ends a running attempt, which "deleted" alone would not
		}
		write(m.Time, m.Pod, m.To, m.Event)
	}
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
}
