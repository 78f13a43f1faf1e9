// Package archive stores the history of a timeline that is no longer in memory in a file: its changes in
// compressed blocks, found by number and by time, and occasionally the whole board to start from.
//
// Changes and moves have the timeline's numbers, from 0. They are read back as they were written, except
// that a pod's moves before its oldest in a block are read on demand. One goroutine writes; any may read.
package archive

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"k8s.io/utils/lru"

	"github.com/schedq/schedq/queue/session/board"
)

const (
	// BlockLen is the number of changes that are compressed and read together: few enough to be read
	// within some milliseconds, and enough to share data.
	BlockLen = 512
	// cachedBlocks limits the cache of decoded blocks, for moving back and forth, and for the moves of
	// visible pods.
	cachedBlocks = 32
	// MaxBytes limits the size of the file.
	MaxBytes = 8 << 30
	// window is the compressor's window. It uses twice as much memory, and most blocks are smaller.
	window = 1 << 20
	// maxDecompressed limits the decompressed size of a block or board.
	maxDecompressed = 1 << 30
)

// errFull is returned when the file has reached MaxBytes.
var errFull = errors.New("history exceeds 8 GiB")

// File stores an archive.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// Archive is the part of a timeline's history that is stored in a file.
type Archive struct {
	file         File
	compressor   *zstd.Encoder
	decompressor *zstd.Decoder
	cache        *lru.Cache // *block by its number

	mu        sync.RWMutex // guards the following fields, which only grow
	blocks    []place
	boards    []boardPlace
	length    int64
	end       int // number of changes
	failed    error
	lastBoard cachedBoard
}

// place is the location and content of a block or of a part of a board.
type place struct {
	offset int64
	size   int
	// change is the number of the block's first change, at its time, and firstMove the number of moves
	// before it.
	change, firstMove int
	at                time.Time
}

// boardPlace is the location of a board.
type boardPlace struct {
	change int     // the number of the change after it
	parts  []place // its pods as lanes, partLen at a time
	orders place   // its other orders, as indices into those
}

// cachedBoard is the board that was read last, for moving back and forth. The zero value is none.
type cachedBoard struct {
	*board.Board
	change int
}

// block is a decoded block.
type block struct {
	changes []board.Change
	moves   []*board.Transition
}

// New returns an archive in f, which must be empty. Closing the archive closes f.
func New(f File) (*Archive, error) {
	compressor, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	decompressor, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxDecompressed))
	if err != nil {
		return nil, fmt.Errorf("set up decompression: %w", err)
	}
	return &Archive{file: f, compressor: compressor, decompressor: decompressor, cache: lru.New(cachedBlocks)}, nil
}

// Close closes the file, after which nothing can be read.
func (a *Archive) Close() error {
	a.decompressor.Close()
	return a.file.Close()
}

// Err returns the first read error, or nil.
func (a *Archive) Err() error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.failed
}

// Append adds the changes that follow those in the archive, whose moves are numbered from firstMove, in
// blocks of BlockLen. After an error the last block is missing.
func (a *Archive) Append(changes []board.Change, firstMove int) error {
	for len(changes) > 0 {
		n := min(BlockLen, len(changes))
		e := newEncoder()
		e.number(uint64(n))
		moves := 0
		for i := range changes[:n] {
			e.change(&changes[i])
			moves += changes[i].MoveCount()
		}
		p, err := a.write(e, place{change: a.end, firstMove: firstMove, at: changes[0].At})
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.blocks, a.end = append(a.blocks, p), a.end+n
		a.mu.Unlock()
		changes, firstMove = changes[n:], firstMove+moves
	}
	return nil
}

// write compresses the data in e and appends it to the file.
func (a *Archive) write(e *encoder, p place) (place, error) {
	if e.failed != nil {
		return p, e.failed
	}
	data := a.compressor.EncodeAll(e.out, nil)
	if a.length+int64(len(data)) > MaxBytes {
		return p, errFull
	}
	if _, err := a.file.WriteAt(data, a.length); err != nil {
		return p, err
	}
	p.offset, p.size = a.length, len(data)
	a.mu.Lock()
	a.length += int64(len(data))
	a.mu.Unlock()
	return p, nil
}

// Change returns the change with that number, which must exist. It is empty if it can't be read.
func (a *Archive) Change(n int) board.Change {
	i, p := a.find(func(p *place) bool { return p.change > n })
	if b := a.block(i, p); b != nil && n-p.change < len(b.changes) {
		return b.changes[n-p.change]
	}
	return board.Change{}
}

// Move implements board.Past.
func (a *Archive) Move(seq int) *board.Transition {
	i, p := a.find(func(p *place) bool { return p.firstMove > seq })
	if b := a.block(i, p); b != nil && seq-p.firstMove < len(b.moves) {
		return b.moves[seq-p.firstMove]
	}
	return nil
}

// ChangesBy returns how many changes had happened by t, inclusive.
func (a *Archive) ChangesBy(t time.Time) int {
	i, p := a.find(func(p *place) bool { return p.at.After(t) })
	b := a.block(i, p)
	if b == nil {
		return p.change
	}
	return p.change + sort.Search(len(b.changes), func(i int) bool { return b.changes[i].At.After(t) })
}

// MovesBefore returns how many moves are among the first n changes.
func (a *Archive) MovesBefore(n int) int {
	i, p := a.find(func(p *place) bool { return p.change > n })
	b := a.block(i, p)
	if b == nil {
		return p.firstMove
	}
	return p.firstMove + sort.Search(len(b.moves), func(i int) bool { return b.moves[i].Change >= n })
}

// find returns the last block before the first for which isBeyond is true, and its index, or -1.
func (a *Archive) find(isBeyond func(*place) bool) (int, place) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	i := sort.Search(len(a.blocks), func(i int) bool { return isBeyond(&a.blocks[i]) }) - 1
	if i < 0 {
		return -1, place{}
	}
	return i, a.blocks[i]
}

// block returns the i-th block, located at p, or nil if there is none or it can't be read.
func (a *Archive) block(i int, p place) *block {
	if i < 0 {
		return nil
	}
	if b, ok := a.cache.Get(i); ok {
		return b.(*block)
	}
	d, err := a.open(p)
	if err != nil {
		a.fail(err)
		return nil
	}
	b := &block{changes: make([]board.Change, d.count())}
	for j := range b.changes {
		b.changes[j] = d.change()
		if m := b.changes[j].Move; m != nil {
			b.moves = append(b.moves, m)
		}
	}
	if d.failed != nil {
		a.fail(d.failed)
		return nil
	}
	a.cache.Add(i, b)
	return b
}

// open returns a decoder of the data at p.
func (a *Archive) open(p place) (*decoder, error) {
	data := make([]byte, p.size)
	if _, err := a.file.ReadAt(data, p.offset); err != nil {
		return nil, err
	}
	raw, err := a.decompressor.DecodeAll(data, nil)
	if err != nil {
		return nil, err
	}
	return &decoder{in: raw, past: a}, nil
}

// fail records the first read error.
func (a *Archive) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = fmt.Errorf("read history: %w", err)
	}
}
