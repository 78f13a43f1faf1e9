package wrapped

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

// azure writes the line of a record of Azure Monitor, or of Docker's log.
func azure(m members, to *writer) error {
	if m.get("RequestReceivedTime") != nil && m.get("Verb") != nil {
		return aksAudit(m, to)
	}
	line := m.get("log")
	for _, key := range []string{"log_s", "Log_s", "LogEntry", "Message"} {
		if line == nil {
			line = m.get(key)
		}
	}
	if properties := m.get("properties"); line == nil && properties != nil {
		if properties[0] == '"' { // the text of an object
			to.within = jsonscan.Unescape(to.within[:0], properties)
			properties = to.within
		}
		to.inner = to.inner.scan(properties)
		line = to.inner.get("log")
	}
	at := m.get("time")
	if at == nil {
		at = m.get("TimeGenerated")
	}
	return to.line(moment{text: jsonscan.Text(at)}, to.text(line))
}

// aksAudit writes a row of the tables AKSAudit and AKSAuditAdmin, whose columns are the members of an audit event.
func aksAudit(m members, to *writer) error {
	e := event{to.put[:0]}
	e.begin()
	e.member("level", m.get("Level"))
	e.member("auditID", m.get("AuditId"))
	e.member("stage", m.get("Stage"))
	e.member("requestURI", m.get("RequestUri"))
	e.member("verb", m.get("Verb"))
	e.column("user", m.get("User"))
	e.member("userAgent", m.get("UserAgent"))
	e.column("objectRef", m.get("ObjectRef"))
	e.column("responseStatus", m.get("ResponseStatus"))
	e.column("requestObject", m.get("RequestObject"))
	e.column("responseObject", m.get("ResponseObject"))
	e.time("requestReceivedTimestamp", m.get("RequestReceivedTime"))
	e.time("stageTimestamp", m.get("StageReceivedTime"))
	return e.end(to)
}

// entry writes the line of an entry of Cloud Logging.
func entry(m members, to *writer) error {
	at := jsonscan.Text(m.get("timestamp"))
	if s := to.text(m.get("textPayload")); len(s) > 0 {
		return to.line(moment{text: at}, s)
	}
	if payload := m.get("jsonPayload"); payload != nil {
		to.inner = to.inner.scan(payload)
		source, message := string(jsonscan.Text(to.inner.get("source"))), to.text(to.inner.get("message"))
		if source == "" || isKlog(message) {
			return to.line(moment{text: at}, message)
		}
		return klogLine(to, at, string(jsonscan.Text(m.get("severity"))), source, message)
	}
	return cloudAudit(m, at, to)
}

// cloudAudit writes the audit event that an entry's protoPayload tells of.
func cloudAudit(m members, at []byte, to *writer) error {
	to.inner = to.inner.scan(m.get("protoPayload"))
	p := to.inner
	resource, method := string(jsonscan.Text(p.get("resourceName"))), string(jsonscan.Text(p.get("methodName")))
	ref, version, verb := referenceOf(resource, method)
	if ref == "" {
		return nil
	}
	level := `"Metadata"`
	if isObject(p.get("response")) {
		level = `"RequestResponse"`
	} else if isObject(p.get("request")) {
		level = `"Request"`
	}
	var code members
	status := `{"metadata":{},"code":200}`
	if c := code.scan(p.get("status")).get("code"); c != nil && string(c) != "0" { // gRPC's code: what it is as HTTP's does not matter here
		status = `{"metadata":{},"code":500}`
	}
	var few members
	e := event{to.put[:0]}
	e.begin()
	e.text("level", level)
	e.member("auditID", few.scan(m.get("operation")).get("id"))
	e.text("stage", `"ResponseComplete"`)
	e.text("requestURI", `"/`+resource+`"`)
	e.text("verb", `"`+verb+`"`)
	if email := few.scan(p.get("authenticationInfo")).get("principalEmail"); email != nil {
		e.text("user", `{"username":`+string(email)+`}`)
	}
	e.member("userAgent", few.scan(p.get("requestMetadata")).get("callerSuppliedUserAgent"))
	e.text("objectRef", ref)
	e.text("responseStatus", status)
	e.typed("requestObject", p.get("request"), version)
	e.typed("responseObject", p.get("response"), version)
	e.time("stageTimestamp", m.get("timestamp"))
	return e.end(to)
}

