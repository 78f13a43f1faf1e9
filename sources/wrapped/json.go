package wrapped

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

// lists are the members in which documents hold their records.
var lists = []string{"events", "logEvents", "results", "records"}

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

// unwrapJSON reads records: one after another, or in lists, at any indentation. What is no JSON ends it with an error.
func unwrapJSON(from io.Reader, to *writer) error {
	d := json.NewDecoder(from)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return notJSON(err)
		}
		switch token {
		case json.Delim('['):
			err = eachElement(d, to)
		case json.Delim('{'):
			err = object(d, to)
		default:
			err = fmt.Errorf("there is a value where a record should be")
		}
		if err != nil {
			return err
		}
	}
}

func notJSON(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("what holds the log's lines is cut off")
	}
	return fmt.Errorf("what holds the log's lines is not JSON: %w", err)
}

// eachElement reads the records of a list whose bracket was read.
func eachElement(d *json.Decoder, to *writer) error {
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return notJSON(err)
		}
		if err := record(raw, to); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(err)
	}
	return nil
}

// object reads an object whose brace was read: a document with a list of records, or a record.
func object(d *json.Decoder, to *writer) error {
	members := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return notJSON(err)
		}
		key, _ := token.(string)
		if isList(key) {
			if err := list(d, key, members, to); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return notJSON(err)
		}
		members[key] = value
	}
	if _, err := d.Token(); err != nil {
		return notJSON(err)
	}
	return lineOf(members, to)
}

func isList(key string) bool {
	for _, l := range lists {
		if key == l {
			return true
		}
	}
	return false
}

// list reads the value of a member that may hold records.
func list(d *json.Decoder, key string, members map[string]json.RawMessage, to *writer) error {
	token, err := d.Token()
	switch {
	case err != nil:
		return notJSON(err)
	case token == json.Delim('['):
		return eachElement(d, to)
	case token == json.Delim('{'):
		return skipObject(d)
	}
	members[key], _ = json.Marshal(token)
	return nil
}

// skipObject goes over the rest of an object whose brace was read.
func skipObject(d *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return notJSON(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// record writes the line that a record holds.
func record(raw json.RawMessage, to *writer) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '[' { // a row of Insights: fields with values
		var row []struct{ Field, Value string }
		if json.Unmarshal(raw, &row) != nil {
			return nil
		}
		for _, f := range row {
			if f.Field == "@message" {
				return to.line("", []byte(f.Value))
			}
		}
		return nil
	}
	members := map[string]json.RawMessage{}
	if raw[0] != '{' || jsonscan.Members(raw, func(name, value []byte) bool {
		members[string(name)] = value
		return true
	}) != nil {
		return nil
	}
	return lineOf(members, to)
}

// lineOf writes the line that a record with these members holds. A record that holds none is left out.
func lineOf(m map[string]json.RawMessage, to *writer) error {
	switch {
	case m["message"] != nil && m["msg"] == nil: // CloudWatch
		return to.line(millis(m["timestamp"]), []byte(text(m["message"])))
	case m["@message"] != nil:
		return to.line("", []byte(text(m["@message"])))
	case m["protoPayload"] != nil, m["jsonPayload"] != nil, m["textPayload"] != nil:
		return entry(m, to)
	case m["MESSAGE"] != nil:
		to.journal = true
		return to.line(micros(text(m["__REALTIME_TIMESTAMP"])), message(m["MESSAGE"]))
	case m["ts"] != nil && m["msg"] != nil:
		return klogJSON(m, to)
	}
	return azure(m, to)
}

// text returns a JSON string, or "" of anything else. raw is valid. Lines of logs hold tens of thousands of escaped quotes
// and seldom another escape, and it is they that take the time.
func text(raw json.RawMessage) string {
	in := jsonscan.Text(raw)
	if bytes.Contains(in, []byte(`\u`)) {
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	}
	out := make([]byte, 0, len(in))
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 || i+1 >= len(in) {
			return string(append(out, in...))
		}
		out = append(out, in[:i]...)
		c := in[i+1]
		if plain := bytes.IndexByte([]byte("nrtbf"), c); plain >= 0 {
			c = "\n\r\t\b\f"[plain]
		}
		out, in = append(out, c), in[i+2:]
	}
}

// message returns journald's MESSAGE: a string, or an array of bytes where it is not plain text.
func message(raw json.RawMessage) []byte {
	if len(raw) > 0 && raw[0] == '[' {
		var numbers []uint16
		var out []byte
		if json.Unmarshal(raw, &numbers) == nil {
			for _, n := range numbers {
				out = append(out, byte(n))
			}
		}
		return out
	}
	return []byte(text(raw))
}

// millis returns a number of milliseconds since 1970 as RFC 3339 has it, or "".
func millis(raw json.RawMessage) string {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	return time.UnixMilli(n).UTC().Format(time.RFC3339Nano)
}

func micros(s string) string {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	return time.UnixMicro(n).UTC().Format(time.RFC3339Nano)
}
