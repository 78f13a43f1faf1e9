package live

import (
	"strings"
	"testing"
	"time"
)

// TestDelays: what the scheduler says of times is put where it would be had it told that at once, however its clock goes and
// however far it is away.
func TestDelays(t *testing.T) {
	start := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	const ms = time.Millisecond
	type arrival struct {
		after   time.Duration // since the start, by this machine's clock
		by      time.Duration // after the scheduler's time
		renewal bool
	}
	every2s := func(from, to int, by time.Duration) (all []arrival) {
		for s := from; s < to; s += 2 {
			all = append(all, arrival{time.Duration(s) * time.Second, by + time.Duration(s%7)*ms, true})
		}
		return all
	}
	for _, c := range []struct {
		name          string
		arrivals      []arrival
		answers       time.Duration
		offset, ahead time.Duration
		notice        string
	}{
		{"no arrivals", nil, 2 * ms, 0, 0, ""},
		{"on one machine", every2s(0, 60, 3*ms), 0, 0, 0, ""},
		{"far away", every2s(0, 60, 83*ms), 160 * ms, 80 * ms, 0, ""},
		{"far away, and this clock is ahead", every2s(0, 60, 383*ms), 160 * ms, 380 * ms, 300 * ms, "is about 300ms ahead of"},
		{"this clock is behind", every2s(0, 60, -1997*ms), 4 * ms, -2000 * ms, -2002 * ms, "is about 2s behind"},
		{"an Event that was held up, and one that was not", []arrival{{0, 903 * ms, false}, {time.Second, 13 * ms, false}, {11 * time.Second, 503 * ms, false}}, 0, 10 * ms, 10 * ms, ""},
		{"Events that may all have been held up", []arrival{{0, 903 * ms, false}, {time.Second, 803 * ms, false}}, 0, 0, 0, ""},
		{"this clock was set back", append(every2s(0, 60, 903*ms), every2s(60, 76, 3*ms)...), 0, 0, 0, ""},
		{"this clock was set forward", append(every2s(0, 60, 3*ms), every2s(60, 200, 903*ms)...), 0, 900 * ms, 900 * ms, "is about 900ms ahead of"},
		{"a time of another day", append(every2s(0, 60, 3*ms), arrival{time.Minute, -48 * time.Hour, true}), 0, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Delays
			now, notice := start, ""
			for _, one := range c.arrivals {
				now = start.Add(one.after)
				d.Heard(now, now.Add(-one.by), one.renewal)
				d.Answered(now, c.answers)
				notice = d.Notice(now)
			}
			if got := d.Offset(now); got != c.offset {
				t.Errorf("the offset is %v, want %v", got, c.offset)
			}
			if got := d.Ahead(now); got != c.ahead {
				t.Errorf("this clock is %v ahead, want %v", got, c.ahead)
			}
			if (c.notice == "") != (notice == "") || !strings.Contains(notice, c.notice) {
				t.Errorf("it says %q, want %q", notice, c.notice)
			}
		})
	}
}

// TestNoticeOfClocks: what is said stays as it is while little changes.
func TestNoticeOfClocks(t *testing.T) {
	var d Delays
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	said := map[string]bool{}
	for i := range 600 {
		now = now.Add(time.Second)
		d.Heard(now, now.Add(-800*time.Millisecond-time.Duration(i)*100*time.Microsecond), true)
		d.Answered(now, time.Millisecond)
		said[d.Notice(now)] = true
	}
	if len(said) != 2 { // none at first
		t.Errorf("it said %v", said)
	}
}
