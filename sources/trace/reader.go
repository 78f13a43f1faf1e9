// Package trace reads and writes schedq's own recordings: JSON Lines with a versioned header,
// described in docs/reference/trace-format.md. Traces can be compared with diff, concatenated with cat, and cut
// off anywhere.
package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "trace"

// maxEvents limits how many events of one trace are kept.
const maxEvents = 20_000_000

// begins are the beginnings of a trace's lines: records and the header.
var begins = []string{`{"time":`, `{"schedq":`}

// Sniff reports whether a line from a file's beginning is from a trace of any version: its header, or a
// record if the beginning is lost. If it is, known is its time or zero.
func Sniff(line []byte) (at time.Time, known bool) {
	if isHeader(line) {
		return time.Time{}, true
	}
	for _, b := range begins {
		i := bytes.LastIndex(line, []byte(b))
		if i <= 0 {
			continue
		}
		if object, _ := jsonscan.Whole(line[i:]); object != nil { // glued to a torn line
			if at, known := Sniff(object); known {
				return at, true
			}
		}
	}
	fact := false
	if _, whole, err := jsonscan.First(line, func(name, value []byte) bool {
		switch string(name) {
		case "time":
			at, _ = time.Parse(`"`+time.RFC3339Nano+`"`, string(value))
		case "object", "scheduler", "failed", "patched", "refused", "tried", "attached", "move", "counts", "mark":
			fact = fact || value[0] == '{'
		case "schedq", "kind", "apiVersion", "msg":
			return false // another format
		}
		return true
	}); err != nil || !whole || at.IsZero() || !fact {
		return time.Time{}, false
	}
	return at.UTC(), true
}

// isHeader reports whether a line begins like a header. The line may be incomplete.
func isHeader(line []byte) bool {
	after, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("{"))
	after, ok2 := bytes.CutPrefix(bytes.TrimLeft(after, " \t"), []byte(`"schedq"`))
	return ok && ok2 && bytes.HasPrefix(bytes.TrimLeft(after, " \t"), []byte(":"))
}

// Reader reads a trace event by event. It is not safe for concurrent use.
type Reader struct {
	lines   *lines.Reader
	part    *sources.Part // events read
	next    int           // index of the next one to return
	pods    map[string]types.NamespacedName
	words   map[string]string // interned strings of moves
	decoder *sources.Decoder
	began   bool
	headed  bool  // a header was read
	foreign error // why the part after the last header cannot be read
	unknown int   // number of records and members that this version does not know
	repeats bool  // the last line was repeated
}

// Read reads a trace to its end. It skips records and members of newer versions and damaged lines, and counts them
// in notices. An error names the file, the line and the cause: nothing in the file can be read, for example
// because its version is unknown.
func Read(r *lines.Reader) (*sources.Part, error) {
	t := NewReader(r, r.Keep)
	for {
		err := t.readLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(t.part.Events) > maxEvents {
			return nil, r.Errorf("more than %d records", maxEvents)
		}
	}
	if len(t.part.Events) == 0 && (!t.headed || !r.OnlyCut()) {
		if err := r.NoContentErr(); err != nil {
			return nil, err
		}
	}
	t.part.Notices = t.Notices()
	return t.part, nil
}

// NewReader returns a reader of the trace that r reads. It calls keep, unless nil, with the approximate size of each event
// in memory.
func NewReader(r *lines.Reader, keep func(bytes int)) *Reader {
	t := &Reader{lines: r, part: &sources.Part{Format: Format, Keep: keep}, pods: map[string]types.NamespacedName{},
		words: map[string]string{}, decoder: sources.NewDecoder()}
	t.decoder.Keep = keep
	r.CheckTimes(lines.JSONTimes())
	return t
}

// Next returns the next event, and io.EOF after the last. Like Read, it skips damage. Any other error ends the
// trace.
func (t *Reader) Next() (sources.Event, error) {
	for t.next == len(t.part.Events) {
		t.part.Events, t.next = t.part.Events[:0], 0
		if err := t.readLine(); err != nil {
			return sources.Event{}, err
		}
	}
	t.next++
	return t.part.Events[t.next-1], nil
}

