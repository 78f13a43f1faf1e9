package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// journey returns an owner of a small recording, and a function that formats the position after an action:
// seconds after noon and the last move.
func journey(t *testing.T) (o *owner, goes func(do func()) string) {
	o = newOwner(world.SmallRecording(), timeline.Options{Paused: true})
	return o, func(do func()) string {
		t.Helper()
		do()
		for o.working() {
			o.work()
		}
		if o.reply.Refused {
			o.reply.Refused = false
			return o.reply.Text
		}
		last := "nothing"
		if m := o.shownTimeline().Moved; m > 0 {
			move := o.shownTimeline().Move(m - 1)
			last = move.Pod.Key.Name + " " + words.TierWord(move.To)
		}
		return fmt.Sprintf("%g %s", o.now.Sub(world.Noon).Seconds(), last)
	}
}

func condition(t *testing.T, text string) board.Condition {
	t.Helper()
	c, err := board.ParseCondition(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

// TestRunUntil: a condition is met at the same times forward and back.
func TestRunUntil(t *testing.T) {
	for text, want := range map[string][]string{
		"batch enters backoff":       {"11.2 batch-1 backoff"},
		"leaves in-flight":           {"10.7 batch-1 unschedulable", "12.1 web-1 bound"},
		"enters active":              {"10 batch-1 active", "12 web-1 active", "12.3 batch-1 active", "250 late-1 active"},
		"active > 0":                 {"10 batch-1 active", "12 web-1 active", "12.3 batch-1 active"},
		"activeQ>=2":                 {"250 late-1 active"},
		"unschedulable = 0":          {"11.2 batch-1 backoff"},
		"event nodeadd":              {"11.2 batch-1 backoff"},
		"event BackoffComplete":      {"12.3 batch-1 active"},
		"web-1":                      {"12 web-1 active", "12 web-1 in-flight", "12.1 web-1 bound"},
		"!batch !late enters active": {"12 web-1 active"},
		"waiting>1s !late":           {"11.000000001 batch-1 unschedulable", "11.2 batch-1 backoff", "12.3 batch-1 active"},
		"waiting>=30s batch":         {"40 batch-1 active"},
		"attempts>0 tier:unsched":    {"10.7 batch-1 unschedulable"},
		"mark node":                  {"11.5 batch-1 backoff"},
	} {
		o, goes := journey(t)
		for _, w := range want {
			if got := goes(func() { o.find(condition(t, text), true) }); got != w {
				t.Errorf("on until %q: %s, want %s", text, got, w)
			}
		}
		if got := goes(func() { o.find(condition(t, text), true) }); !strings.HasPrefix(got, "no later m") {
			t.Errorf("on until %q again: %s", text, got)
		}
		goes(o.seekEnd)
		for i := len(want) - 1; i >= 0; i-- {
			if want[i] == "250 late-1 active" {
				goes(func() { o.seek(world.At(249)) }) // a search does not find the current position
				continue
			}
			if got := goes(func() { o.find(condition(t, text), false) }); got != want[i] {
				t.Errorf("back until %q: %s, want %s", text, got, want[i])
			}
		}
		if got := goes(func() { o.find(condition(t, text), false) }); !strings.HasPrefix(got, "no earlier m") {
			t.Errorf("back until %q again: %s", text, got)
		}
	}
}

func TestSteps(t *testing.T) {
	o, goes := journey(t)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { o.find(board.AnyAttempt(), true) }, "10.1 batch-1 in-flight"},
		{func() { o.find(board.AnyAttempt(), true) }, "12 web-1 in-flight"},
		{func() { o.find(board.AnyAttempt(), false) }, "10.1 batch-1 in-flight"},
		{func() { o.stepTime(time.Second) }, "11.1 batch-1 unschedulable"},
		{func() { o.stepTime(-2 * time.Second) }, "9.1 nothing"},
		{func() { o.find(board.MovesOf(world.Key("web-1")), true) }, "12 web-1 active"},
		{func() { o.find(board.MovesOf(world.Key("batch-1")), false) }, "11.2 batch-1 backoff"},
		{func() { o.find(board.MovesOf(world.Key("batch-1")), true) }, "12.3 batch-1 active"},
		{func() { o.find(board.MovesOf(world.Key("batch-1")), true) }, `no later moment matches "move of default/batch-1"`},
	} {
		if got := goes(step.do); got != step.want {
			t.Errorf("it goes to %q, want %q", got, step.want)
		}
	}
}

