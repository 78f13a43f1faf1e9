package main

import (
	"encoding/json"
	"fmt"
)

// index returns the search index: the address, page title, section title and text of every section. It
// is a script because pages opened from a folder can't load data.
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
