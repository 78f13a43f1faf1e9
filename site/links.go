package main

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// address is where a page is on the site: README.md is its front page, and docs/ has no folder.
func address(source string) string {
	if source == "README.md" {
		return "index.html"
	}
	at := strings.TrimPrefix(source, "docs/")
	return strings.ToLower(strings.TrimSuffix(at, ".md")) + ".html"
}

// relative is a link from one address of the site to another one.
func relative(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	if dir := path.Dir(from); dir != "." && strings.HasPrefix(to, dir+"/") {
		return to[len(dir)+1:]
	}
	return up + to
}

// linker knows where the links of one page lead.
type linker struct {
	root   string            // of the project
	source string            // the page
	pages  map[string]string // addresses of all pages
	files  map[string]bool   // files of docs/ that are linked, and so belong to the site
}

// follow returns where a link of the page leads on the site: to a page, to a file that comes with it, or to the project's files on
// its host. A link to what is not there is an error.
func (l *linker) follow(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("%s: the link %q: %w", l.source, link, err)
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
		return "", fmt.Errorf("%s: the link %q leads to %s, which is not there", l.source, link, to)
	case info.IsDir():
		return host + "tree/main/" + to, nil
	case strings.HasPrefix(to, "docs/") && !strings.HasSuffix(to, ".go") && !strings.HasSuffix(to, ".md"):
		l.files[to] = true
		return relative(address(l.source), strings.TrimPrefix(to, "docs/")), nil
	default:
		return host + "blob/main/" + to + fragment, nil
	}
}
