package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configKind is a kind of configuration file.
type configKind struct {
	kind  string
	valid string
	// reads returns a command line that reads the file together with a valid recording. It may write to dir.
	reads func(file, recording, dir string) (args, env []string)
}

// settings are the kinds of configuration files.
var settings = []configKind{
	{"configuration", "theme: dark\nspeed: 2\nfilter: \"ns:shop\"\nkeys: {step-forward: [\".\", right], needs: []}\n",
		func(file, _, _ string) (args, env []string) {
			return []string{"config"}, []string{"SCHEDQ_CONFIG=" + file}
		}},
	{"scheduler's configuration", schedulerConfig,
		func(file, recording, _ string) (args, env []string) {
			return []string{"watch", recording, "--scheduler-config", file}, nil
		}},
	{"lesson", lesson,
		func(file, _, _ string) (args, env []string) { return []string{"learn", "lint", file}, nil }},
	{"kubeconfig", kubeconfig("server: http://127.0.0.1:1", "token: secret"),
		func(file, _, dir string) (args, env []string) {
			return []string{"record", "-o", filepath.Join(dir, "out.jsonl"), "--for", "1s", "--kubeconfig", file}, nil
		}},
}

// schedulerConfig sets many fields of a KubeSchedulerConfiguration.
const schedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 4
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 60
percentageOfNodesToScore: 30
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled:
      - name: ImageLocality
  pluginConfig:
  - name: InterPodAffinity
    args:
      hardPodAffinityWeight: 7
extenders:
- urlPrefix: http://extender:8888/scheduler
  filterVerb: filter
  weight: 2
  httpTimeout: 3s
  managedResources:
  - name: example.com/gpu
    ignoredByScheduler: true
`

// lesson is a lesson with a question and a goal.
const lesson = `schedq: lesson
version: 1
name: story
title: a story
misconception: Pods wait in one line.
behaviour: They do not.
holds: every release
release: v1.37
end: 60s
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
at: 2s
---
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: main, resources: {requests: {cpu: "1"}}}]
---
at: 5s
mark: it comes
---
apiVersion: v1
kind: Pod
metadata: {name: batch-1}
spec:
  containers: [{name: main, resources: {requests: {cpu: "4"}}}]
---
step: A question
text: Now batch-1 comes.
notes: Wait.
at: 4900ms
predict:
  pod: batch-1
  until: batch-1 leaves inflight
  ask:
    queue: Where does batch-1 go?
  queue:
    - answer: active
      says: No node takes it.
    - answer: unschedulable
      right: true
      says: A plugin rejected it.
---
step: Your turn
text: Help it to a node.
at: 20s
goal:
  pod: batch-1
  enters: scheduled
  hints:
    - More room.
  solution:
    - like node-a
`

// kubeconfig returns a kubeconfig with this cluster and user.
func kubeconfig(cluster, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {%s}}]
users: [{name: reader, user: {%s}}]
contexts: [{name: test, context: {cluster: test, user: reader}}]
current-context: test
`, cluster, user)
}

// values are hostile YAML values.
var values = []string{
	"1e99999999", "99999999999999999999", "-1", "-9223372036854775808", "[]", "{}", "null", "~", ".inf", ".nan", "0x7fffffffffffffff", "9999999h", "292y", "-1s", "!!binary gA==", "!!int x",
	"*missing", "&a [*a]", "true", "2026-11-21", "|\n  text", `"\x1b[2J\a"`, `"\u202e\u200b"`, `"\0"`, "'", "{", "\t", "[[[[[[[[[[[[[[[[[[[[", "<<", "!!map {? [a]: b}", "/dev/zero", "$(reboot)",
	strings.Repeat("x", 100_000),
}

