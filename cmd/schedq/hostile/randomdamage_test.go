package hostile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/schedq/schedq/sources/embedded"
	traces "github.com/schedq/schedq/sources/trace"
)

// damageLimit limits both the wall time and the CPU time for a damaged file. damageMemory limits
// its memory, in MiB.
const (
	damageLimit  = 5 * time.Second
	damageMemory = 1024
	mostDamaged  = 3 << 20 // bytes; only the beginning of a longer file is used
)

// TestRandomDamage: playing a randomly damaged recording neither hangs nor takes much memory, and a
// difference from the moves of the undamaged file is reported. A changed value or a missing line
// can't be recognized, so such damage may go unreported.
func TestRandomDamage(t *testing.T) {
	path := program(t)
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SCHEDQ_DAMAGE"), "100"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	all := toDamage(t)
	names := make([]string, 0, len(all))
	undamaged := map[string]*outcome{}
	for name, content := range all {
		names = append(names, name)
		write(t, filepath.Join(dir, "recording"), content)
		undamaged[name] = run(t, path, dir, nil, damageMemory, "watch", "recording")
		if undamaged[name].code != 0 {
			t.Fatalf("%s: %v", name, undamaged[name])
		}
	}
	slices.Sort(names)
	commands := [][]string{{"watch"}, {"watch"}, {"watch", "-o", "json"}, {"report"}, {"list"}, {"convert", "-o", "out.jsonl", "--force"}}
	slowest, largest, differ := time.Duration(0), 0, 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 57))
		name, kind := names[r.IntN(len(names))], damages[seed%len(damages)]
		whole := undamaged[name]
		write(t, filepath.Join(dir, "recording"), kind.damage(r, all[name]))
		command := slices.Clone(commands[r.IntN(len(commands))])
		o := run(t, path, dir, nil, damageMemory, slices.Insert(command, 1, "recording")...)
		what := fmt.Sprintf("seed %d, %s, %s", seed, name, kind.name)
		for _, p := range o.problems() {
			t.Errorf("%s: %s: %v", what, p, o)
		}
		if o.wall > damageLimit && o.cpu > damageLimit {
			t.Errorf("%s: the run takes longer than %v: %v", what, damageLimit, o)
		}
		slowest, largest = max(slowest, min(o.wall, o.cpu)), max(largest, o.memory)
		if len(command) > 1 || command[0] != "watch" || o.code != 0 || bytes.Equal(o.stdout, whole.stdout) {
			continue
		}
		differ++
		said := strings.Split(string(o.stderr), "\n")
		if kind.told && !slices.ContainsFunc(said, func(line string) bool { return !bytes.Contains(whole.stderr, []byte(line)) }) {
			t.Errorf("%s: the moves differ, but no damage is reported: %v", what, o)
		}
	}
	t.Logf("%d files: at most %.1f s and %d MiB; %d have other moves", n, slowest.Seconds(), largest, differ)
}

