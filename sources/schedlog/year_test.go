package schedlog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

const boundLine = ` schedule_one.go:314] "Successfully bound pod to node" pod="quarry/drill-0" node="east-2"`

// TestZones: klog's local times are converted by the instants in front of the lines, whatever the zone.
func TestZones(t *testing.T) {
	for name, c := range map[string]struct {
		lines  []string // times, behind the instants
		want   []string
		notice string
	}{
		"UTC":                         {[]string{"2026-05-04T12:00:00.1Z I0504 12:00:00.000000"}, []string{"2026-05-04T12:00:00Z"}, ""},
		"a runtime's zone, klog UTC":  {[]string{"2026-05-04T20:00:00.1+08:00 stderr F I0504 12:00:00.000000"}, []string{"2026-05-04T12:00:00Z"}, ""},
		"half an hour":                {[]string{"2026-05-04T12:00:00.3Z I0504 17:30:00.250000"}, []string{"2026-05-04T12:00:00.25Z"}, "UTC+05:30"},
		"a quarter":                   {[]string{"2026-05-04T12:00:00.3Z stderr F I0504 17:45:00.250000"}, []string{"2026-05-04T12:00:00.25Z"}, "UTC+05:45"},
		"west":                        {[]string{"2026-05-04T12:00:00.3Z I0504 04:00:00.250000"}, []string{"2026-05-04T12:00:00.25Z"}, "UTC-08:00"},
		"another day":                 {[]string{"2026-12-31T23:30:00Z I0101 01:30:00.000000"}, []string{"2026-12-31T23:30:00Z"}, "UTC+02:00"},
		"late by minutes":             {[]string{"2026-05-04T12:05:00Z I0504 13:59:59.000000"}, []string{"2026-05-04T11:59:59Z"}, "UTC+02:00"},
		"the clocks are put forward":  {[]string{"2026-03-29T00:59:00Z I0329 01:59:00.000000", "2026-03-29T01:00:01Z I0329 03:00:00.000000"}, []string{"2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z"}, "summer time"},
		"the clocks are put back":     {[]string{"2026-10-25T00:59:00Z I1025 02:59:00.000000", "2026-10-25T01:00:01Z I1025 02:00:00.000000"}, []string{"2026-10-25T00:59:00Z", "2026-10-25T01:00:00Z"}, "summer time"},
		"a line that is shipped late": {[]string{"2026-05-04T12:00:00Z I0504 14:00:00.000000", "2026-05-04T12:50:00Z I0504 14:10:00.000000"}, []string{"2026-05-04T12:00:00Z", "2026-05-04T12:10:00Z"}, "UTC+02:00"},
		"a wrapper's wrong clock":     {[]string{"2026-05-07T12:00:00Z I0504 12:00:00.000000"}, []string{"2026-05-04T12:00:00Z"}, "ignores them"},
		"no zone is that far ahead":   {[]string{"2026-05-04T12:00:00Z I0504 12:15:00.000000"}, []string{"2026-05-04T12:15:00Z"}, "ignores them"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			for i, line := range c.lines {
				log.WriteString(line + "     402" + strings.ReplaceAll(boundLine, "drill-0", "drill-"+string(rune('0'+i))) + "\n")
			}
			part, err := read(t, log.String(), Year{NotAfter: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ev := range part.Events {
				if _, is := ev.Fact.(*sources.Bound); is {
					got = append(got, ev.Time.Format(time.RFC3339Nano))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if said := strings.Join(part.Notices, "\n"); c.notice == "" && strings.Contains(said, "times") || !strings.Contains(said, c.notice) {
				t.Errorf("it says %q, want %q", said, c.notice)
			}
		})
	}
}

// TestGivenZone: a zone that is given is used where no line has an instant.
func TestGivenZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("the time zones are not installed")
	}
	for line, want := range map[string]string{
		"I0504 14:00:00.000000":                      "2026-05-04T12:00:00Z",
		"I0104 13:00:00.000000":                      "2026-01-04T12:00:00Z",
		"2026-05-04T12:00:00Z I0504 17:30:00.000000": "2026-05-04T12:00:00Z",
	} {
		part, err := read(t, line+"     402"+boundLine+"\n", Year{Near: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Zone: berlin})
		if err != nil {
			t.Fatal(err)
		}
		if got := part.First.Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is %s, want %s", line, got, want)
		}
	}
}

// TestYearInFile: a date in the file gives the year, before the date of the file does, which is said.
func TestYearInFile(t *testing.T) {
	for text, want := range map[string]int{
		`{"level":"info","ts":"2022-05-04T12:00:00.1Z","msg":"etcd"}` + "\n":                          2022,
		"Trace[1]: \"Scheduling\" namespace:quarry (04-May-2022 12:00:00.000) (total time: 105ms):\n": 2022,
		"built 2021-01-02 \n": 2026,
		"":                    2026,
	} {
		part, err := read(t, text+"I0504 12:00:00.000000     402"+boundLine+"\n", Year{NotAfter: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		guessed := strings.Contains(strings.Join(part.Notices, "\n"), "its times have no year: schedq assumes 2026")
		if year := part.First.Year(); year != want || guessed != (want == 2026) {
			t.Errorf("%q: %d, %v", text, year, part.Notices)
		}
	}
}
