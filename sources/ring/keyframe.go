package ring

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/trace"
)

// open is a segment that is being written.
type open struct {
	segment
	file *disk.Growing
	out  *trace.Writer
	// keyframe is how many bytes its keyframe has.
	keyframe int64
}

// create begins a segment's file.
func create(ctx context.Context, folder string, s segment) (*open, error) {
	s.path = filepath.Join(folder, s.fileName())
	o := &open{segment: s}
	var err error
	o.file, err = disk.Create(ctx, s.path, disk.Options{}, func(w io.Writer) error {
		if o.out, err = trace.NewLasting(w); err != nil {
			return err
		}
		return o.out.Flush()
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// write writes an event. skipped says why that one event can't be written, err why no more can.
func (o *open) write(ev sources.Event) (skipped, err error) {
	if skipped = o.out.Write(ev); skipped == nil {
		return nil, nil
	}
	if err := o.out.Flush(); err != nil {
		return nil, err
	}
	return skipped, nil
}

// flush hands what was written to the file.
func (o *open) flush() error {
	err := o.out.Flush()
	o.bytes = o.file.Bytes()
	return err
}

// close ends the file, and has the disk take it.
func (o *open) close() error {
	err := o.out.Close()
	if closing := o.file.Close(); err == nil {
		err = closing
	}
	o.bytes = o.file.Bytes()
	return err
}

// keyframe is a segment whose keyframe is being written, while events still go to the one before: a large cluster's takes
// longer than what may be lost.
type keyframe struct {
	*open
	rest    []runtime.Object
	changes []sources.Event // of objects, since it was begun
}

// slice is how many objects of a keyframe are written at once: about a tenth of a second's work.
const slice = 5000

// add takes in what happened since the keyframe was begun.
func (k *keyframe) add(ev sources.Event) {
	if _, is := ev.Fact.(*sources.ObjectChange); is {
		k.changes = append(k.changes, ev)
	}
}

// step writes a slice. It returns true once all objects are written.
func (k *keyframe) step() (all bool, err error) {
	n := min(slice, len(k.rest))
	for _, obj := range k.rest[:n] {
		if _, err := k.write(sources.Event{Time: k.start, Fact: &sources.ObjectChange{Verb: sources.Added, Object: obj}}); err != nil {
			return false, err
		}
	}
	k.rest = k.rest[n:]
	return len(k.rest) == 0, k.flush()
}

// end ends the keyframe with what is known at now. From then on it is a segment.
func (k *keyframe) end(known *situation, now time.Time) error {
	for _, events := range [][]sources.Event{k.changes, known.beside(now)} {
		for _, ev := range events {
			if _, err := k.write(ev); err != nil {
				return err
			}
		}
	}
	err := k.flush()
	k.open.keyframe = k.bytes
	return err
}
