package lessons

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed *.yaml
var own embed.FS

// All returns the lessons inside this program, in the order in which they build on one another.
func All() ([]*Lesson, error) {
	entries, err := own.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []*Lesson
	for _, e := range entries { // by their numbers
		l, err := read(e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func read(file string) (*Lesson, error) {
	text, err := own.ReadFile(file)
	if err != nil {
		return nil, err
	}
	l, err := Parse(path.Base(file), text)
	if err == nil {
		l.own = true
	}
	return l, err
}

// Find returns the lesson of all that text means: its number, from 1, its name or the beginning of one.
func Find(all []*Lesson, text string) (int, error) {
	for i, l := range all {
		if text == l.Name || text == fmt.Sprint(i+1) {
			return i, nil
		}
	}
	if i := slices.IndexFunc(all, func(l *Lesson) bool { return strings.HasPrefix(l.Name, text) }); i >= 0 && text != "" {
		return i, nil
	}
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return 0, fmt.Errorf("there is no lesson %q; there are %d, by number or name: %s", text, len(all), strings.Join(names, ", "))
}
