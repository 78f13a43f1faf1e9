package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

// TestPlatforms checks each command in docs/use/platforms.md that fetches something: testdata/platforms has a sample of
// what it writes, and the sample contains the events that are written beside it.
func TestPlatforms(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{} // whether it has a sample
	for _, found := range regexp.MustCompile(`(?m)^    (.+?)(?: {2,}#.*)?$`).FindAllStringSubmatch(string(page), -1) {
		if !strings.HasPrefix(found[1], "schedq ") {
			commands[found[1]] = false
		}
	}
	paths, err := filepath.Glob("testdata/platforms/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		s := readSample(t, path)
		if _, found := commands[s.command]; !found {
			t.Errorf("%s: docs/use/platforms.md does not have the command %s", path, s.command)
		}
		commands[s.command] = true
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			if got := s.open(t); got != s.want {
				t.Errorf("%s: got\n%swant\n%s", path, got, s.want)
			}
		})
	}
	for command, sampled := range commands {
		if !sampled {
			t.Errorf("testdata/platforms has no sample of what this command writes: %s", command)
		}
	}
}

// sample is a file of testdata/platforms.
type sample struct {
	command string            // that fetches the files
	replay  []string          // arguments of the schedq replay that opens them
	files   map[string]string // content by path
	want    string            // the events
}

// readSample reads a sample: the command, the schedq replay, and after a line "-- path --" each file. The last is "want".
func readSample(t *testing.T, path string) sample {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(content), "\n-- ")
	command, replay, _ := strings.Cut(head, "\n$ schedq replay ")
	s := sample{command: strings.TrimPrefix(command, "$ "), replay: strings.Fields(replay), files: map[string]string{}}
	for part := range strings.SplitSeq(rest, "\n-- ") {
		name, text, found := strings.Cut(part, " --\n")
		if !found {
			t.Fatalf("%s: %q does not begin with a file's name", path, part)
		}
		s.files[name] = strings.TrimSuffix(text, "\n") + "\n"
	}
	s.want = s.files["want"]
	delete(s.files, "want")
	return s
}

// open writes the files, opens them, and returns a line for each event that concerns a pod or a node.
func (s sample) open(t *testing.T) string {
	dir, written := t.TempDir(), time.Date(2026, 5, 4, 13, 0, 0, 0, time.UTC)
	for name, text := range s.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	opts := files.Options{Now: written}
	var recordings []string
	for i, arg := range s.replay {
		switch {
		case arg == "--seed":
		case i > 0 && s.replay[i-1] == "--seed":
			opts.Seeds = append(opts.Seeds, filepath.Join(dir, arg))
		default:
			recordings = append(recordings, filepath.Join(dir, arg))
		}
	}
	rec, err := files.Open(t.Context(), recordings, opts)
	if err != nil {
		return err.Error() + "\n"
	}
	slices.Sort(rec.Formats)
	out := strings.Join(slices.Compact(rec.Formats), ", ") + "\n"
	for _, ev := range rec.Events {
		if what := describeEvent(t, ev.Fact); what != "" {
			out += ev.Time.UTC().Format("2006-01-02 15:04:05.000 ") + what + "\n"
		}
	}
	return out
}

// describeEvent returns what a fact says about a pod or a node, and "" for other facts.
func describeEvent(t *testing.T, fact sources.Fact) string {
	switch f := fact.(type) {
	case *sources.ObjectChange:
		o, err := meta.Accessor(f.Object)
		if err != nil {
			t.Fatal(err)
		}
		switch object := f.Object.(type) {
		case *corev1.Pod:
			return strings.TrimSpace(fmt.Sprintf("%s pod %s/%s %s", f.Verb, o.GetNamespace(), o.GetName(), object.Spec.NodeName))
		case *corev1.Node:
			return fmt.Sprintf("%s node %s", f.Verb, o.GetName())
		}
	case *sources.FailedAttempt:
		return fmt.Sprintf("failed attempt %s: %s", f.Pod, f.Message)
	case *sources.Bound:
		return fmt.Sprintf("bound %s to %s", f.Pod, f.Node)
	}
	return ""
}