// All yields the events that Next returns. An error is the last.
func (t *Reader) All() iter.Seq2[sources.Event, error] {
	return func(yield func(sources.Event, error) bool) {
		for {
			ev, err := t.Next()
			if err == io.EOF || !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Last returns the last time read so far, including those of records without an event.
func (t *Reader) Last() time.Time { return t.part.Last }

// Notices returns sentences about the damage found so far.
func (t *Reader) Notices() []string {
	said := t.lines.Notices(t.part.Last)
	if !t.headed {
		said = append(said, fmt.Sprintf(
			"%s: this trace has no header: its beginning is lost, and it is read as version %d", t.lines.Name(), Version))
	}
	if t.unknown > 0 {
		said = append(said, fmt.Sprintf(
			"%s: %d parts of this trace are unknown to this version of schedq and were left out", t.lines.Name(), t.unknown))
	}
	return said
}

// OnlyCut reports whether the only damage found is that the trace is cut off.
func (t *Reader) OnlyCut() bool { return t.lines.OnlyCut() && t.unknown == 0 && (t.headed || !t.began) }

// readLine reads the next line that is not empty.
func (t *Reader) readLine() error {
	for {
		line, err := t.lines.Next()
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return t.line(line)
		}
	}
}

// line reads a line, usually one record.
func (t *Reader) line(line []byte) error {
	if !t.began && !isHeader(line) {
		if err := t.lines.Expect(fmt.Errorf(`the first line of a trace is {"schedq":"trace","version":%d}, and this is not`, Version)); err != nil {
			return err
		}
	}
	t.began = true
	if t.isRepeated(line) {
		return t.lines.Repeated()
	}
	if another(line) && !json.Valid(line) {
		var torn error
		if object, _ := jsonscan.Whole(line); object == nil {
			torn = jsonscan.ErrNotJSON
		}
		return t.lines.Salvage(line, torn, begins, t.salvaged)
	}
	rest, refused, err := t.object(line)
	if err != nil {
		return err
	}
	if refused != nil {
		whole := false
		rest, whole, err = jsonscan.First(line, func(_, _ []byte) bool { return true })
		if err != nil || !whole || !json.Valid(line[:len(line)-len(rest)]) {
			return t.lines.Salvage(line, refused, begins, t.salvaged)
		}
		if err := t.lines.Unread(refused); err != nil {
			return err
		}
	}
	if len(rest) > 0 && len(bytes.TrimSpace(rest)) > 0 {
		return t.lines.Salvage(rest, nil, begins, t.salvaged)
	}
	return nil
}

// isRepeated reports whether a line was read before. A header may occur more than once, and so may a record without an
// object, of which only a time is known: those are repeated only behind another repeated line.
func (t *Reader) isRepeated(line []byte) bool {
	if line[0] != '{' || isHeader(line) {
		return false
	}
	t.repeats = t.lines.Repeats(line) && (t.repeats || !bytes.HasSuffix(line, []byte(`"requested":{}}`)))
	return t.repeats
}

// another reports whether a line contains an apparent beginning of another line. A line that is torn inside a string and
// glued to another can look whole, with strings and structure exchanged.
func another(line []byte) bool {
	for _, b := range begins {
		if bytes.Contains(line[1:], []byte(b)) {
			return true
		}
	}
	return false
}

// salvaged reads an object found in a damaged line.
func (t *Reader) salvaged(object []byte) error {
	_, refused, err := t.object(object)
	if refused != nil {
		err = t.lines.Unread(refused)
	}
	return err
}

// object reads the object at the beginning of a line, a record or a header, and returns the rest of the line, or why the
// object cannot be read. An error ends the reading.
func (t *Reader) object(line []byte) (rest []byte, refused, err error) {
	// A header further down begins an appended trace.
	if isHeader(line) {
		rest, refused = t.header(line)
		return rest, refused, nil
	}
	if t.foreign != nil {
		return nil, t.foreign, nil
	}
	unknown := t.unknown
	if rest, refused, err = t.record(line); refused != nil {
		t.unknown = unknown
	}
	return rest, refused, err
}

// header reads a header. After one of an unknown version, nothing can be read up to the next header.
func (t *Reader) header(line []byte) (rest []byte, refused error) {
	rest, whole, err := jsonscan.First(line, func(_, _ []byte) bool { return true })
	if err != nil || !whole {
		return nil, errors.New("the trace's header is not whole")
	}
	t.foreign = checkHeader(line[:len(line)-len(rest)])
	t.headed = t.headed || t.foreign == nil
	return rest, t.foreign
}

func checkHeader(line []byte) error {
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("the trace's header can't be decoded: %s", sources.Sanitize(err.Error()))
	}
	if h.Schedq != "trace" {
		return fmt.Errorf("this is not a trace but \"%.40s\"", sources.Sanitize(h.Schedq))
	}
	if h.Version < 1 || h.Version > Version {
		return fmt.Errorf("the trace has version %d, and this schedq reads version %d: use a newer schedq", h.Version, Version)
	}
	return nil
}

// members are the members of a record read so far.
type members struct {
	at            time.Time
	fact          sources.Fact
	object, notes []byte
	verb          sources.Verb
	delivered     time.Time
	sent          time.Time
	timeErr       error // why there is no valid time
	timed         bool
	other         bool // it has a member that counts, other than fact
	ends          bool // the recording ends at that time
}

// record reads a record.
func (t *Reader) record(line []byte) (rest []byte, refused, err error) {
	var r members
	rest, _, scanErr := jsonscan.First(line, func(name, value []byte) bool {
		refused = t.member(&r, string(name), value)
		return refused == nil
	})
	if scanErr != nil || refused != nil {
		return nil, cmp.Or(scanErr, refused), nil
	}
	if !r.timed {
		if r.timeErr == nil {
			r.timeErr = fmt.Errorf("there is none")
		}
		return nil, fmt.Errorf("the record has no valid time: %s", sources.Sanitize(r.timeErr.Error())), nil
	}
	if err := sources.CheckTime(r.at); err != nil {
		return nil, err, nil
	}
	if r.object != nil {
		if r.fact, err = t.change(r.verb, r.object, r.notes); err != nil {
			return nil, nil, err
		}
		if c, is := r.fact.(*sources.ObjectChange); is {
			c.Delivered, c.Sent = r.delivered, r.sent
		}
		r.other = true
	}
	if r.ends {
		t.part.Saw(r.at.UTC())
	}
	if r.fact != nil {
		t.part.Add(r.at.UTC(), r.fact)
	} else if !r.other {
		t.unknown++
	}
	return rest, nil, nil
}

// fact reads a fact's JSON, and counts unknown members.
func (t *Reader) fact(raw []byte, into any, known ...string) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the record cannot be decoded: %s", sources.Sanitize(err.Error()))
	}
	return jsonscan.Members(raw, func(name, _ []byte) bool {
		for _, k := range known {
			if k == string(name) {
				return true
			}
		}
		t.unknown++
		return true
	})
}

