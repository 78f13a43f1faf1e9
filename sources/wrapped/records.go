package wrapped

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/schedq/schedq/sources/jsonscan"
)

// member is a member of an object: its name, not unescaped, and its value.
type member struct{ name, value []byte }

type members []member

// mostMembers limits the members of an object that are read. No record has as many, but a small file could contain
// millions.
const mostMembers = 1000

// get returns the value of the last member of that name, or nil.
func (m members) get(name string) []byte {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].name) == name {
			return m[i].value
		}
	}
	return nil
}

// scan returns the members of the object raw, or none if raw is not an object. They are valid until scan is called for the
// same depth again.
func (w *writer) scan(raw []byte, depth int) members {
	m, _, _ := w.scanFirst(raw, depth)
	return m
}

// scanFirst is scan for an object that more text may follow. It returns that text, and whether the object is complete.
func (w *writer) scanFirst(text []byte, depth int) (m members, rest []byte, whole bool) {
	for len(w.objects) <= depth {
		w.objects = append(w.objects, nil)
	}
	m = w.objects[depth][:0]
	rest, whole, err := jsonscan.First(text, func(name, value []byte) bool {
		m = append(m, member{name, value})
		return len(m) < mostMembers
	})
	if w.objects[depth] = m; err != nil {
		m = m[:0]
	}
	return m, rest, whole
}

// text returns the content of the JSON string raw, or nothing if it is not a string. The result is valid until text is
// called for the same depth again.
func (w *writer) textOf(raw []byte, depth int) []byte {
	in := jsonscan.Text(raw)
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	for len(w.unquote) <= depth {
		w.unquote = append(w.unquote, nil)
	}
	w.unquote[depth] = jsonscan.Unescape(w.unquote[depth][:0], raw)
	return w.unquote[depth]
}

// value reads a value of JSON, and reports whether a line of a log was in it.
func (w *writer) value(c context, raw []byte) (found bool, err error) {
	if c.depth++; c.depth > maxDepth || len(raw) == 0 {
		return false, nil
	}
	switch raw[0] {
	case '{':
		return w.object(c, raw)
	case '[':
		return w.list(c, raw)
	case '"':
		return w.string(c, raw)
	}
	return false, nil
}

// object reads an object: a line of a log, or a record with one.
func (w *writer) object(c context, raw []byte) (found bool, err error) {
	if isPlainAudit := bytes.HasPrefix(raw, auditBegin); isPlainAudit && bytes.IndexByte(raw, '\n') < 0 {
		w.found(!c.inner)
		return true, w.audit(c, raw)
	}
	m := w.scan(raw, c.depth)
	return w.members(c, m, raw)
}

// members reads an object with these members. raw is the object, or nil if it was not kept.
func (w *writer) members(c context, m members, raw []byte) (found bool, err error) {
	own := c
	own.inner = true
	if at := timeIn(m); !at.IsZero() {
		own.at = at
	}
	switch {
	case isAuditEvent(m):
		event := raw
		if event == nil {
			return false, nil
		}
		complete := m.get("kind") != nil && m.get("apiVersion") != nil
		asItIs := complete && bytes.IndexByte(raw, '\n') < 0
		w.found(!c.inner && asItIs)
		if !complete {
			event = append([]byte(`{"kind":"Event","apiVersion":"audit.k8s.io/v1",`), raw[1:]...)
		}
		if !asItIs {
			var line bytes.Buffer
			if json.Compact(&line, event) != nil {
				return false, nil
			}
			event = line.Bytes()
		}
		return true, w.audit(own, event)
	case m.get("protoPayload") != nil:
		return w.cloudAudit(own, m)
	case m.get("RequestReceivedTime") != nil && m.get("Verb") != nil:
		w.found(false)
		return true, w.aksAudit(own, m)
	case isKlogJSON(m) && (m.get("ts") != nil || !own.at.IsZero()):
		w.wrapped++ // even if the first line was not: before a program reads its flags, it logs text
		return true, w.klogJSON(own, m)
	}
	if payload := m.get("jsonPayload"); payload != nil && payload[0] == '{' {
		severity := string(jsonscan.Text(m.get("severity")))
		p := w.scan(payload, c.depth+1)
		source, message := string(jsonscan.Text(p.get("source"))), w.textOf(p.get("message"), c.depth+1)
		if source != "" && !isKlog(message) { // a collector removed the header
			w.found(false)
			return true, w.headed(own, severity, source, message)
		}
	}
	if stream := w.streamIn(m, c.depth+1); len(stream) > 0 {
		own.stream = stream
	}
	if m.get("MESSAGE") != nil && !bytes.Contains(own.stream, []byte("scheduler")) {
		own.many = true // a journal's
	}
	for _, v := range m {
		own.member = string(v.name)
		in, err := w.value(own, v.value)
		if found = found || in; err != nil {
			return found, err
		}
	}
	return found, nil
}

