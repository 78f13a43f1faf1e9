package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

// parts are the shares of a log that are cut off at its start.
var parts = []struct {
	name string
	from float64
}{{"last half", 1. / 2}, {"last third", 2. / 3}, {"last tenth", 9. / 10}}

// middleGoal is the recall and precision that a seeded log with a -v=2 scheduler log must reach.
const middleGoal = 0.97

// enoughMoves is the number of moves in the truth from which shares are worth comparing.
const enoughMoves = 100

// TestFromTheMiddle: logs of real clusters that begin in the middle, seeded with the objects at that time.
func TestFromTheMiddle(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if os.Getenv("SCHEDQ_VERIFY") == "" || root == "" {
		t.Skip("make verify runs this")
	}
	var rows [][]string
	for _, name := range []string{"workshop", "random-1", "random-2", "busy"} {
		dir := filepath.Join(root, name)
		log := filepath.Join(dir, "sched.log.gz")
		if _, err := os.Stat(log); err != nil {
			continue
		}
		for _, part := range parts {
			t.Run(name+"/"+part.name, func(t *testing.T) {
				tmp := t.TempDir()
				first, last, at := splitAudit(t, filepath.Join(dir, "audit.log.gz"), part.from)
				audit, sched, seed := filepath.Join(tmp, "audit.log"), filepath.Join(tmp, "sched.log"), filepath.Join(tmp, "seed.json")
				write(t, audit, last)
				lines := linesFrom(cutLog(t, log, 2), at)
				if len(lines) == 0 {
					t.Skip("the scheduler did nothing in it")
				}
				write(t, sched, lines)
				write(t, seed, objectsAt(t, first))
				if cells := fromTheMiddle(t, log, audit, sched, seed); cells != nil {
					rows = append(rows, append([]string{name + ", " + part.name}, cells...))
				}
			})
		}
	}
	checkTable(t, byPart, []string{"recording, part", "audit log", "audit log, `-v=2`", "seeded", "seeded, `-v=2`"}, rows)
}

// fromTheMiddle compares logs that begin in the middle with the scheduler's whole log, and returns the cells of their row, nil if
// there are too few moves.
func fromTheMiddle(t *testing.T, log, audit, sched, seed string) (cells []string) {
	for _, c := range []struct {
		what          string
		seeds, beside []string
	}{
		{"alone", nil, nil},
		{"with a log of 2", nil, []string{sched}},
		{"seeded", []string{seed}, nil},
		{"seeded, with a log of 2", []string{seed}, []string{sched}},
	} {
		t.Logf("%s:", c.what)
		v := verifyFiles(t, append([]string{audit}, c.beside...), c.seeds, log)
		m := v.Transitions
		if m.Truth >= enoughMoves {
			cells = append(cells, cell(v))
		}
		if len(c.seeds)+len(c.beside) < 2 || m.Truth < enoughMoves {
			continue
		}
		if m.Recall < middleGoal || m.Precision < middleGoal {
			t.Errorf("%s, recall is %.4f and precision %.4f, want %.2f at least of each", c.what, m.Recall, m.Precision, middleGoal)
		}
	}
	return cells
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// splitAudit splits an audit log after a share of its lines, and returns when the second part begins.
func splitAudit(t *testing.T, path string, part float64) (first, last []byte, at time.Time) {
	t.Helper()
	lines := bytes.SplitAfter(unzip(t, path), []byte("\n"))
	cut := int(part * float64(len(lines)))
	for _, line := range lines[cut:] {
		_, rest, _ := bytes.Cut(line, []byte(`"stageTimestamp":"`))
		stamp, err := time.Parse(time.RFC3339Nano, string(rest[:max(0, bytes.IndexByte(rest, '"'))]))
		if err == nil && (at.IsZero() || stamp.Before(at)) {
			at = stamp
		}
	}
	return bytes.Join(lines[:cut], nil), bytes.Join(lines[cut:], nil), at
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(bufio.NewReader(z))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// linesFrom returns the lines of a scheduler log from that time on.
func linesFrom(log []byte, at time.Time) (from []byte) {
	begin := at.Format("0102 15:04:05.000000")
	for line := range bytes.Lines(log) {
		if len(line) > len(begin) && string(line[1:1+len(begin)]) >= begin {
			from = append(from, line...)
		}
	}
	return from
}

// objectsAt returns the output of kubectl get -o json after these lines of an audit log.
func objectsAt(t *testing.T, lines []byte) []byte {
	t.Helper()
	rec, err := files.Read(t.Context(), "audit.log", lines)
	if err != nil {
		t.Fatal(err)
	}
	objects := cluster.NewObjects()
	for _, e := range rec.Events {
		if c, is := e.Fact.(*sources.ObjectChange); is {
			objects.Apply(c)
		}
	}
	var items []any
	objects.Each("", func(obj runtime.Object) bool {
		items = append(items, obj)
		return true
	})
	items = append(items, failedEvents(rec)...)
	if len(items) == 0 {
		t.Fatal("there is nothing to seed with")
	}
	list, err := json.MarshalIndent(struct {
		metav1.TypeMeta
		Items []any `json:"items"`
	}{metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, items}, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// failedEvents returns the Events of failed attempts at the end of rec, as an API server keeps them: one
// per state of a pod.
func failedEvents(rec *sources.Recording) (all []any) {
	type state struct {
		uid     types.UID
		version string
	}
	byState := map[state]*eventsv1.Event{}
	for _, ev := range rec.Events {
		f, is := ev.Fact.(*sources.FailedAttempt)
		if !is || f.Version == "" {
			continue
		}
		e := byState[state{f.UID, f.Version}]
		if e == nil {
			e = &eventsv1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, Reason: "FailedScheduling", EventTime: metav1.NewMicroTime(ev.Time),
				Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: f.Pod.Namespace, Name: f.Pod.Name, UID: f.UID, ResourceVersion: f.Version}}
			byState[state{f.UID, f.Version}] = e
			all = append(all, e)
		}
		if e.Note = string(f.Message); f.Count > 1 {
			e.Series = &eventsv1.EventSeries{Count: int32(f.Count), LastObservedTime: metav1.NewMicroTime(ev.Time)}
		}
	}
	return all
}
