package board

import (
	"slices"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
)

// matching are the moves of pods that the filter selects, as numbers in the log. They are found as they are asked for, a
// part of the log at a time, and kept until the filter or the log is another.
type matching struct {
	filter string
	// found are those among the moves from first up to next, oldest first.
	found       []int
	first, next int
	last        *board.Transition // the move before next, by which another log is told
}

// matchedAtOnce is how many moves are looked at for one frame.
const matchedAtOnce = 4096

// refresh takes over a newer frame.
func (m *matching) refresh(f *session.Frame) {
	n := f.Log.Len()
	if m.filter != f.Filter || m.next > n || m.next > 0 && f.Log.At(m.next-1) != m.last {
		*m = matching{filter: f.Filter, first: n, next: n}
	}
	if m.filter == "" {
		return
	}
	if n-m.next > matchedAtOnce {
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

// reach looks for older moves until there are want of them, or for as long as one frame may take.
func (m *matching) reach(f *session.Frame, want int) {
	if m.filter == "" || len(m.found) >= want {
		return
	}
	var older []int
	for looked := 0; m.first > 0 && looked < matchedAtOnce && len(m.found)+len(older) < want; looked++ {
		m.first--
		if matches(f, m.first) {
			older = append(older, m.first)
		}
	}
	slices.Reverse(older)
	m.found = append(older, m.found...)
}

// wanted is how many there should be so that rows are in sight, and as many before them.
func (m *matching) wanted(rows logRows, height int) int {
	if !rows.scrolled {
		return 2 * height
	}
	n, _ := slices.BinarySearch(m.found, rows.cursor)
	return len(m.found) - n + 2*height
}

// matches reports whether the i-th move is one to show.
func matches(f *session.Frame, i int) bool {
	t := f.Log.At(i)
	return !t.Restated() && f.Board.Filter().Match(t.Pod.Facts(t.Time))
}

// before returns the last of them that is older than the i-th move, or -1, and behind the first that is newer.
func (m *matching) before(i int) int {
	n, _ := slices.BinarySearch(m.found, i)
	if n == 0 {
		return -1
	}
	return m.found[n-1]
}

func (m *matching) behind(i int) int {
	n, _ := slices.BinarySearch(m.found, i+1)
	if n == len(m.found) {
		return -1
	}
	return m.found[n]
}
