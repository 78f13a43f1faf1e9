package wrapped

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// klogJSON writes a record of klog's JSON format (k8s.io/component-base, logs/json) as its text format has it.
func klogJSON(m map[string]json.RawMessage, to *writer) error {
	ms, err := strconv.ParseFloat(string(m["ts"]), 64) // milliseconds since 1970
	if err != nil || ms < 0 || ms > 1e15 {
		return nil
	}
	whole, fraction := math.Modf(ms)
	at := time.UnixMilli(int64(whole)).Add(time.Duration(math.Round(fraction*1000)) * time.Microsecond).UTC()
	severity := "I"
	if m["v"] == nil {
		severity = "E"
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, "%q", text(m["msg"]))
	// The error comes first, as in text.
	for _, key := range append([]string{"err"}, others(m)...) {
		if raw, ok := m[key]; ok {
			fmt.Fprintf(&line, " %s=%s", key, value(raw))
		}
	}
	caller := text(m["caller"])
	return klogText(to, at, severity, path.Base(caller), line.String())
}

// others returns the members of a record that are a line's values, sorted.
func others(m map[string]json.RawMessage) []string {
	var keys []string
	for key := range m {
		switch key {
		case "ts", "caller", "msg", "v", "err", "logger":
		default:
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// value returns a value as klog's text format writes it.
func value(raw json.RawMessage) string {
	if len(raw) == 0 {
		return `""`
	}
	switch raw[0] {
	case '"':
		// A text of several lines stands in the text format with its lines apart.
		lines := strings.Split(text(raw), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return strconv.Quote(strings.Join(lines, " "))
	case '{':
		var object struct{ Name, Namespace string }
		var keys map[string]json.RawMessage
		if json.Unmarshal(raw, &keys) == nil && keys["name"] != nil && json.Unmarshal(raw, &object) == nil {
			if object.Namespace != "" {
				return strconv.Quote(object.Namespace + "/" + object.Name)
			}
			return strconv.Quote(object.Name)
		}
	}
	return string(raw)
}

// klogLine writes a line whose header a collector has taken off.
func klogLine(to *writer, at, severity, source, text string) error {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return to.line("", []byte(text))
	}
	letter := "I"
	switch severity {
	case "ERROR":
		letter = "E"
	case "WARNING":
		letter = "W"
	case "CRITICAL", "ALERT", "EMERGENCY":
		letter = "F"
	}
	return klogText(to, t.UTC(), letter, source, text)
}

func klogText(to *writer, at time.Time, severity, source, text string) error {
	return to.line(at.Format(time.RFC3339Nano), fmt.Appendf(nil, "%s%s       1 %s] %s", severity, at.Format("0102 15:04:05.000000"), source, text))
}
