//go:build linux

package hostile

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources/live/livetest"
)

// elsewhere are commands of the documentation that need what no test of this package has, and the tests that run them.
var elsewhere = map[string]string{
	"schedq replay 'http://localhost:9090/recording?from=-2h' --token-file token": "TestRecordingServed of cmd/schedq, a recorder's address",
	"schedq report /var/lib/schedq --from -2h":                                    "TestRecordRing of cmd/schedq, the last two hours of a ring",
	"schedq convert /var/lib/schedq --from -30m -o incident.jsonl.zst":            "TestRecordRing of cmd/schedq, the last half hour of a ring",
	"schedq convert /var/lib/schedq --from -24h -o moves.parquet":                 "TestRecordRing of cmd/schedq, a table of a ring's moves",
	"schedq replay /var/lib/schedq --from 12:03 --to +5m":                         "TestRecordRing of cmd/schedq, some minutes of a ring",
}

var (
	// commandLine is a line of Markdown that is one of schedq's commands.
	commandLine = regexp.MustCompile(`(?m)^    ((?:kubectl )?schedq(?: .*)?)$`)
	remark      = regexp.MustCompile(`\s+#.*$`)
	// synopsis has what a person puts in.
	synopsis = regexp.MustCompile(`\[|FILE\.\.\.|\bPOD\b`)
)

// documentedCommands returns the command lines of README and docs, each once, in their order.
func documentedCommands(t *testing.T) []string {
	t.Helper()
	const top = "../../../"
	files := []string{top + "README.md"}
	found, err := filepath.Glob(top + "docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, found...)
	var commands []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commandLine.FindAllStringSubmatch(string(text), -1) {
			command := remark.ReplaceAllString(m[1], "")
			if !synopsis.MatchString(command) && !slices.Contains(commands, command) {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

// TestDocumented runs every command of README and docs as it is written, in a folder with the files that it names and beside a
// cluster: what ends comes to its end without an error, and what has a screen or goes on shows something first.
func TestDocumented(t *testing.T) {
	path := program(t)
	commands := documentedCommands(t)
	if len(commands) < 50 {
		t.Fatalf("%d commands were found in the documentation", len(commands))
	}
	for command, reason := range elsewhere {
		if !slices.Contains(commands, command) {
			t.Errorf("%s (%s) is no more in the documentation", command, reason)
		}
	}
	config, files := smallCluster(t), namedFiles(t, path)
	var doors sync.Mutex // rooms listen where they do unless one says otherwise: one after the other
	for _, command := range commands {
		if elsewhere[command] != "" {
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(files)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, "token"), 0o600); err != nil {
				t.Fatal(err)
			}
			program := path
			if strings.HasPrefix(command, "kubectl ") {
				program = filepath.Join(t.TempDir(), "kubectl-schedq")
				if err := os.Symlink(path, program); err != nil {
					t.Fatal(err)
				}
			}
			at := place{append(surroundings(t), "KUBECONFIG="+config), 40, 140}
			if strings.Contains(command, "schedq serve") {
				doors.Lock()
				defer doors.Unlock()
			}
			tryDocumented(t, at, program, dir, wordsOf(command, dir))
		})
	}
}

// wordsOf returns the arguments of a command line, as a shell in dir makes them. What is written to a file goes to a terminal, folders
// of a real machine are one in dir, and ports are any that is free.
func wordsOf(command, dir string) []string {
	command, _, _ = strings.Cut(command, " > ")
	command = strings.NewReplacer("kubectl schedq", "", "/var/lib/schedq", "ring", " DIR", " ring", ":8080", ":0", ":9090", "127.0.0.1:0").
		Replace(strings.TrimPrefix(command, "schedq"))
	var words []string
	for word := range strings.FieldsSeq(command) {
		if found, _ := filepath.Glob(filepath.Join(dir, word)); strings.Contains(word, "*") && len(found) > 0 {
			for _, name := range found {
				words = append(words, filepath.Base(name))
			}
			continue
		}
		words = append(words, word)
	}
	return words
}

// lasting is what a command that goes on until it is stopped writes first.
var lasting = map[string]string{"watch": "train-0", "record": "attached at", "serve": "ctrl+c closes", "notes": "waiting for schedq learn"}

// tryDocumented runs one command. A second ctrl+c ends what asks before it goes.
func tryDocumented(t *testing.T, at place, path, dir string, words []string) {
	t.Helper()
	for i, w := range words {
		if i > 0 && (words[i-1] == "-o" || words[i-1] == "new") && w != "json" { // what is there already is not overwritten
			if err := os.RemoveAll(filepath.Join(dir, w)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := sitIn(t, at, dir, path, words...)
	first, stays := "", false
	switch {
	case hasScreen(words):
		first, stays = "\x1b[?1049h", true
	case lasting[words[0]] != "" && !namesFile(dir, words[1:]):
		first, stays = lasting[words[0]], true
	case words[0] == "report" && slices.Contains(words, "--for"):
		stays = true
	}
	if !stays {
		s.endsWith(0)
		return
	}
	s.until(first)
	s.sends(syscall.SIGINT)
	s.ends()
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.written.Bytes(); bytes.Contains(text, []byte("goroutine ")) || bytes.Contains(text, []byte("See schedq --help")) {
		t.Errorf("%q came to %s", words, text)
	}
}

// hasScreen reports whether the command line opens the screen.
func hasScreen(words []string) bool {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], ".") {
		return true
	}
	switch words[0] {
	case "attach", "replay", "compare", "play":
		return true
	case "learn":
		return !slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"new", "lint", "--list", "--progress"}, w) })
	}
	return false
}

