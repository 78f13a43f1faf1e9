package schedlog

import "slices"

// ordinals are numbers from 0 on, as stretches of them in their order.
type ordinals []ordinalStretch

type ordinalStretch struct{ from, to int } // without to

// add adds a stretch, which is behind all others.
func (o *ordinals) add(from, to int) {
	if n := len(*o); n > 0 && (*o)[n-1].to == from {
		(*o)[n-1].to = to
		return
	}
	*o = append(*o, ordinalStretch{from, to})
}

// has reports whether n is one of them.
func (o ordinals) has(n int) bool {
	i, _ := slices.BinarySearchFunc(o, n, func(s ordinalStretch, n int) int {
		if s.to <= n {
			return -1
		}
		return 1
	})
	return i < len(o) && o[i].from <= n
}
