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

// lockName is the lock file of the recorder in a ring's folder.
const lockName = "lock"

// retryEvery is how long to wait after a failed write, and the interval of checks of the folder.
const retryEvery = 2 * time.Second

// Writer writes a ring. It is not safe for concurrent use.
type Writer struct {
	ctx    context.Context
	folder string
	bound  Bound
	lock   *disk.Growing

	known     *snapshot
	closed    []segment       // the oldest first
	current   *openSegment    // nil before all is known, and while nothing can be written
	next      *keyframeWriter // the segment after current, or nil
	number    uint64          // of the last segment
	closing   sync.WaitGroup
	lastWrite time.Time // of the last call of Write

	lostErr   error     // the ring was removed
	checkedAt time.Time // when checkFolder was called last
	writeErr  error     // why nothing can be written, or nil
	pausedAt  time.Time // since when nothing is written
	retriedAt time.Time // of the last attempt to continue
	skipped   int       // events that can't be encoded
	written   int       // events
}

// Create returns a Writer of the ring in a folder. It creates the folder if it does not exist, and otherwise continues the ring
// in it. It locks the folder until Close.
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
	w := &Writer{ctx: context.WithoutCancel(ctx), folder: folder, bound: bound, lock: lock, known: newSnapshot()}
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

// Write writes the events up to now, and keeps the ring within its bound. It must be called more than once a second, also
// without events. If writing fails, see Notices.
func (w *Writer) Write(now time.Time, events []sources.Event) {
	before := w.lastWrite
	w.lastWrite = now
	if w.lostErr != nil {
		return
	}
	if now.Sub(w.checkedAt).Abs() >= retryEvery {
		w.checkedAt = now
		w.checkFolder()
	}
	if now.Round(0).Before(before.Round(0)) { // Round drops the monotonic clock: the wall clock may be set back
		events = w.onClockSetBack(now, events)
	}
	for _, ev := range events {
		w.add(ev)
		if _, ok := ev.Fact.(*sources.Attached); ok && w.current == nil {
			w.startSegment(ev.Time)
		}
	}
	if w.current != nil {
		if err := w.current.flush(); err != nil {
			w.pause(err)
		}
	}
	switch may := w.retriedAt.IsZero() || now.Sub(w.retriedAt).Abs() >= retryEvery; {
	case w.known.attached == nil:
		return
	case w.current == nil && may:
		w.pausedAt = cmp.Or(w.pausedAt, now)
		w.startSegment(now)
	case w.current != nil && w.next == nil && may && w.bound.full(w.current.bytes, w.current.keyframe, now.Sub(w.current.start)):
		w.rotate(now, false)
		w.advance(now)
	case w.next != nil:
		w.advance(now)
	}
	w.prune(now)
}

// checkFolder checks whether the ring and its current segment still exist.
func (w *Writer) checkFolder() {
	if err := w.lock.Lost(); err != nil {
		w.lostErr = fmt.Errorf("the ring %s is gone: its lock file was removed or replaced during the recording, so its new segments can't be read", sources.Sanitize(w.folder))
		return
	}
	if w.current != nil {
		if err := w.current.file.Lost(); err != nil {
			w.pause(err)
		}
	}
}

// Lost returns an error if the ring's folder was removed. Then nothing is written any more.
func (w *Writer) Lost() error { return w.lostErr }

// onClockSetBack starts a new segment after the clock was set back, and returns events with the time now.
func (w *Writer) onClockSetBack(now time.Time, events []sources.Event) []sources.Event {
	if w.current != nil {
		w.closeSegment(w.current)
		w.current = nil
	}
	if w.next != nil {
		w.discard()
	}
	if w.known.attached != nil {
		w.startSegment(now)
	}
	events = slices.Clone(events)
	for i := range events {
		events[i].Time = now.UTC() // they may be of either clock
	}
	return events
}

// startSegment starts a segment if there is no current one. It writes the keyframe at once, because no events wait.
func (w *Writer) startSegment(now time.Time) {
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
	if w.current == nil {
		return
	}
	skipped, err := w.current.write(ev)
	switch {
	case err != nil:
		w.pause(err)
	case skipped != nil:
		w.skipped++
	default:
		w.written++
	}
}

