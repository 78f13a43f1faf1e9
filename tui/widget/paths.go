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

// Paths completes the last word of a prompt with file names. Folders are read outside of Update: until then nothing is offered.
type Paths struct {
	read func(folder string) ([]string, error)
	// before is the number of words before the first path.
	before int
	// folder is the last folder that was read or is being read, as typed; names are its contents.
	folder string
	known  bool
	names  []string
}

// NewPaths completes paths after the first words, or returns nil if files are not accessible.
func NewPaths(d *page.UI, before int) *Paths {
	if d.Folder == nil {
		return nil
	}
	return &Paths{read: d.Folder, before: before}
}

// at returns the folder of the last word of text, as typed, and false if that word is not a path.
func (p *Paths) at(text string) (folder string, ok bool) {
	before, word := lastWord(text)
	folder, _ = filepath.Split(word)
	return folder, len(strings.Fields(before)) >= p.before
}

// look reads the folder of the last word, unless it is known.
func (p *Paths) look(text string) tea.Cmd {
	folder, ok := p.at(text)
	if !ok || p.known && folder == p.folder {
		return nil
	}
	p.folder, p.known, p.names = folder, true, nil
	return page.Guarded(func() tea.Msg {
		names, err := p.read(cmp.Or(folder, "."))
		if err != nil {
			names = nil // opening the path reports the error
		}
		names = slices.DeleteFunc(names, func(name string) bool { // names that can't be typed as one word or shown
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

// complete returns the paths for the last word. Hidden files are offered once their dot is typed.
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
