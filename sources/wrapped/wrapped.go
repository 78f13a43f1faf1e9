// Package wrapped finds the lines of kube-scheduler's log and the events of kube-apiserver's audit log in other formats:
// after prefixes of container runtimes, journals and kubectl, in exports of log stores, and in saved files. It writes them
// in their original form, one per line, without interpreting them.
//
// A line of klog's text format is recognised by its header, anywhere in a line or in a string of JSON, YAML or CSV; a line
// of klog's JSON format and an audit event by their members. The surrounding text is the wrapper. Its time is written
// before a klog line, as in `kubectl logs --timestamps`, because klog's header has neither year nor zone. Audit events that
// Cloud Logging and Azure Monitor split into columns are reassembled.
package wrapped

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"time"
)

const (
	// maxLine limits a line, as package lines does.
	maxLine = 16 << 20
	// maxReversed limits the bytes of lines stored newest first that are sorted.
	maxReversed = 512 << 20
	// maxHead and headLines limit the part of a file that Detect reads.
	maxHead   = 1 << 18
	headLines = 200
)

// Wrapper is a way in which log lines are wrapped.
type Wrapper struct {
	// Name describes it, as in "a CSV file".
	Name string

	unwrap  func(w *writer, from io.Reader) error
	reverse bool // the newest line comes first
	only    []byte
	named   bool // the wrapper names the program of each line
}

// The shapes of files that wrap lines.
var (
	textFile = Wrapper{Name: "the text around it", unwrap: (*writer).readText}
	jsonFile = Wrapper{Name: "a JSON file", unwrap: (*writer).readJSON}
	csvFile  = Wrapper{Name: "a CSV file", unwrap: (*writer).readCSV}
	yamlFile = Wrapper{Name: "a YAML file", unwrap: (*writer).readYAML}
)

// Detect returns the wrapper of a file that begins with head, or nil if its lines are not wrapped or if it contains none.
// The first line decides. Lines that other readers read directly are not wrapped: lines of klog's text format, alone, after
// a time or after a container runtime's prefix, audit events, one per line, and lines for which other returns true.
func Detect(head []byte, other func(line []byte) bool) *Wrapper {
	head = head[:min(len(head), maxHead)]
	first := bytes.TrimLeft(head, " \t\r\n")
	var shapes []Wrapper
	switch {
	case len(first) == 0, bytes.HasPrefix(first, []byte(`{"kind":"Event"`)), bytes.Contains(firstLine(first), []byte(`{"schedq":`)): // also a torn line
		return nil
	case first[0] == '[' || first[0] == '{' && !isJSONLines(first):
		shapes = []Wrapper{jsonFile, textFile}
	case isYAML(first):
		shapes = []Wrapper{yamlFile, textFile}
	case isCSV(head):
		shapes = []Wrapper{csvFile, textFile}
	default:
		shapes = []Wrapper{textFile}
	}
	for _, w := range shapes {
		found := &writer{to: bufio.NewWriter(io.Discard), looking: true, other: other}
		_ = w.unwrap(found, bytes.NewReader(head)) // head may be truncated
		switch {
		case found.wrapped > 0 || found.isNewestFirst():
			w.reverse, w.named = found.isNewestFirst(), len(found.lastStream) > 0
			return &w
		case found.plain > 0:
			return nil
		}
	}
	return nil
}

// firstLine returns the first line of a text.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// isJSONLines reports whether a text begins with an object on a separate line, followed by more text.
func isJSONLines(text []byte) bool {
	line, more, _ := bytes.Cut(text, []byte("\n"))
	return isWholeObject(line) && len(bytes.TrimSpace(more)) > 0
}

// Open returns the lines in from, each with a line end. Read returns errors of from, and an error with the position if the
// wrapper can't be read further. Close ends the reading goroutine, and does not close from.
func (w *Wrapper) Open(from io.Reader) io.ReadCloser {
	r, pipe := io.Pipe()
	go func() {
		out := &writer{to: bufio.NewWriterSize(pipe, 1<<18), only: w.only, reverse: w.reverse}
		pipe.CloseWithError(out.run(w, from)) // nil is io.EOF
	}()
	return r
}

// Streams returns the names of the programs with lines of kube-scheduler's log in from, if the wrapper names them, in the
// order of their first lines, and "" if from contains audit events. An error is one of from's.
func (w *Wrapper) Streams(from io.Reader) ([]string, error) {
	if !w.named {
		return nil, nil
	}
	out := &writer{to: bufio.NewWriter(io.Discard), count: map[string]bool{}}
	err := w.unwrap(out, from)
	return out.streams, err
}

// Of returns a wrapper of one of the Streams.
func (w *Wrapper) Of(stream string) *Wrapper {
	one := *w
	one.only = []byte(stream)
	return &one
}

// context contains the facts about a text from its surroundings.
type context struct {
	at     time.Time // zero if not known
	stream []byte    // the program, "" if not known
	member string    // the member of a JSON object that contains it, "" if none
	inner  bool      // it is not a line of the file itself
	many   bool      // the surrounding texts are of many programs
	depth  int
}

