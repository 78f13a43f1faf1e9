package wrapped

import (
	"bufio"
	"bytes"
	"io"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

const (
	// maxPrefix limits the length of a prefix before a log line.
	maxPrefix = 1024
	// maxColoured limits the part of a line in which colours are searched.
	maxColoured = 1 << 16
	// maxDepth limits how deep JSON and texts of JSON may be nested in each other.
	maxDepth = 32
)

// auditBegin is the start of an audit event of kube-apiserver.
var auditBegin = []byte(`{"kind":"Event","apiVersion":"audit.k8s.io/`)

// readText reads a file of lines.
func (w *writer) readText(from io.Reader) error {
	r := bufio.NewReaderSize(from, 1<<18)
	for n := 0; !w.looking || n < headLines; n++ {
		line, err := readLine(r)
		if len(line) > 0 && !(w.looking && err == io.EOF && n > 0) { // the head's last line is cut off
			w.record++
			line = bytes.TrimRight(line, "\r\n")
			if w.looking && w.wrapped+w.plain == 0 && w.other != nil && w.other(line) {
				w.plain++
				return nil
			}
			if err := w.line(context{}, line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readLine returns the next line with its end. A line that is too long is cut.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	long := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = r.ReadSlice('\n')
		if len(long) <= maxLine { // the rest makes it too long for its reader
			long = append(long, line...)
		}
	}
	return long, err
}

// line reads a line, of a file or of a text in JSON.
func (w *writer) line(c context, line []byte) error {
	whole := line
	if bytes.IndexByte(line[:min(len(line), maxColoured)], 0x1b) >= 0 {
		line = withoutColour(line)
	}
	if at, text, partial, ok := containerLine(line); ok {
		if partial || len(w.partial) > 0 {
			if len(w.partial)+len(text) > maxLine {
				w.partial = w.partial[:0]
				return nil
			}
			if w.partial = append(w.partial, text...); partial {
				return nil
			}
			text = w.partial
			defer func() { w.partial = w.partial[:0] }()
		}
		c.at = at
		if isKlog(text) && !c.inner { // its reader takes this prefix off
			w.found(true)
			return w.klog(c, text)
		}
		line, c.inner = text, true
	}
	if !w.exported.IsZero() || bytes.HasPrefix(line, []byte("__")) { // journalctl -o export
		switch key, rest, _ := bytes.Cut(line, []byte("=")); {
		case string(key) == "__REALTIME_TIMESTAMP":
			w.exported, _ = parseTime(rest)
			return nil
		case string(key) == "MESSAGE":
			line, c.at, c.inner, c.many = rest, w.exported, true, true
		case isField(key):
			return nil
		}
	}
	at := w.find(line)
	if at < 0 {
		return w.unknown(c, line)
	}
	prefix, text := line[:at], line[at:]
	if len(prefix) > 0 {
		c = w.behind(c, prefix)
	}
	if text[0] != '{' {
		w.column = at
		w.prefix = append(w.prefix[:0], prefix...)
		if isTestLog(text) {
			w.found(false)
			return w.testLog(c, prefix, text)
		}
		w.found(!c.inner && (at == 0 || isTimeAlone(prefix)) && len(line) == len(whole))
		return w.klog(c, text)
	}
	if bytes.HasPrefix(text, auditBegin) {
		w.found(!c.inner && at == 0)
		return w.audit(c, text)
	}
	found, err := w.object(c, text)
	if err == nil && !found {
		return w.unknown(c, line)
	}
	return err
}

// isField reports whether text is the name of a field of the journal.
func isField(text []byte) bool {
	for _, c := range text {
		if c != '_' && (c < 'A' || c > 'Z') && !isDigit(c) {
			return false
		}
	}
	return len(text) > 1 && !isDigit(text[0])
}

// found counts a line, which is plain or wrapped like the first one.
func (w *writer) found(plain bool) {
	if plain && w.wrapped == 0 || !plain && w.plain > 0 {
		w.plain++
	} else {
		w.wrapped++
	}
}

// find returns where a line of a log begins, or an object that may be one, or -1.
func (w *writer) find(line []byte) int {
	if len(line) == 0 {
		return -1
	}
	if line[0] == '{' {
		return 0
	}
	if i := w.column; i > 0 && i < len(line) && isKlog(line[i:]) && findKlog(line[:i]) < 0 {
		return i
	}
	klog := findKlog(line)
	if klog >= 0 && bytes.Count(line[:klog], []byte(`"`))%2 == 1 {
		klog = -1 // it is in a text of something else
	}
	if klog >= 0 && bytes.IndexByte(line[:klog], '{') < 0 {
		return klog
	}
	for i := 0; i < min(len(line), maxPrefix); i++ {
		n := bytes.IndexByte(line[i:min(len(line), maxPrefix)], '{')
		if n < 0 {
			break
		}
		if i += n; (klog < 0 || i < klog) && isWholeObject(line[i:]) {
			return i
		}
	}
	return klog
}

// isWholeObject reports whether text is an object of JSON.
func isWholeObject(text []byte) bool {
	text = bytes.TrimRight(text, " \t\r")
	return len(text) > 2 && text[0] == '{' && text[len(text)-1] == '}' && (bytes.HasPrefix(text, auditBegin) || jsonscan.End(text, 0) == len(text))
}

// unknown reads a line without the start of a log line: a continuation, or a line of another program.
func (w *writer) unknown(c context, line []byte) error {
	if rest, ok := w.behindPrefix(line); ok {
		line = rest
	}
	c.many = c.many || bytes.HasSuffix(bytes.TrimRight(w.prefix, " "), []byte("]:"))
	return w.rest(c, line)
}

// behindPrefix returns the rest of a line after a prefix like that of the last klog line.
func (w *writer) behindPrefix(line []byte) (rest []byte, ok bool) {
	if len(w.prefix) == 0 {
		return line, true
	}
	at := 0
	for range bytes.Count(bytes.TrimSpace(squeezed(w.prefix)), []byte(" ")) + 1 {
		for at < len(line) && line[at] == ' ' {
			at++
		}
		n := bytes.IndexByte(line[at:], ' ')
		if n < 0 {
			return line, false
		}
		at += n + 1
	}
	if !bytes.HasSuffix(w.prefix, []byte(" ")) {
		at = min(len(w.prefix), len(line))
	}
	if !bytes.Equal(shapeOf(nil, line[:at]), shapeOf(nil, w.prefix)) {
		return line, false
	}
	return line[at:], true
}

// squeezed returns text with runs of blanks replaced by one.
func squeezed(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i, c := range text {
		if c != ' ' || i == 0 || text[i-1] != ' ' {
			out = append(out, c)
		}
	}
	return out
}

// shapeOf appends the common shape of a wrapper's prefixes: 0 for digits, a for letters, and other characters unchanged.
func shapeOf(out, prefix []byte) []byte {
	for _, c := range prefix {
		switch {
		case isDigit(c):
			c = '0'
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80:
			c = 'a'
		}
		if n := len(out); (c == '0' || c == 'a' || c == ' ') && n > 0 && out[n-1] == c {
			continue
		}
		out = append(out, c)
	}
	return out
}

// behind returns the context of a text after that prefix.
func (w *writer) behind(c context, prefix []byte) context {
	if at, ok := timeBefore(prefix); ok {
		c.at = at
	}
	program := bytes.TrimRight(prefix, " ")
	if bytes.HasSuffix(program, []byte("]:")) && !bytes.Contains(program[bytes.LastIndexByte(program, ' ')+1:], []byte("scheduler")) {
		c.many = true // a journal's
	}
	if w.stream = appendStream(w.stream[:0], prefix); len(w.stream) > 0 {
		c.stream = w.stream
	}
	return c
}

// timeBefore finds a time with a known offset in a prefix.
func timeBefore(prefix []byte) (t time.Time, ok bool) {
	for i, c := range prefix {
		if !isDigit(c) || i > 0 && isDigit(prefix[i-1]) {
			continue
		}
		if t, rest, is := parseDateTime(prefix[i:]); is {
			if offset, _, known := parseOffset(rest); known {
				return t.Add(-offset), true
			}
			offset, known := parseZone(rest)
			return t.Add(-offset), known
		}
		if i == 0 { // journalctl -o short-unix
			word, _, _ := bytes.Cut(prefix, []byte(" "))
			if t, is := parseEpoch(word); is && len(word) > 13 {
				return t, true
			}
		}
	}
	return t, false
}

// isTimeAlone reports whether a prefix is that of `kubectl logs --timestamps`.
func isTimeAlone(prefix []byte) bool {
	_, rest, ok := parseDateTime(prefix)
	if !ok || prefix[10] != 'T' {
		return false
	}
	_, rest, ok = parseOffset(rest)
	return ok && string(rest) == " "
}

// appendStream appends the words of a prefix that identify the program: all except times, numbers, and source locations.
func appendStream(out, prefix []byte) []byte {
	began := len(out)
	for i := 0; len(prefix) > 0; {
		word, rest, _ := bytes.Cut(prefix, []byte(" "))
		if prefix = rest; len(word) == 0 {
			continue
		}
		if i++; isClock(word) && i > 2 { // "May  4 12:00:00", in any language
			out = out[:began]
			continue
		}
		if !isDigit(word[0]) {
			if n := bytes.IndexByte(word, '['); n > 0 { // a process's number
				word = word[:n]
			}
			if n := bytes.IndexByte(word, ':'); n > 0 { // grep's line number, or the source file of a test
				if word = word[:n]; bytes.HasSuffix(word, []byte(".go")) {
					continue
				}
			}
		}
		if len(word) < 2 || !hasLetter(word) || len(word) >= 19 && word[4] == '-' && word[10] == 'T' || string(word) == "stderr" || string(word) == "stdout" {
			continue
		}
		if len(out) > began {
			out = append(out, ' ')
		}
		out = append(out, word...)
	}
	return out
}

func hasLetter(word []byte) bool {
	for _, c := range word {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// isClock reports whether a word is a time of day.
func isClock(word []byte) bool {
	return len(word) >= len("12:00:00") && word[2] == ':' && word[5] == ':' && isDigit(word[0]) && isDigit(word[7])
}

// containerLine removes a container runtime's prefix from a line (CRI): "2026-11-21T10:56:16.372925000Z stderr F ". The tag
// P means that the line continues in the next one.
func containerLine(line []byte) (at time.Time, text []byte, partial, ok bool) {
	if len(line) < len("2026-11-21T10:56:16Z stderr F ") || line[4] != '-' || line[10] != 'T' {
		return at, nil, false, false
	}
	stamp, rest, _ := bytes.Cut(line, []byte(" "))
	stream, rest, _ := bytes.Cut(rest, []byte(" "))
	if string(stream) != "stderr" && string(stream) != "stdout" {
		return at, nil, false, false
	}
	tag, rest, found := bytes.Cut(rest, []byte(" "))
	if !found || len(tag) == 0 || tag[0] != 'F' && tag[0] != 'P' {
		return at, nil, false, false
	}
	at, ok = parseTime(stamp)
	return at, rest, tag[0] == 'P', ok
}

// withoutColour returns a line without terminal colour sequences.
func withoutColour(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == 0x1b && i+1 < len(line) && line[i+1] == '[' {
			end := i + 2
			for end < len(line) && (isDigit(line[end]) || line[end] == ';') {
				end++
			}
			if end < len(line) && (line[end] == 'm' || line[end] == 'K') {
				i = end
				continue
			}
		}
		out = append(out, line[i])
	}
	return out
}
