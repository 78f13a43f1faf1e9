package lessons

import (
	"context"

	"github.com/schedq/schedq/sources/disk"
)

// MaxFile is how large a lesson's or a course's file may be, in bytes.
const MaxFile = 4 << 20

// Read reads the lesson in the file at path, as Parse does. The error is the context's if that ends while the file is
// waited for.
func Read(ctx context.Context, path string) (*Lesson, error) {
	text, err := disk.Read(ctx, path, MaxFile)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}
