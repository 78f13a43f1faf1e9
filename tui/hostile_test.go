package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// hostile are texts that control a terminal, or that terminals display differently.
var hostile = []string{
	"\x1b]52;c;ZXZpbA==\a",                    // OSC 52: writes the clipboard
	"\x1b]0;title",                            // an unterminated OSC swallows the following rows
	"\x1b[2J\x1b[31mred",                      // CSI
	"\x1bP1$qm\x1b\\",                         // DCS
	"\u009b31mred",                            // CSI as a C1 character
	"\x9b31m\xff\xc3\x28",                     // and as invalid UTF-8
	"a\rb\nc\td\x00e\x7f",                     // C0
	"\u202etxt.exe",                           // right to left
	"zero\u200bwidth\ufeff",                   // format characters
	"line\u2028and\u2029paragraph",            // separators
	"日本語のポッド",                                 // two cells each
	"👨\u200d👩\u200d👧👍🏽🇩🇪",                     // emoji of several characters
	"a" + strings.Repeat("\u0301", 100),       // a letter with a hundred accents
	strings.Repeat("long", 2000),              // longer than any row
	"\x1b]8;;http://evil/\x1b\\click\a",       // a link
	"",                                        // nothing
	strings.Repeat("\U000E0001\U0001F3F4", 9), // tags
}

// hostileRecording has each hostile text in every text field of a recording.
func hostileRecording() *sources.Recording {
	rec := &sources.Recording{Name: sources.Sanitize(strings.Join(hostile, "")), Formats: hostile, Notices: hostile}
	at := zero
	add := func(fact sources.Fact) {
		at = at.Add(10 * time.Millisecond)
		rec.Events = append(rec.Events, sources.Event{Time: at, Fact: fact})
	}
	gates := make(map[string]bool)
	for _, text := range hostile {
		gates[text] = true
	}
	add(&sources.SchedulerStarted{Release: sources.Sanitize(hostile[0]), Gates: gates, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	for i, text := range hostile {
		key := types.NamespacedName{Namespace: text, Name: text}
		message := sources.Sanitize(text + " " + text)
		add(&sources.ObjectChange{Verb: sources.Added, Object: &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: text, Name: text, UID: types.UID(string(rune('a' + i))), Labels: map[string]string{text: text},
		}}})
		add(&sources.Mark{Text: message})
		add(&sources.Move{Pod: key, To: sources.TierActive, Event: text})
		switch i % 5 {
		case 1, 2:
			add(&sources.Move{Pod: key, To: sources.TierInFlight})
			add(&sources.Move{Pod: key, To: sources.TierUnschedulable, Event: "ScheduleAttemptFailure", Plugins: []string{text, text + "2"}, Message: message, Node: text})
		case 3:
			add(&sources.Move{Pod: key, To: sources.TierGated, Event: text, GatingPlugin: text, Message: message})
		case 4:
			add(&sources.Move{Pod: key, To: sources.TierInFlight})
		}
	}
	return rec
}

// allowed reports whether the screen may contain r.
func allowed(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsGraphic(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

func onlyAllowed(t *testing.T, screen string) {
	t.Helper()
	for _, r := range screen {
		if r != '\n' && !allowed(r) {
			t.Fatalf("%U is on the screen:\n%s", r, screen)
		}
	}
}

func TestHostileTextCannotLeaveItsPlace(t *testing.T) {
	t.Parallel()
	for _, size := range sizes[:3] { // the largest has the same parts as the third
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, size[0], size[1], session.New(hostileRecording(), timeline.Options{Paused: true}), Options{titled: true})
			p.goTo("end")
			stands := func() {
				t.Helper()
				onlyAllowed(t, p.screen())
				if !strings.Contains(p.row(size[1]-1), "quit") {
					t.Fatalf("the key bar is missing:\n%s", p.screen())
				}
			}
			panesStand := func() {
				t.Helper()
				p.sees("1 activeQ", "2 backoffQ", "3 unschedulable", " 4 in-flight", " 5 log")
				if size[0] < 80 {
					return
				}
				top, between := p.rowOf("1 activeQ"), 0
				for x := 1; x < size[0]-1; x++ {
					if !strings.Contains("┬┏┓", p.terminal.CellAt(x, top).Content) {
						continue
					}
					between++
					end := p.rowOf("waits longest")
					if size[1] >= 30 {
						end-- // the last line is the panes' border
					}
					for y := end - 1; y > top; y-- {
						if c := p.terminal.CellAt(x, y); c.Content != "│" && c.Content != "┃" {
							t.Fatalf("the line between the panes is broken at %d, %d:\n%s", x, y, p.screen())
						}
					}
				}
				if between != 2 {
					t.Fatalf("there are %d lines between the three panes:\n%s", between, p.screen())
				}
			}
			stands()
			panesStand()
			for _, pane := range []keymap.ID{keymap.FocusActive, keymap.FocusUnsched, keymap.FocusFlight, keymap.FocusLog} {
				p.do(pane)
				for range hostile {
					p.do(keymap.RowDown)
					stands()
				}
				panesStand()
			}
			p.do(keymap.FocusUnsched, keymap.FirstRow)
			for range hostile { // the detail of each pod
				p.do(keymap.Open)
				stands()
				p.do(keymap.Open, keymap.RowDown)
			}
			p.do(keymap.Help)
			onlyAllowed(t, p.screen())
			p.press("esc")
			for _, title := range regexp.MustCompile("\x1b\\][02];([^\a\x1b]*)").FindAllStringSubmatch(p.written.String(), -1) {
				onlyAllowed(t, title[1])
				if title[1] != "" && !strings.HasPrefix(title[1], "schedq: ") {
					t.Errorf("the window's title is %q", title[1])
				}
			}
			for _, order := range []string{"\x1b]52;", "\x1b]8;", "\x1bP", "\u009b", "\u202e", "\u200b"} {
				if strings.Contains(p.written.String(), order) {
					t.Errorf("%q was written to the terminal", order)
				}
			}
		})
	}
}