// toDamage returns recordings by name: an embedded one, and those in SCHEDQ_RECORDINGS.
func toDamage(t *testing.T) map[string][]byte {
	t.Helper()
	rec, err := embedded.Open(context.Background(), "workshop")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w, err := traces.NewWriter(&text)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range rec.All(context.Background()) {
		if err == nil {
			err = w.Write(ev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{"trace": text.Bytes()}
	for _, folder := range []string{"workshop", "v1.33"} {
		for _, log := range []string{"audit", "sched"} {
			packed, err := os.ReadFile(filepath.Join(os.Getenv("SCHEDQ_RECORDINGS"), folder, log+".log.gz"))
			if err != nil {
				continue
			}
			z, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			whole, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			if whole = whole[:min(len(whole), mostDamaged)]; len(whole) == mostDamaged {
				whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
			}
			all[folder+"/"+log] = whole
		}
	}
	return all
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// damages are kinds of damage. told is true if the damage can be recognized.
var damages = []struct {
	name   string
	told   bool
	damage func(r *rand.Rand, text []byte) []byte
}{
	{"bits flipped", false, func(r *rand.Rand, text []byte) []byte {
		out := bytes.Clone(text)
		for range []int{1, 3, 10, 100, 1000}[r.IntN(5)] {
			out[r.IntN(len(out))] ^= 1 << r.IntN(8)
		}
		return out
	}},
	{"cut off", false, func(r *rand.Rand, text []byte) []byte { return text[:1+r.IntN(len(text)-1)] }},
	{"without its beginning", false, func(r *rand.Rand, text []byte) []byte { return text[r.IntN(len(text)):] }},
	{"lines twice", true, func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		for range []int{1, 10, 200}[r.IntN(3)] {
			i := r.IntN(len(lines) - 1)
			lines = slices.Insert(lines, min(len(lines)-1, max(1, i+1+r.IntN(20))), lines[i])
		}
		return bytes.Join(lines, nil)
	}},
	{"a block twice", true, func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		from := r.IntN(len(lines) - 1)
		to := min(len(lines)-1, from+1+r.IntN(500))
		return bytes.Join(slices.Concat(lines[:to], lines[from:to], lines[to:]), nil)
	}},
	{"twice", true, func(_ *rand.Rand, text []byte) []byte { return slices.Concat(text, text) }},
	{"shuffled", false, func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		for part := range slices.Chunk(lines[:len(lines)-1], []int{5, 50, len(lines)}[r.IntN(3)]) {
			r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		}
		return bytes.Join(lines, nil)
	}},
	{"with lines missing", false, func(r *rand.Rand, text []byte) []byte {
		share := []float64{0.01, 0.1, 0.5}[r.IntN(3)]
		return bytes.Join(slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func([]byte) bool { return r.Float64() < share }), nil)
	}},
	{"with junk in it", true, func(r *rand.Rand, text []byte) []byte {
		junk := [][]byte{noise(r, 1+r.IntN(5000)), make([]byte, 1+r.IntN(8000)), bytes.Repeat([]byte("{"), 5000), []byte("\x1b[2J\x1b]52;c;UFdO\a"), bytes.Repeat([]byte("9"), 3000)}
		at := r.IntN(len(text))
		return slices.Concat(text[:at], junk[r.IntN(len(junk))], text[at:])
	}},
	{"in part overwritten", true, func(r *rand.Rand, text []byte) []byte {
		out, at := bytes.Clone(text), r.IntN(len(text))
		copy(out[at:], noise(r, 500+r.IntN(20_000)))
		return out
	}},
	{"packed and damaged", true, func(r *rand.Rand, text []byte) []byte {
		packed := gzipped(text)
		if r.IntN(2) == 0 {
			packed = zstandard(text)
		}
		switch r.IntN(3) {
		case 0:
			return packed[:20+r.IntN(len(packed)-20)]
		case 1:
			packed[10+r.IntN(len(packed)-10)] ^= 1 << r.IntN(8)
			return packed
		}
		return append(packed, noise(r, 1+r.IntN(200))...)
	}},
	{"with a damaged time", true, func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		for range 1000 {
			i := 1 + r.IntN(len(lines)-3)
			year := bytes.Index(lines[i], []byte("Timestamp\":\"2026-"))
			if time := []byte(`{"time":"2026-`); bytes.HasPrefix(lines[i], time) {
				year = len(time) - len("Timestamp\":\"2026-")
			}
			if year < -1 || year == -1 && !bytes.HasPrefix(lines[i], []byte("I")) {
				continue
			}
			lines[i] = bytes.Clone(lines[i])
			if year == -1 { // klog's month
				lines[i][2] = "02"[r.IntN(2)]
			} else {
				lines[i][year+len("Timestamp\":\"")+r.IntN(4)] = byte('0' + r.IntN(10))
			}
			break
		}
		return bytes.Join(lines, nil)
	}},
	{"with digits changed", false, func(r *rand.Rand, text []byte) []byte {
		out := bytes.Clone(text)
		for range []int{1, 20, 300}[r.IntN(3)] {
			at := r.IntN(len(out))
			if i := bytes.IndexAny(out[at:min(len(out), at+2000)], "0123456789"); i >= 0 {
				out[at+i] = byte('0' + r.IntN(10))
			}
		}
		return out
	}},
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
