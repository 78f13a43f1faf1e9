package lessons

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWholeCourse: the built-in course has all lessons in order.
func TestWholeCourse(t *testing.T) {
	c, err := WholeCourse(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lessons) != len(all) || c.Planned() != 95*time.Minute {
		t.Errorf("%d lessons take %s", len(c.Lessons), c.Planned())
	}
	for i, l := range c.Lessons {
		if l.Name != all[i].Name || l.Planned == 0 || l.Path() != "" {
			t.Errorf("lesson %d is %s in %q, and takes %s", i+1, l.Name, l.Path(), l.Planned)
		}
	}
}

// TestOwnCourse mixes built-in lessons with files in the course's folder.
func TestOwnCourse(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine, err := New("mine")
	if err != nil {
		t.Fatal(err)
	}
	file := write("mine.yaml", string(mine))
	const head = "schedq: course\nversion: 1\ntitle: An hour\nlessons:\n"
	path := write("hour.yaml", head+"  - {lesson: gates, minutes: 10}\n  - {lesson: mine.yaml, minutes: 20}\n  - lesson: 1\n    minutes: 30\n")
	c, err := ReadCourse(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range c.Lessons {
		names = append(names, l.Name+" "+l.Planned.String()+" "+l.Path())
	}
	if got, want := strings.Join(names, ", "), "gates 10m0s , mine 20m0s "+file+", three-places 30m0s "; got != want || c.Planned() != time.Hour || c.Title != "An hour" {
		t.Errorf("%q is %s: %s", c.Title, c.Planned(), got)
	}
	for text, says := range map[string]string{
		"":                                                  "bad.yaml is empty",
		"schedq: lesson\nversion: 1\n":                      `bad.yaml:1: schedq: "lesson" is not a course`,
		"schedq: scenario\n":                                `bad.yaml:1: schedq: "scenario" is not a course`,
		"schedq: course\nversion: 2\n":                      "bad.yaml:2: unsupported course version 2",
		"schedq: course\nversion: 1\ntitle: x\n":            "bad.yaml:1: a course needs a title and lessons",
		head + "  - {lesson: gates, minutes: 0}\n":          "bad.yaml:5: invalid minutes 0: use 1 to 240",
		head + "  - {lesson: gates, minutes: many}\n":       "bad.yaml:5: this is not what belongs here",
		head + "  - {lesson: gates, minutes: 1, room: 3}\n": "bad.yaml:5: unknown key room",
		head + "  - {lesson: gates, minutes: 1}\n  - {lesson: 10, minutes: 1}\n": "bad.yaml:6: duplicate lesson gates, first in line 5",
		head + "  - {lesson: nowhere, minutes: 1}\n":                             `bad.yaml:5: lesson: unknown lesson "nowhere"`,
		head + "  - {lesson: ../mine.yaml, minutes: 1}\n":                        "bad.yaml:5: lesson: invalid lesson file ../mine.yaml: use a file in the course's folder",
		head + "  - {lesson: none.yaml, minutes: 1}\n":                           "bad.yaml:5: lesson:",
		head + "  - {lesson: hour.yaml, minutes: 1}\n":                           "bad.yaml:5: lesson: ",
		head + "  - {lesson: gates, minutes: 1}\n---\nstep: one\n":               "bad.yaml:7: a course must be a single document",
		head + strings.Repeat("  - {lesson: gates, minutes: 1}\n", 101):          "bad.yaml:4: too many lessons: at most 100",
	} {
		if _, err := ReadCourse(t.Context(), write("bad.yaml", text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	if !IsCourse([]byte(head)) || IsCourse(mine) || IsCourse(nil) || IsCourse([]byte("schedq: [")) {
		t.Error("IsCourse confuses courses and lessons")
	}
}
