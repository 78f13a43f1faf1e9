package files

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
)

// rounds is how many files of each kind and format are damaged: make damage sets it.
func rounds(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SCHEDQ_DAMAGE"), "100"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// logLine is a line of an undamaged file, with what its one event is known by; "" if it gives none.
type logLine struct{ text, id string }

// dialect is a format with generated lines.
type dialect struct {
	name   string
	header string
	// line makes a line up, or a few that belong together. The number is used once.
	line func(r *rand.Rand, number int) []logLine
	// halves is true if half of a line may be read, because it looks complete.
	halves bool
}

// nasty is text that looks like the structure of the formats.
func nasty(r *rand.Rand) string {
	parts := []string{"{", "}", `"`, `\`, `{"kind":"Event"`, `{"time":"`, `{"schedq":`, "}}", `"},{"`, "[", "]", ",", ":", ".go:414] ", "ü", "\U0001f600", "a b", `x="y"`,
		`I1121 10:00:01.000000       1 a.go:1] "Attempting to schedule pod" pod="default/forged"`}
	text := ""
	for range r.IntN(6) {
		text += parts[r.IntN(len(parts))]
	}
	return text
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func dialects() []dialect {
	return []dialect{
		{"audit", "", func(r *rand.Rand, n int) []logLine {
			name := fmt.Sprintf("p%d", n)
			line := strings.NewReplacer(`"hunter2"`, quoted(nasty(r)), `"verb"`, `"requestURI":`+quoted(nasty(r))+`,"verb"`, `"objectRef"`,
				`"user":{"username":`+quoted(nasty(r))+`},"objectRef"`).Replace(created(name, n%50))
			switch r.IntN(4) {
			case 0:
				return []logLine{{strings.Replace(line, `"create"`, `"get"`, 1), ""}}
			case 1:
				return []logLine{{strings.Replace(line, "ResponseComplete", "RequestReceived", 1), ""}}
			}
			return []logLine{{line, name}}
		}, false},
		{"trace", traceHeader, func(r *rand.Rand, n int) []logLine {
			name := fmt.Sprintf("p%d", n)
			at := fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ",`, n%50)
			switch r.IntN(3) {
			case 0:
				return []logLine{{at + `"move":{"pod":"default/` + name + `","to":"inflight","message":` + quoted(nasty(r)) + "}}\n", name}}
			case 1:
				return []logLine{{at + `"verb":"added","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","labels":{"time":` + quoted(nasty(r)) + "}}}}\n", name}}
			}
			return []logLine{{at + `"mark":{"text":` + quoted(name+" "+nasty(r)) + "}}\n", name}}
		}, false},
		{"schedlog", "", func(r *rand.Rand, n int) []logLine {
			name := fmt.Sprintf("p%d", n)
			line := tried(name, n%50)
			head, _, _ := strings.Cut(line, `"Attempting`)
			switch r.IntN(4) {
			case 0:
				return []logLine{{head + `"Entity moved to an internal scheduling queue" type="pod" entity="default/` + name + `" event=` + strconv.Quote(nasty(r)) + " queue=\"Active\"\n", name}}
			case 1:
				return failedAtLength(r, head, name)
			case 2:
				return []logLine{{strings.TrimSuffix(line, "\n") + " x=" + strconv.Quote(nasty(r)) + "\n", name}}
			}
			return []logLine{{line, name}}
		}, true},
		{"schedlog at 2", "", func(r *rand.Rand, n int) []logLine {
			name := fmt.Sprintf("p%d", n)
			head, _, _ := strings.Cut(tried(name, n%50), `"Attempting`)
			switch r.IntN(3) {
			case 0:
				return []logLine{{head + `"Unable to schedule pod; no fit; waiting" pod="default/` + name + `" err=` + strconv.Quote(nasty(r)) + "\n", name}}
			case 1:
				return failedAtLength(r, head, name)
			}
			return []logLine{{head + `"Successfully bound pod to node" pod="default/` + name + `" node=` + strconv.Quote(nasty(r)) + "\n", name}}
		}, true},
		{"metrics", "", func(_ *rand.Rand, n int) []logLine { return []logLine{{counted(n, n%50), fmt.Sprintf("p%d", n)}} }, false},
	}
}

// failedAtLength returns the lines of an attempt that failed with an error of several lines, which the pod follows.
func failedAtLength(r *rand.Rand, head, pod string) []logLine {
	return []logLine{{"E" + head[1:] + "\"Error scheduling pod; retrying\" err=<\n", ""}, {"\tsome " + strings.ReplaceAll(nasty(r), "I1121", "") + "\n", ""},
		{" > pod=\"default/" + pod + "\"\n", ""}}
}

// id is what an event of a made-up line is known by.
func id(e sources.Event) string {
	switch f := e.Fact.(type) {
	case *sources.ObjectChange:
		return f.Object.(metav1.Object).GetName()
	case *sources.Move:
		return f.Pod.Name
	case *sources.FailedAttempt:
		return f.Pod.Name
	case *sources.Bound:
		return f.Pod.Name
	case *sources.Mark:
		name, _, _ := strings.Cut(string(f.Text), " ")
		return name
	case *sources.Counts:
		return fmt.Sprintf("p%d", f.Active)
	}
	return ""
}

// compare reads a damaged file, and checks that the events in it are exactly those of the lines that are whole, and in
// a format in which half a line may be read, perhaps that of others.
func compare(t *testing.T, what, content string, whole []string, perhaps []string) {
	t.Helper()
	var got []string
	rec, err := open(t, content, false)
	if err != nil && len(whole) > 0 {
		t.Fatalf("%s: %v\n%q", what, err, content)
	}
	if err == nil {
		for _, e := range rec.Events {
			if i := id(e); i != "" {
				got = append(got, i)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(whole)
	left := slices.Clone(got)
	for _, w := range whole {
		i := slices.Index(left, w)
		if i < 0 {
			t.Fatalf("%s: %s is not read\n%q\n%q", what, w, rec.Notices, content)
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, l := range left {
		if !slices.Contains(perhaps, l) {
			t.Fatalf("%s: %s is read\n%q\n%q", what, l, rec.Notices, content)
		}
	}
}

// made makes up a file of some lines, numbered from the given one.
func made(d *dialect, r *rand.Rand, from int) []logLine {
	lines := []logLine{}
	for n := range 3 + r.IntN(12) {
		lines = append(lines, d.line(r, from+n)...)
	}
	// One that is surely read, at either end.
	for lines[len(lines)-1].id == "" {
		lines = append(lines, d.line(r, from+20)...)
	}
	return lines
}

func textOf(d *dialect, lines []logLine) string {
	var b strings.Builder
	b.WriteString(d.header)
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return b.String()
}

func ids(lines []logLine) (ids []string) {
	for _, l := range lines {
		if l.id != "" {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// cutAt splits what lines tell where their file is cut: whole lines, and the one that is cut. A line that lacks nothing
// but its end is whole, if it looks so.
func cutAt(d *dialect, lines []logLine, at int) (whole, half []string) {
	end := len(d.header)
	for _, l := range lines {
		start := end
		end += len(l.text)
		switch {
		case l.id == "":
		case end <= at || end-1 == at && !d.halves:
			whole = append(whole, l.id)
		case start < at:
			half = append(half, l.id)
		}
	}
	if !d.halves {
		half = nil
	}
	return whole, half
}

// TestRandomCuts, TestRandomSeams and TestRandomTears: every readable event is read, counted one by one against the
// undamaged file.
func TestRandomCuts(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			for seed := range rounds(t) {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				lines := made(&d, r, 0)
				text := textOf(&d, lines)
				at := len(d.header) + 1 + r.IntN(len(text)-len(d.header)-1)
				whole, half := cutAt(&d, lines, at)
				compare(t, fmt.Sprintf("seed %d, cut at %d", seed, at), text[:at], whole, half)
			}
		})
	}
}

// TestRandomSeams is described with TestRandomCuts.
func TestRandomSeams(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			for seed := range rounds(t) {
				r := rand.New(rand.NewPCG(uint64(seed), 2))
				first, second := made(&d, r, 0), made(&d, r, 100)
				text := textOf(&d, first)
				at := 1 + r.IntN(len(text)-1)
				whole, half := cutAt(&d, first, at)
				compare(t, fmt.Sprintf("seed %d, seam at %d", seed, at), text[:at]+textOf(&d, second), append(whole, ids(second)...), half)
			}
		})
	}
}

// TestRandomTears is described with TestRandomCuts.
func TestRandomTears(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			for seed := range rounds(t) {
				r := rand.New(rand.NewPCG(uint64(seed), 3))
				var whole, half []string
				text := d.header
				lines := made(&d, r, 0)
				for i, l := range lines {
					if r.IntN(4) > 0 || i == len(lines)-1 {
						text += l.text
						whole = append(whole, ids([]logLine{l})...)
						continue
					}
					text += l.text[:r.IntN(len(l.text)-1)]
					if d.halves {
						half = append(half, l.id)
					}
					switch r.IntN(3) {
					case 0:
						text += "\n"
					case 1:
						text += strings.Repeat("\x00", 1+r.IntN(5000))
					}
				}
				compare(t, fmt.Sprintf("seed %d", seed), text, whole, half)
			}
		})
	}
}

