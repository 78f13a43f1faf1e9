package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
)

// linked returns the texts of the hyperlinks on the screen by address.
func (p *person) linked() map[string][]string {
	all := map[string][]string{}
	for y := range p.terminal.Height() {
		last := ""
		for x := range p.terminal.Width() {
			c := p.terminal.CellAt(x, y)
			to := ""
			if c != nil {
				to = c.Link.URL + c.Link.Params // the emulator swaps the two
			}
			if to != last && to != "" {
				all[to] = append(all[to], "")
			}
			if last = to; to == "" {
				continue
			}
			texts := all[last]
			texts[len(texts)-1] += c.Content
		}
	}
	return all
}

// TestLinks: plugins and events link to their documentation in terminals that show links, the text
// stays the same, and text from the source never becomes part of an address.
func TestLinks(t *testing.T) {
	script := strings.ReplaceAll(sample, "app=train", "app=]8;;https://example.com")
	for _, id := range []keymap.ID{keymap.Open, keymap.Timeline, keymap.Lanes, keymap.Manifest} {
		synctest.Test(t, func(t *testing.T) {
			draw := func(o Options) *person {
				p := sit(t, 120, 40, paused(t, script), o)
				return p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, id)
			}
			without, with := draw(Options{}), draw(Options{links: true})
			if got, want := with.screen()+with.styles(), without.screen()+without.styles(); got != want {
				t.Errorf("with links the screen is\n%s\nand without\n%s", got, want)
			}
			if all := without.linked(); len(all) > 0 {
				t.Errorf("links are off, and the screen has %v", all)
			}
			for to, texts := range with.linked() {
				for _, text := range texts {
					if newLinks()[text] != to {
						t.Errorf("%q links to %s", text, to)
					}
				}
			}
			if id == keymap.Open && len(with.linked()[concepts+"scheduling-eviction/assign-pod-node/"]) == 0 {
				t.Errorf("NodeAffinity has no link: %v", with.linked())
			}
			if strings.Contains(with.model.drawn().Text, "\x1b]8") {
				t.Error("a saved screen has links")
			}
		})
	}
}

// TestLinkedWordsExist: each linked word is the exact name of an in-tree plugin or an event.
func TestLinkedWordsExist(t *testing.T) {
	registry := plugins.NewInTreeRegistry()
	events := map[string]bool{}
	for _, label := range queue.InjectableLabels() {
		events[label] = true
	}
	for word, to := range newLinks() {
		if _, plugin := registry[word]; !plugin && !events[word] {
			t.Errorf("%s is neither a plugin nor an event", word)
		}
		if !strings.HasPrefix(to, concepts) || !strings.HasSuffix(to, "/") {
			t.Errorf("%s links to %s", word, to)
		}
	}
}

func TestWhichTerminalsLink(t *testing.T) {
	for name, want := range map[string]bool{
		"xterm-256color": true, "tmux-256color": true, "screen": true, "xterm-kitty": true, "foot": true,
		"": false, "dumb": false, "linux": false, "cons25": false, "vt100": false,
	} {
		if got := linking(func(string) string { return name }); got != want {
			t.Errorf("TERM=%s: %t, want %t", name, got, want)
		}
	}
}
