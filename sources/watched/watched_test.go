package watched

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

// told reads a recording and says what it tells, a line for each event.
func told(t testing.TB, text string) (string, *sources.Part, error) {
	r, err := lines.New(context.Background(), "record.jsonl", time.Time{}, io.NopCloser(strings.NewReader(text)))
	if err != nil {
		return "", nil, err
	}
	part, err := Read(r)
	if err != nil {
		return "", nil, err
	}
	var said strings.Builder
	for _, ev := range part.Events {
		fmt.Fprint(&said, ev.Time.Format("05.000"))
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			m := f.Object.(metav1.Object)
			fmt.Fprintf(&said, " %s %s %s %s\n", f.Verb, f.Object.GetObjectKind().GroupVersionKind().Kind, m.GetName(), m.GetUID())
		case *sources.Attached:
			fmt.Fprintf(&said, " attached, nodes %v\n", f.Nodes)
		}
	}
	return said.String(), part, nil
}

// record is a line of a recording. The object was created at second created of the minute.
func record(second float64, event, kind, name, uid string, created int) string {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second)))
	if event == "Delete" {
		return fmt.Sprintf(`{"time":%q,"event":"Delete","resource":{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":""}}}`+"\n", at.Format(time.RFC3339Nano), kind, name)
	}
	return fmt.Sprintf(`{"time":%q,"event":%q,"resource":{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"uid":%q,"creationTimestamp":"2026-11-21T10:00:%02dZ"}}}`+"\n",
		at.Format(time.RFC3339Nano), event, kind, name, uid, created)
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"what there was, and what came then",
			record(10, "Add", "Node", "n", "1", 0) + record(10.1, "Add", "Pod", "old", "2", 5) + record(10.2, "Add", "Pod", "new", "3", 10) + record(11, "Update", "Pod", "old", "2", 5),
			"10.000 added Node n 1\n10.100 added Pod old 2\n10.100 attached, nodes true\n10.200 added Pod new 3\n11.000 updated Pod old 2\n"},
		{"nothing was there", record(10, "Add", "Node", "n", "1", 10), "10.000 added Node n 1\n"},
		{"of what went the name alone", record(10, "Add", "Pod", "a", "1", 10) + record(12, "Delete", "Pod", "a", "", 0), "10.000 added Pod a 1\n12.000 deleted Pod a 1\n"},
		{"went and came again", record(10, "Add", "Pod", "a", "1", 10) + record(12, "Update", "Pod", "a", "2", 12), "10.000 added Pod a 1\n12.000 deleted Pod a 1\n12.000 added Pod a 2\n"},
		{"what was never there went", record(10, "Add", "Pod", "a", "1", 10) + record(12, "Delete", "Pod", "b", "", 0), "10.000 added Pod a 1\n"},
		{"what no scheduler watches", record(10, "Add", "Pod", "a", "1", 10) + record(12, "Add", "ConfigMap", "b", "2", 12) + record(13, "Delete", "ConfigMap", "b", "", 0), "10.000 added Pod a 1\n"},
		{"a torn line with another glued to it", record(10, "Add", "Pod", "a", "1", 10)[:60] + record(11, "Add", "Pod", "b", "2", 11), "11.000 added Pod b 2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if at, ok := Sniff([]byte(c.text)); !ok || at.Second() != 10 {
				t.Errorf("it is not told as what it is: %v", at)
			}
			got, _, err := told(t, c.text)
			if err != nil || got != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

// TestLeftOut: what can't be read is counted, and what is nothing at all is an error.
func TestLeftOut(t *testing.T) {
	good := record(10, "Add", "Pod", "a", "1", 10)
	for name, c := range map[string]struct{ text, want string }{
		"no event":         {`{"time":"2026-11-21T10:00:11Z","event":"Sync","resource":{}}`, `no event "Sync"`},
		"no time":          {`{"event":"Add","resource":{"kind":"Pod"}}`, "it lacks a time"},
		"a time far off":   {`{"time":"0001-01-01T00:00:00Z","event":"Add","resource":{}}`, "out of range"},
		"a pod without":    {`{"time":"2026-11-21T10:00:11Z","event":"Add","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"A b"}}}`, "not a Kubernetes object name"},
		"something else":   {`[1]`, "not a JSON object"},
		"an escape in one": {`{"time":"2026-11-21T10:00:11Z","event":"\u001b[2J","resource":{}}`, "␛[2J"},
	} {
		t.Run(name, func(t *testing.T) {
			_, part, err := told(t, good+c.text+"\n"+good)
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(part.Notices, "\n"); !strings.Contains(said, c.want) {
				t.Errorf("%q does not say %q", said, c.want)
			}
		})
	}
	if _, _, err := told(t, "{\"time\":1}\n"); err == nil || !strings.Contains(err.Error(), "record.jsonl") {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(record(10, "Add", "Pod", "a", "1", 10) + record(11, "Update", "Pod", "a", "2", 11) + record(12, "Delete", "Pod", "a", "", 0))
	f.Add(`{"time":"2026-11-21T10:00:11Z","event":"Add","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, part, err := told(t, text)
		if err != nil {
			if s := err.Error(); string(sources.Sanitize(s)) != s {
				t.Fatalf("%q", s)
			}
			return
		}
		for _, n := range part.Notices {
			if string(sources.Sanitize(n)) != n {
				t.Fatalf("%q", n)
			}
		}
	})
}
