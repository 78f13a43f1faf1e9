// Package watched reads recordings that other tools made with watches: added, changed and deleted objects, without Events.
//
// kube-scheduler-simulator's recorder (sigs.k8s.io/kube-scheduler-simulator, simulator/recorder/recorder.go) writes a line
// for each,
//
//	{"time":"...","event":"Add","resource":{...}}
//
// with namespaces, priority classes, storage classes, claims, volumes, nodes and pods. It starts with the existing objects.
// Deleted objects have only a name. kwok (kwokctl snapshot record) writes YAML documents: see SniffKwok. k8shark writes
// the responses to its requests and watches: see SniffShark.
package watched

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "watched"

// maxChanges limits the changes of one file.
const maxChanges = 20_000_000

// beforehand is the minimum age of an object that existed when the recorder started: a creationTimestamp is truncated to
// seconds.
const beforehand = 2 * time.Second

// begin is the start of a line.
const begin = `{"time":"`

// Sniff reports whether a line from a file's beginning is one of such a recording, and its time. The line need not be
// whole.
func Sniff(line []byte) (time.Time, bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t\r"), []byte(begin))
	if !ok {
		return time.Time{}, false
	}
	stamp, rest, _ := bytes.Cut(rest[:min(len(rest), 256)], []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil || !bytes.HasPrefix(rest, []byte(`,"event":"`)) || !bytes.Contains(rest, []byte(`","resource":{`)) {
		return time.Time{}, false
	}
	return at.UTC(), true
}

// reader holds what is between two lines.
type reader struct {
	lines   *lines.Reader
	part    *sources.Part
	decoder *sources.Decoder
	known   map[key]types.UID // the objects that are there
	began   bool              // the initial objects are complete
	before  time.Time         // the last line of what there was before
	nodes   bool              // the initial objects include nodes
}

// key is by what an object is known.
type key struct{ kind, namespace, name string }

// Read reads a recording to its end. Its events are *sources.ObjectChange, and *sources.Attached after what there was before.
// What can't be read is left out, and a notice tells. An error names the file, the line and the cause: nothing in the file
// can be read.
func Read(r *lines.Reader) (*sources.Part, error) {
	w := newReader(r, Format)
	r.CheckTimes(lines.JSONTimes())
	err := r.ReadAll(func(line []byte) error {
		if r.Repeats(line) {
			return r.Repeated()
		}
		object, rest := jsonscan.Whole(line)
		if object == nil || len(rest) > 0 {
			return r.Salvage(line, jsonscan.ErrNotJSON, []string{begin}, w.line)
		}
		return w.line(object)
	})
	if err != nil {
		return nil, err
	}
	return w.finish()
}

func newReader(r *lines.Reader, format string) reader {
	w := reader{lines: r, part: &sources.Part{Format: format, Keep: r.Keep}, decoder: sources.NewDecoder(), known: map[key]types.UID{}, nodes: true}
	w.decoder.Keep = r.Keep
	return w
}

// finish returns what was read.
func (w *reader) finish() (*sources.Part, error) {
	w.attached()
	if len(w.part.Events) == 0 {
		if err := w.lines.NoContentErr(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: it holds no object that kube-scheduler reads", w.lines.Name())
	}
	w.part.Notices = w.lines.Notices(w.part.Last)
	return w.part, nil
}

// checkCount limits the changes.
func (w *reader) checkCount() error {
	if len(w.part.Events) > maxChanges {
		return w.lines.Errorf("more than %d changes", maxChanges)
	}
	return nil
}

// errNoChange is the error for a line that is not a change.
var errNoChange = errors.New("the line is not a change of an object: it lacks a time, an event or a resource")

// line reads a line.
func (w *reader) line(object []byte) error {
	var change struct {
		Time     *time.Time
		Event    string
		Resource json.RawMessage
	}
	if err := json.Unmarshal(object, &change); err != nil || change.Time == nil || change.Resource == nil {
		return w.lines.Unread(errNoChange)
	}
	at := change.Time.UTC()
	if err := sources.CheckTime(at); err != nil {
		return w.lines.Unread(err)
	}
	w.part.Saw(at)
	var obj runtime.Object
	var err error
	switch change.Event {
	case "Add", "Update":
		obj, err = w.decoder.Decode(change.Resource)
	case "Delete":
		if obj, _ = sources.Identity(change.Resource); obj == nil {
			return nil // nothing that the scheduler watches
		}
	default:
		return w.lines.Unread(fmt.Errorf("there is no event %q", sources.Sanitize(change.Event)))
	}
	if err != nil {
		_, named := sources.Identity(change.Resource)
		return w.lines.SkipChange(named, err)
	}
	if obj == nil {
		return nil
	}
	w.change(at, change.Event == "Delete", obj)
	return w.checkCount()
}

// change adds the change of an object, and finds out by it whether it was there when the recorder came.
func (w *reader) change(at time.Time, gone bool, obj runtime.Object) {
	if !w.began && (gone || at.Sub(obj.(metav1.Object).GetCreationTimestamp().Time) < beforehand) {
		w.attached()
	}
	w.add(at, gone, obj)
}

// add adds the change of an object. One that went and came again between two lines has another UID.
func (w *reader) add(at time.Time, gone bool, obj runtime.Object) {
	m := obj.(metav1.Object)
	k := key{obj.GetObjectKind().GroupVersionKind().Kind, m.GetNamespace(), m.GetName()}
	uid, known := w.known[k]
	if !w.began {
		w.before = at
	}
	switch {
	case gone && known:
		m.SetUID(uid)
		delete(w.known, k)
		w.decoder.Forget(uid)
		w.part.Add(at, &sources.ObjectChange{Verb: sources.Deleted, Object: obj})
	case gone: // what was never there
	case known && uid == m.GetUID():
		w.part.Add(at, &sources.ObjectChange{Verb: sources.Updated, Object: obj})
	default:
		if known {
			w.part.Add(at, &sources.ObjectChange{Verb: sources.Deleted, Object: bare(obj, uid)})
			w.decoder.Forget(uid)
		}
		w.known[k] = m.GetUID()
		w.part.Add(at, &sources.ObjectChange{Verb: sources.Added, Object: obj})
	}
}

// attached adds the end of the initial objects, if there were any.
func (w *reader) attached() {
	if !w.before.IsZero() {
		w.part.Add(w.before, &sources.Attached{Nodes: w.nodes})
	}
	w.began, w.before = true, time.Time{}
}

// bare is an object of the same name and that UID, of which no more is known.
func bare(obj runtime.Object, uid types.UID) runtime.Object {
	gvk := obj.GetObjectKind().GroupVersionKind()
	out := sources.NewObject(gvk.GroupVersion().String(), gvk.Kind)
	m := out.(metav1.Object)
	m.SetNamespace(obj.(metav1.Object).GetNamespace())
	m.SetName(obj.(metav1.Object).GetName())
	m.SetUID(uid)
	return out
}
