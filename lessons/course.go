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

// Course is lessons in an order, with how long each is to take.
type Course struct {
	// File is what the file is called in errors, Title what the course is about.
	File  string
	Title sources.SafeText
	// Lessons are at least one, each with a name of its own and the time that is Planned for it.
	Lessons []*Lesson
}

// Bounds of one course: how many lessons, and how long each may be planned to take.
const (
	maxCourse  = 100
	maxMinutes = 240
)

// CourseVersion is the version of the format of courses.
const CourseVersion = 1

// courseFile is a course's only document.
type courseFile struct {
	Schedq  string   `yaml:"schedq"`
	Version int      `yaml:"version"`
	Title   string   `yaml:"title"`
	Lessons []taught `yaml:"lessons"`
}

// taught is a lesson of a course: the name or number of one of the program's own, or a file beside the course's.
type taught struct {
	line    int
	Lesson  string `yaml:"lesson"`
	Minutes int    `yaml:"minutes"`
}

// UnmarshalYAML implements yaml.Unmarshaler, to learn the line.
func (t *taught) UnmarshalYAML(n *yamlv3.Node) error {
	type plain taught
	t.line = n.Line
	return decode(n, (*plain)(t))
}

//go:embed course.txt
var wholeCourse []byte

// WholeCourse is the course of all lessons inside this program.
func WholeCourse(ctx context.Context) (*Course, error) {
	return ParseCourse(ctx, "course", wholeCourse)
}

// ReadCourse reads the course in the file at path, as ParseCourse does.
func ReadCourse(ctx context.Context, path string) (*Course, error) {
	text, err := disk.Read(ctx, path, MaxFile)
	if err != nil {
		return nil, err
	}
	return ParseCourse(ctx, path, text)
}

// IsCourse reports whether the content of a file says that it is a course.
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

// ParseCourse reads the content of a course's file, and the lessons that it names. An error is one sentence with the file's
// name and the line.
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
		return nil, c.errorf(docs[0].LineOf("version"), "version %d of courses is not known, only %d", in.Version, CourseVersion)
	case len(docs) > 1:
		return nil, c.errorf(docs[1].Line, "nothing follows a course: its lessons are files of their own")
	case c.Title == "" || len(in.Lessons) == 0:
		return nil, c.errorf(first, "a course needs a title and lessons")
	case len(in.Lessons) > maxCourse:
		return nil, c.errorf(docs[0].LineOf("lessons"), "there are more than %d lessons", maxCourse)
	}
	own, err := All()
	if err != nil {
		return nil, err
	}
	lines := make(map[string]int, len(in.Lessons))
	for _, t := range in.Lessons {
		line := docs[0].Line + t.line - 1
		if t.Minutes < 1 || t.Minutes > maxMinutes {
			return nil, c.errorf(line, "minutes: a lesson takes 1 to %d of them, not %d", maxMinutes, t.Minutes)
		}
		l, err := t.lesson(ctx, own, file)
		if err != nil {
			return nil, c.errorf(line, "lesson: %w", err)
		}
		if before := lines[l.Name]; before > 0 {
			return nil, c.errorf(line, "lesson %s is in line %d already: how far people come is kept by its name", l.Name, before)
		}
		lines[l.Name] = line
		l.Planned = time.Duration(t.Minutes) * time.Minute
		c.Lessons = append(c.Lessons, l)
	}
	return c, nil
}

// lesson is the lesson that is meant in a course's file: one of own, or a file beside that one.
func (t *taught) lesson(ctx context.Context, own []*Lesson, course string) (*Lesson, error) {
	if !scenario.Named(t.Lesson) {
		i, err := Find(own, string(sources.Sanitize(t.Lesson)))
		if err != nil {
			return nil, err
		}
		return own[i], nil
	}
	if !filepath.IsLocal(t.Lesson) {
		return nil, fmt.Errorf("%s is no file beside the course", sources.Sanitize(t.Lesson))
	}
	return Read(ctx, filepath.Join(filepath.Dir(course), t.Lesson))
}

// Planned is how long the course is to take.
func (c *Course) Planned() (all time.Duration) {
	for _, l := range c.Lessons {
		all += l.Planned
	}
	return all
}

// errorf is an error about a line of the course's file.
func (c *Course) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", c.File, line, fmt.Errorf(format, args...))
}
