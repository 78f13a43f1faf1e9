package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// lockName is the file in a ring's folder that is held by who records into it.
const lockName = "lock"

// retryEvery is how long nothing is written after the disk refused.
const retryEvery = 2 * time.Second

// Writer writes a ring. It is not safe for concurrent use.
type Writer struct {
	ctx    context.Context
	folder string
	bound  Bound
	lock   *disk.Growing

	known   *situation
	closed  []segment // the oldest first
	now     *open     // nil before all is known, and while nothing can be written
	next    *keyframe // what is to follow it, or nil
	number  uint64    // of the last segment
	ending  sync.WaitGroup
	flushed time.Time // when it was last

	lost    error     // why there is no ring any more
	looked  time.Time // when it was last looked whether there is
	why     error     // why nothing can be written; nil while it can
	since   time.Time // since when nothing is written
	tried   time.Time // when it was last tried to go on
	skipped int       // events that are in no segment, because they can't be written at all
	written int
}

// Create begins to write a ring into a folder, which is made if it is not there; what it holds of a ring goes on. Nobody else
// writes there until Close. An error is one sentence.
func Create(ctx context.Context, folder string, bound Bound) (*Writer, error) {
	if err := disk.Folder(ctx, folder); err != nil {
		return nil, err
	}
	lock, err := disk.Create(ctx, filepath.Join(folder, lockName), disk.Options{Replace: true}, func(io.Writer) error { return nil })
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another schedq records into %s: name another folder, or end that one first", sources.Sanitize(folder))
	}
	if err != nil {
		return nil, err
	}
	w := &Writer{ctx: context.WithoutCancel(ctx), folder: folder, bound: bound, lock: lock, known: newSituation()}
	if w.closed, err = segments(folder); err != nil {
		_ = lock.Close() // nothing was written
		return nil, err
	}
	for _, s := range w.closed {
		w.number = max(w.number, s.number)
	}
	if w.number >= maxNumber {
		_ = lock.Close() // nothing was written
		return nil, fmt.Errorf("the ring %s has a segment with number %d, and none can follow: move that file away", sources.Sanitize(folder), w.number)
	}
	return w, nil
}

// Write takes in what happened up to now, has the file take it, and keeps the ring within its bound. It is called more often than
// each second, also without events. That nothing can be written is no error: see Notices.
func (w *Writer) Write(now time.Time, events []sources.Event) {
	before := w.flushed
	w.flushed = now
	if w.lost != nil {
		return
	}
	if now.Sub(w.looked).Abs() >= retryEvery {
		w.looked = now
		w.look()
	}
	if now.Round(0).Before(before.Round(0)) { // by the clock on the wall, which goes back where somebody sets it
		events = w.setBack(now, events)
	}
	for _, ev := range events {
		w.add(ev)
		if _, is := ev.Fact.(*sources.Attached); is && w.now == nil {
			w.beginAt(ev.Time)
		}
	}
	if w.now != nil {
		if err := w.now.flush(); err != nil {
			w.pause(err)
		}
	}
	switch may := w.tried.IsZero() || now.Sub(w.tried).Abs() >= retryEvery; {
	case w.known.attached == nil:
		return
	case w.now == nil && may:
		w.since = cmp.Or(w.since, now)
		w.beginAt(now)
	case w.now != nil && w.next == nil && may && w.bound.full(w.now.bytes, w.now.keyframe, now.Sub(w.now.start)):
		w.rotate(now, false)
		w.advance(now)
	case w.next != nil:
		w.advance(now)
	}
	w.prune(now)
}

// look finds out whether the ring and its last segment are still there.
func (w *Writer) look() {
	if err := w.lock.Lost(); err != nil {
		w.lost = fmt.Errorf("the ring %s is gone: its lock file was removed or replaced while schedq recorded, and nobody can read what is written now", sources.Sanitize(w.folder))
		return
	}
	if w.now != nil {
		if err := w.now.file.Lost(); err != nil {
			w.pause(err)
		}
	}
}

// Lost returns an error if the ring's folder was removed: nothing more is written then.
func (w *Writer) Lost() error { return w.lost }

// setBack begins a segment of its own for what comes after the clock was set back, and returns what was seen since the last one
// with a time that can follow.
func (w *Writer) setBack(now time.Time, events []sources.Event) []sources.Event {
	if w.now != nil {
		w.end(w.now)
		w.now = nil
	}
	if w.next != nil {
		w.discard()
	}
	if w.known.attached != nil {
		w.beginAt(now)
	}
	events = slices.Clone(events)
	for i := range events {
		events[i].Time = now.UTC() // of which clock they are is not known
	}
	return events
}

// beginAt begins a segment where none is written: nothing happens meanwhile that could be lost.
func (w *Writer) beginAt(now time.Time) {
	w.rotate(now, true)
	for w.next != nil {
		w.advance(now)
	}
}

func (w *Writer) add(ev sources.Event) {
	w.known.add(ev)
	if w.next != nil {
		w.next.add(ev)
	}
	if w.now == nil {
		return
	}
	skipped, err := w.now.write(ev)
	switch {
	case err != nil:
		w.pause(err)
	case skipped != nil:
		w.skipped++
	default:
		w.written++
	}
}