// referenceOf returns an audit event's objectRef, its object's apiVersion and the verb, of a resource's and a method's
// name: core/v1/namespaces/NS/pods/NAME/binding and io.k8s.core.v1.pods.binding.create. They are parts of JSON, as what is returned is.
func referenceOf(resource, method string) (ref, apiVersion, verb string) {
	parts := strings.Split(resource, "/")
	if len(parts) < 3 || method == "" {
		return "", "", ""
	}
	ref, apiVersion = `{`, parts[1]
	if parts[0] != "core" {
		ref, apiVersion = `{"apiGroup":"`+parts[0]+`",`, parts[0]+"/"+parts[1]
	}
	ref += `"apiVersion":"` + parts[1] + `"`
	parts = parts[2:]
	namespace := ""
	if parts[0] == "namespaces" && len(parts) > 2 {
		namespace, parts = parts[1], parts[2:]
	}
	var path [3]string
	copy(path[:], parts)
	for _, m := range [][2]string{{"name", path[1]}, {"namespace", namespace}, {"resource", path[0]}, {"subresource", path[2]}} {
		if m[1] != "" {
			ref += `,"` + m[0] + `":"` + m[1] + `"`
		}
	}
	return ref + "}", apiVersion, method[strings.LastIndexByte(method, '.')+1:]
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// event is a line of an audit log that is put together, its members in the order in which kube-apiserver writes them.
type event struct{ line []byte }

func (e *event) begin() { e.line = append(e.line, `{"kind":"Event","apiVersion":"audit.k8s.io/v1"`...) }

// end writes the event. Of one that was written over several lines, and is no JSON, nothing is written.
func (e *event) end(to *writer) error {
	to.put = append(e.line, '}')
	if bytes.IndexByte(to.put, '\n') >= 0 {
		var line bytes.Buffer
		if json.Compact(&line, to.put) != nil {
			return nil
		}
		return to.line(moment{}, line.Bytes())
	}
	return to.line(moment{}, to.put)
}

func (e *event) name(name string) {
	e.line = append(append(append(e.line, `,"`...), name...), `":`...)
}

func (e *event) text(name, value string) {
	e.name(name)
	e.line = append(e.line, value...)
}

// member adds a member, unless it has no value.
func (e *event) member(name string, value []byte) {
	if value != nil {
		e.name(name)
		e.line = append(e.line, value...)
	}
}

// column adds a member of a column that holds JSON, or the text of JSON, unless it holds none.
func (e *event) column(name string, value []byte) {
	switch {
	case value == nil, string(value) == "null", string(value) == `""`:
	case value[0] == '"':
		e.name(name)
		began := len(e.line)
		e.line = jsonscan.Unescape(e.line, value)
		if jsonscan.End(e.line, began) != len(e.line) { // a text that stands for itself
			e.line = append(e.line[:began], value...)
		}
	default:
		e.member(name, value)
	}
}

// time adds a time as kube-apiserver writes it, unless value is none.
func (e *event) time(name string, value []byte) {
	t, err := time.Parse(time.RFC3339Nano, string(jsonscan.Text(value)))
	if err != nil {
		return
	}
	e.name(name)
	e.line = t.UTC().AppendFormat(e.line, `"2006-01-02T15:04:05.000000Z"`)
}

// typed adds an object without the member that Cloud Logging adds, "@type": "core.k8s.io/v1.Pod", which tells the kind where
// nothing else does. apiVersion is that of the resource.
func (e *event) typed(name string, object []byte, apiVersion string) {
	if !isObject(object) {
		return
	}
	e.name(name)
	if !bytes.Contains(object, []byte(`"@type"`)) {
		e.line = append(e.line, object...)
		return
	}
	var none members
	found := none.scan(object)
	kind := ""
	if typ := found.get("@type"); typ != nil && found.get("kind") == nil {
		kind = string(jsonscan.Text(typ))
		kind = `"apiVersion":` + strconv.Quote(apiVersion) + `,"kind":"` + kind[strings.LastIndexByte(kind, '.')+1:] + `"`
	}
	e.line = append(e.line, '{')
	e.line = append(e.line, kind...)
	for _, m := range found {
		if string(m.name) == "@type" || kind != "" && string(m.name) == "apiVersion" {
			continue
		}
		if e.line[len(e.line)-1] != '{' {
			e.line = append(e.line, ',')
		}
		e.line = append(append(append(append(e.line, '"'), m.name...), `":`...), m.value...)
	}
	e.line = append(e.line, '}')
}
