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

// All returns the built-in lessons in course order.
func All() ([]*Lesson, error) {
	entries, err := own.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []*Lesson
	for _, e := range entries { // sorted by number
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

// Find returns the index of a lesson in all. text is its number from 1, its name, or the start of
// its name.
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
	return 0, fmt.Errorf("unknown lesson %q: use a number from 1 to %d or a name: %s", text, len(all), strings.Join(names, ", "))
}
