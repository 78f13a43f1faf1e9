package widget

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
)

// Paths completes the last word that is typed with the names in its folder. Folders are read outside of Update: until one
// is, nothing is offered.
type Paths struct {
	read func(folder string) ([]string, error)
	// before is how many words come before the first path.
	before int
	// folder is the one that was read last, or is being read, as it was typed; names are those in it.
	folder string
	known  bool
	names  []string
}

// NewPaths returns what completes paths from the word of that number on, or nil if there are no files here.
func NewPaths(d *page.UI, before int) *Paths {
	if d.Folder == nil {
		return nil
	}
	return &Paths{read: d.Folder, before: before}
}

// at returns the folder of the last word of text, as it is typed, and false if that word is no path.
func (p *Paths) at(text string) (folder string, ok bool) {
	before, word := lastWord(text)
	folder, _ = filepath.Split(word)
	return folder, len(strings.Fields(before)) >= p.before
}

// look has the folder of the last word read, unless it is known.
func (p *Paths) look(text string) tea.Cmd {
	folder, ok := p.at(text)
	if !ok || p.known && folder == p.folder {
		return nil
	}
	p.folder, p.known, p.names = folder, true, nil
	return page.Guarded(func() tea.Msg {
		names, err := p.read(cmp.Or(folder, "."))
		if err != nil {
			names = nil // what is no folder has nothing to offer; who opens it is told
		}
		names = slices.DeleteFunc(names, func(name string) bool { // they could not be typed as one word, or not be read
			return strings.ContainsAny(name, " \t") || format.Safe(name) != name
		})
		return page.Ready(func() tea.Cmd {
			if p.folder == folder {
				p.names = names
			}
			return nil
		})
	})
}

// complete returns the paths that the last word may become. Hidden files are offered once their point is typed.
func (p *Paths) complete(text string) []string {
	folder, ok := p.at(text)
	if !ok || folder != p.folder {
		return nil
	}
	_, word := lastWord(text)
	hidden := strings.HasPrefix(strings.TrimPrefix(word, folder), ".")
	var all []string
	for _, name := range p.names {
		if strings.HasPrefix(name, ".") == hidden && strings.HasPrefix(strings.ToLower(folder+name), strings.ToLower(word)) {
			all = append(all, folder+name)
		}
	}
	return Starting(text, all)
}
