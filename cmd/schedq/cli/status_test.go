package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestPrintTrouble: trouble is printed once, after it has lasted a second or flapped for three, and
// several errors within that time are one line.
func TestPrintTrouble(t *testing.T) {
	began := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	attached := sources.Status{Attached: began}
	lost := sources.Status{Attached: began, StaleSince: at(10), Trouble: "cut"}
	type step struct {
		at     float64
		status sources.Status
	}
	failing := func(why sources.SafeText) sources.Status { return sources.Status{Trouble: why} }
	for name, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"lasting":              {[]step{{0, failing("a")}, {0.9, failing("a")}, {1, failing("a")}, {60, failing("a")}}, []string{"a"}},
		"over within a second": {[]step{{0, failing("a")}, {0.9, failing("")}, {60, failing("")}}, nil},
		"growing":              {[]step{{0, failing("1 list")}, {0.4, failing("2 lists")}, {0.8, failing("3 lists")}, {1.8, failing("3 lists")}}, []string{"3 lists"}},
		"always changing":      {[]step{{0, failing("a")}, {0.9, failing("b")}, {1.8, failing("c")}, {2.7, failing("d")}, {3, failing("d")}}, []string{"d"}},
		"changes":              {[]step{{0, failing("a")}, {1, failing("a")}, {5, failing("b")}, {6, failing("b")}}, []string{"a", "b"}},
		"flapping":             {[]step{{0, failing("a")}, {1, failing("a")}, {5, failing("b")}, {6, failing("b")}, {7, failing("a")}, {8, failing("a")}, {9, failing("b")}, {10, failing("b")}}, []string{"a", "b"}},
		"recovers and returns": {[]step{{0, failing("a")}, {1, failing("a")}, {2, failing("")}, {3, failing("")}, {4, failing("a")}, {5, failing("a")}}, []string{"a", "connected again", "a"}},
		"stale":                {[]step{{0, attached}, {10, lost}, {11, lost}, {12, attached}, {13, attached}}, []string{"attached at 10:00:00.000 UTC, 0 objects", "stale since 10:00:10.000 UTC: cut", "connected again"}},
	} {
		var out strings.Builder
		printer := NewStatusPrinter(&out)
		for _, s := range c.steps {
			printer.now = func() time.Time { return at(s.at) }
			printer.Print(s.status)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(line, "schedq: "), "\n"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: printed %q, want %q", name, got, c.want)
		}
	}
}