// TestFindInAWhatIf: the search advances time, and a failed search changes nothing.
func TestFindInAWhatIf(t *testing.T) {
	o, goes := journey(t)
	goes(func() { o.seek(world.At(11.3)) })
	o.forkHere()
	if got := goes(func() { o.find(condition(t, "enters active"), true) }); got != "12 batch-1 active" {
		t.Errorf("it goes to %s", got)
	}
	if got := goes(func() { o.find(condition(t, "event NodeAdd"), true) }); !strings.HasPrefix(got, "no later moment") {
		t.Errorf("it goes to %s", got)
	}
	if !o.now.Equal(world.At(12)) || !o.fork.Executed.Equal(world.At(12)) {
		t.Errorf("it is %s, executed up to %s", o.now, o.fork.Executed)
	}
	if got := goes(func() { o.find(condition(t, "event NodeAdd"), false) }); !strings.HasPrefix(got, "no earlier moment") {
		t.Errorf("back it goes to %s, before the start of the what-if", got)
	}
}

func TestConditionMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "letter 1: condition missing",
		"event":                         "letter 6: event label missing",
		"web enters":                    "", // just two words
		"web enters limbo":              `letter 12: unknown tier "limbo"`,
		"colour:red enters act":         "letter 1: unknown field colour",
		"scheduled > 3":                 "letter 1: scheduled pods can't be counted",
		"active > 99999999999999999999": "letter 10: number too large",
		"limbo > 3":                     `letter 1: unknown tier "limbo"`,
		"attempts>3":                    "",
	} {
		_, err := board.ParseCondition(text)
		var mistake *filter.Error
		if want == "" && err != nil || want != "" && (!errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestMarks(t *testing.T) {
	o, goes := journey(t)
	goes(func() { o.seek(world.At(10.5)) })
	o.setMark("  it is tried ")
	o.setMark("")
	if o.reply.Text != `removed mark "it is tried"` {
		t.Errorf("got %q", o.reply.Text)
	}
	o.setMark("")
	if !o.reply.Refused {
		t.Error("a mark without a name is not refused")
	}
	o.setMark("tried\x1b")
	if f := o.frame(); len(f.Marks) != 2 || f.Marks[0] != (timeline.Mark{At: world.At(10.5), Text: "tried␛", Own: true}) || f.Mark != "tried␛" {
		t.Errorf("the marks are %v, the last %q", f.Marks, f.Mark)
	}
	if got := goes(func() { o.findMark("", true) }); got != "11.5 batch-1 backoff" {
		t.Errorf("the next mark is at %s", got)
	}
	if got := goes(func() { o.findMark("", false) }); got != "10.5 batch-1 in-flight" {
		t.Errorf("the mark before is at %s", got)
	}

	// A what-if has the marks before its start, and its own.
	goes(func() { o.seek(world.At(11)) })
	o.forkHere()
	goes(func() { o.seek(world.At(13)) })
	o.setMark("later")
	if f := o.frame(); len(f.Marks) != 2 || f.Marks[1].Text != "later" {
		t.Errorf("the what-if's marks are %v", f.Marks)
	}
	o.leaveFork()
	if f := o.frame(); len(f.Marks) != 2 || f.Marks[1].Text != "a node came" {
		t.Errorf("the recording's marks are %v", f.Marks)
	}
}

func TestPlayingStopsAtMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, world.SmallRecording(), timeline.Options{Paused: true})
		s.ToggleStops()
		s.Seek(world.At(10.9))
		s.SetMark("here")
		s.Seek(world.At(12.5))
		s.Seek(world.At(100))
		s.SetMark("in the quiet")
		s.Seek(world.At(10.5))
		for _, want := range []time.Time{world.At(10.9), world.At(11.5), world.At(100)} {
			s.Play()
			time.Sleep(20 * time.Second)
			synctest.Wait()
			if f := s.Frame(); f.Playing || !f.Now.Equal(want) || !strings.HasPrefix(f.Reply.Text, "stopped at mark") {
				t.Errorf("it plays: %t, at %s, want to stop at %s; got %q", f.Playing, f.Now, want, f.Reply.Text)
			}
		}
	})
}

// TestSearchInSlices: a long search publishes frames, and a command ends it.
func TestSearchInSlices(t *testing.T) {
	rec := &sources.Recording{Name: "long"}
	for i := range 50_000 {
		m := &sources.Move{Pod: world.Key(fmt.Sprint("p-", i%100)), To: sources.TierActive, Event: "UnscheduledPodAdd"}
		if i%2 == 1 {
			m.To, m.Event = sources.TierBackoff, "NodeAdd"
		}
		rec.Events = append(rec.Events, sources.Event{Time: world.At(float64(i) / 100), Fact: m})
	}
	o := newOwner(rec, timeline.Options{Paused: true})
	o.find(condition(t, "enters gated"), true)
	o.work()
	if f := o.frame(); o.search == nil || !strings.HasPrefix(string(f.Searching), "enters gated at 12:0") || !f.Now.Equal(world.Noon) {
		t.Errorf("after a slice of work it searches %q, and shows %s", f.Searching, f.Now)
	}
	o.pause()
	if o.working() {
		t.Error("pausing does not end the search")
	}
}