// rotate starts the next segment.
func (w *Writer) rotate(now time.Time, discontinuous bool) {
	o, err := create(w.ctx, w.folder, segment{number: w.number + 1, start: now, discontinuous: discontinuous})
	if err != nil {
		w.abandon(err)
		return
	}
	w.number++
	w.next = &keyframeWriter{openSegment: o, rest: w.known.sorted()}
}

// advance writes more of the next segment's keyframe. Once that is complete, the segment becomes the current one.
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
	if w.current != nil {
		w.closeSegment(w.current)
	}
	w.current, w.next, w.writeErr, w.retriedAt, w.pausedAt = w.next.openSegment, nil, nil, time.Time{}, time.Time{}
}

// closeSegment closes a segment in the background, because syncing may take long.
func (w *Writer) closeSegment(o *openSegment) {
	s := o.segment
	s.ended = w.lastWrite
	w.closed = append(w.closed, s)
	w.closing.Go(func() { _ = o.close() }) // if this fails, the next write fails, too
}

// pause stops writing after a failed write.
func (w *Writer) pause(err error) {
	w.closeSegment(w.current)
	w.current, w.pausedAt = nil, w.lastWrite
	w.abandon(err)
}

// abandon gives up the next segment after a failed write. If the disk is full, it drops the oldest segment.
func (w *Writer) abandon(err error) {
	if w.next != nil {
		w.discard()
	}
	w.retriedAt = w.lastWrite
	if w.current == nil {
		w.writeErr = causeOf(err)
	}
	if isFull(err) && len(w.closed) > 1 {
		w.drop()
	}
}

// discard removes the incomplete next segment.
func (w *Writer) discard() {
	_ = w.next.close()
	if err := disk.Remove(w.ctx, w.next.path); err == nil || errors.Is(err, fs.ErrNotExist) {
		w.number-- // so that no number is missing
	}
	w.next = nil
}

// prune drops the oldest segments while the ring exceeds its bound.
func (w *Writer) prune(now time.Time) {
	for len(w.closed) > 0 && w.exceedsBound(now) && w.drop() {
	}
}

// exceedsBound reports whether the oldest segment must be dropped.
func (w *Writer) exceedsBound(now time.Time) bool {
	if w.bound.Bytes > 0 {
		total := int64(0)
		for _, s := range w.closed {
			total += s.bytes
		}
		if w.current != nil {
			total += w.current.bytes
		}
		if w.next != nil {
			total += w.next.bytes
		}
		if total > w.bound.Bytes-w.bound.Bytes/(4*segmentsPerRing) { // leave space for what is written until the next check
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

// Notices returns sentences about current problems.
func (w *Writer) Notices() []string {
	var notices []string
	if w.writeErr != nil {
		notices = append(notices, fmt.Sprintf("Nothing has been recorded since %s: %s can't be written: %v. schedq retries every %s.",
			w.pausedAt.UTC().Format("15:04:05"), sources.Sanitize(w.folder), w.writeErr, retryEvery))
	}
	if w.skipped > 0 {
		notices = append(notices, "An event can't be written to a recording: schedq skips it.")
	}
	if w.current != nil && w.bound.Bytes > 0 && w.current.keyframe > w.bound.Bytes/4 {
		notices = append(notices, fmt.Sprintf("The ring is small for this cluster: each segment starts with %d KiB of objects, and the ring is limited to %d KiB.",
			w.current.keyframe>>10, w.bound.Bytes>>10))
	}
	return notices
}

// Written returns the number of events written, without keyframes.
func (w *Writer) Written() int { return w.written }

// Close closes the last segment and unlocks the folder. It returns an error if events are missing in the ring.
func (w *Writer) Close() error {
	if w.next != nil {
		w.discard()
	}
	if w.current != nil {
		_, _ = w.current.write(sources.Event{Time: w.lastWrite.UTC(), Fact: &sources.Mark{Text: "the recorder was ended"}}) // otherwise the recording ends with the last event
		w.closeSegment(w.current)
	}
	w.closing.Wait()
	if w.lostErr == nil {
		w.checkFolder()
	}
	_ = w.lock.Close() // it is empty
	if w.lostErr != nil {
		return w.lostErr
	}
	if w.writeErr != nil {
		return fmt.Errorf("%s can't be written: %w", sources.Sanitize(w.folder), w.writeErr)
	}
	return nil
}

// causeOf returns err without the operation and the path: messages name the folder.
func causeOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// isFull reports whether the disk or the user's quota is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