// writer writes the lines that it finds.
type writer struct {
	to      *bufio.Writer
	only    []byte // of this stream alone, or nil for all
	reverse bool   // the lines come newest first
	held    [][]byte
	size    int // of held

	looking        bool // run by Detect
	other          func(line []byte) bool
	wrapped, plain int             // number of wrapped and plain lines
	newest, oldest []byte          // the times of the first and of the last of klog's headers
	rising         bool            // those times do not only fall
	count          map[string]bool // the streams with lines of kube-scheduler's, or nil
	streams        []string

	// Of the last klog line.
	column     int    // where it began
	prefix     []byte // the text before it
	lastStream []byte
	member     string // which member of an object held it
	taken      bool   // it was written
	text       []byte // what was written for the record being read
	record     int    // which record of the file is being read, and which one text was of
	textRecord int

	partial  []byte    // a line that a container runtime broke into pieces
	exported time.Time // of the current entry of a journal export

	// Buffers.
	stream  []byte
	stamped []byte
	second  int64
	put     []byte
	objects []members // by depth
	unquote [][]byte  // by depth
}

// run unwraps all of from.
func (w *writer) run(of *Wrapper, from io.Reader) error {
	err := of.unwrap(w, from)
	for i := len(w.held) - 1; i >= 0 && err == nil; i-- {
		_, err = w.to.Write(w.held[i])
	}
	if flushed := w.to.Flush(); err == nil {
		err = flushed
	}
	return err
}

// errNewestFirst is the error about more reversed lines than can be sorted.
var errNewestFirst = errors.New("its lines are stored newest first, and there are too many to put in order: export them oldest first")

// writeLine writes a line, after stamp unless that is empty. With joined, it continues the previous line.
func (w *writer) writeLine(stamp, text []byte, joined bool) error {
	if w.looking || w.count != nil {
		return nil
	}
	if w.reverse {
		line := slices.Concat(stamp, text, []byte("\n"))
		if w.size += len(line); w.size > maxReversed {
			return errNewestFirst
		}
		if n := len(w.held); joined && n > 0 {
			w.held[n-1] = append(w.held[n-1], line...)
		} else {
			w.held = append(w.held, line)
		}
		return nil
	}
	if _, err := w.to.Write(stamp); err != nil {
		return err
	}
	if _, err := w.to.Write(text); err != nil {
		return err
	}
	return w.to.WriteByte('\n')
}

// isNewestFirst reports whether the times of klog's lines fall.
func (w *writer) isNewestFirst() bool {
	const upToSecond = len("0504 12:00:00")
	return len(w.oldest) > 0 && !w.rising && !bytes.Equal(w.newest[:upToSecond], w.oldest[:upToSecond])
}

// klog writes a line of klog's text format.
func (w *writer) klog(c context, text []byte) error {
	if w.textRecord == w.record && bytes.Equal(w.text, text) {
		return nil // the record has it twice
	}
	w.text, w.textRecord = append(w.text[:0], text...), w.record
	w.lastStream, w.member = append(w.lastStream[:0], c.stream...), c.member
	w.taken = (!c.many || isScheduler(text)) && (w.only == nil || bytes.Equal(w.only, c.stream))
	if !w.taken {
		return nil
	}
	if w.looking {
		w.note(text[1:len(klogStamp)])
	}
	if w.count != nil && len(c.stream) > 0 && !w.count[string(c.stream)] && isScheduler(text) {
		w.count[string(c.stream)] = true
		w.streams = append(w.streams, string(c.stream))
	}
	return w.writeLine(w.stamp(c.at), text, false)
}

// note records the time of a klog header.
func (w *writer) note(stamp []byte) {
	if w.newest == nil {
		w.newest = bytes.Clone(stamp)
	} else if bytes.Compare(stamp, w.oldest) > 0 {
		w.rising = true
	}
	w.oldest = append(w.oldest[:0], stamp...)
}

// audit writes an audit event.
func (w *writer) audit(c context, event []byte) error {
	if w.taken = false; len(w.only) > 0 {
		return nil
	}
	if w.count != nil && !w.count[""] {
		w.count[""] = true
		w.streams = append(w.streams, "")
	}
	return w.writeLine(nil, event, false)
}

// rest writes a continuation of the last klog line, or another line of the log, which its reader counts.
func (w *writer) rest(c context, text []byte) error {
	text = bytes.TrimRight(text, "\r\n")
	indented := len(text) > 0 && (text[0] == '\t' || text[0] == ' ')
	switch {
	case len(text) == 0, indented && !w.taken, w.only != nil && !w.taken, c.many && !(indented && w.taken):
		return nil
	}
	return w.writeLine(nil, text, indented)
}

// stamp returns at in the format of `kubectl logs --timestamps`, followed by a blank, or nothing if it is zero. The result
// is valid until the next call.
func (w *writer) stamp(at time.Time) []byte {
	if at.IsZero() {
		return nil
	}
	const whole = len("2006-01-02T15:04:05")
	if second := at.Unix(); len(w.stamped) < whole || second != w.second {
		w.stamped, w.second = at.UTC().AppendFormat(w.stamped[:0], "2006-01-02T15:04:05"), second
	}
	w.stamped = w.stamped[:whole]
	if n := at.Nanosecond(); n > 0 {
		w.stamped = append(w.stamped, '.')
		for unit := 100_000_000; unit > 0 && n > 0; unit /= 10 {
			w.stamped = append(w.stamped, byte('0'+n/unit))
			n %= unit
		}
	}
	w.stamped = append(w.stamped, 'Z', ' ')
	return w.stamped
}
