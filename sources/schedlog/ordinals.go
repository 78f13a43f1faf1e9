package schedlog

import "slices"

// ordinals is an ascending set of numbers, stored as ranges.
type ordinals []ordinalStretch

type ordinalStretch struct{ from, to int } // to is exclusive

// add adds a range after all others.
func (o *ordinals) add(from, to int) {
	if n := len(*o); n > 0 && (*o)[n-1].to == from {
		(*o)[n-1].to = to
		return
	}
	*o = append(*o, ordinalStretch{from, to})
}

// has reports whether the set contains n.
func (o ordinals) has(n int) bool {
	i, _ := slices.BinarySearchFunc(o, n, func(s ordinalStretch, n int) int {
		if s.to <= n {
			return -1
		}
		return 1
	})
	return i < len(o) && o[i].from <= n
}
