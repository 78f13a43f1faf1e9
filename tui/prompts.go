package tui

import (
	"errors"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session"
)

// askTime asks for a time and goes there.
func (m *model) askTime() tea.Cmd {
	m.ask(prompt{
		title: "go to",
		hint:  "hh:mm:ss (UTC)  +30s  -1m  start  end",
		accept: func(text string) string {
			switch strings.TrimSpace(text) {
			case "start":
				m.session.SeekStart()
				return ""
			case "end":
				m.session.SeekEnd()
				return ""
			}
			t, err := parseTime(text, m.frame)
			if err != nil {
				return err.Error()
			}
			m.session.Seek(t)
			return ""
		},
	}, "")
	return nil
}

// parseTime reads a moment of f's recording: a time of day, a distance from the moment shown (+30s, -1m),
// or the time since the start (2m10s).
func parseTime(text string, f *session.Frame) (time.Time, error) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
			return f.Now.Add(d), nil
		}
		return f.Start.Add(d), nil
	}
	for _, format := range []string{"15:04:05", "15:04"} {
		t, err := time.Parse(format, text)
		if err != nil {
			continue
		}
		// The first day of the recording on which that time comes.
		day := f.Start.UTC().Truncate(24 * time.Hour)
		at := day.Add(t.Sub(t.Truncate(24 * time.Hour)))
		if at.Before(f.Start.Truncate(time.Second)) {
			at = at.Add(24 * time.Hour)
		}
		if at.After(f.End.Add(time.Second)) {
			what := "the recording is"
			if f.Fork != nil {
				what = "the what-if can be shown"
			}
			return time.Time{}, errors.New(what + " from " + secondTime(f.Start) + " to " + secondTime(f.End))
		}
		return at, nil
	}
	return time.Time{}, errors.New("not a time: hh:mm:ss, +30s, -1m, start or end")
}

// askPod asks for a new pod and adds it.
func (m *model) askPod() tea.Cmd {
	m.ask(prompt{
		title: "new pod",
		hint:  "name [priority] [gated]",
		accept: func(text string) string {
			pod, err := parsePod(text)
			if err != nil {
				return err.Error()
			}
			m.session.AddPod(pod)
			m.selected = selection{pod.Key, true}
			return ""
		},
	}, "")
	return nil
}

// parsePod reads "name", "namespace/name", and after it a priority and the word gated, in any order.
func parsePod(text string) (session.NewPod, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return session.NewPod{}, errors.New("a pod needs a name")
	}
	namespace, name, found := strings.Cut(words[0], "/")
	if !found {
		namespace, name = "default", words[0]
	}
	if !isName(namespace) || !isName(name) {
		return session.NewPod{}, errors.New("a name has small letters, digits, - and . only")
	}
	pod := session.NewPod{Key: types.NamespacedName{Namespace: namespace, Name: name}}
	for _, word := range words[1:] {
		if word == "gated" {
			pod.Gated = true
			continue
		}
		priority, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return session.NewPod{}, errors.New("not a priority: " + safe(word))
		}
		pod.Priority = int32(priority)
	}
	return pod, nil
}

// isName reports whether s may be the name of a pod.
func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return false
		}
	}
	return true
}
