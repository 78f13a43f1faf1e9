package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What a test binary with all mistakes in it is told: the one that it makes, by its number, and the file into which it writes the
// numbers of those that could have changed something.
const (
	awakeVariable   = "SCHEDQ_MISTAKE"
	reachedVariable = "SCHEDQ_MISTAKES_REACHED"
)

// awakeSource is what the edits of a mistake that sleeps call.
const awakeSource = `package %s

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"sync"
)

var mistakenAwake = func() int {
	if n, err := strconv.Atoi(os.Getenv(%q)); err == nil {
		return n
	}
	return -1
}()

var mistakenReached = func() *os.File {
	file, err := os.OpenFile(os.Getenv(%q), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return file
}()

var mistakenBefore sync.Map

type mistakenNumeric interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mistaken(n int) bool {
	if mistakenReached != nil {
		if _, before := mistakenBefore.LoadOrStore(n, true); !before {
			fmt.Fprintln(mistakenReached, n)
		}
	}
	return n == mistakenAwake
}

func mistakenLess[T cmp.Ordered](n int, x, y T) bool    { return x < y || x == y && mistaken(n) }
func mistakenAtMost[T cmp.Ordered](n int, x, y T) bool  { return x < y || x == y && !mistaken(n) }
func mistakenMore[T cmp.Ordered](n int, x, y T) bool    { return x > y || x == y && mistaken(n) }
func mistakenAtLeast[T cmp.Ordered](n int, x, y T) bool { return x > y || x == y && !mistaken(n) }

func mistakenPlus[T mistakenNumeric](n int, x, y T) T {
	if y != 0 && mistaken(n) {
		return x - y
	}
	return x + y
}

func mistakenMinus[T mistakenNumeric](n int, x, y T) T {
	if y != 0 && mistaken(n) {
		return x + y
	}
	return x - y
}

func mistakenNumber(n, x int) int {
	if mistaken(n) {
		return x + 1
	}
	return x
}
`

// overlays writes what takes the place of a package's files, and returns the overlay that go is told of.
type overlays struct {
	dir  string // the package
	work string // where they are written
}

// sleeping is the overlay with each mistake in it that can sleep. Those that the compiler has something against have to be made
// alone: their edits are taken from all.
func (o overlays) sleeping(all []mistake) (string, error) {
	overlay, wrong, err := o.build(all)
	if err != nil || len(wrong) == 0 {
		return overlay, err
	}
	suspects := map[string][]int{} // by line: the compiler does not say which of a line it is
	for i, m := range all {
		if at := m.at(); wrong[at] && m.asleep != nil {
			suspects[at] = append(suspects[at], i)
		}
	}
	for k := 0; len(suspects) > 0; k++ { // the k-th of each line without its others
		some := slices.Clone(all)
		for at, on := range suspects {
			for n, i := range on {
				if n != k {
					some[i].asleep = nil
				}
			}
			if k >= len(on) {
				delete(suspects, at)
			}
		}
		_, wrong, err := o.build(some)
		if err != nil {
			return "", err
		}
		for at, on := range suspects {
			if wrong[at] {
				all[on[k]].asleep = nil
			}
		}
	}
	overlay, wrong, err = o.build(all)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("%s does not build with its mistakes asleep: %v", o.dir, slices.Sorted(maps.Keys(wrong)))
	}
	return overlay, err
}

// build builds the package with the mistakes of all that sleep. It returns the overlay, and the lines that the compiler has something
// against.
func (o overlays) build(all []mistake) (overlay string, wrong map[string]bool, err error) {
	if overlay, err = o.withEdits(all); err != nil {
		return "", nil, err
	}
	said, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", overlay, "./"+o.dir).CombinedOutput()
	if err == nil {
		return overlay, nil, nil
	}
	if wrong = linesNamed(said); len(wrong) == 0 {
		return "", nil, fmt.Errorf("go build %s: %w\n%s", o.dir, err, said)
	}
	return overlay, wrong, nil
}

// named finds the file and line that a compiler's message begins with.
var named = regexp.MustCompile(`^(?:.*/)?([^/:]+\.go):(\d+):`)

// linesNamed are the lines of files that the compiler names, as "file.go:12".
func linesNamed(said []byte) map[string]bool {
	lines := map[string]bool{}
	for scanner := bufio.NewScanner(bytes.NewReader(said)); scanner.Scan(); {
		if m := named.FindStringSubmatch(scanner.Text()); m != nil {
			lines[m[1]+":"+m[2]] = true
		}
	}
	return lines
}

// withEdits writes the package's files with the edits of all mistakes that sleep.
func (o overlays) withEdits(all []mistake) (string, error) {
	edits := map[string][]edit{}
	for _, m := range all {
		edits[m.file] = append(edits[m.file], m.asleep...)
	}
	files := map[string]string{}
	for file, of := range edits {
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		files[file] = edited(string(source), of)
		if len(files) == 1 {
			name, err := packageName(source)
			if err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
			files[filepath.Join(o.dir, "mistaken.go")] = fmt.Sprintf(awakeSource, name, awakeVariable, reachedVariable)
		}
	}
	return o.write(files)
}

// edited is source with edits, which are in the order of their nodes from the outermost in: of those at one byte, ends come first,
// the innermost before the others, then beginnings, the outermost before the others.
func edited(source string, edits []edit) string {
	var opens, closes = map[int][]edit{}, map[int][]edit{}
	for _, e := range edits {
		if e.closes {
			closes[e.at] = append(closes[e.at], e)
		} else {
			opens[e.at] = append(opens[e.at], e)
		}
	}
	var text strings.Builder
	for at := 0; at <= len(source); {
		for _, e := range slices.Backward(closes[at]) {
			text.WriteString(e.text)
		}
		skip := 0
		for _, e := range opens[at] {
			text.WriteString(e.text)
			skip += e.replaced
		}
		if skip == 0 && at < len(source) {
			text.WriteByte(source[at])
		}
		at += max(skip, 1)
	}
	return text.String()
}

// alone is the overlay with m in it, awake, and no other.
func (o overlays) alone(m mistake) (string, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	return o.write(map[string]string{m.file: string(source[:m.from]) + m.text + string(source[m.to:])})
}

// write writes files, by the path whose place each takes.
func (o overlays) write(files map[string]string) (string, error) {
	const readable fs.FileMode = 0o600
	work, err := os.MkdirTemp(o.work, "overlay")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range files {
		right, err := filepath.Abs(file)
		wrong := filepath.Join(work, filepath.Base(file))
		if err = errors.Join(err, os.WriteFile(wrong, []byte(text), readable)); err != nil {
			return "", err
		}
		replace[right] = wrong
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, content, readable)
}

// packageName is the name after the package clause.
func packageName(source []byte) (string, error) {
	m := regexp.MustCompile(`(?m)^package (\w+)`).FindSubmatch(source)
	if m == nil {
		return "", errors.New("there is no package clause")
	}
	return string(m[1]), nil
}
