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

// openSegment is a segment that is being written.
type openSegment struct {
	segment
	file *disk.Growing
	out  *trace.Writer
	// keyframe is the size of its keyframe in bytes.
	keyframe int64
}

// create creates a segment's file.
func create(ctx context.Context, folder string, s segment) (*openSegment, error) {
	s.path = filepath.Join(folder, s.fileName())
	o := &openSegment{segment: s}
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

// write writes an event. skipped is why this event can't be encoded, err why the file can't be written.
func (o *openSegment) write(ev sources.Event) (skipped, err error) {
	if skipped = o.out.Write(ev); skipped == nil {
		return nil, nil
	}
	if err := o.out.Flush(); err != nil {
		return nil, err
	}
	return skipped, nil
}

// flush writes buffered events to the file.
func (o *openSegment) flush() error {
	err := o.out.Flush()
	o.bytes = o.file.Bytes()
	return err
}

// close completes and syncs the file.
func (o *openSegment) close() error {
	err := o.out.Close()
	if closing := o.file.Close(); err == nil {
		err = closing
	}
	o.bytes = o.file.Bytes()
	return err
}

// keyframeWriter writes the keyframe of the next segment in steps, while events still go to the current one: the
// keyframe of a large cluster takes longer than events may wait.
type keyframeWriter struct {
	*openSegment
	rest    []runtime.Object
	changes []sources.Event // of objects, since the start
}

// keyframeBatch is how many objects step writes. It takes about 100 ms.
const keyframeBatch = 5000

// add adds an event since the start of the keyframe.
func (k *keyframeWriter) add(ev sources.Event) {
	if _, ok := ev.Fact.(*sources.ObjectChange); ok {
		k.changes = append(k.changes, ev)
	}
}

// step writes a batch of objects. It returns true once all are written.
func (k *keyframeWriter) step() (all bool, err error) {
	n := min(keyframeBatch, len(k.rest))
	for _, obj := range k.rest[:n] {
		if _, err := k.write(sources.Event{Time: k.start, Fact: &sources.ObjectChange{Verb: sources.Added, Object: obj}}); err != nil {
			return false, err
		}
	}
	k.rest = k.rest[n:]
	return len(k.rest) == 0, k.flush()
}

// end completes the keyframe with the changes and details up to now. Then it is a segment.
func (k *keyframeWriter) end(known *snapshot, now time.Time) error {
	for _, events := range [][]sources.Event{k.changes, known.details(now)} {
		for _, ev := range events {
			if _, err := k.write(ev); err != nil {
				return err
			}
		}
	}
	err := k.flush()
	k.openSegment.keyframe = k.bytes
	return err
}
