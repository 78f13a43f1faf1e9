package browser

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Every lesson can be completed on a phone or tablet with the buttons alone.
func TestEveryLessonByClicks(t *testing.T) {
	files, err := filepath.Glob("../../lessons/*.yaml")
	if err != nil || len(files) < 21 {
		t.Fatalf("there are %d lessons, %v", len(files), err)
	}
	for i, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			l := read(t, file)
			p := open(t, "http://"+serve(t, "--lesson", fmt.Sprint(i+1))+"/", []device{phone, tablet}[i%2])
			p.logIn("ada", code)
			p.learns(l, p.click)
		})
	}
}

// A lesson can be completed with the keyboard.
func TestLessonByKeys(t *testing.T) {
	p := open(t, "http://"+serve(t)+"/", laptop)
	p.logIn("ada", code)
	p.learns(read(t, "../../lessons/01-three-places.yaml"), p.press)
}

// lesson is a parsed lesson file.
type lesson struct {
	Title string `yaml:"title"`
	steps []step
}

// step is a step of a lesson with its questions or goal.
type step struct {
	Step          string                 `yaml:"step"`
	Predict, Find map[string]yamlv3.Node `yaml:",omitempty"`
	Goal          *struct{ Hints []string }
}

// ask is a question: the key of the right answer, and the answer.
type ask struct{ key, answer string }

// feedback returns the start of the lesson's reply to the right answer. The colon distinguishes a queue's
// name from other text after a ✓.
func (a ask) feedback() string {
	words := strings.Fields(a.answer)
	if len(words) == 1 {
		return "✓ " + words[0] + ":"
	}
	return "✓ " + words[0]
}

// read parses a lesson file.
func read(t *testing.T, file string) lesson {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var l lesson
	docs := yamlv3.NewDecoder(bytes.NewReader(text))
	for err = docs.Decode(&l); err == nil; {
		var s step
		if err = docs.Decode(&s); err == nil && s.Step != "" {
			l.steps = append(l.steps, s)
		}
	}
	if !errors.Is(err, io.EOF) || len(l.steps) == 0 {
		t.Fatalf("%s has %d steps, %v", file, len(l.steps), err)
	}
	return l
}

// tiers are the keys of the queues.
var tiers = map[string]ask{
	"active": {"1", "activeQ"}, "backoff": {"2", "backoffQ"}, "unschedulable": {"3", "unschedulable"}, "inflight": {"4", "in-flight"},
	"scheduled": {"5", "bound"}, "gated": {"6", "gated"}, "deleted": {"7", "deleted"},
}

// asks returns the questions of a step in order.
func (s step) asks(t *testing.T) (all []ask) {
	t.Helper()
	for _, kind := range []string{"cause", "queue", "which", "when", "backoff", "woken", "attempts", "plugin", "event"} {
		for _, in := range []map[string]yamlv3.Node{s.Predict, s.Find} {
			answers, ok := in[kind]
			if !ok {
				continue
			}
			var those []struct {
				Answer string
				Right  bool
			}
			if err := answers.Decode(&those); err != nil {
				t.Fatal(err)
			}
			for i, a := range those {
				switch {
				case a.Right && kind == "queue":
					all = append(all, tiers[a.Answer])
				case a.Right:
					all = append(all, ask{string(rune('a' + i)), a.Answer})
				}
			}
		}
	}
	return all
}

// asksToLook is on the screen while a learner is to look around before they answer.
const asksToLook = "Look around, then"

// score finds what a lesson says at its end of the questions.
var score = regexp.MustCompile(`You answered (\d+) of (\d+) questions?, (\d+) correctly`)

// learns completes a lesson by pressing keys with act: it looks around when prompted, gives the right
// answers and requests the hints to goals.
func (p *page) learns(l lesson, act func(key string)) {
	p.Helper()
	asked := 0
	for i, s := range l.steps {
		p.sees(fmt.Sprintf(" %d/%d ", i+1, len(l.steps)))
		asks := s.asks(p.T)
		if s.Find != nil {
			p.sees(asksToLook)
			p.looksAround(act)
			act("next")
		}
		for k, a := range asks {
			p.sees(" " + a.key + "  " + strings.Fields(a.answer)[0])
			if act(a.key); k == len(asks)-1 {
				p.sees("Your answer: " + strings.Fields(a.answer)[0])
			}
		}
		if asked += len(asks); len(asks) > 0 {
			act("next")
			for _, a := range asks {
				p.sees(a.feedback())
			}
		}
		if s.Goal != nil {
			act("hint")
			for _, word := range strings.Fields(s.Goal.Hints[0]) {
				if !strings.Contains(word, "{") { // a key, which is replaced
					p.sees(" " + word)
					break
				}
			}
		}
		act("next")
	}
	found := score.FindStringSubmatch(p.sees("Applies to"))
	if n := fmt.Sprint(asked); asked == 0 || found == nil || found[1] != n || found[2] != n || found[3] != n {
		p.Errorf("%d questions were answered correctly, and the lesson says %q", asked, found)
	}
}

// looksAround opens the explanation and the log, and steps back and forward. The prompt must stay.
func (p *page) looksAround(act func(key string)) {
	p.Helper()
	act("why")
	p.sees("esc: back")
	act("esc")
	for _, key := range []string{"log", "‹", "›"} {
		p.sees(asksToLook)
		act(key)
	}
	p.sees(asksToLook)
}
