package hostile

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// thorough tests every file with every command. Otherwise, share selects some of them.
var (
	thorough = flag.Bool("thorough", false, "test every file with every command")
	share    = flag.Int("share", 12, "test one in this many files, with watch and one other command")
)

// file is a hostile file.
type file struct {
	name    string
	content []byte
	memory  int    // limit in MiB; 0 is maxMemory
	want    string // "played", "refused", or "" for either
}

// command is a way to read a recording.
type command struct {
	name string
	// args returns the command line. It may write to dir.
	args func(file, dir string) []string
}

// commands are the commands that read recordings without a screen. Every file is tested with the first.
var commands = []command{
	{"watch", func(f, _ string) []string { return []string{"watch", f} }},
	{"watch -o json", func(f, _ string) []string { return []string{"watch", f, "-o", "json"} }},
	{"report", func(f, _ string) []string { return []string{"report", f} }},
	{"report -o json", func(f, _ string) []string { return []string{"report", f, "-o", "json"} }},
	{"explain", func(f, _ string) []string { return []string{"explain", "default/p1", f} }},
	{"explain -o json", func(f, _ string) []string { return []string{"explain", "default/p1", f, "-o", "json"} }},
	{"wait", func(f, _ string) []string { return []string{"wait", "default/p1", f, "--for", "waiting>1s"} }},
	{"verify", func(f, _ string) []string { return []string{"verify", f, "--truth", f} }},
	{"rerun", func(f, _ string) []string { return []string{"rerun", f, "--release", "v1.24"} }},
	{"convert -o file", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.jsonl")} }},
	{"convert -o file.zst", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.zst")} }},
	{"convert -o -", func(f, _ string) []string { return []string{"convert", f, "-o", "-"} }},
	{"convert -o parquet", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.parquet")} }},
	{"convert -o yaml", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.yaml")} }},
}

// TestRecordings: every file is played or rejected cleanly within the limits, and the output of
// convert can be read again.
func TestRecordings(t *testing.T) {
	path := program(t)
	for _, f := range recordingFiles() {
		if !f.selected() {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := filepath.Join(dir, "input")
			if err := os.WriteFile(name, f.content, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, c := range append(commands[:1:1], f.otherCommands()...) {
				f.test(t, path, name, c)
			}
		})
	}
}

// otherCommands returns the commands besides the first to test the file with.
func (f *file) otherCommands() []command {
	if *thorough {
		return commands[1:]
	}
	return commands[1:][f.hash()%uint32(len(commands)-1):][:1]
}

// selected reports whether the file is tested. Bombs always are.
func (f *file) selected() bool { return f.memory > 0 || f.sampled(*share) }

// sampled reports whether the file is in a sample of one in n.
func (f *file) sampled(n int) bool { return *thorough || f.hash()/16%uint32(n) == 0 }

// hash is computed from the file's name, so that each run selects the same files.
func (f *file) hash() uint32 {
	sum := sha256.Sum256([]byte(f.name))
	return binary.BigEndian.Uint32(sum[:])
}

// test runs a command with the file.
func (f *file) test(t *testing.T, path, name string, c command) {
	t.Helper()
	memory := f.memory
	if memory == 0 {
		memory = maxMemory
	}
	dir := t.TempDir()
	o := run(t, path, dir, nil, memory, c.args(name, dir)...)
	t.Logf("%v", o)
	problems := o.problems()
	if c.name == "watch" && (f.want == "played" && o.code != 0 || f.want == "refused" && o.code != 1) {
		problems = append(problems, fmt.Sprintf("not %s", f.want))
	}
	for _, w := range problems {
		t.Errorf("%s: %v", w, o)
	}
	written, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left %q: %v", left, o)
	}
	if o.code != 0 && len(written) > 0 {
		t.Errorf("left %q: %v", written, o)
	}
	for _, w := range written {
		if o.code == 0 && strings.HasSuffix(w, ".parquet") { // not readable by schedq
			if err := readTable(w); err != nil {
				t.Errorf("the output can't be read: %v, %v", o, err)
			}
			continue
		}
		if o.code == 0 {
			again := run(t, path, dir, nil, memory, "watch", w)
			if again.code != 0 {
				t.Errorf("the output can't be read: %v, %v", o, again)
			}
		}
	}
}

// readTable reads a table without its schema.
func readTable(path string) error {
	_, err := parquet.ReadFile[any](path)
	return err
}
