package marks

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

func read(data string) (*sources.Part, error) {
	r, err := lines.New(context.Background(), "f", time.Time{}, io.NopCloser(strings.NewReader(data)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return Read(r)
}

func TestRead(t *testing.T) {
	part, err := read("2026/11/21 10:56:19    0.0s three nodes\n" +
		"2026/11/21 10:56:22.250000 pods of 3s each\nand a second line\n" +
		"2026/11/21 10:56:23 \x1b]0;title\n" +
		"2026/11/21 10:56:24   12.5s cut")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, e := range part.Events {
		got += e.Time.Format("05.000 ") + string(e.Fact.(*sources.Mark).Text) + "\n"
	}
	if got != "19.000 three nodes\n22.250 pods of 3s each\n23.000 ␛]0;title\n" {
		t.Error(got)
	}
	if len(part.Notices) != 2 || part.Notices[0] != "f: line 5 is cut off; the recording ends at 2026-11-21 10:56:23.000 UTC" ||
		part.Notices[1] != "f: line 3 is skipped: it does not begin with a time" {
		t.Errorf("%q", part.Notices)
	}
}

func TestSniff(t *testing.T) {
	if at, ok := Sniff([]byte("2026/11/21 10:56:19    0.0s three nodes\n")); !ok || at.Second() != 19 {
		t.Errorf("%v %v", at, ok)
	}
	for _, other := range []string{"", "2026/11/21", "2026-11-21 10:56:19 x", "2026/13/21 10:56:19 x"} {
		if _, ok := Sniff([]byte(other)); ok {
			t.Errorf("%q was taken", other)
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add("2026/11/21 10:56:19    0.0s three nodes\n2026/11/21 10:56:20 x")
	f.Fuzz(func(t *testing.T, in string) {
		Sniff([]byte(in))
		part, err := read(in)
		if err != nil {
			return
		}
		for _, e := range part.Events {
			if text := e.Fact.(*sources.Mark).Text; sources.Sanitize(string(text)) != text {
				t.Errorf("%q", text)
			}
		}
	})
}