// damagedFiles returns variants of the valid file.
func (s configKind) damagedFiles() []file {
	all := []file{
		{name: "empty"},
		{name: "no damage", content: []byte(s.valid), want: "played"},
		{name: "10 MB of NULs", content: make([]byte, maxFile), want: "refused"},
		{name: "10 MB of brackets", content: bytes.Repeat([]byte("["), maxFile), want: "refused"},
		{name: "10 MB of braces", content: bytes.Repeat([]byte("{a: "), maxFile/4), want: "refused"},
		{name: "10 MB of dashes", content: bytes.Repeat([]byte("- "), maxFile/2), want: "refused"},
		{name: "10 MB of documents", content: bytes.Repeat([]byte("---\n"), maxFile/4)},
		{name: "10 MB of comments", content: append([]byte(s.valid), bytes.Repeat([]byte("# a comment\n"), maxFile/12)...)},
		{name: "10 MB of a value", content: append([]byte(s.valid), "\nmore: "+strings.Repeat("x", maxFile)...)},
		{name: "10 MB of keys", content: append([]byte(s.valid), bytes.Repeat([]byte("more: 1\n"), maxFile/8)...)},
		{name: "a recording", content: trace(smallNode, pod("p1", "")), want: "refused"},
		{name: "an image", content: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), want: "refused"},
		{name: "packed", content: gzipped([]byte(s.valid))},
		{name: "cut", content: []byte(s.valid[:len(s.valid)*2/3])},
		{name: "twice", content: []byte(s.valid + s.valid)},
		{name: "twice, with a line between", content: []byte(s.valid + "---\n" + s.valid)},
		{name: "carriage returns alone", content: []byte(strings.ReplaceAll(s.valid, "\n", "\r"))},
		{name: "UTF-16", content: []byte("\xff\xfe" + strings.Join(strings.Split(s.valid, ""), "\x00") + "\x00")},
		{name: "laughs", content: []byte(s.valid + strings.ReplaceAll(billionLaughs(), "    ", ""))},
		{name: "merges", content: []byte(s.valid + strings.ReplaceAll(mergeBomb(), "    ", ""))},
	}
	texts := payloads()
	for name, text := range texts {
		all = append(all,
			file{name: name + " after it", content: []byte(s.valid + text + "\n")},
			file{name: name + " in a comment", content: []byte("# " + text + "\n" + s.valid)},
			file{name: name + " as a key", content: []byte(s.valid + asciiJSON(text) + ": 1\n")})
	}
	lines := strings.SplitAfter(s.valid, "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		spoil := func(what, text string) {
			content := strings.Join(slices.Concat(lines[:i], []string{text}, lines[i+1:]), "")
			all = append(all, file{name: fmt.Sprintf("%s in line %d", what, i+1), content: []byte(content)})
		}
		spoil("nothing", "")
		spoil("the line twice", line+line)
		spoil("another indent", " "+line)
		for _, value := range values {
			spoil(value[:min(len(value), 20)], key+": "+value+"\n")
		}
		for name, text := range texts {
			spoil(name, key+": "+asciiJSON(text)+"\n")
		}
	}
	return all
}

// TestSettings: damaged configuration files are handled or rejected cleanly.
func TestSettings(t *testing.T) {
	path := program(t)
	recording := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(recording, trace(smallNode, pod("p1", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		for _, f := range s.damagedFiles() {
			if f.name = s.kind + " with " + f.name; !f.sampled(4**share) && f.want == "" {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				name := filepath.Join(t.TempDir(), "input")
				if err := os.WriteFile(name, f.content, 0o600); err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				args, env := s.reads(name, recording, dir)
				o := run(t, path, dir, env, maxMemory, args...)
				wrong := o.problems(name) // lint prints errors by line
				// The kubeconfig's cluster does not exist.
				if s.kind != "kubeconfig" && f.want == "played" && o.code != 0 || f.want == "refused" && o.code != 1 {
					wrong = append(wrong, "not "+f.want)
				}
				t.Logf("%v", o)
				for _, w := range wrong {
					t.Errorf("%s: %v", w, o)
				}
			})
		}
	}
}