// change returns nil and no error if the verb or the kind is unknown, which it counts, or if the object is
// invalid, which it reports in a notice. For a deleted object, a name is enough.
func (t *Reader) change(verb sources.Verb, raw, notes []byte) (sources.Fact, error) {
	switch verb {
	case sources.Added, sources.Updated, sources.Deleted:
	default:
		t.unknown++
		return nil, nil
	}
	obj, err := t.decode(raw, notes)
	if err != nil {
		bare, name := sources.Identity(raw)
		if verb != sources.Deleted || bare == nil {
			return nil, t.lines.SkipChange(name, err)
		}
		if err := t.lines.Expect(err); err != nil {
			return nil, err
		}
		obj = bare
	}
	if obj == nil {
		t.unknown++
		return nil, nil
	}
	if pod, is := obj.(*v1.Pod); is && verb == sources.Deleted {
		t.decoder.Forget(pod.UID)
		delete(t.pods, pod.Namespace+"/"+pod.Name)
	}
	return &sources.ObjectChange{Verb: verb, Object: obj}, nil
}

// decode returns nil and no error if the kind is unknown.
func (t *Reader) decode(raw, notes []byte) (runtime.Object, error) {
	obj, err := t.decoder.Decode(raw)
	if err != nil || obj == nil || notes == nil {
		return obj, err
	}
	var annotations map[string]string
	if err := json.Unmarshal(notes, &annotations); err != nil {
		return nil, fmt.Errorf("the notes cannot be decoded: %s", sources.Sanitize(err.Error()))
	}
	obj.(metav1.Object).SetAnnotations(annotations)
	return sources.Trim(obj)
}
