package lessons

import (
	"context"

	"github.com/schedq/schedq/sources/disk"
)

// MaxFile limits the size of a lesson's or course's file, in bytes.
const MaxFile = 4 << 20

// Read reads the lesson in the file at path. See Parse. It returns the context's error if ctx ends
// first.
func Read(ctx context.Context, path string) (*Lesson, error) {
	text, err := disk.Read(ctx, path, MaxFile)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}
