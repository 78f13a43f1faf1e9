package wrapped

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

// klogJSON writes a record of klog's JSON format (k8s.io/component-base, logs/json) as its text format has it.
func klogJSON(m members, to *writer) error {
	ms, err := strconv.ParseFloat(string(m.get("ts")), 64) // milliseconds since 1970
	if err != nil || ms < 0 || ms > 1e15 {
		return nil
	}
	whole, fraction := math.Modf(ms)
	at := time.UnixMilli(int64(whole)).Add(time.Duration(math.Round(fraction*1000)) * time.Microsecond).UTC()
	severity := byte('I')
	if m.get("v") == nil {
		severity = 'E'
	}
	to.put = appendHeader(to.put[:0], at, severity, path.Base(string(jsonscan.Text(m.get("caller")))))
	to.put = appendQuoted(to.put, m.get("msg"))
	add := func(name, value []byte) {
		to.put = append(append(append(to.put, ' '), name...), '=')
		to.put = to.appendValue(to.put, value)
	}
	if failed := m.get("err"); failed != nil { // it comes first, as in text
		add([]byte("err"), failed)
	}
	for _, v := range m {
		switch string(v.name) {
		case "ts", "caller", "msg", "v", "err", "logger":
		default:
			add(v.name, v.value)
		}
	}
	return to.line(stampOf(at), to.put)
}

// appendQuoted appends a text as Go quotes it, in one line: of several, each stands without the blanks around it.
func appendQuoted(out, raw []byte) []byte {
	if isPlain(raw) {
		return append(out, raw...)
	}
	lines := strings.Split(string(jsonscan.Unescape(nil, raw)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strconv.AppendQuote(out, strings.Join(lines, " "))
}

// isPlain reports whether the JSON string raw is what Go would quote it as, too.
func isPlain(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c < ' ' || c >= 0x7f {
			return false
		} else if c == '\\' {
			if i++; i < len(raw) && raw[i] != '"' && raw[i] != '\\' {
				return false
			}
		}
	}
	return true
}

// appendValue appends a value as klog's text format writes it.
func (w *writer) appendValue(out, raw []byte) []byte {
	switch raw[0] {
	case '"':
		return appendQuoted(out, raw)
	case '{':
		w.inner = w.inner.scan(raw)
		if name := w.inner.get("name"); name != nil {
			out = append(out, '"')
			if namespace := jsonscan.Text(w.inner.get("namespace")); len(namespace) > 0 {
				out = append(append(out, namespace...), '/')
			}
			return append(append(out, jsonscan.Text(name)...), '"')
		}
	}
	return append(out, raw...)
}

// klogLine writes a line whose header a collector has taken off.
func klogLine(to *writer, at []byte, severity, source string, text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(at))
	if err != nil {
		return to.line(moment{}, text)
	}
	letter := byte('I')
	switch severity {
	case "ERROR":
		letter = 'E'
	case "WARNING":
		letter = 'W'
	case "CRITICAL", "ALERT", "EMERGENCY":
		letter = 'F'
	}
	to.put = append(appendHeader(to.put[:0], t.UTC(), letter, source), text...)
	return to.line(moment{text: at}, to.put)
}

// appendHeader appends the header of a line of klog's.
func appendHeader(out []byte, at time.Time, severity byte, source string) []byte {
	digits := func(n, width int) {
		for unit := int(math.Pow10(width - 1)); unit > 0; unit /= 10 {
			out = append(out, byte('0'+n/unit%10))
		}
	}
	_, month, day := at.Date()
	hour, minute, second := at.Clock()
	out = append(out, severity)
	digits(int(month), 2)
	digits(day, 2)
	out = append(out, ' ')
	digits(hour, 2)
	out = append(out, ':')
	digits(minute, 2)
	out = append(out, ':')
	digits(second, 2)
	out = append(out, '.')
	digits(at.Nanosecond()/1000, 6)
	return append(append(append(out, "       1 "...), source...), "] "...)
}

// stampOf is a moment of which the time is known.
func stampOf(at time.Time) moment {
	return moment{strconv.AppendInt(nil, at.UnixMicro(), 10), inMicros}
}
