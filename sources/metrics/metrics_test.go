package metrics

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

func read(data string, strict ...bool) (*sources.Part, error) {
	r, err := lines.New(context.Background(), "f", time.Time{}, io.NopCloser(strings.NewReader(data)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if len(strict) > 0 {
		r.Strict()
	}
	return Read(r)
}

const two = `{"time":"2026-11-21T10:56:19.370Z","active":1,"backoff":2,"unschedulable":3,"gated":4}
{"time":"2026-11-21T10:56:20.397Z","active":0,"backoff":0,"unschedulable":0,"gated":0}
`

func TestRead(t *testing.T) {
	part, err := read(two)
	if err != nil || len(part.Events) != 2 || *part.Events[0].Fact.(*sources.Counts) != (sources.Counts{Active: 1, Backoff: 2, Unschedulable: 3, Gated: 4}) ||
		!part.Last.Equal(time.Date(2026, 11, 21, 10, 56, 20, 397e6, time.UTC)) {
		t.Errorf("%v %+v", err, part)
	}
	part, err = read(two[:len(two)-10])
	if err != nil || len(part.Events) != 1 || len(part.Notices) != 1 || !strings.HasPrefix(part.Notices[0], "f: line 2 is cut off; ") {
		t.Errorf("%v %+v", err, part)
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		two + "\x1b[31m\n":                                      `f:3: this line does not hold the counts of the scheduler's queues: "␛[31m"`,
		"{}\n":                                                  "f:1: this line does not hold",
		strings.ReplaceAll(two, ":3", ":-3"):                    "f:1: a count is negative",
		strings.ReplaceAll(two, ":3", `:"3"`):                   "f:1: this line does not hold",
		two + "{" + strings.Repeat(" ", 1<<20) + "}\n":          "f:3: this line does not hold",
		strings.ReplaceAll(two, "2026-11-21T", "yesterday at "): "f:1: this line does not hold",
	} {
		if _, err := read(in, true); err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestSniff(t *testing.T) {
	if at, ok := Sniff([]byte(two[:strings.Index(two, "\n")])); !ok || at.Minute() != 56 {
		t.Errorf("%v %v", at, ok)
	}
	if _, ok := Sniff([]byte(`{"time":"2026-11-21T10:56:22Z","pod":"default/a","to":"active"}`)); ok {
		t.Error("transitions are no counts")
	}
}

func FuzzMetrics(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte(two[:100]))
	f.Fuzz(func(t *testing.T, in []byte) {
		Sniff(in)
		if part, err := read(string(in)); err == nil && len(part.Events) > bytes.Count(in, []byte("\n"))+1 {
			t.Errorf("%d events", len(part.Events))
		}
	})
}
