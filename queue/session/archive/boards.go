package archive

import (
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/schedq/schedq/queue/session/board"
)

// partLen is the number of pods that are compressed together. The parts of a board are read in parallel.
const partLen = 4096

// AppendBoard adds the board before the next change to be appended, with the pods for which keep returns
// true.
func (a *Archive) AppendBoard(b *board.Board, keep func(*board.Pod) bool) error {
	all, p := b.Orders(keep), boardPlace{change: a.end}
	for some := range slices.Chunk(all[0], partLen) {
		e := newEncoder()
		e.number(uint64(len(some)))
		for _, pod := range some {
			e.pod(pod)
		}
		part, err := a.write(e, place{})
		if err != nil {
			return err
		}
		p.parts = append(p.parts, part)
	}
	e := newEncoder()
	e.orders(all, b.Bound())
	var err error
	if p.orders, err = a.write(e, place{}); err != nil {
		return err
	}
	a.mu.Lock()
	a.boards = append(a.boards, p)
	a.mu.Unlock()
	return nil
}

// Board returns the last archived board before change n, and the number of the change it precedes. b is nil
// if it can't be read.
func (a *Archive) Board(n int) (b *board.Board, before int) {
	a.mu.Lock()
	i := sort.Search(len(a.boards), func(i int) bool { return a.boards[i].change > n }) - 1
	if i < 0 {
		a.mu.Unlock()
		return nil, 0
	}
	p := a.boards[i]
	if last := a.lastBoard; last.Board != nil && last.change == p.change {
		b = last.Copy()
	}
	a.mu.Unlock()
	if b != nil {
		return b, p.change
	}
	b, err := a.openBoard(p)
	if err != nil {
		a.fail(err)
		return nil, 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lastBoard = cachedBoard{b, p.change}
	return b.Copy(), p.change
}

// openBoard reads the board at p, its parts in parallel.
func (a *Archive) openBoard(p boardPlace) (*board.Board, error) {
	parts, failed := make([][]*board.Pod, len(p.parts)), make([]error, len(p.parts))
	var reading sync.WaitGroup
	for i, part := range p.parts {
		reading.Go(func() {
			d, err := a.open(part)
			if err == nil {
				parts[i], err = d.part(), d.failed
			}
			failed[i] = err
		})
	}
	d, err := a.open(p.orders)
	reading.Wait()
	if err = errors.Join(append(failed, err)...); err != nil {
		return nil, err
	}
	all, bound := d.orders(slices.Concat(parts...))
	if d.failed != nil {
		return nil, d.failed
	}
	return board.FromOrders(all, bound), nil
}
