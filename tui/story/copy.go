package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/theme"
	"github.com/schedq/schedq/tui/widget"
)

// copying holds the actions that write to the clipboard.
type copying struct{ *page.UI }

// AddCopying adds the actions that copy facts about the selected pod.
func AddCopying(d *page.UI, all page.Actions) {
	c := copying{d}
	all[keymap.CopyCommand] = page.Do(func() tea.Cmd {
		text := explainCommand(c.UI)
		return c.copy("command: "+text, text)
	}).DisabledWhen(func() string {
		if why := c.NotSelected(); why != "" {
			return why
		}
		return c.noCommand()
	})
	all[keymap.CopyMore] = page.Do(c.chooseCopy).DisabledWhen(c.NotSelected)
}

// noCommand says why no command shows what the screen shows, or "".
func (c copying) noCommand() string {
	switch {
	case c.Frame.Fork != nil:
		return "no command shows a what-if"
	case explainCommand(c.UI) == "":
		return "no command can read what is shown"
	}
	return ""
}

// explainCommand returns the schedq command that explains the selected pod at the moment shown, or "".
func explainCommand(d *page.UI) string {
	if d.Arguments == nil || d.Frame.Fork != nil {
		return ""
	}
	source := d.Arguments()
	if len(source) == 0 {
		return ""
	}
	words, flags := []string{d.Selected.Key.String()}, []string{"--at", d.Frame.Now.UTC().Format(time.RFC3339Nano)}
	if strings.HasPrefix(source[0], "--") {
		flags = slices.Concat(source, flags)
	} else {
		words = append(words, source...)
	}
	all := slices.Concat(words, flags)
	if strings.HasPrefix(words[0], "-") { // the name of a pod is no flag
		all = slices.Concat(flags, []string{"--"}, words)
	}
	text := "schedq explain"
	for _, word := range all {
		text += " " + shellWord(word)
	}
	return text
}

// copy writes text to the clipboard through the terminal (OSC 52), which also works over SSH. what names the text in the notice.
func (c copying) copy(what, text string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), c.Answer("copied the "+what))
}

// copyable is a text about the selected pod.
type copyable struct{ what, Text string }

// Copyable returns the texts about the selected pod, safe for a terminal and a shell.
func Copyable(d *page.UI) []copyable {
	key := d.Selected.Key
	all := []copyable{{"name", format.Safe(key.String())}}
	if command := explainCommand(d); command != "" {
		all = append(all, copyable{"command", command})
	}
	if p := d.Pod(); p != nil {
		all = append(all, copyable{"row", rowText(d.Frame, p)})
		about := Detail{Frame: d.Frame, Keys: d.Keys, Selected: d.Selected, withLane: true}
		var lines []string
		for _, l := range about.Facts(p, copyWidth) {
			lines = append(lines, l.Text)
		}
		all = append(all, copyable{"explanation", strings.Join(lines, "\n")})
		lines = nil
		for t := p.Last; t != nil && len(lines) < maxMoves; t = t.Prev() {
			lines = append(lines, format.Safe(t.Line(d.Frame.Zone)))
		}
		slices.Reverse(lines)
		all = append(all, copyable{"moves", strings.Join(lines, "\n")})
	}
	pod := "pod -n " + shellWord(key.Namespace) + " -- " + shellWord(key.Name)
	return append(all,
		copyable{"command", "kubectl describe " + pod},
		copyable{"command", "kubectl get -o yaml " + pod},
		copyable{"command", "kubectl get events -n " + shellWord(key.Namespace) + " --field-selector " + shellWord("involvedObject.name="+key.Name)},
	)
}

// copyWidth is the width of a copied explanation's lines.
const copyWidth = 100

// rowText returns the facts of a pane's row in one line.
func rowText(f *session.Frame, p *board.Pod) string {
	facts := []string{format.Safe(p.Key.String()), theme.TierName(p.Tier), p.AttemptCount().Attempts()}
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		facts = append(facts, "rejected by "+format.SafeList(plugins, ", "))
	}
	if p.GatingPlugin != "" {
		facts = append(facts, "gated by "+format.Safe(p.GatingPlugin))
	}
	if w := f.Wait(p); w.Bounded() {
		facts = append(facts, fmt.Sprintf("%s left until %s", format.Countdown(w.Remaining(f.Now)), f.Zone.Second(w.Until)))
	}
	return strings.Join(facts, "  ")
}

// shellWord quotes s for a POSIX shell if necessary.
func shellWord(s string) string {
	s = format.Safe(s)
	plainWord := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._/=:,", r)
	})
	if plainWord {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// chooseCopy lists the texts that can be copied.
func (c copying) chooseCopy() tea.Cmd {
	all := Copyable(c.UI)
	l := widget.List{Title: "copy", Choose: func(chosen []int) tea.Cmd {
		it := all[chosen[0]]
		what := it.what
		if !strings.Contains(it.Text, "\n") {
			what += ": " + it.Text
		}
		return c.copy(what, it.Text)
	}}
	for _, it := range all {
		first, _, _ := strings.Cut(it.Text, "\n")
		l.Items = append(l.Items, widget.Item{Key: it.what, Text: first, Note: strings.ReplaceAll(it.Text, "\n", " ")})
	}
	return widget.OpenList(c.UI, l, 0)
}
