package ring_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/sources/ring"
)

// TestResolveWindow: the ring is from noon of the 21st to 13:10 of the 22nd.
func TestResolveWindow(t *testing.T) {
	first, last := noon, noon.Add(25*time.Hour+10*time.Minute)
	is := " is not within the ring: it is from 2026-11-21 12:00:00 to 2026-11-22 13:10:00 UTC"
	for _, c := range []struct{ from, to, start, end, err string }{
		{"", "", "21T12:00:00", "22T13:10:00", ""},
		{"-2h", "", "22T11:10:00", "22T13:10:00", ""},
		{"-2h", "+5m", "22T11:10:00", "22T11:15:00", ""},
		{"-2h", "-1h", "22T11:10:00", "22T12:10:00", ""},
		{"+1h", "", "21T13:00:00", "22T13:10:00", ""},
		{"", "+5m", "21T12:00:00", "21T12:05:00", ""},
		{"13:00:05", "13:01", "22T13:00:05", "22T13:01:00", ""},
		{"14:00", "+30s", "21T14:00:00", "21T14:00:30", ""},
		{"2026-11-21 12:30:00", "2026-11-21T13:30:00Z", "21T12:30:00", "21T13:30:00", ""},
		{"-48h", "", "21T12:00:00", "22T13:10:00", ""}, // as much as there is
		{"-10m", "+1h", "22T13:00:00", "22T13:10:00", ""},
		{"2026-11-23 00:00:00", "", "", "", "--from 2026-11-23 00:00:00" + is},
		{"", "2026-11-20T00:00:00Z", "", "", "--to 2026-11-20T00:00:00Z" + is},
		{"", "-48h", "", "", "--to -48h" + is},
		{"-1h", "-2h", "", "", "--to -2h is before --from -1h"},
		{"1h", "", "", "", "--from 1h is not a time: -2h from the end, +5m, 12:03:10, or 2026-11-21T12:03:10Z"},
		{"", "soon", "", "", "--to soon is not a time: -2h from the end, +5m, 12:03:10, or 2026-11-21T12:03:10Z"},
		{"-9999999h", "", "", "", "--from -9999999h is not a time: -2h from the end, +5m, 12:03:10, or 2026-11-21T12:03:10Z"},
	} {
		from, to, err := ring.Window{From: c.from, To: c.to}.Resolve("--", first, last)
		switch {
		case c.err != "":
			if err == nil || err.Error() != c.err {
				t.Errorf("%s to %s: %v\nwant %s", c.from, c.to, err, c.err)
			}
		case err != nil || from.Format("02T15:04:05") != c.start || to.Format("02T15:04:05") != c.end:
			t.Errorf("%s to %s: %v to %v, %v; want %s to %s", c.from, c.to, from, to, err, c.start, c.end)
		}
	}
}
