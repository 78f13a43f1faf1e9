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

// captures is the folder of docs/ with pictures of the screen. Beside some is what leads to it: a session that make captures has
// recorded, cell by cell, which a page can play.
const captures = "captures/"

var viewBox = regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`)

// figure draws a picture of the site, of which at is the link from the page. Where there is a session of it, a button plays that in
// its place.
func (d *drawing) figure(at, says string) (string, error) {
	file := path.Join(path.Dir(d.page.address), at)
	svg, err := os.ReadFile(filepath.Join(d.linker.root, "docs", filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	size := viewBox.FindSubmatch(svg)
	if size == nil {
		return "", fmt.Errorf("the picture %s does not say how large it is", file)
	}
	session, button := "", ""
	if name := sessionOf(file); name != "" && exists(filepath.Join(d.linker.root, "docs", filepath.FromSlash(name))) {
		d.page.plays = true
		d.linker.files["docs/"+name] = true
		script := strings.TrimSuffix(relative(d.page.address, name), ".json") + ".js"
		session = fmt.Sprintf(` class="session" data-session="%s"`, html.EscapeString(script))
		button = fmt.Sprintf(`<button type="button" class="play">Play it<span class="unseen">: %s</span></button>`, html.EscapeString(says))
	}
	return fmt.Sprintf("<figure%s><img src=\"%s\" alt=\"%s\" width=\"%s\" height=\"%s\" loading=\"lazy\">%s</figure>\n",
		session, html.EscapeString(at), html.EscapeString(says), size[1], size[2], button), nil
}

// sessionOf is the file of the session that leads to a picture, or empty if it can have none.
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
