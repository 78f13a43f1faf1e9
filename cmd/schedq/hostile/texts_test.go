package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// payloads returns texts that affect a terminal or mislead a reader.
func payloads() map[string]string {
	return map[string]string{
		"CSI":                 "\x1b[2J\x1b[31mred",
		"OSC 8":               "\x1b]8;;http://example.com\x1b\\here\x1b]8;;\x1b\\",
		"OSC 52":              "\x1b]52;c;UFdOUFdO\a",
		"DCS":                 "\x1bP+q544e\x1b\\",
		"C1":                  "\u009b31mred\u009d52;c;UFdO\u009c\u0085",
		"bidi":                "a\u202eb\u2066c\u2069\u061cd",
		"zero width":          "a\u200bb\u200cc\u200dd\u2060e\ufefff",
		"tags":                "a\U000e0001\U000e0041\U000e007f",
		"private use":         "\ue000\U000f0000\U0010fffd",
		"NUL":                 "a\x00b",
		"line ends":           "a\rb\vc\bd\fe\nf\tg",
		"DEL":                 "a\x7fb",
		"separators":          "a\u2028b\u2029c",
		"combining marks":     "a" + strings.Repeat("\u0301", 2000),
		"wide":                strings.Repeat("\u6f22", 3000),
		"emoji":               "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0001f3fd",
		"100 KB":              strings.Repeat("x", 100_000),
		"variation selectors": "a\ufe0fb\U000e0100",
		"fillers":             "\u3164\u115f\u1160\uffa0",
		"noncharacters":       "\ufffe\uffff\U0001fffe",
		"right to left":       "\u05d0\u0627\u202b",
		"format verbs":        "%n%s%!d(MISSING)%x",
		"shell":               "$(reboot) `reboot` ; rm -rf / '\"",
		"JSON":                `{"time":"2026-11-21T12:00:00Z"} \u001b[2J \ud800`,
	}
}

// asciiJSON returns text as a JSON string in ASCII.
func asciiJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	var ascii strings.Builder
	for _, r := range string(b) {
		switch {
		case r < 0x7f:
			ascii.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		default:
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return ascii.String()
}

// texts returns recordings with each payload in every text field.
func texts() []file {
	all := payloads()
	var files []file
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := all[name]
		for how, x := range map[string]string{"escaped": asciiJSON(text), "raw": rawJSON(text)} {
			p1 := strings.Replace(pod("p1", ""), `"phase":"Pending"`, `"phase":"Pending","message":`+x+`,"conditions":[{"type":"PodScheduled","status":"False","reason":`+x+`,"message":`+x+`},{"type":`+x+`,"status":`+x+`}]`, 1)
			facts := []string{
				smallNode, p1, strings.Replace(pod("p2", `"schedulingGates":[{"name":`+x+`}],"priorityClassName":`+x+`,"nodeName":"",`), `"namespace":`, `"labels":{"l":`+x+`},"annotations":{"a":`+x+`},"namespace":`, 1),
				strings.Replace(smallNode, `"status":`, `"spec":{"taints":[{"key":`+x+`,"value":`+x+`,"effect":"NoSchedule"}]},"status":`, 1),
				`"mark":{"text":` + x + `}`,
				`"scheduler":{"release":"v1.37.1","gates":{` + x + `:true}}`,
				`"move":{"pod":"default/p1","to":"active","event":` + x + `}`,
				`"move":{"pod":"default/p1","to":"inflight"}`,
				`"move":{"pod":"default/p1","to":"unschedulable","event":` + x + `,"plugins":[` + x + `],"message":` + x + `,"node":` + x + `}`,
				`"move":{"pod":"default/p2","to":"gated","gatingPlugin":` + x + `,"message":` + x + `}`,
				`"failed":{"pod":"default/p1","message":` + x + `}`,
				`"tried":{"pod":"default/p1","attempts":3,"message":` + x + `}`,
			}
			files = append(files, file{name: fmt.Sprintf("%s, %s", name, how), content: trace(facts...)})
			for i, fact := range []string{
				`"scheduler":{"release":` + x + `}`, `"move":{"pod":` + x + `,"to":"active"}`, `"move":{"pod":"default/p1","to":` + x + `}`, `"verb":` + x + `,"object":` + podJSON("p1"),
				strings.Replace(pod("p1", ""), `"name":"p1"`, `"name":`+x, 1), strings.Replace(pod("p1", ""), `"kind":"Pod"`, `"kind":`+x, 1), x + `:1`,
				podRequesting("p1", "cpu", x), strings.Replace(smallNode, `"n1"`, x, 1), strings.Replace(pod("p1", ""), `"uid":"u-p1"`, `"uid":`+x, 1),
			} {
				files = append(files, file{name: fmt.Sprintf("%s, %s, as a name (%d)", name, how, i), content: trace(smallNode, pod("p0", ""), fact)})
			}
			object := strings.Replace(podJSON("p1"), `"phase":"Pending"`, `"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":`+x+`}]`, 1)
			files = append(files,
				file{name: fmt.Sprintf("%s, %s, in an audit log", name, how), content: auditLine("create", object)},
				file{name: fmt.Sprintf("%s, %s, as a log's verb", name, how), content: []byte(strings.Replace(string(auditLine("create", object)), `"create"`, x, 1))})
		}
		oneLine := strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
		files = append(files,
			file{name: name + ", in a scheduler's log", content: []byte(strings.ReplaceAll(schedulerLog, "UnscheduledPodAdd", oneLine))},
			file{name: name + ", as a log's pod", content: []byte(strings.ReplaceAll(schedulerLog, "default/p1", oneLine))},
			file{name: name + ", as a log's message", content: []byte(strings.ReplaceAll(schedulerLog, "Attempting to schedule pod", oneLine))},
			file{name: name + ", as a file", content: []byte(text)},
			file{name: name + ", in a scenario", content: []byte(strings.ReplaceAll(string(manifest("")), "a story", asciiJSON(text)))},
			file{name: name + ", as a key", content: []byte(strings.ReplaceAll(string(manifest("")), "containers", asciiJSON(text)))})
	}
	return files
}

