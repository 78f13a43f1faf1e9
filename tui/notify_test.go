package tui

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/tui/canvas"
)

// env returns a getenv for these variables.
func env(variables ...string) func(string) string {
	return func(name string) string {
		for _, v := range variables {
			if is, value, _ := strings.Cut(v, "="); is == name {
				return value
			}
		}
		return ""
	}
}

// notification matches OSC 9.
var notification = regexp.MustCompile("\x1b\\]9;([^\a\x1b]*)\a")

// notified returns the notifications since the last call.
func (p *person) notified() string {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	var all []string
	for _, found := range notification.FindAllStringSubmatch(p.written.String(), -1) {
		all = append(all, found[1])
	}
	p.written.Reset()
	return strings.Join(all, "\n")
}

// often has a pod that is rejected twice by one plugin, then by another, and then bound.
const often = `
1.0  web-1 active UnscheduledPodAdd
1.1  web-1 inflight
1.2  web-1 unschedulable ScheduleAttemptFailure NodeResourcesFit
5.0  web-1 active NodeAdd
5.1  web-1 inflight
5.2  web-1 unschedulable ScheduleAttemptFailure NodeResourcesFit
9.0  web-1 active NodeAdd
9.1  web-1 inflight
9.2  web-1 unschedulable ScheduleAttemptFailure NodeAffinity
13.0 web-1 active NodeAdd
13.1 web-1 inflight
13.2 web-1 scheduled node-1
20.0 mark end
`

// TestNotifications: without the focus, each change of the selected pod's state raises one
// notification.
func TestNotifications(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		blur    bool
		want    string
	}{
		{"on, without focus", Options{Notifications: true, notifier: notifierOf(env("TERM=xterm"))}, true,
			"schedq: default/web-1: unschedulable, rejected by NodeAffinity\nschedq: default/web-1: bound to node-1"},
		{"on, with focus", Options{Notifications: true, notifier: notifierOf(env("TERM=xterm"))}, false, ""},
		{"off", Options{notifier: notifierOf(env("TERM=xterm"))}, true, ""},
		{"in a room", Options{Notifications: true, notifier: notifierOf(env("TERM=xterm"))}.Served(), true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, 80, 24, paused(t, often), c.options)
				p.goTo("10:36:01.5").do(keymap.GoToPod).enter("web-1")
				p.notified()
				if c.blur {
					p.program.Send(tea.BlurMsg{})
				}
				p.do(keymap.Play).wait(20 * time.Second)
				if got := p.notified(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				p.program.Send(tea.FocusMsg{})
				p.do(keymap.SeekStart, keymap.Play).wait(20 * time.Second)
				if got := p.notified(); got != "" {
					t.Errorf("with the focus the notifications are %q", got)
				}
			})
		})
	}
}

// TestNotificationOfARun: a run that stops at its condition raises a notification.
func TestNotificationOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, often), Options{Notifications: true, notifier: notifierOf(env("TERM=xterm"))})
		p.do(keymap.Until).types("web-1 enters bound")
		p.program.Send(tea.BlurMsg{})
		p.press("enter")
		p.wait(5 * time.Second)
		if got := p.notified(); !strings.Contains(got, "default/web-1") {
			t.Errorf("got %q", got)
		}
	})
}

// TestNotifiers: each terminal gets its own sequence, without control characters from outside.
func TestNotifiers(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"TERM=xterm-kitty"}, "\x1b]99;;schedq: x\x1b\\"},
		{[]string{"TERM=xterm-256color", "KITTY_WINDOW_ID=1"}, "\x1b]99;;schedq: x\x1b\\"},
		{[]string{"TERM=foot"}, "\x1b]777;notify;schedq;x\a"},
		{[]string{"TERM=rxvt-unicode-256color"}, "\x1b]777;notify;schedq;x\a"},
		{[]string{"TERM=xterm-256color", "VTE_VERSION=7600"}, "\x1b]777;notify;schedq;x\a"},
		{[]string{"TERM=xterm-256color", "TERM_PROGRAM=iTerm.app"}, "\x1b]9;schedq: x\a"},
		{[]string{"TERM=xterm-256color", "WT_SESSION=1"}, "\x1b]9;schedq: x\a"},
	} {
		if got := notifierOf(env(c.env...))("x"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.env, got, c.want)
		}
	}
	for _, name := range []string{"", "dumb", "linux"} {
		if notifierOf(env("TERM="+name)) != nil {
			t.Errorf("TERM=%s has notifications", name)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{Notifications: true, notifier: notifierOf(env("TERM=xterm"))})
		p.program.Send(tea.BlurMsg{})
		p.idle()
		var text string
		p.model.options.notifier = func(said string) string { text = said; return "" }
		p.model.notify(p.model.Selected.Key, "a\x1b]0;b\a\n"+strings.Repeat("long ", 100))
		if strings.ContainsAny(text, "\x1b\a\n") || canvas.Width(text) > maxNotification || text == "" {
			t.Errorf("the notification is %q", text)
		}
	})
}
