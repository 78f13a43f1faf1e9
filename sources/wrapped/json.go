package wrapped

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/schedq/schedq/sources/jsonscan"
)

// lists are the members in which documents hold their records.
var lists = []string{"events", "logEvents", "results", "records"}

func isList(key string) bool { return slices.Contains(lists, key) }

// detectJSON finds a wrapper by the members of the first record.
func detectJSON(head []byte) *Wrapper {
	if bytes.HasPrefix(head, auditBegin) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(head))
	name := ""
	for name == "" {
		token, err := d.Token()
		if err != nil {
			break
		}
		if key, is := token.(string); is {
			name = nameFor(key)
		}
		if token == json.Delim('[') || token == json.Delim('{') {
			continue
		}
		if key, is := token.(string); is && name == "" && key != "" {
			// The value of a member of no wrapper is gone over.
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				break
			}
			if key == "kind" || key == "schedq" || key == "apiVersion" {
				return nil
			}
		}
	}
	if name == "" {
		return nil
	}
	return &Wrapper{Name: name, unwrap: unwrapJSON}
}

// nameFor returns of which wrapper a member is, or "".
func nameFor(member string) string {
	switch member {
	case "logEvents", "logStreamName", "ingestionTime", "results", "events", "messageType":
		return "CloudWatch"
	case "protoPayload", "jsonPayload", "textPayload", "insertId", "logName":
		return "Cloud Logging"
	case "records", "log_s", "operationName", "category", "RequestReceivedTime", "_ResourceId", "TenantId", "TimeGenerated", "PodName":
		return "Azure Monitor"
	case "MESSAGE", "__REALTIME_TIMESTAMP", "__CURSOR":
		return "journald"
	case "log":
		return "a container runtime"
	case "ts":
		return "klog's JSON format"
	}
	return ""
}

// member is one of a record: its name, not unescaped, and its value.
type member struct{ name, value []byte }

type members []member

// mostMembers is how many members of an object are looked at: no record has as many, and a small file could hold millions.
const mostMembers = 1000

// get returns the value of the member of that name, the last if there are several, or nil.
func (m members) get(name string) []byte {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].name) == name {
			return m[i].value
		}
	}
	return nil
}

// scan returns the members of the object raw in the room that m has, or none if raw is no object.
func (m members) scan(raw []byte) members {
	m = m[:0]
	if jsonscan.Members(raw, func(name, value []byte) bool {
		m = append(m, member{name, value})
		return len(m) < mostMembers
	}) != nil {
		return m[:0]
	}
	return m
}

// insightsRow writes the line of a row of Insights, which is a list of fields with values.
func insightsRow(raw []byte, to *writer) error {
	var message []byte
	_ = jsonscan.Elements(raw, func(field []byte) error {
		to.inner = to.inner.scan(field)
		if string(jsonscan.Text(to.inner.get("field"))) == "@message" && message == nil {
			message = to.inner.get("value")
		}
		return nil
	})
	return to.line(moment{}, to.text(message))
}

// lineOf writes the line that a record with these members holds. A record that holds none is left out.
func lineOf(m members, to *writer) error {
	switch {
	case m.get("message") != nil && m.get("msg") == nil: // CloudWatch
		return to.line(moment{m.get("timestamp"), inMillis}, to.text(m.get("message")))
	case m.get("@message") != nil:
		return to.line(moment{}, to.text(m.get("@message")))
	case m.get("protoPayload") != nil, m.get("jsonPayload") != nil, m.get("textPayload") != nil:
		return entry(m, to)
	case m.get("MESSAGE") != nil:
		to.journal = true
		return to.line(moment{jsonscan.Text(m.get("__REALTIME_TIMESTAMP")), inMicros}, message(m.get("MESSAGE"), to))
	case m.get("ts") != nil && m.get("msg") != nil:
		return klogJSON(m, to)
	}
	return azure(m, to)
}

// text is what the JSON string raw says, nothing if it is no string. It is good until the next call.
func (w *writer) text(raw []byte) []byte {
	if in := jsonscan.Text(raw); bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	w.said = jsonscan.Unescape(w.said[:0], raw)
	return w.said
}

// message returns journald's MESSAGE: a string, or an array of bytes where it is not plain text.
func message(raw []byte, to *writer) []byte {
	if raw[0] == '[' {
		var numbers []uint16
		var out []byte
		if json.Unmarshal(raw, &numbers) == nil {
			for _, n := range numbers {
				out = append(out, byte(n))
			}
		}
		return out
	}
	return to.text(raw)
}
