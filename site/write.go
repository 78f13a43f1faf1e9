package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed page.html
var layout string

//go:embed static
var static embed.FS

// build builds the site of the repository at root in the directory out.
func build(root, out string) error {
	pages, files, err := readAll(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := writePages(pages, out); err != nil {
		return err
	}
	if err := copyFiles(root, out, files); err != nil {
		return err
	}
	assets, err := fs.Sub(static, "static")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(out, "static"), assets); err != nil {
		return err
	}
	searchIndex, err := index(pages)
	if err != nil {
		return err
	}
	return write(out, "static/index.js", searchIndex)
}

// readAll reads all pages, and returns the files of docs/ that they link.
func readAll(root string) (pages []*page, files []string, err error) {
	addresses, linked := map[string]string{}, map[string]bool{}
	for _, part := range book() {
		for _, source := range part.pages {
			addresses[source] = address(source)
		}
	}
	for _, part := range book() {
		for _, source := range part.pages {
			p, err := readPage(&linker{root: root, source: source, pages: addresses, files: linked})
			if err != nil {
				return nil, nil, err
			}
			pages = append(pages, p)
		}
	}
	return pages, slices.Sorted(maps.Keys(linked)), nil
}

// layoutData is the data of page.html.
type layoutData struct {
	Title, Summary string
	Body           template.HTML
	Front          bool   // the front page
	Up             string // relative path to the top: "" or "../"
	Parts          []chapter
	Sections       []entry
	Before, After  *entry
	HasSession     bool
	Source         string
}

type chapter struct {
	Title string
	Pages []entry
}

// entry is a line of the table of contents.
type entry struct {
	Title, Link string
	Here        bool
}

func writePages(pages []*page, out string) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	for i, p := range pages {
		s := layoutData{
			Title: p.title, Summary: p.summary, Body: template.HTML(p.body), Front: i == 0, Up: strings.Repeat("../", strings.Count(p.address, "/")),
			Parts: contents(pages, p), HasSession: p.hasSession, Source: repository + "blob/main/" + p.source,
		}
		for _, below := range p.sections[1:] {
			if below.level == 2 {
				s.Sections = append(s.Sections, entry{Title: below.title, Link: "#" + below.name})
			}
		}
		if i > 0 {
			s.Before = &entry{Title: pages[i-1].title, Link: relative(p.address, pages[i-1].address)}
		}
		if i < len(pages)-1 {
			s.After = &entry{Title: pages[i+1].title, Link: relative(p.address, pages[i+1].address)}
		}
		var b bytes.Buffer
		if err := t.Execute(&b, s); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
		if err := write(out, p.address, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the table of contents for a page.
func contents(pages []*page, here *page) []chapter {
	var all []chapter
	for _, part := range book() {
		c := chapter{Title: part.title}
		for range part.pages {
			p := pages[0]
			pages = pages[1:]
			c.Pages = append(c.Pages, entry{Title: p.title, Link: relative(here.address, p.address), Here: p == here})
		}
		all = append(all, c)
	}
	return all
}

// copyFiles copies files of docs/. A session becomes a script, for the same reason as the search index.
func copyFiles(root, out string, files []string) error {
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		to := strings.TrimPrefix(name, "docs/")
		if strings.HasPrefix(to, captures) && path.Ext(to) == ".json" {
			to = strings.TrimSuffix(to, ".json") + ".js"
			text = slices.Concat([]byte("schedqSession("), bytes.TrimSpace(text), []byte(");\n"))
		}
		if err := write(out, to, text); err != nil {
			return err
		}
	}
	return nil
}

func write(out, name string, text []byte) error {
	at := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, text, 0o644)
}