// badNames are names that are long, wide, invisible or right-to-left.
var badNames = []string{
	strings.Repeat("a", 253), strings.Repeat("日本", 60), "zero" + strings.Repeat("\u200b\u200d\ufeff", 20) + "width", "\u202eמֶלֶךְ-עברית", "العربية-\u200fpod",
}

// badlyNamed is a cluster whose nodes, pods, plugins and resources have bad names.
func badlyNamed() *sources.Recording {
	rec := &sources.Recording{Name: sources.Sanitize(badNames[0])}
	at := zero
	add := func(fact sources.Fact) {
		at = at.Add(10 * time.Millisecond)
		rec.Events = append(rec.Events, sources.Event{Time: at, Fact: fact})
	}
	for i, name := range badNames {
		room := v1.ResourceList{v1.ResourceName(name): resource.MustParse("3"), v1.ResourceCPU: resource.MustParse("2"), v1.ResourcePods: resource.MustParse("9")}
		add(&sources.ObjectChange{Verb: sources.Added, Object: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{name: name}},
			Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: name, Value: name, Effect: v1.TaintEffectNoSchedule}}}, Status: v1.NodeStatus{Allocatable: room}}})
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name, UID: types.UID(string(rune('a' + i)))}, Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, NodeSelector: map[string]string{name: name},
			Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceName(name): resource.MustParse("5")}}}},
		}}
		add(&sources.ObjectChange{Verb: sources.Added, Object: pod})
		key := types.NamespacedName{Namespace: name, Name: name}
		add(&sources.Move{Pod: key, To: sources.TierActive, Event: name})
		add(&sources.Move{Pod: key, To: sources.TierInFlight})
		add(&sources.Move{Pod: key, To: sources.TierUnschedulable, Event: "ScheduleAttemptFailure", Plugins: []string{"NodeResourcesFit", name}, Message: sources.Sanitize(name), Node: name})
	}
	return rec
}

// TestBadNamesOnEveryPage: bad names do not break the lines of any page, and no invisible character
// is written.
func TestBadNamesOnEveryPage(t *testing.T) {
	t.Parallel()
	inTree(t)
	pages := append(slices.Clone(views), []struct {
		name string
		open func(p *person)
	}{
		{"nodes", func(p *person) { p.do(keymap.Nodes, keymap.RowDown, keymap.RowDown) }},
		{"outcome", func(p *person) { p.do(keymap.WhatIf, keymap.MoveAll, keymap.Outcome, keymap.RowDown) }},
		{"nodes asked", func(p *person) { p.try(keymap.RunScheduler).do(keymap.Outcome) }},
		{"completed", func(p *person) { p.try(keymap.AddNode).press("tab") }},
		{"found", func(p *person) { p.do(keymap.GoToPod).press("tab") }},
		{"messages", func(p *person) { p.do(keymap.WhatIf, keymap.DeletePod, keymap.Messages) }},
	}...)
	for _, size := range sizes[:3] {
		synctest.Test(t, func(t *testing.T) {
			p := sit(t, size[0], size[1], session.New(badlyNamed(), timeline.Options{Paused: true}), Options{})
			for _, page := range pages {
				p.goTo("end").do(keymap.FocusUnsched, keymap.FirstRow)
				for range badNames {
					p.do(keymap.RowDown)
				}
				page.open(p)
				onlyAllowed(t, p.screen())
				if bar := p.row(size[1] - 1); !strings.Contains(bar, "quit") && !strings.Contains(bar, "esc ") {
					t.Fatalf("%s: the key bar is missing:\n%s", page.name, p.screen())
				}
				for p.model.Overlays.Top() != nil || p.model.Pages.Covered() || p.model.Pages.Docked() != nil || p.model.Pages.Zoomed || p.model.Frame.Filter != "" {
					p.press("esc")
				}
				if p.model.Frame.Fork != nil {
					p.do(keymap.CloseFork)
				}
			}
			for _, r := range "\u200b\u200d\u200f\u202e\ufeff" {
				if strings.ContainsRune(p.written.String(), r) {
					t.Errorf("%U was written to the terminal", r)
				}
			}
		})
	}
}

func TestHostileTypingAndPasting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		for _, open := range []keymap.ID{keymap.Filter, keymap.Seek, keymap.AddPod, keymap.InjectEvent, keymap.Help} {
			for _, text := range hostile {
				p.do(open).paste(text)
				onlyAllowed(t, p.screen())
				if bar := p.row(23); !strings.Contains(bar, "esc ") {
					t.Fatalf("%q breaks the screen:\n%s", text, p.screen())
				}
				p.press("enter")
				p.press("esc")
			}
		}
	})
}
