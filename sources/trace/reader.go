// Package trace reads and writes schedq's own recordings: JSON Lines with a versioned header,
// described in docs/trace-format.md. A trace can be compared with diff, appended to with cat, and cut
// off anywhere.
package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
)

// Format is the format's name in sources.Recording.
const Format = "trace"

// maxEvents bounds what is kept of one trace.
const maxEvents = 20_000_000

// Sniff reports whether head, the first bytes of a file, is the beginning of a trace of any version, and
// the time of its first record.
func Sniff(head []byte) (time.Time, bool) {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if !isHeader(line) {
		return time.Time{}, false
	}
	line, _, _ = bytes.Cut(rest, []byte("\n"))
	var first struct{ Time time.Time }
	_ = json.Unmarshal(line, &first)
	return first.Time.UTC(), true
}

// isHeader reports whether a line begins like a header. It need not be whole.
func isHeader(line []byte) bool {
	after, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("{"))
	after, ok2 := bytes.CutPrefix(bytes.TrimLeft(after, " \t"), []byte(`"schedq"`))
	return ok && ok2 && bytes.HasPrefix(bytes.TrimLeft(after, " \t"), []byte(":"))
}

// reader holds what is between two lines.
type reader struct {
	lines   *lines.Reader
	part    *sources.Part
	pods    map[string]types.NamespacedName
	decoder *sources.Decoder
	unknown int // records and members that this version does not know
}

// Read reads a trace to its end. What a newer writer added, records and members, is ignored and counted
// in a notice. An error names the file, the line and the cause: an unknown version, a line that is not
// JSON, a name that is not one.
func Read(r *lines.Reader) (*sources.Part, error) {
	t := &reader{lines: r, part: &sources.Part{Format: Format}, pods: map[string]types.NamespacedName{},
		decoder: sources.NewDecoder()}
	for first := true; ; {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && !first { // compressed, and its writer was killed
			t.part.Notices = append(t.part.Notices, fmt.Sprintf("%s; the recording ends at %s", err, t.part.Last.Format("2006-01-02 15:04:05.000 UTC")))
			break
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !first && r.Cut() && !json.Valid(line) {
			t.part.Notices = append(t.part.Notices, r.CutNotice(t.part.Last))
			break
		}
		// A header further down is where another trace was appended.
		if first || isHeader(line) {
			err, first = checkHeader(line), false
		} else {
			err = t.read(line)
		}
		if err != nil {
			return nil, r.Errorf("%w", err)
		}
		if len(t.part.Events) > maxEvents {
			return nil, r.Errorf("more than %d records", maxEvents)
		}
	}
	if t.unknown > 0 {
		t.part.Notices = append(t.part.Notices, fmt.Sprintf(
			"%s: %d parts of this trace are unknown to this version of schedq and were left out", r.Name(), t.unknown))
	}
	return t.part, nil
}

func checkHeader(line []byte) error {
	var h header
	if !isHeader(line) {
		return fmt.Errorf(`the first line of a trace is {"schedq":"trace","version":%d}, and this is not`, Version)
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("the trace's header is not whole: %s", sources.Sanitize(err.Error()))
	}
	if h.Schedq != "trace" {
		return fmt.Errorf("this is not a trace but \"%.40s\"", sources.Sanitize(h.Schedq))
	}
	if h.Version < 1 || h.Version > Version {
		return fmt.Errorf("the trace has version %d, and this schedq reads version %d: use a newer schedq", h.Version, Version)
	}
	return nil
}

// read reads a record.
func (t *reader) read(line []byte) error {
	var (
		at            time.Time
		fact          sources.Fact
		object, notes []byte
		verb          sources.Verb
		err, timeErr  error
		timed, other  bool
	)
	scanErr := jsonscan.Members(line, func(name, value []byte) bool {
		switch string(name) {
		case "time":
			at, timeErr = time.Parse(`"`+time.RFC3339Nano+`"`, string(value))
			timed = timeErr == nil
		case "verb":
			verb = sources.Verb(jsonscan.Text(value))
		case "object":
			object = value
		case "notes":
			notes = value
		case "scheduler":
			s := &scheduler{}
			if err = t.decode(value, s, "release", "releaseInferred", "gates", "podInitialBackoff", "podMaxBackoff",
				"podMaxInUnschedulablePods"); err == nil {
				fact, err = s.fact()
			}
		case "failed":
			a := &attempt{}
			if err = t.decode(value, a, "pod", "uid", "message", "version", "count"); err == nil {
				fact, err = a.failed()
			}
		case "patched":
			a := &attempt{}
			if err = t.decode(value, a, "pod", "uid", "sent"); err == nil {
				fact, err = a.patched()
			}
		case "tried":
			a := &tried{}
			if err = t.decode(value, a, "pod", "uid", "attempts", "first", "failed", "message", "version", "count"); err == nil {
				fact, err = a.fact()
			}
		case "attached":
			a := &attached{}
			if err = t.decode(value, a, "began"); err == nil {
				fact, err = a.fact()
			}
		case "move":
			m := &move{}
			if err = t.decode(value, m, "pod", "to", "event", "restated", "plugins", "gatingPlugin", "message",
				"node"); err != nil {
				break
			}
			if !m.To.Known() {
				t.unknown++
				other = true
				break
			}
			fact, err = m.fact(t.pods)
		case "counts":
			c := &counts{}
			if err = t.decode(value, c, "active", "backoff", "unschedulable", "gated"); err == nil {
				fact, err = c.fact()
			}
		case "mark":
			m := &mark{}
			if err = t.decode(value, m, "text"); err == nil {
				fact = &sources.Mark{Text: sources.Sanitize(m.Text)}
			}
		default:
			t.unknown++
			other = true
		}
		return err == nil
	})
	if scanErr != nil {
		return scanErr
	}
	if err != nil {
		return err
	}
	if !timed {
		if timeErr == nil {
			timeErr = fmt.Errorf("there is none")
		}
		return fmt.Errorf("the record has no valid time: %s", sources.Sanitize(timeErr.Error()))
	}
	if err := sources.CheckTime(at); err != nil {
		return err
	}
	if object != nil {
		if fact, err = t.object(verb, object, notes); err != nil {
			return err
		}
		other = other || fact == nil
	}
	if fact != nil {
		t.part.Add(at.UTC(), fact)
	} else if !other {
		t.unknown++
	}
	return nil
}

// decode reads a fact's JSON, and counts the members that are not among the known.
func (t *reader) decode(raw []byte, into any, known ...string) error {
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

// object returns nil and no error, and counts, if the verb or the kind is unknown.
func (t *reader) object(verb sources.Verb, raw, notes []byte) (sources.Fact, error) {
	switch verb {
	case sources.Added, sources.Updated, sources.Deleted:
	default:
		t.unknown++
		return nil, nil
	}
	obj, err := t.decoder.Decode(raw)
	if err != nil {
		return nil, err
	}
	if obj == nil {
		t.unknown++
		return nil, nil
	}
	if notes != nil {
		var annotations map[string]string
		if err := json.Unmarshal(notes, &annotations); err != nil {
			return nil, fmt.Errorf("the notes cannot be decoded: %s", sources.Sanitize(err.Error()))
		}
		obj.(metav1.Object).SetAnnotations(annotations)
		if obj, err = sources.Trim(obj); err != nil {
			return nil, err
		}
	}
	return &sources.ObjectChange{Verb: verb, Object: obj}, nil
}
