package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
)

// addCopying adds what writes the clipboard.
func (m *model) addCopying(all map[keymap.ID]action) {
	notSelected := func() string {
		if !m.selected.any {
			return nothingSelected
		}
		return ""
	}
	all[keymap.Copy] = action{do: func() tea.Cmd {
		name := safe(m.selected.key.String())
		return m.copy("name: "+name, name)
	}}.unless(notSelected)
	all[keymap.CopyMore] = action{do: m.chooseCopy}.unless(notSelected)
}

// copy writes text to the clipboard in both ways there are: the machine's own, and OSC 52, by which the
// terminal does it, also that of another machine. what says in the answer what was copied.
func (m *model) copy(what, text string) tea.Cmd {
	cmds := []tea.Cmd{tea.SetClipboard(text), m.tell(notice{text: "copied the " + what})}
	if native := m.options.Clipboard; native != nil {
		cmds = append(cmds, func() tea.Msg {
			_ = native(text) // where there is none, the terminal has it
			return nil
		})
	}
	return tea.Batch(cmds...)
}

// copyable is something that can be copied about the selected pod.
type copyable struct{ what, text string }

// copyables returns what can be copied about the selected pod. All text is safe for a terminal and a shell.
func (m *model) copyables() []copyable {
	key := m.selected.key
	all := []copyable{{"name", safe(key.String())}}
	if p := m.selected.pod(m.frame); p != nil {
		all = append(all, copyable{"row", rowText(m.frame, p)})
		d := m.detail()
		var lines []string
		for _, l := range d.facts(p, copyWidth) {
			lines = append(lines, l.text)
		}
		all = append(all, copyable{"explanation", strings.Join(lines, "\n")})
		lines = nil
		for t := p.Last; t != nil && len(lines) < maxMoves; t = t.Prev {
			lines = append(lines, safe(t.String()))
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

// rowText is what a pane's row says of p, in one line.
func rowText(f *session.Frame, p *session.Pod) string {
	words := []string{safe(p.Key.String()), tierName(p.Tier), plural(p.Attempts, "attempt")}
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		words = append(words, "rejected by "+safeList(plugins, ", "))
	}
	if p.GatingPlugin != "" {
		words = append(words, "gated by "+safe(p.GatingPlugin))
	}
	if w := f.Wait(p); w.Bounded() {
		words = append(words, fmt.Sprintf("%s left until %s", countdown(w.Left(f.Now)), secondTime(w.Until)))
	}
	return strings.Join(words, "  ")
}

// shellWord quotes s for a POSIX shell, if it needs that.
func shellWord(s string) string {
	s = safe(s)
	plainWord := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._/=:,", r)
	})
	if plainWord {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// chooseCopy lists what can be copied.
func (m *model) chooseCopy() tea.Cmd {
	all := m.copyables()
	l := list{title: "copy", choose: func(chosen []int) tea.Cmd {
		c := all[chosen[0]]
		what := c.what
		if !strings.Contains(c.text, "\n") {
			what += ": " + c.text
		}
		return m.copy(what, c.text)
	}}
	for _, c := range all {
		first, _, _ := strings.Cut(c.text, "\n")
		l.items = append(l.items, item{key: c.what, text: first, note: strings.ReplaceAll(c.text, "\n", " ")})
	}
	m.openList(l)
	return nil
}
