package main

import (
	"encoding/json"
	"fmt"
)

// index is what the search looks through: of each section of each page its address, the page's title, its own title and its text. It
// is a script, since a page that was opened from a folder may load scripts, but no data.
func index(pages []*page) ([]byte, error) {
	var all [][4]string
	for _, p := range pages {
		for i, s := range p.sections {
			at := p.address
			if i > 0 {
				at += "#" + s.name
			}
			all = append(all, [4]string{at, p.title, s.title, s.text})
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "schedqIndex(%s);\n", text), nil
}
