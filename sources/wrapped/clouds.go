package wrapped

import (
	"encoding/json"
	"strings"
	"time"
)

// azure writes the line of a record of Azure Monitor, or of Docker's log.
func azure(m map[string]json.RawMessage, to *writer) error {
	if m["RequestReceivedTime"] != nil && m["Verb"] != nil {
		return aksAudit(m, to)
	}
	line := m["log"]
	for _, key := range []string{"log_s", "Log_s", "LogEntry", "Message"} {
		if line == nil {
			line = m[key]
		}
	}
	if line == nil && m["properties"] != nil {
		var p map[string]json.RawMessage
		raw := m["properties"]
		if s := text(raw); s != "" {
			raw = json.RawMessage(s)
		}
		if json.Unmarshal(raw, &p) == nil {
			line = p["log"]
		}
	}
	at := m["time"]
	if at == nil {
		at = m["TimeGenerated"]
	}
	return to.line(rfc3339([]byte(text(at))), []byte(text(line)))
}

// aksAudit writes a row of the tables AKSAudit and AKSAuditAdmin, whose columns are the members of an audit event.
func aksAudit(m map[string]json.RawMessage, to *writer) error {
	event := auditEvent{
		Level: text(m["Level"]), AuditID: text(m["AuditId"]), Stage: text(m["Stage"]), RequestURI: text(m["RequestUri"]), Verb: text(m["Verb"]),
		User: inner(m["User"]), UserAgent: text(m["UserAgent"]), ObjectRef: inner(m["ObjectRef"]), ResponseStatus: inner(m["ResponseStatus"]),
		RequestObject: inner(m["RequestObject"]), ResponseObject: inner(m["ResponseObject"]),
		Received: stamp(text(m["RequestReceivedTime"])), Stamp: stamp(text(m["StageReceivedTime"])),
	}
	return event.write(to)
}

// inner returns a column that holds JSON, or the text of JSON.
func inner(raw json.RawMessage) json.RawMessage {
	s := text(raw)
	switch {
	case raw == nil || string(raw) == "null" || s == "" && raw[0] == '"':
		return nil
	case s != "" && json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	return raw
}

// stamp returns a time as kube-apiserver writes it, or "".
func stamp(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// auditEvent is an audit event, its members in the order in which kube-apiserver writes them.
type auditEvent struct {
	Kind           string          `json:"kind"`
	APIVersion     string          `json:"apiVersion"`
	Level          string          `json:"level,omitempty"`
	AuditID        string          `json:"auditID"`
	Stage          string          `json:"stage"`
	RequestURI     string          `json:"requestURI"`
	Verb           string          `json:"verb"`
	User           json.RawMessage `json:"user,omitempty"`
	UserAgent      string          `json:"userAgent,omitempty"`
	ObjectRef      json.RawMessage `json:"objectRef,omitempty"`
	ResponseStatus json.RawMessage `json:"responseStatus,omitempty"`
	RequestObject  json.RawMessage `json:"requestObject,omitempty"`
	ResponseObject json.RawMessage `json:"responseObject,omitempty"`
	Received       string          `json:"requestReceivedTimestamp,omitempty"`
	Stamp          string          `json:"stageTimestamp"`
}

func (e *auditEvent) write(to *writer) error {
	e.Kind, e.APIVersion = "Event", "audit.k8s.io/v1"
	line, err := json.Marshal(e)
	if err != nil {
		return nil // a member that is no JSON: as if the record were not there
	}
	return to.line("", line)
}

// entry writes the line of an entry of Cloud Logging.
func entry(m map[string]json.RawMessage, to *writer) error {
	at := text(m["timestamp"])
	if s := text(m["textPayload"]); s != "" {
		return to.line(rfc3339([]byte(at)), []byte(s))
	}
	if m["jsonPayload"] != nil {
		var p struct{ Message, Source, Pid string }
		_ = json.Unmarshal(m["jsonPayload"], &p)
		if p.Source == "" || isKlog([]byte(p.Message)) {
			return to.line(rfc3339([]byte(at)), []byte(p.Message))
		}
		return klogLine(to, at, text(m["severity"]), p.Source, p.Message)
	}
	var p struct {
		MethodName, ResourceName string
		AuthenticationInfo       struct{ PrincipalEmail string }
		RequestMetadata          struct{ CallerSuppliedUserAgent string }
		Request, Response        json.RawMessage
		Status                   struct{ Code int }
	}
	if json.Unmarshal(m["protoPayload"], &p) != nil {
		return nil
	}
	ref, version, verb := referenceOf(p.ResourceName, p.MethodName)
	if ref == nil {
		return nil
	}
	var operation struct{ ID string }
	_ = json.Unmarshal(m["operation"], &operation)
	user, _ := json.Marshal(map[string]string{"username": p.AuthenticationInfo.PrincipalEmail})
	status := json.RawMessage(`{"metadata":{},"code":200}`)
	if p.Status.Code != 0 { // gRPC's code: what it is as HTTP's does not matter here
		status = json.RawMessage(`{"metadata":{},"code":500}`)
	}
	event := auditEvent{Level: "Metadata", AuditID: operation.ID, Stage: "ResponseComplete", RequestURI: "/" + p.ResourceName, Verb: verb, User: user,
		UserAgent: p.RequestMetadata.CallerSuppliedUserAgent, ObjectRef: ref, ResponseStatus: status,
		RequestObject: typed(p.Request, version), ResponseObject: typed(p.Response, version), Stamp: stamp(at)}
	switch {
	case event.ResponseObject != nil:
		event.Level = "RequestResponse"
	case event.RequestObject != nil:
		event.Level = "Request"
	}
	return event.write(to)
}

// referenceOf returns an audit event's objectRef, its object's apiVersion and the verb, of a resource's and a method's
// name: core/v1/namespaces/NS/pods/NAME/binding and io.k8s.core.v1.pods.binding.create.
func referenceOf(resource, method string) (ref json.RawMessage, apiVersion, verb string) {
	parts := strings.Split(resource, "/")
	if len(parts) < 3 || method == "" {
		return nil, "", ""
	}
	r := map[string]string{"apiVersion": parts[1]}
	apiVersion = parts[1]
	if parts[0] != "core" {
		r["apiGroup"], apiVersion = parts[0], parts[0]+"/"+parts[1]
	}
	parts = parts[2:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		r["namespace"], parts = parts[1], parts[2:]
	}
	for i, key := range []string{"resource", "name", "subresource"} {
		if i < len(parts) {
			r[key] = parts[i]
		}
	}
	ref, _ = json.Marshal(r)
	return ref, apiVersion, method[strings.LastIndexByte(method, '.')+1:]
}

// typed returns an object without the member that Cloud Logging adds, "core.k8s.io/v1.Pod", which tells the kind where
// nothing else does. apiVersion is that of the resource.
func typed(raw json.RawMessage, apiVersion string) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members["@type"] == nil {
		return raw
	}
	kind := text(members["@type"])
	delete(members, "@type")
	if members["kind"] == nil {
		members["kind"], _ = json.Marshal(kind[strings.LastIndexByte(kind, '.')+1:])
		members["apiVersion"], _ = json.Marshal(apiVersion)
	}
	out, _ := json.Marshal(members)
	return out
}
