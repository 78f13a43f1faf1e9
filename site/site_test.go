package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const root = ".."

// buildSite builds the site in a temporary directory, and returns it with the names of its files.
func buildSite(t *testing.T) (fs.FS, []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	if err := build(root, dir); err != nil {
		t.Fatal(err)
	}
	var names []string
	site := os.DirFS(dir)
	if err := fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return site, names
}

// TestBook checks that the book contains every page of docs/ once, and no others.
func TestBook(t *testing.T) {
	want := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*/*.md", "docs/*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			want = append(want, strings.TrimPrefix(filepath.ToSlash(name), root+"/"))
		}
	}
	var got []string
	for _, part := range book() {
		got = append(got, part.pages...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the book contains\n%q, the repository\n%q", got, want)
	}
}

// document is a parsed page of the site.
type document struct {
	ids    map[string]bool
	links  []string // of a and area
	loaded []string // subresources
}

func parse(t *testing.T, name string, text []byte) document {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d := document{ids: map[string]bool{}}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		if id, ok := attributes["id"]; ok {
			if d.ids[id] {
				t.Errorf("%s has the id %q twice", name, id)
			}
			d.ids[id] = true
		}
		switch n.Data {
		case "a":
			d.links = append(d.links, attributes["href"])
		case "link", "script", "img":
			d.loaded = append(d.loaded, attributes["href"]+attributes["src"])
			if n.Data == "img" && attributes["alt"] == "" {
				t.Errorf("%s: %s has no alt text", name, attributes["src"])
			}
		case "figure":
			if session := attributes["data-session"]; session != "" {
				d.loaded = append(d.loaded, session)
			}
		}
	}
	return d
}

// TestLinks checks that every link leads to an existing page, heading or file, or by https to another
// host, and that no subresource comes from another host.
func TestLinks(t *testing.T) {
	site, names := buildSite(t)
	documents := map[string]document{}
	for _, name := range names {
		if path.Ext(name) != ".html" {
			continue
		}
		text, err := fs.ReadFile(site, name)
		if err != nil {
			t.Fatal(err)
		}
		documents[name] = parse(t, name, text)
	}
	checked := 0
	for name, d := range documents {
		for _, link := range slices.Concat(d.links, d.loaded) {
			checked++
			u, err := url.Parse(link)
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
				continue
			case slices.Contains(d.loaded, link) && (u.IsAbs() || strings.HasPrefix(link, "//")):
				t.Errorf("%s loads %s from another host", name, link)
				continue
			case u.IsAbs():
				if u.Scheme != "https" || u.Host == "" {
					t.Errorf("%s: the link %s is not https", name, link)
				}
				continue
			case strings.HasPrefix(u.Path, "/"):
				t.Errorf("%s: the link %s works only at the root of a host", name, link)
				continue
			}
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			if !slices.Contains(names, to) {
				t.Errorf("%s: the link %s leads to %s, which does not exist", name, link, to)
			} else if u.Fragment != "" && !documents[to].ids[u.Fragment] {
				t.Errorf("%s: the link %s leads to a missing heading of %s", name, link, to)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d links were checked", checked)
	}
}

// TestOtherDocuments checks the links of Markdown files that are not part of the site.
func TestOtherDocuments(t *testing.T) {
	pages := map[string]string{}
	for _, part := range book() {
		for _, source := range part.pages {
			pages[source] = address(source)
		}
	}
	others := 0
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			source := strings.TrimPrefix(filepath.ToSlash(name), root+"/")
			if pages[source] != "" || strings.HasPrefix(source, "bin/") || strings.HasPrefix(source, "dist/") {
				continue
			}
			others++
			if _, err := readPage(&linker{root: root, source: source, pages: pages, files: map[string]bool{}}); err != nil && strings.Contains(err.Error(), "which does not exist") {
				t.Error(err)
			}
		}
	}
	if others == 0 {
		t.Error("no other document was found")
	}
}

// TestHeadings checks that a page has one title, and no heading skips a level.
func TestHeadings(t *testing.T) {
	pages, _, err := readAll(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		before := 0
		for i, s := range p.sections {
			if s.level > before+1 || i > 0 && s.level == 1 {
				t.Errorf("%s: %q has level %d after one of level %d", p.source, s.title, s.level, before)
			}
			before = s.level
		}
		if p.summary == "" {
			t.Errorf("%s has no summary", p.source)
		}
	}
}

// TestIndex checks that the search index contains every section.
func TestIndex(t *testing.T) {
	pages, _, err := readAll(root)
	if err != nil {
		t.Fatal(err)
	}
	script, err := index(pages)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.TrimSuffix(bytes.TrimPrefix(script, []byte("schedqIndex(")), []byte(");\n"))
	var all [][4]string
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, p := range pages {
		want += len(p.sections)
	}
	if len(all) != want || want < 150 {
		t.Errorf("the index has %d sections, the pages %d", len(all), want)
	}
	at := slices.IndexFunc(all, func(s [4]string) bool { return s[0] == "use/live.html#when-no-scheduler-is-there" })
	if at < 0 || !strings.Contains(all[at][3], "NO SIGN OF A SCHEDULER") {
		t.Error("a section of docs/use/live.md is missing from the index")
	}
}

// TestReproducible checks that two builds are identical.
func TestReproducible(t *testing.T) {
	one, names := buildSite(t)
	two, again := buildSite(t)
	if !slices.Equal(names, again) {
		t.Fatalf("%q and %q", names, again)
	}
	for _, name := range names {
		a, err := fs.ReadFile(one, name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := fs.ReadFile(two, name); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
}

// TestHeadingIDs checks that heading ids are the same as on GitHub.
func TestHeadingIDs(t *testing.T) {
	ids := headingIDs{}
	for _, test := range [][2]string{
		{"The model's figures for Prometheus", "the-models-figures-for-prometheus"},
		{"The file: `--scheduler-config FILE`", "the-file---scheduler-config-file"},
		{"`schedq list`", "schedq-list"},
		{"JSON", "json"},
		{"JSON", "json-1"},
		{"What-if", "what-if"},
	} {
		if got := string(ids.Generate([]byte(test[0]), 0)); got != test[1] {
			t.Errorf("the id of %q is %q, want %q", test[0], got, test[1])
		}
	}
}

// TestErrors checks the messages for broken pages.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"# A\n\n[there](nowhere.md)\n":       `docs/a.md: the link "nowhere.md" leads to docs/nowhere.md, which does not exist`,
		"# A\n\n![a picture](nowhere.svg)\n": `docs/a.md: the link "nowhere.svg" leads to docs/nowhere.svg, which does not exist`,
		"no title\n":                         "docs/a.md must start with a title",
		"# A\n\n![no size](b.svg)\n":         "docs/a.md: the picture b.svg has no viewBox",
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.md": text, "b.svg": "<svg/>"} {
			if err := os.MkdirAll(filepath.Join(dir, "docs"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "docs", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := readPage(&linker{root: dir, source: "docs/a.md", pages: map[string]string{}, files: map[string]bool{}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