// rawJSON returns text as a JSON string with as few escapes as possible.
func rawJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// manifest returns a scenario with one pod. more are members of its container.
func manifest(more string) []byte {
	return fmt.Appendf(nil, `schedq: scenario
version: 1
name: story
title: a story
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p1}
spec:
  containers:
  - name: c
%s
`, more)
}

// billionLaughs returns members that each contain the previous one nine times.
func billionLaughs() string {
	text := "    a: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		text += fmt.Sprintf("    b%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return text
}

// mergeBomb returns members that each merge the previous one nine times.
func mergeBomb() string {
	text := "    a: &m0 {x: 1}\n"
	for i := range 12 {
		text += fmt.Sprintf("    b%d: &m%d {<<: [%s]}\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d, ", i), 9), ", "))
	}
	return text
}

// manifests returns scenarios that are short but expensive.
func manifests() []file {
	long := strings.Repeat("k", 200)
	return []file{
		{name: "laughs in a manifest", content: manifest(billionLaughs())},
		{name: "laughs in a scenario's head", content: []byte("schedq: scenario\nversion: 1\n" + strings.ReplaceAll(billionLaughs(), "    ", ""))},
		{name: "laughs in a moment", content: append(manifest(""), "---\nat: 5s\n"+strings.ReplaceAll(billionLaughs(), "    ", "")...)},
		{name: "merges in a manifest", content: manifest(mergeBomb())},
		{name: "an anchor of itself", content: manifest("    a: &a {b: *a}")},
		{name: "a merge of itself", content: manifest("    a: &a {<<: *a}")},
		{name: "a deployment of two billions", content: append(manifest(""), "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2147483647, template: {spec: {containers: [{name: c}]}}}\n"...)},
		{name: "a deployment of more than there can be", content: append(manifest(""), "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 1e300, template: {spec: {containers: [{name: c}]}}}\n"...)},
		{name: "a moment in a thousand years", content: append(manifest(""), "---\nat: 8766000h\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p2}\nspec: {containers: [{name: c}]}\n"...)},
		{name: "an end in a thousand years", content: []byte(strings.Replace(string(manifest("")), "title:", "end: 8766000h\ntitle:", 1))},
		{name: "a long label", content: trace(smallNode, strings.Replace(pod("p1", ""), `"namespace":`, `"labels":{"`+long+`":"v"},"namespace":`, 1))},
		{name: "a long resource", content: trace(smallNode, strings.Replace(pod("p1", ""), `{"cpu":"1"}`, `{"cpu":"1","`+long+`":"1"}`, 1))},
		{name: "a long node selector", content: trace(smallNode, pod("p1", `"nodeSelector":{"`+long+`":"v"},`))},
		{name: "a priority class without a name", content: trace(smallNode, pod("p1", `"priorityClassName":"No Name!","priority":7,`))},
	}
}
