package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/sources/scenario"
)

// Lesson returns a lesson by its number or name in all, or from a file.
func Lesson(ctx context.Context, all []*lessons.Lesson, name string) (*lessons.Lesson, error) {
	if scenario.Named(name) || strings.ContainsRune(name, filepath.Separator) {
		return lessons.Read(ctx, name)
	}
	i, err := lessons.Find(all, name)
	if err != nil {
		return nil, Suggest(UsageError{err}, name, LessonNames(all))
	}
	return all[i], nil
}

// Course reads the course in a file. Without a file it returns all embedded lessons.
func Course(ctx context.Context, file string) (*lessons.Course, error) {
	if file == "" {
		return lessons.WholeCourse(ctx)
	}
	return lessons.ReadCourse(ctx, file)
}

// LessonNames returns the names of lessons.
func LessonNames(all []*lessons.Lesson) []string {
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}
