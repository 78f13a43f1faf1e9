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

// testedElsewhere are commands of the documentation that this package can't run, and the tests that do.
var testedElsewhere = map[string]string{
	"schedq replay 'http://localhost:9090/recording?from=-2h' --token-file token": "TestRecordingServed of cmd/schedq, a recorder's address",
	"schedq report /var/lib/schedq --from -2h":                                    "TestRecordRing of cmd/schedq, the last two hours of a ring",
	"schedq convert /var/lib/schedq --from -30m -o incident.jsonl.zst":            "TestRecordRing of cmd/schedq, the last half hour of a ring",
	"schedq convert /var/lib/schedq --from -24h -o moves.parquet":                 "TestRecordRing of cmd/schedq, a table of a ring's moves",
	"schedq replay /var/lib/schedq --from 12:03 --to +5m":                         "TestRecordRing of cmd/schedq, some minutes of a ring",
}

var (
	// commandLine matches an indented schedq command in Markdown.
	commandLine = regexp.MustCompile(`(?m)^    ((?:kubectl )?schedq(?: .*)?)$`)
	remark      = regexp.MustCompile(`\s+#.*$`)
	// synopsis matches placeholders.
	synopsis = regexp.MustCompile(`\[|FILE\.\.\.|\bPOD\b`)
)

// documentedCommands returns the command lines of README and docs in order, without duplicates.
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

// TestDocumented runs every command of README and docs as it is written, with a cluster and the
// files it names. A command that ends succeeds; one with a screen or without an end shows its first
// output.
func TestDocumented(t *testing.T) {
	path := program(t)
	commands := documentedCommands(t)
	if len(commands) < 50 {
		t.Fatalf("%d commands in the documentation", len(commands))
	}
	for command, reason := range testedElsewhere {
		if !slices.Contains(commands, command) {
			t.Errorf("%s (%s) is not in the documentation", command, reason)
		}
	}
	config, files := exampleCluster(t), exampleFiles(t, path)
	var servePort sync.Mutex // rooms use the same default port
	for _, command := range commands {
		if testedElsewhere[command] != "" {
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
			env := environment{append(cleanVariables(t), "KUBECONFIG="+config), 40, 140}
			if strings.Contains(command, "schedq serve") {
				servePort.Lock()
				defer servePort.Unlock()
			}
			runDocumented(t, env, program, dir, argsOf(command, dir))
		})
	}
}

// argsOf returns the arguments of a command line like a shell in dir. It drops redirections, and
// replaces absolute folders by one in dir and ports by free ones.
func argsOf(command, dir string) []string {
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

// firstOutput is in the first output of commands that run until they are stopped.
var firstOutput = map[string]string{"watch": "train-0", "record": "attached at", "wait": "attached at", "serve": "ctrl+c to close", "notes": "waiting for schedq learn"}

// runDocumented runs one command.
func runDocumented(t *testing.T, env environment, path, dir string, words []string) {
	t.Helper()
	for i, w := range words {
		if i > 0 && (words[i-1] == "-o" || words[i-1] == "new") && w != "json" { // the command has no --force
			if err := os.RemoveAll(filepath.Join(dir, w)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := startIn(t, env, dir, path, words...)
	first, stays := "", false
	switch {
	case hasScreen(words):
		first, stays = "\x1b[?1049h", true
	case firstOutput[words[0]] != "" && !namesFile(dir, words[1:]):
		first, stays = firstOutput[words[0]], true
	case words[0] == "doctor" && slices.Contains(words, "--pods"):
		first, stays = "watching for", true
	case words[0] == "report" && slices.Contains(words, "--for"):
		stays = true
	}
	if !stays {
		s.waitExit(0)
		return
	}
	s.waitFor(first)
	s.signal(syscall.SIGINT)
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.written.Bytes(); bytes.Contains(text, []byte("goroutine ")) || bytes.Contains(text, []byte("See schedq ")) {
		t.Errorf("%q: %s", words, text)
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

// exampleCluster starts a cluster with a pending pod and returns the path of its kubeconfig, with
// context prod.
func exampleCluster(t *testing.T) string {
	t.Helper()
	zero := int32(0)
	resources := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
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
	cluster.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Status: corev1.NodeStatus{Capacity: resources, Allocatable: resources}}, pod("training"))
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

// exampleFiles returns a folder with the files that the documentation names, made from those of
// sources/files.
func exampleFiles(t *testing.T, path string) string {
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
	audit, sched := shiftLog(read("audit/audit.log")), shiftLog(read("schedlog/sched.log"))
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
		"capture.jsonl": "k8shark/records.ndjson", "cluster.yaml": "kwok/cluster.yaml", "record.jsonl": "simulator/record.jsonl",
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
		cmd.Dir, cmd.Env = dir, cleanVariables(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v, %s", words, err, out)
		}
	}
	return dir
}

var documentedTime = regexp.MustCompile(`10:56:\d\d`)

// shiftLog moves a log of sources/files to the time and the pod of the documentation's examples,
// and repeats its last line a quarter of an hour later.
func shiftLog(log []byte) []byte {
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
