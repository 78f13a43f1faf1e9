package wrapped

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/schedq/schedq/sources/jsonscan"
)

// aksAudit writes a row of the tables AKSAudit and AKSAuditAdmin, whose columns are the members of an audit event.
func (w *writer) aksAudit(c context, m members) error {
	e := event{w.put[:0]}
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
	return e.end(w, c)
}

// cloudAudit writes the audit event in the protoPayload of an entry of Cloud Logging, and reports whether it has one.
func (w *writer) cloudAudit(c context, m members) (found bool, err error) {
	p := w.scan(m.get("protoPayload"), c.depth+1)
	resource, method := string(jsonscan.Text(p.get("resourceName"))), string(jsonscan.Text(p.get("methodName")))
	ref, version, verb := referenceOf(resource, method)
	if ref == "" {
		return false, nil
	}
	w.found(false)
	level := `"Metadata"`
	if isObject(p.get("response")) {
		level = `"RequestResponse"`
	} else if isObject(p.get("request")) {
		level = `"Request"`
	}
	status := `{"metadata":{},"code":200}`
	if code := w.scan(p.get("status"), c.depth+2).get("code"); code != nil && string(code) != "0" { // the gRPC code; the HTTP code is not needed
		status = `{"metadata":{},"code":500}`
	}
	e := event{w.put[:0]}
	e.begin()
	e.text("level", level)
	e.member("auditID", w.scan(m.get("operation"), c.depth+2).get("id"))
	e.text("stage", `"ResponseComplete"`)
	e.text("requestURI", `"/`+resource+`"`)
	e.text("verb", `"`+verb+`"`)
	if email := w.scan(p.get("authenticationInfo"), c.depth+2).get("principalEmail"); email != nil {
		e.text("user", `{"username":`+string(email)+`}`)
	}
	e.member("userAgent", w.scan(p.get("requestMetadata"), c.depth+2).get("callerSuppliedUserAgent"))
	e.text("objectRef", ref)
	e.text("responseStatus", status)
	e.typed(w, c.depth+2, "requestObject", p.get("request"), version)
	e.typed(w, c.depth+2, "responseObject", p.get("response"), version)
	e.time("stageTimestamp", m.get("timestamp"))
	return true, e.end(w, c)
}

// referenceOf returns an audit event's objectRef, its object's apiVersion and the verb, from the names of a resource and a
// method: core/v1/namespaces/NS/pods/NAME/binding and io.k8s.core.v1.pods.binding.create. Arguments and results are parts
// of JSON.
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

// event builds a line of an audit log, with its members in the order of kube-apiserver.
type event struct{ line []byte }

func (e *event) begin() { e.line = append(e.line, `{"kind":"Event","apiVersion":"audit.k8s.io/v1"`...) }

// end writes the event. It skips one that is invalid JSON because it was spread over several lines.
func (e *event) end(w *writer, c context) error {
	w.put = append(e.line, '}')
	if bytes.IndexByte(w.put, '\n') >= 0 {
		var line bytes.Buffer
		if json.Compact(&line, w.put) != nil {
			return nil
		}
		return w.audit(c, line.Bytes())
	}
	return w.audit(c, w.put)
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

// column adds a member from a column that contains JSON, or JSON in a string, unless it is empty.
func (e *event) column(name string, value []byte) {
	switch {
	case value == nil, string(value) == "null", string(value) == `""`:
	case value[0] == '"':
		e.name(name)
		began := len(e.line)
		e.line = jsonscan.Unescape(e.line, value)
		if jsonscan.End(e.line, began) != len(e.line) { // plain text
			e.line = append(e.line[:began], value...)
		}
	default:
		e.member(name, value)
	}
}

// time adds a time in kube-apiserver's format, unless value is not a time.
func (e *event) time(name string, value []byte) {
	t, ok := parseTime(jsonscan.Text(value))
	if !ok {
		return
	}
	e.name(name)
	e.line = t.UTC().AppendFormat(e.line, `"2006-01-02T15:04:05.000000Z"`)
}

// typed adds an object without Cloud Logging's member "@type": "core.k8s.io/v1.Pod", from which it takes the kind if that
// is missing. apiVersion is that of the resource.
func (e *event) typed(w *writer, depth int, name string, object []byte, apiVersion string) {
	if !isObject(object) {
		return
	}
	e.name(name)
	if !bytes.Contains(object, []byte(`"@type"`)) {
		e.line = append(e.line, object...)
		return
	}
	found := w.scan(object, depth)
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
