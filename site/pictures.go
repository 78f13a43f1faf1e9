package main

import (
	"fmt"
	"html"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// captures is the folder of docs/ with screenshots. A screenshot may have a session next to it that
// make captures has recorded cell by cell.
const captures = "captures/"

var viewBox = regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`)

// figure renders a picture, with a button to play its session if it has one. at is the link from the page.
func (r *pageRenderer) figure(at, alt string) (string, error) {
	file := path.Join(path.Dir(r.page.address), at)
	svg, err := os.ReadFile(filepath.Join(r.linker.root, "docs", filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	size := viewBox.FindSubmatch(svg)
	if size == nil {
		return "", fmt.Errorf("the picture %s has no viewBox", file)
	}
	session, button := "", ""
	if name := sessionOf(file); name != "" && exists(filepath.Join(r.linker.root, "docs", filepath.FromSlash(name))) {
		r.page.hasSession = true
		r.linker.files["docs/"+name] = true
		script := strings.TrimSuffix(relative(r.page.address, name), ".json") + ".js"
		session = fmt.Sprintf(` class="session" data-session="%s"`, html.EscapeString(script))
		button = fmt.Sprintf(`<button type="button" class="play">Play<span class="unseen">: %s</span></button>`, html.EscapeString(alt))
	}
	return fmt.Sprintf("<figure%s><img src=\"%s\" alt=\"%s\" width=\"%s\" height=\"%s\" loading=\"lazy\">%s</figure>\n",
		session, html.EscapeString(at), html.EscapeString(alt), size[1], size[2], button), nil
}

// sessionOf returns the session file of a picture, or "" if it can't have one.
func sessionOf(picture string) string {
	if strings.HasPrefix(picture, captures) && strings.HasSuffix(picture, ".svg") {
		return strings.TrimSuffix(picture, ".svg") + ".json"
	}
	return ""
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