// isAuditEvent reports whether an object with these members is an audit event.
func isAuditEvent(m members) bool {
	if kind := m.get("kind"); kind != nil {
		return string(kind) == `"Event"` && bytes.HasPrefix(m.get("apiVersion"), []byte(`"audit.k8s.io/`))
	}
	return m.get("auditID") != nil && m.get("stage") != nil && m.get("verb") != nil
}

// isKlogJSON reports whether an object with these members is a line of klog's JSON format.
func isKlogJSON(m members) bool {
	if m.get("level") != nil { // etcd's
		return false
	}
	return m.get("msg") != nil && m.get("msg")[0] == '"' && (m.get("caller") != nil || m.get("ts") != nil && m.get("v") != nil || m.get("v") != nil && (m.get("pod") != nil || m.get("err") != nil))
}

// streamMembers are the names of members that identify the program of a record, in order of preference. The objects that
// contain them are streamHolders.
var (
	streamMembers = []string{"pod_name", "podName", "pod", "PodName", "logStreamName", "logStream", "@logStream", "container_name", "SYSLOG_IDENTIFIER", "instance"}
	streamHolders = []string{"kubernetes", "resource", "labels", "stream", "metadata"}
)

// streamIn returns the program of a record, as far as it is known.
func (w *writer) streamIn(m members, depth int) []byte {
	for _, name := range streamMembers {
		if text := jsonscan.Text(m.get(name)); len(text) > 0 && bytes.IndexByte(text, '\\') < 0 {
			return text
		}
	}
	if depth > maxDepth {
		return nil
	}
	for _, name := range streamHolders {
		if holder := m.get(name); len(holder) > 0 && holder[0] == '{' {
			if stream := w.streamIn(w.scan(holder, depth), depth+1); len(stream) > 0 {
				return stream
			}
		}
	}
	return nil
}

// list reads a list: of records, or of columns.
func (w *writer) list(c context, raw []byte) (found bool, err error) {
	c.inner = true
	if c.member == "MESSAGE" { // journald's, where it is not plain text
		if text := bytesOf(raw); len(text) > 0 {
			return w.lines(c, text)
		}
	}
	// A time in a column applies to the texts beside it, as in the rows of Loki, Log Analytics and Insights.
	_ = jsonscan.Elements(raw, func(v []byte) error {
		if text := jsonscan.Text(v); text != nil {
			if at, ok := parseTime(text); ok {
				c.at = at
			}
		} else if v[0] == '{' {
			if field := w.scan(v, c.depth); len(field) == 2 && string(jsonscan.Text(field.get("field"))) == "@timestamp" {
				c.at, _ = parseTime(jsonscan.Text(field.get("value")))
			} else if len(field) != 2 {
				return errStop
			}
		} else if v[0] == '[' {
			return errStop
		}
		return nil
	})
	err = jsonscan.Elements(raw, func(v []byte) error {
		if v[0] == '{' || v[0] == '[' {
			w.record++
		}
		if _, isTime := parseTime(jsonscan.Text(v)); isTime {
			return nil
		}
		in, err := w.value(c, v)
		found = found || in
		return err
	})
	if err == jsonscan.ErrNotJSON {
		err = nil
	}
	return found, err
}

// errStop ends the visit of a list.
var errStop = errors.New("enough")

// bytesOf returns the text of a list of bytes, or nothing.
func bytesOf(raw []byte) []byte {
	var numbers []uint16
	if json.Unmarshal(raw, &numbers) != nil {
		return nil
	}
	out := make([]byte, 0, len(numbers))
	for _, n := range numbers {
		out = append(out, byte(n))
	}
	return out
}

// quotedAudit is the start of a JSON string that contains an audit event of kube-apiserver.
var quotedAudit = []byte(`"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/`)

// string reads a JSON string, which may contain several lines.
func (w *writer) string(c context, raw []byte) (found bool, err error) {
	c.inner = true
	if bytes.HasPrefix(raw, quotedAudit) {
		if text := bytes.TrimRight(w.textOf(raw, c.depth), "\r\n"); bytes.IndexByte(text, '\n') < 0 {
			w.found(false)
			return true, w.audit(c, text)
		}
	}
	switch {
	case findKlog(raw) >= 0, bytes.Contains(raw, []byte(`{\"`)), bytes.Contains(raw, []byte(`\n`)):
	case c.member != "" && c.member == w.member: // other lines of the log
		return false, w.rest(c, w.textOf(raw, c.depth))
	default:
		return false, nil
	}
	return w.lines(c, w.textOf(raw, c.depth))
}

// lines reads the lines of a text within something else.
func (w *writer) lines(c context, text []byte) (found bool, err error) {
	before := w.wrapped + w.plain
	known := c.member == w.member
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if known || w.find(line) >= 0 || w.wrapped+w.plain > before {
			if err := w.line(c, bytes.TrimRight(line, "\r")); err != nil {
				return true, err
			}
		}
	}
	return w.wrapped+w.plain > before, nil
}