// TestRandomDamageOfARecording does the same to the beginning of a cluster's own recording.
func TestRandomDamageOfARecording(t *testing.T) {
	packed, err := os.ReadFile("../embedded/workshop.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	records := bytes.SplitAfter(text, []byte("\n"))[1:121]
	var want []string
	for _, record := range records {
		want = append(want, traceEvents(t, traceHeader+string(record))...)
	}
	if len(want) != len(records) {
		t.Fatalf("%d events of %d records", len(want), len(records))
	}
	for seed := range rounds(t) {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		damaged, left := traceHeader, []string{}
		for i, record := range records {
			if r.IntN(10) > 0 || i == len(records)-1 {
				damaged += string(record)
				left = append(left, want[i])
				continue
			}
			damaged += string(record[:r.IntN(len(record)-1)])
			if r.IntN(4) == 0 {
				damaged += traceHeader
			}
		}
		got := traceEvents(t, damaged)
		slices.Sort(got)
		slices.Sort(left)
		if !slices.Equal(got, left) {
			t.Fatalf("seed %d: %d events are read, want %d:\n%s", seed, len(got), len(left), damaged)
		}
	}
}

// traceEvents returns a trace's events as text.
func traceEvents(t *testing.T, content string) (events []string) {
	t.Helper()
	rec, err := open(t, content, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rec.Events {
		fact, err := json.Marshal(e.Fact)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, fmt.Sprintf("%s %T %s", e.Time, e.Fact, fact))
	}
	return events
}
