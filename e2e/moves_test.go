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
	Time           time.Time
	Pod, To, Event string
}

// gone reports whether the move takes the pod out of the queue.
func (m move) gone() bool { return m.To == "scheduled" || m.To == "deleted" }

// readMoves reads what schedq watch -o json has written to a file so far. A last line that is not whole
// is left for later.
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

// readLines returns the whole lines of a file.
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

// tiers returns where each pod that is in the queue is after moves.
func tiers(moves []move) map[string]string {
	in := map[string]string{}
	for _, m := range moves {
		if in[m.Pod] = m.To; m.gone() {
			delete(in, m.Pod)
		}
	}
	return in
}

// writeTrace writes moves to a file as a trace, which schedq verify compares with another as it is. Of
// the time before from it only says where each pod is then.
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
			m.Event = "ScheduleAttemptFailure" // its attempt, if one was under way, has ended, too: a trace that says "deleted" alone says of neither
		}
		write(m.Time, m.Pod, m.To, m.Event)
	}
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
}
