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

// setting is a kind of file that says how to do something, and is no recording.
type setting struct {
	kind  string
	whole string // one that is right
	// reads has the program read the file, beside a recording that is right. It may write into the folder dir.
	reads func(file, recording, dir string) (args, env []string)
}

// settings are the kinds of files that are no recordings.
var settings = []setting{
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

// schedulerConfig sets much of what a scheduler's configuration can.
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

// lesson has a question, and a goal with its solution.
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

// kubeconfig leads to a cluster as a user.
func kubeconfig(cluster, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {%s}}]
users: [{name: reader, user: {%s}}]
contexts: [{name: test, context: {cluster: test, user: reader}}]
current-context: test
`, cluster, user)
}

// values are what nobody expects in the place of a value.
var values = []string{
	"1e99999999", "99999999999999999999", "-1", "-9223372036854775808", "[]", "{}", "null", "~", ".inf", ".nan", "0x7fffffffffffffff", "9999999h", "292y", "-1s", "!!binary gA==", "!!int x",
	"*missing", "&a [*a]", "true", "2026-11-21", "|\n  text", `"\x1b[2J\a"`, `"\u202e\u200b"`, `"\0"`, "'", "{", "\t", "[[[[[[[[[[[[[[[[[[[[", "<<", "!!map {? [a]: b}", "/dev/zero", "$(reboot)",
	strings.Repeat("x", 100_000),
}

// spoilt are files of the kind that were right once.
func (s setting) spoilt() []file {
	all := []file{
		{name: "empty"},
		{name: "as it should be", content: []byte(s.whole), want: "played"},
		{name: "10 MB of NULs", content: make([]byte, largest), want: "refused"},
		{name: "10 MB of brackets", content: bytes.Repeat([]byte("["), largest), want: "refused"},
		{name: "10 MB of braces", content: bytes.Repeat([]byte("{a: "), largest/4), want: "refused"},
		{name: "10 MB of dashes", content: bytes.Repeat([]byte("- "), largest/2), want: "refused"},
		{name: "10 MB of documents", content: bytes.Repeat([]byte("---\n"), largest/4)},
		{name: "10 MB of comments", content: append([]byte(s.whole), bytes.Repeat([]byte("# a comment\n"), largest/12)...)},
		{name: "10 MB of a value", content: append([]byte(s.whole), "\nmore: "+strings.Repeat("x", largest)...)},
		{name: "10 MB of keys", content: append([]byte(s.whole), bytes.Repeat([]byte("more: 1\n"), largest/8)...)},
		{name: "a recording", content: trace(small, pod("p1", "")), want: "refused"},
		{name: "an image", content: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), want: "refused"},
		{name: "packed", content: gzipped([]byte(s.whole))},
		{name: "cut", content: []byte(s.whole[:len(s.whole)*2/3])},
		{name: "twice", content: []byte(s.whole + s.whole)},
		{name: "twice, with a line between", content: []byte(s.whole + "---\n" + s.whole)},
		{name: "carriage returns alone", content: []byte(strings.ReplaceAll(s.whole, "\n", "\r"))},
		{name: "UTF-16", content: []byte("\xff\xfe" + strings.Join(strings.Split(s.whole, ""), "\x00") + "\x00")},
		{name: "laughs", content: []byte(s.whole + strings.ReplaceAll(laughs(), "    ", ""))},
		{name: "merges", content: []byte(s.whole + strings.ReplaceAll(merges(), "    ", ""))},
	}
	texts := payloads()
	for name, text := range texts {
		all = append(all,
			file{name: name + " behind it", content: []byte(s.whole + text + "\n")},
			file{name: name + " in a comment", content: []byte("# " + text + "\n" + s.whole)},
			file{name: name + " in the place of a key", content: []byte(s.whole + inJSON(text) + ": 1\n")})
	}
	lines := strings.SplitAfter(s.whole, "\n")
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
			spoil(name, key+": "+inJSON(text)+"\n")
		}
	}
	return all
}

// TestSettings: a file of which the program is to learn how to do something is taken or refused like a recording.
func TestSettings(t *testing.T) {
	path := program(t)
	recording := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(recording, trace(small, pod("p1", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		for _, f := range s.spoilt() {
			if f.name = s.kind + " with " + f.name; !f.among(4**share) && f.want == "" {
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
				o := run(t, path, dir, env, anyMemory, args...)
				wrong := o.judge(name) // lint says what it found line by line
				// A cluster is not there, whatever is right.
				if s.kind != "kubeconfig" && f.want == "played" && o.code != 0 || f.want == "refused" && o.code != 1 {
					wrong = append(wrong, "it is not "+f.want)
				}
				t.Logf("%v", o)
				for _, w := range wrong {
					t.Errorf("%s: %v", w, o)
				}
			})
		}
	}
}
