package tui

import (
	"testing"
	"time"

	"github.com/schedq/schedq/tui/canvas"
)

var alignmentStart = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func side(start, length, now time.Duration) timeSide {
	return timeSide{Start: alignmentStart.Add(start), First: alignmentStart.Add(start), Last: alignmentStart.Add(start + length), Now: alignmentStart.Add(start + now)}
}

func TestMoment(t *testing.T) {
	first, hourLater := side(0, time.Minute, 10*time.Second), side(time.Hour, 30*time.Second, 0)
	forked := hourLater
	forked.First = alignmentStart.Add(time.Hour + 20*time.Second) // a what-if begins where it branched off the recording
	for _, test := range []struct {
		name           string
		by             Alignment
		leads, follows timeSide
		want           time.Duration
		moves          bool
	}{
		{"same offset from the start", ByStart, first, hourLater, time.Hour + 10*time.Second, true},
		{"not past the end", ByStart, side(0, time.Minute, 50*time.Second), hourLater, time.Hour + 30*time.Second, true},
		{"not before a what-if", ByStart, first, forked, time.Hour + 20*time.Second, true},
		{"a what-if leads", ByStart, forked, first, 0, true},
		{"the same time", ByTime, first, side(5*time.Second, time.Minute, 0), 10 * time.Second, true},
		{"time outside the other recording", ByTime, first, hourLater, 0, false},
		{"apart", Apart, first, hourLater, 0, false},
	} {
		got, moves := test.by.Moment(test.leads, test.follows)
		if moves != test.moves || moves && !got.Equal(alignmentStart.Add(test.want)) {
			t.Errorf("%s: %s, %t", test.name, got, moves)
		}
	}
}

func TestUsual(t *testing.T) {
	live := side(0, time.Minute, time.Minute)
	live.Live = true
	for _, test := range []struct {
		a, b timeSide
		want Alignment
	}{
		{side(0, time.Minute, 0), side(time.Hour, time.Minute, 0), ByStart},
		{side(0, time.Minute, 0), side(30*time.Second, time.Minute, 0), ByTime},
		{live, side(time.Hour, time.Minute, 0), Apart},
		{live, live, ByTime},
	} {
		if got := usualAlignment(test.a, test.b); got != test.want {
			t.Errorf("%+v, %+v: %s, want %s", test.a, test.b, got.Words(), test.want.Words())
		}
	}
}

// TestRooms: every cell belongs to exactly one of the two sides and the divider.
func TestRooms(t *testing.T) {
	for _, size := range [][2]int{{60, 18}, {80, 22}, {119, 37}, {120, 38}, {201, 58}} {
		rooms, divider := splitRects(size[0], size[1])
		for y := range size[1] {
			for x := range size[0] {
				n := 0
				for _, r := range []canvas.Rect{rooms[0], rooms[1], divider} {
					if r.Contains(x, y) {
						n++
					}
				}
				if n != 1 {
					t.Fatalf("%v: cell %d,%d is in %d of %v and %v", size, x, y, n, rooms, divider)
				}
			}
		}
	}
}
