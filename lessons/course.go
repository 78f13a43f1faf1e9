package lessons

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/scenario"
)

// Course is a list of lessons with their planned durations.
type Course struct {
	// File is the file's name in errors, Title the title of the course.
	File  string
	Title sources.SafeText
	// Lessons has at least one entry. Each has a unique name and its Planned time.
	Lessons []*Lesson
}

// Limits of a course: the number of lessons, and the planned minutes of each.
const (
	maxCourse  = 100
	maxMinutes = 240
)

// CourseVersion is the version of the course format.
const CourseVersion = 1

// courseFile is the only document of a course.
type courseFile struct {
	Schedq  string        `yaml:"schedq"`
	Version int           `yaml:"version"`
	Title   string        `yaml:"title"`
	Lessons []courseEntry `yaml:"lessons"`
}

// courseEntry is a lesson of a course: the name or number of a built-in lesson, or a file in the
// course's folder.
type courseEntry struct {
	line    int
	Lesson  string `yaml:"lesson"`
	Minutes int    `yaml:"minutes"`
}

// UnmarshalYAML implements yaml.Unmarshaler and records the line.
func (t *courseEntry) UnmarshalYAML(n *yamlv3.Node) error {
	type plain courseEntry
	t.line = n.Line
	return decode(n, (*plain)(t))
}

//go:embed course.txt
var wholeCourse []byte

// WholeCourse returns the course of all built-in lessons.
func WholeCourse(ctx context.Context) (*Course, error) {
	return ParseCourse(ctx, "course", wholeCourse)
}

// ReadCourse reads the course in the file at path. See ParseCourse.
func ReadCourse(ctx context.Context, path string) (*Course, error) {
	text, err := disk.Read(ctx, path, MaxFile)
	if err != nil {
		return nil, err
	}
	return ParseCourse(ctx, path, text)
}

// IsCourse reports whether the content of a file declares a course.
func IsCourse(data []byte) bool {
	docs, err := scenario.Documents("", data)
	if err != nil {
		return false
	}
	var kind struct {
		Schedq string `yaml:"schedq"`
	}
	return yamlv3.Unmarshal(docs[0].Text, &kind) == nil && kind.Schedq == "course"
}

// ParseCourse reads the content of a course's file and the lessons in it. Errors are one sentence
// with the file's name and the line.
func ParseCourse(ctx context.Context, file string, data []byte) (*Course, error) {
	docs, err := scenario.Documents(file, data)
	if err != nil {
		return nil, err
	}
	var in courseFile
	if err := docs[0].Decode(file, &in); err != nil {
		return nil, err
	}
	c := &Course{File: string(sources.Sanitize(file)), Title: sentence(in.Title)}
	first := docs[0].LineOf("schedq")
	switch {
	case in.Schedq != "course":
		return nil, c.errorf(first, "schedq: %q is not a course", sources.Sanitize(in.Schedq))
	case in.Version != CourseVersion:
		return nil, c.errorf(docs[0].LineOf("version"), "unsupported course version %d: use %d", in.Version, CourseVersion)
	case len(docs) > 1:
		return nil, c.errorf(docs[1].Line, "a course must be a single document: put its lessons into separate files")
	case c.Title == "" || len(in.Lessons) == 0:
		return nil, c.errorf(first, "a course needs a title and lessons")
	case len(in.Lessons) > maxCourse:
		return nil, c.errorf(docs[0].LineOf("lessons"), "too many lessons: at most %d", maxCourse)
	}
	own, err := All()
	if err != nil {
		return nil, err
	}
	lines := make(map[string]int, len(in.Lessons))
	for _, t := range in.Lessons {
		line := docs[0].Line + t.line - 1
		if t.Minutes < 1 || t.Minutes > maxMinutes {
			return nil, c.errorf(line, "invalid minutes %d: use 1 to %d", t.Minutes, maxMinutes)
		}
		l, err := t.lesson(ctx, own, file)
		if err != nil {
			return nil, c.errorf(line, "lesson: %w", err)
		}
		if before := lines[l.Name]; before > 0 {
			return nil, c.errorf(line, "duplicate lesson %s, first in line %d: progress is stored by name", l.Name, before)
		}
		lines[l.Name] = line
		l.Planned = time.Duration(t.Minutes) * time.Minute
		c.Lessons = append(c.Lessons, l)
	}
	return c, nil
}

// lesson returns the lesson of the entry: one of own, or a file in the course's folder.
func (t *courseEntry) lesson(ctx context.Context, own []*Lesson, course string) (*Lesson, error) {
	if !scenario.Named(t.Lesson) {
		i, err := Find(own, string(sources.Sanitize(t.Lesson)))
		if err != nil {
			return nil, err
		}
		return own[i], nil
	}
	if !filepath.IsLocal(t.Lesson) {
		return nil, fmt.Errorf("invalid lesson file %s: use a file in the course's folder", sources.Sanitize(t.Lesson))
	}
	return Read(ctx, filepath.Join(filepath.Dir(course), t.Lesson))
}

// Planned returns the planned duration of the course.
func (c *Course) Planned() (all time.Duration) {
	for _, l := range c.Lessons {
		all += l.Planned
	}
	return all
}

// errorf returns an error about a line of the course's file.
func (c *Course) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", c.File, line, fmt.Errorf(format, args...))
}
