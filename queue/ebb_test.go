package queue

import (
	"testing"
)

// TestSlice: a slice gives its room back when little of it is used, and keeps what it holds.
func TestSlice(t *testing.T) {
	s := make([]int, 5000)
	s[1] = 7
	if got := shrink(s[:1000]); cap(got) != 5000 {
		t.Errorf("a fifth is used, and the room went from 5000 to %d", cap(got))
	}
	if got := shrink(s[:100]); cap(got) > 500 || len(got) != 100 || got[1] != 7 {
		t.Errorf("a fiftieth is used, and there is room for %d; %v", cap(got), got[:2])
	}
	if got := shrink(make([]int, 0, 100)); cap(got) != 100 {
		t.Errorf("a small slice has room for %d", cap(got))
	}
}

// TestMap: a map has what was set and not deleted, before and after it shrinks, and so has a copy.
func TestMap(t *testing.T) {
	var m shrinkingMap[int, int]
	const n = 10_000
	for i := range n {
		m.Set(i, -i)
	}
	for i := 10; i < n; i++ {
		m.Delete(i)
		if i == n/2 {
			c := m.Clone()
			c.Set(1, 1)
		}
	}
	for i := range 20 {
		if v, ok := m.Get(i); ok != (i < 10) || ok && v != -i {
			t.Errorf("%d: %d, %v", i, v, ok)
		}
	}
	if m.Len() != 10 {
		t.Errorf("%d are left", m.Len())
	}
}