// namesFile reports whether one of words is a file of dir.
func namesFile(dir string, words []string) bool {
	for i, w := range words {
		if _, err := os.Stat(filepath.Join(dir, w)); err == nil && (i == 0 || !strings.HasPrefix(words[i-1], "-")) {
			return true
		}
	}
	return false
}

// smallCluster is a cluster in which a pod waits. It returns the kubeconfig that leads to it, in the context prod.
func smallCluster(t *testing.T) string {
	t.Helper()
	zero := int32(0)
	room := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	cluster := livetest.New(t)
	pod := func(namespace string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "train-0", CreationTimestamp: metav1.Now()},
			Spec: corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Priority: &zero, Containers: []corev1.Container{{
				Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("4")}},
			}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				Message: "0/1 nodes are available: 1 Insufficient cpu.", LastTransitionTime: metav1.Now(),
			}}},
		}
	}
	cluster.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}, pod("training"))
	text, err := os.ReadFile(cluster.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config")
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("contexts: [{name: test"), []byte("contexts: [{name: prod")), []byte("current-context: test"), []byte("current-context: prod"))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// namedFiles makes a folder with the files that the documentation names: the small ones of sources/files, whose day and pod are
// those of the documentation.
func namedFiles(t *testing.T, path string) string {
	t.Helper()
	const from = "../../../sources/files/testdata/"
	dir := t.TempDir()
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(from + name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	audit, sched := asDocumented(read("audit/audit.log")), asDocumented(read("schedlog/sched.log"))
	for _, name := range []string{"audit.log", "audit.log.gz", "audit.json", "audit/PT1H.json"} {
		write(name, audit)
	}
	for _, name := range []string{"sched.log", "sched.log.gz", "sched.json", "sched/PT1H.json", "k3s.log"} {
		write(name, sched)
	}
	for _, name := range []string{"before.jsonl", "before.json", "nodes.json", "objects/nodes.json", "must-gather.local.1/nodes.json"} {
		write(name, read("seed/list.json"))
	}
	for name, is := range map[string]string{
		"capture.kshrk": "k8shark/records.ndjson", "cluster.yaml": "kwok/cluster.yaml", "record.jsonl": "simulator/record.jsonl",
		"trace.sktrace": "simkube/trace.sktrace", "openb_node_list_gpu_node.csv": "openb/nodes.csv", "openb_pod_list_default.csv": "openb/pods.csv",
	} {
		write(name, read(is))
	}
	write("must-gather.local.1/audit.log", audit)
	write("token", []byte("0123456789abcdef0123456789abcdef\n"))
	write("afternoon.yaml", []byte("schedq: course\nversion: 1\ntitle: An afternoon\nlessons:\n  - {lesson: gates, minutes: 10}\n  - {lesson: mine.yaml, minutes: 20}\n"))
	write("scheduler.yaml", []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	for _, words := range [][]string{
		{path, "convert", "audit.log", "sched.log", "-o", "incident.jsonl.zst"},
		{path, "learn", "new", "mine.yaml"},
		{path, "learn", "new", "my-lesson.yaml"},
		{"tar", "-czf", "must-gather.tar.gz", "must-gather.local.1"},
	} {
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, surroundings(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v, %s", words, err, out)
		}
	}
	return dir
}

var documentedTime = regexp.MustCompile(`10:56:\d\d`)

// asDocumented puts a log of sources/files into the time of the documentation's, has it be of its pod, and go on for a quarter of an
// hour: its last line is there again.
func asDocumented(log []byte) []byte {
	log = documentedTime.ReplaceAllFunc(log, func(text []byte) []byte {
		at, err := time.Parse("15:04:05", string(text))
		if err != nil {
			return text
		}
		return []byte(at.Add(66*time.Minute + 40*time.Second).Format("15:04:05"))
	})
	log = bytes.TrimSpace(bytes.ReplaceAll(log, []byte("web-1"), []byte("train-0")))
	last := log[bytes.LastIndexByte(log, '\n'):]
	return append(append(log, regexp.MustCompile(`12:03:\d\d`).ReplaceAll(last, []byte("12:20:00"))...), '\n')
}
