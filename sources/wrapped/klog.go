package wrapped

import (
	"bytes"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

// klogStamp is the start of a klog line: "I1121 10:56:22.400364 ".
const klogStamp = "I1121 10:56:22.400364 "

// isKlog reports whether text begins with klog's header.
func isKlog(text []byte) bool {
	return isStamp(text) && text[len(klogStamp)-1] == ' '
}

// isTestLog reports whether text begins like klog lines in the output of a Go test (k8s.io/klog/v2/ktesting), which contain
// neither process nor location: "I1121 10:56:22.400364] ".
func isTestLog(text []byte) bool {
	return isStamp(text) && text[len(klogStamp)-1] == ']'
}

// isStamp reports whether text begins with the severity and the time of klog's header.
func isStamp(text []byte) bool {
	if len(text) < len(klogStamp) || text[0] != 'I' && text[0] != 'W' && text[0] != 'E' && text[0] != 'F' {
		return false
	}
	for i := 1; i < len(klogStamp)-1; i++ {
		if want := klogStamp[i]; want >= '0' && want <= '9' {
			if text[i] < '0' || text[i] > '9' {
				return false
			}
		} else if text[i] != want {
			return false
		}
	}
	return true
}

// findKlog returns where in text one of klog's headers begins, or -1. It looks at the first maxPrefix bytes.
func findKlog(text []byte) int {
	for i := range min(len(text), maxPrefix) {
		switch text[i] {
		case 'I', 'W', 'E', 'F':
			if isStamp(text[i:]) && (text[i+len(klogStamp)-1] == ' ' || text[i+len(klogStamp)-1] == ']') {
				return i
			}
		}
	}
	return -1
}

// schedulerFiles are the source files of kube-scheduler whose lines describe its work (v1.19 to v1.37).
var schedulerFiles = []string{"schedule_one.go:", "schedule_one_podgroup.go:", "scheduling_queue.go:", "active_queue.go:", "backoff_queue.go:",
	"eventhandlers.go:", "scheduler.go:", "factory.go:", "dumper.go:"}

// isScheduler reports whether a klog line is kube-scheduler's, among lines of other programs.
func isScheduler(text []byte) bool {
	header, rest, _ := bytes.Cut(text, []byte("]"))
	for _, file := range schedulerFiles {
		if i := bytes.Index(header, []byte(file)); i > 0 && header[i-1] == ' ' {
			return true
		}
	}
	switch {
	case bytes.Contains(header, []byte(" leaderelection.go:")):
		return bytes.Contains(rest, []byte("kube-system/kube-scheduler"))
	case bytes.Contains(header, []byte(" server.go:")):
		return bytes.Contains(rest, []byte("Kubernetes Scheduler"))
	}
	return false
}

// testLog writes a line that a Go test logged. place is the text before it: "    schedule_one.go:12: ".
func (w *writer) testLog(c context, place, text []byte) error {
	file := "unknown.go:1"
	if words := bytes.Fields(place); len(words) > 0 && bytes.Contains(words[len(words)-1], []byte(".go:")) {
		file = strings.TrimSuffix(string(words[len(words)-1]), ":")
	}
	stamp, message := text[:len(klogStamp)-1], bytes.TrimPrefix(text[len(klogStamp):], []byte(" "))
	if name, rest, ok := bytes.Cut(message, []byte(": ")); ok && !bytes.ContainsAny(name, " \"=") { // the logger's
		message = rest
	}
	w.put = append(append(append(w.put[:0], stamp...), "       1 "...), file...)
	w.put = append(w.put, "] "...)
	if i := keyAt(message); len(message) > 0 && message[0] != '"' && i >= 0 { // its message is not quoted
		w.put = strconv.AppendQuote(w.put, string(message[:i]))
		message = message[i:]
	}
	w.put = append(w.put, message...)
	return w.klog(c, w.put)
}

// keyAt returns where the first ` key=` of a structured message begins, or its length if it has none.
func keyAt(message []byte) int {
	end := bytes.IndexByte(message, '=')
	if end < 0 {
		return len(message)
	}
	return bytes.LastIndexByte(message[:end], ' ')
}

// klogJSON writes a record of klog's JSON format (k8s.io/component-base, logs/json) in its text format.
func (w *writer) klogJSON(c context, m members) error {
	at, ok := c.at, !c.at.IsZero()
	if ts := m.get("ts"); ts != nil {
		at, ok = klogTime(ts)
	}
	if !ok {
		return nil
	}
	severity := byte('I')
	if m.get("v") == nil && m.get("err") != nil {
		severity = 'E'
	}
	caller := string(jsonscan.Text(m.get("caller")))
	if caller == "" {
		caller = "unknown.go:1"
	}
	put := appendHeader(w.put[:0], at, severity, path.Base(caller))
	put = appendQuoted(put, m.get("msg"))
	add := func(name, value []byte) {
		put = append(append(append(put, ' '), name...), '=')
		put = w.appendValue(put, value, c.depth+1)
	}
	if failed := m.get("err"); failed != nil { // it comes first, as in text
		add([]byte("err"), failed)
	}
	for _, v := range m {
		switch string(v.name) {
		case "caller", "msg", "v", "err", "logger":
		default:
			if !slices.Contains(timeMembers, string(v.name)) {
				add(v.name, v.value)
			}
		}
	}
	w.put = put
	c.at = at
	return w.klog(c, put)
}

// klogTime returns a time that klog writes as milliseconds since 1970, with a fraction. Some collectors convert it to
// seconds, and others to text.
func klogTime(raw []byte) (time.Time, bool) {
	if text := jsonscan.Text(raw); text != nil {
		return parseTime(text)
	}
	ms, err := strconv.ParseFloat(string(raw), 64)
	if ms < 1e11 {
		ms *= 1000
	}
	if err != nil || ms <= 0 || ms > 1e15 {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(ms)
	return time.UnixMilli(int64(whole)).Add(time.Duration(math.Round(fraction*1000)) * time.Microsecond).UTC(), true
}

// appendQuoted appends a text as Go quotes it, in one line: lines are joined without the blanks around them.
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

// isPlain reports whether Go would quote the content of the JSON string raw like raw.
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
func (w *writer) appendValue(out, raw []byte, depth int) []byte {
	switch raw[0] {
	case '"':
		return appendQuoted(out, raw)
	case '{':
		m := w.scan(raw, depth)
		if name := m.get("name"); name != nil {
			out = append(out, '"')
			if namespace := jsonscan.Text(m.get("namespace")); len(namespace) > 0 {
				out = append(append(out, namespace...), '/')
			}
			return append(append(out, jsonscan.Text(name)...), '"')
		}
	}
	return append(out, raw...)
}

// headed writes a line from which a collector has removed the header.
func (w *writer) headed(c context, severity, source string, text []byte) error {
	if c.at.IsZero() {
		return nil
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
	w.put = append(appendHeader(w.put[:0], c.at, letter, source), text...)
	return w.klog(c, w.put)
}

// appendHeader appends klog's header.
func appendHeader(out []byte, at time.Time, severity byte, source string) []byte {
	at = at.UTC()
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