// rotate begins the segment that is to follow. began is what its name tells.
func (w *Writer) rotate(now time.Time, began bool) {
	o, err := create(w.ctx, w.folder, segment{number: w.number + 1, start: now, began: began})
	if err != nil {
		w.abandon(err)
		return
	}
	w.number++
	w.next = &keyframe{open: o, rest: w.known.inOrder()}
}

// advance writes more of the keyframe of what is to follow, which takes over once that is whole.
func (w *Writer) advance(now time.Time) {
	if w.next == nil {
		return
	}
	all, err := w.next.step()
	if err == nil && all {
		err = w.next.end(w.known, now)
	}
	if err != nil {
		w.abandon(err)
		return
	}
	if !all {
		return
	}
	if w.now != nil {
		w.end(w.now)
	}
	w.now, w.next, w.why, w.tried, w.since = w.next.open, nil, nil, time.Time{}, time.Time{}
}

// end ends a segment. The disk takes it meanwhile: that may last.
func (w *Writer) end(o *open) {
	s := o.segment
	s.ended = w.flushed
	w.closed = append(w.closed, s)
	w.ending.Go(func() { _ = o.close() }) // if the disk refuses its last bytes, it will refuse the next ones
}

// pause stops writing, because the disk refuses.
func (w *Writer) pause(err error) {
	w.end(w.now)
	w.now, w.since = nil, w.flushed
	w.abandon(err)
}

// abandon gives up what was to follow, because the disk refuses. If it is full, the oldest segment goes.
func (w *Writer) abandon(err error) {
	if w.next != nil {
		w.discard()
	}
	w.tried = w.flushed
	if w.now == nil {
		w.why = causeOf(err)
	}
	if isFull(err) && len(w.closed) > 1 {
		w.drop()
	}
}

// discard removes what was to follow: it is not whole, and tells nothing.
func (w *Writer) discard() {
	_ = w.next.close()
	if err := disk.Remove(w.ctx, w.next.path); err == nil || errors.Is(err, fs.ErrNotExist) {
		w.number-- // else a segment would be missing
	}
	w.next = nil
}

// prune drops the oldest segments for which the bound has no room any more.
func (w *Writer) prune(now time.Time) {
	for len(w.closed) > 0 && w.isOver(now) && w.drop() {
	}
}

// isOver reports whether the ring is beyond its bound without its oldest segment's going.
func (w *Writer) isOver(now time.Time) bool {
	if w.bound.Bytes > 0 {
		total := int64(0)
		for _, s := range w.closed {
			total += s.bytes
		}
		if w.now != nil {
			total += w.now.bytes
		}
		if w.next != nil {
			total += w.next.bytes
		}
		if total > w.bound.Bytes-w.bound.Bytes/(4*shares) { // what is written until it is looked at again has room
			return true
		}
	}
	return w.bound.Age > 0 && now.Sub(w.closed[0].ended) > w.bound.Age
}

// drop removes the oldest segment. It returns false if that can't be removed.
func (w *Writer) drop() bool {
	if err := disk.Remove(w.ctx, w.closed[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	w.closed = w.closed[1:]
	return true
}

// Notices are sentences about what is wrong at the moment.
func (w *Writer) Notices() []string {
	var said []string
	if w.why != nil {
		said = append(said, fmt.Sprintf("Nothing is recorded since %s: %s can't be written: %v. It is tried again every %s.",
			w.since.UTC().Format("15:04:05"), sources.Sanitize(w.folder), w.why, retryEvery))
	}
	if w.skipped > 0 {
		said = append(said, "Something that happened can't be written into a recording, and is left out.")
	}
	if w.now != nil && w.bound.Bytes > 0 && w.now.keyframe > w.bound.Bytes/4 {
		said = append(said, fmt.Sprintf("The ring is small for this cluster: each of its segments begins with %d KiB of objects, and it may have %d KiB in all.",
			w.now.keyframe>>10, w.bound.Bytes>>10))
	}
	return said
}

// Written counts the events that were written, keyframes left aside.
func (w *Writer) Written() int { return w.written }

// Close ends the last segment. The error is why not all that was written is in the ring.
func (w *Writer) Close() error {
	if w.next != nil {
		w.discard()
	}
	if w.now != nil {
		_, _ = w.now.write(sources.Event{Time: w.flushed.UTC(), Fact: &sources.Mark{Text: "the recorder was ended"}}) // else it shows by its last event
		w.end(w.now)
	}
	w.ending.Wait()
	if w.lost == nil {
		w.look()
	}
	_ = w.lock.Close() // it holds nothing
	if w.lost != nil {
		return w.lost
	}
	if w.why != nil {
		return fmt.Errorf("%s can't be written: %w", sources.Sanitize(w.folder), w.why)
	}
	return nil
}

// causeOf is err without the operation and the path: the sentences name the folder.
func causeOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// isFull reports whether the disk has no room, or the user none on it.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
