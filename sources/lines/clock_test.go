package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTimed: a time that is far from those around it is damage. Pauses, clocks that are set, files that are joined and late
// lines are not.
func TestTimed(t *testing.T) {
	day := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	seconds := func(at ...float64) (text string) {
		for i, s := range at {
			text += fmt.Sprintf(`{"time":"%s","n":%d}`+"\n", day.Add(time.Duration(s*float64(time.Second))).Format(time.RFC3339Nano), i)
		}
		return text
	}
	const hour, days = 3600, 86400
	for _, c := range []struct {
		name, text string
		damaged    []int
	}{
		{"in order", seconds(0, 1, 2, 3), nil},
		{"an hour ahead", seconds(0, 1, hour, 2, 3), []int{2}},
		{"a year ahead", seconds(0, 1, 365*days, 2, 3), []int{2}},
		{"a year back", seconds(0, 1, -365*days, 2, 3), []int{2}},
		{"years out of range", strings.Replace(seconds(0, 1, 2, 3), "2026", "3026", 1), []int{0}},
		{"three in a row", seconds(0, 1, hour, 5*days, -hour, 2, 3), []int{2, 3, 4}},
		{"among lines without a time", strings.Replace(seconds(0, 1, hour, 2, 3), `"n":2}`, `"n":2}`+"\nx\nx", 1), []int{2}},
		{"days ahead in a quiet log", seconds(0, 300, 9*days, 600, 900), []int{2}},
		{"a pause of days", seconds(0, 1, 5*days, 5*days+1, 5*days+2), nil},
		{"pauses of days", seconds(0, 2*days, 5*days, 7*days, 9*days), nil},
		{"the first line long before", seconds(-5*days, 1, 2, 3), nil},
		{"the last line long after", seconds(0, 1, 2, 5*days), nil},
		{"a clock that is put back", seconds(0, 1, 2, -hour, -hour+1, -hour+2, -hour+3), nil},
		{"a clock that is put forward and back", seconds(0, 1, hour, hour+1, hour+2, hour+3, 5, 6), nil},
		{"a joined file", seconds(0, 1, 2, -5*days, -5*days+1, -5*days+2), nil},
		{"late by minutes", seconds(0, 300, 1, 301, 2), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(context.Background(), "f", time.Time{}, io.NopCloser(strings.NewReader(c.text)))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			r.CheckTimes(JSONTimes())
			var got []int
			for next := 0; ; {
				line, err := r.Next()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				n := 0
				if _, err := fmt.Sscanf(string(line[max(0, bytes.LastIndexByte(line, ',')):]), `,"n":%d}`, &n); err != nil {
					continue
				}
				for ; next < n; next++ {
					got = append(got, next)
				}
				next = n + 1
			}
			notices := strings.Join(r.Notices(time.Time{}), "\n")
			if !slices.Equal(got, c.damaged) || (len(got) > 0) != strings.Contains(notices, fmt.Sprintf("line %d", append(got, 0)[0]+1)) {
				t.Errorf("%v are left out, want %v; notices: %s", got, c.damaged, notices)
			}
		})
	}
}

// TestTimedNumbers: reading ahead does not change the lines' numbers.
func TestTimedNumbers(t *testing.T) {
	text := ""
	for i := range 50 {
		at := time.Date(2026, 11, 21, 10, 0, i, 0, time.UTC)
		if i%7 == 3 {
			at = at.Add(time.Hour)
		}
		text += fmt.Sprintf(`{"time":"%s","n":%d}`+"\n", at.Format(time.RFC3339Nano), i+1)
	}
	r, err := New(context.Background(), "f", time.Time{}, io.NopCloser(strings.NewReader(strings.TrimSpace(text))))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.CheckTimes(JSONTimes())
	read := 0
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		read++
		if want := fmt.Sprintf(`"n":%d}`, r.Line()); !strings.HasSuffix(string(line), want) || r.Cut() != (r.Line() == 50) {
			t.Errorf("line %d, cut off %v: %s", r.Line(), r.Cut(), line)
		}
	}
	if read != 43 {
		t.Errorf("%d lines", read)
	}
}

// TestSeen: of very many lines, the last half million are known.
func TestSeen(t *testing.T) {
	var s Seen
	hash := func(i int) uint64 { return Hash(fmt.Append(nil, i)) }
	const n = 1_300_000
	for i := range n {
		if s.Add(hash(i)) {
			t.Fatalf("line %d is new", i)
		}
	}
	for i := n - maxSeen; i < n; i++ {
		if !s.Add(hash(i)) {
			t.Fatalf("line %d is not known", i)
		}
	}
}
