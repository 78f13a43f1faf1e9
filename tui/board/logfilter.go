package board

import (
	"slices"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
)

// matching holds the moves of pods that the filter selects, as indexes in the log. They are found
// on demand, part by part, and kept until the filter or the log changes.
type matching struct {
	filter string
	// found are the matches between first and next, oldest first.
	found       []int
	first, next int
	last        *board.Transition // the move before next, to detect another log
}

// matchesPerFrame limits how many moves are checked for one frame.
const matchesPerFrame = 4096

// refresh updates the matches for a newer frame.
func (m *matching) refresh(f *session.Frame) {
	n := f.Log.Len()
	if m.filter != f.Filter || m.next > n || m.next > 0 && f.Log.At(m.next-1) != m.last {
		*m = matching{filter: f.Filter, first: n, next: n}
	}
	if m.filter == "" {
		return
	}
	if n-m.next > matchesPerFrame {
		*m = matching{filter: f.Filter, first: n, next: n}
	}
	for ; m.next < n; m.next++ {
		if matches(f, m.next) {
			m.found = append(m.found, m.next)
		}
	}
	if n > 0 {
		m.last = f.Log.At(n - 1)
	}
}

// reach looks for older matches until there are want of them, up to the limit for one frame.
func (m *matching) reach(f *session.Frame, want int) {
	if m.filter == "" || len(m.found) >= want {
		return
	}
	var older []int
	for looked := 0; m.first > 0 && looked < matchesPerFrame && len(m.found)+len(older) < want; looked++ {
		m.first--
		if matches(f, m.first) {
			older = append(older, m.first)
		}
	}
	slices.Reverse(older)
	m.found = append(older, m.found...)
}

// wanted returns the number of matches to find: the visible rows and as many before them.
func (m *matching) wanted(rows logRows, height int) int {
	if !rows.scrolled {
		return 2 * height
	}
	n, _ := slices.BinarySearch(m.found, rows.cursor)
	return len(m.found) - n + 2*height
}

// matches reports whether to show the i-th move.
func matches(f *session.Frame, i int) bool {
	t := f.Log.At(i)
	return !t.Restated() && f.Board.Filter().Match(t.Pod.Facts(t.Time))
}

// before returns the last match older than the i-th move, or -1.
func (m *matching) before(i int) int {
	n, _ := slices.BinarySearch(m.found, i)
	if n == 0 {
		return -1
	}
	return m.found[n-1]
}

// after returns the first match newer than the i-th move, or -1.
func (m *matching) after(i int) int {
	n, _ := slices.BinarySearch(m.found, i+1)
	if n == len(m.found) {
		return -1
	}
	return m.found[n]
}
