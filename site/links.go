package main

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// address returns the path of a page on the site. README.md is the front page, and docs/ is dropped.
func address(source string) string {
	if source == "README.md" {
		return "index.html"
	}
	at := strings.TrimPrefix(source, "docs/")
	return strings.ToLower(strings.TrimSuffix(at, ".md")) + ".html"
}

// relative returns a relative link from one address of the site to another.
func relative(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	if dir := path.Dir(from); dir != "." && strings.HasPrefix(to, dir+"/") {
		return to[len(dir)+1:]
	}
	return up + to
}

// linker resolves the links of one page.
type linker struct {
	root   string            // of the repository
	source string            // path of the page in the repository
	pages  map[string]string // addresses by source
	files  map[string]bool   // linked files of docs/, to be copied
}

// resolve returns the target of a link on the site: a page, a copied file, or a file in the repository.
// It returns an error if the target does not exist.
func (l *linker) resolve(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("%s: invalid link %q: %w", l.source, link, err)
	}
	if u.IsAbs() || u.Path == "" {
		return link, nil
	}
	to := path.Join(path.Dir(l.source), u.Path)
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.Fragment
	}
	if at, ok := l.pages[to]; ok {
		return relative(address(l.source), at) + fragment, nil
	}
	info, err := os.Stat(filepath.Join(l.root, filepath.FromSlash(to)))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: the link %q leads to %s, which does not exist", l.source, link, to)
	case info.IsDir():
		return repository + "tree/main/" + to, nil
	case strings.HasPrefix(to, "docs/") && !strings.HasSuffix(to, ".go") && !strings.HasSuffix(to, ".md"):
		l.files[to] = true
		return relative(address(l.source), strings.TrimPrefix(to, "docs/")), nil
	default:
		return repository + "blob/main/" + to + fragment, nil
	}
}
