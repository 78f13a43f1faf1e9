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

// thorough has everything be tried that takes too long for each change, and share has some of it.
var (
	thorough = flag.Bool("thorough", false, "try every file with every command")
	share    = flag.Int("share", 12, "one in how many files to try, with watch and one other command")
)

// file is a file that nobody should give to the program.
type file struct {
	name    string
	content []byte
	memory  int    // the most that it may take, MiB; 0 is anyMemory
	want    string // "played", "refused", or "" for either
}

// command is a way to read a recording.
type command struct {
	name string
	// args are the command line that reads the file. It may write what it writes into the folder dir.
	args func(file, dir string) []string
}

// commands are those that read recordings and need no screen. The first is tried with every file.
var commands = []command{
	{"watch", func(f, _ string) []string { return []string{"watch", f} }},
	{"watch -o json", func(f, _ string) []string { return []string{"watch", f, "-o", "json"} }},
	{"report", func(f, _ string) []string { return []string{"report", f} }},
	{"report -o json", func(f, _ string) []string { return []string{"report", f, "-o", "json"} }},
	{"explain", func(f, _ string) []string { return []string{"explain", "default/p1", f} }},
	{"explain -o json", func(f, _ string) []string { return []string{"explain", "default/p1", f, "-o", "json"} }},
	{"verify", func(f, _ string) []string { return []string{"verify", f, "--truth", f} }},
	{"rerun", func(f, _ string) []string { return []string{"rerun", f, "--release", "v1.24"} }},
	{"convert -o file", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.jsonl")} }},
	{"convert -o file.zst", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.zst")} }},
	{"convert -o -", func(f, _ string) []string { return []string{"convert", f, "-o", "-"} }},
	{"convert -o parquet", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.parquet")} }},
	{"convert -o yaml", func(f, dir string) []string { return []string{"convert", f, "-o", filepath.Join(dir, "out.yaml")} }},
}

// TestRecordings: every file is played or refused, in a sentence, within what it may cost. What convert writes of it can
// be read again. Each file is tried with watch and one other command, or with -thorough with all.
func TestRecordings(t *testing.T) {
	path := program(t)
	for _, f := range recordings() {
		if !f.tried() {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := filepath.Join(dir, "input")
			if err := os.WriteFile(name, f.content, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, c := range append(commands[:1:1], f.others()...) {
				f.try(t, path, name, c)
			}
		})
	}
}

// others are the other commands that a file is tried with.
func (f *file) others() []command {
	if *thorough {
		return commands[1:]
	}
	return commands[1:][f.lot()%uint32(len(commands)-1):][:1]
}

// tried says whether the file is tried at all. A bomb always is.
func (f *file) tried() bool { return f.memory > 0 || f.among(*share) }

// among says whether the file is the one in n that is tried.
func (f *file) among(n int) bool { return *thorough || f.lot()/16%uint32(n) == 0 }

// lot is a number that a file's name decides, so that the same are tried each time.
func (f *file) lot() uint32 {
	sum := sha256.Sum256([]byte(f.name))
	return binary.BigEndian.Uint32(sum[:])
}

// try has the program read the file with a command.
func (f *file) try(t *testing.T, path, name string, c command) {
	t.Helper()
	memory := f.memory
	if memory == 0 {
		memory = anyMemory
	}
	dir := t.TempDir()
	o := run(t, path, dir, nil, memory, c.args(name, dir)...)
	t.Logf("%v", o)
	wrong := o.judge()
	if c.name == "watch" && (f.want == "played" && o.code != 0 || f.want == "refused" && o.code != 1) {
		wrong = append(wrong, fmt.Sprintf("it is not %s", f.want))
	}
	for _, w := range wrong {
		t.Errorf("%s: %v", w, o)
	}
	written, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("it leaves %q: %v", left, o)
	}
	if o.code != 0 && len(written) > 0 {
		t.Errorf("it leaves %q: %v", written, o)
	}
	for _, w := range written {
		if o.code == 0 && strings.HasSuffix(w, ".parquet") { // which others read
			if err := readTable(w); err != nil {
				t.Errorf("what it wrote can't be read: %v, %v", o, err)
			}
			continue
		}
		if o.code == 0 {
			again := run(t, path, dir, nil, memory, "watch", w)
			if again.code != 0 {
				t.Errorf("what it wrote can't be read: %v, %v", o, again)
			}
		}
	}
}

// readTable reads a table as anybody who knows nothing of its columns.
func readTable(path string) error {
	_, err := parquet.ReadFile[any](path)
	return err
}
