package ring

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Bound limits what a ring keeps. At least one of its fields is set; 0 is no limit.
type Bound struct {
	// Age is the minimum time kept: the oldest segment is dropped once the ones after it cover that.
	Age time.Duration
	// Bytes limits the total size of the segments.
	Bytes int64
}

// The range of bounds. Below the minimum, keyframes would take most of a ring.
const (
	minAge   = time.Minute
	minBytes = 4 << 20
	maxAge   = 10 * 365 * 24 * time.Hour
)

// ParseBound parses at most one duration and one size: "24h", "2GiB".
func ParseBound(texts ...string) (Bound, error) {
	var b Bound
	for _, text := range texts {
		err := b.set(text)
		if err != nil {
			return Bound{}, fmt.Errorf("%s %w", sources.Sanitize(text), err)
		}
	}
	if b == (Bound{}) {
		return b, errors.New("set a length or a size of the ring: 24h, 2GiB")
	}
	return b, nil
}

func (b *Bound) set(text string) error {
	if age, err := time.ParseDuration(text); err == nil {
		switch {
		case b.Age != 0:
			return errors.New("is a second duration: use at most one duration and one size")
		case age < minAge || age > maxAge:
			return errors.New("is not a valid ring length: use 1m to 87600h")
		}
		b.Age = age
		return nil
	}
	size, err := sources.ParseQuantity(strings.TrimSuffix(text, "B"))
	switch {
	case err != nil:
		return errors.New("is neither a duration nor a size: 24h, 2GiB")
	case b.Bytes != 0:
		return errors.New("is a second size: use at most one size and one duration")
	case size.Value() < minBytes:
		return errors.New("is too small for a ring: use 4MiB or more")
	}
	b.Bytes = size.Value()
	return nil
}

// segmentsPerRing is about how many segments a full ring has. One is dropped at a time.
const segmentsPerRing = 32

// maxSegment limits the size of a segment if Bytes is 0.
const maxSegment = 64 << 20

// full reports whether a segment of that size, which includes its keyframe, and that age is complete.
func (b Bound) full(bytes, keyframe int64, age time.Duration) bool {
	if b.Age > 0 && age >= b.Age/segmentsPerRing {
		return true
	}
	size := int64(maxSegment)
	if b.Bytes > 0 {
		size = b.Bytes / segmentsPerRing
	}
	size = max(size, 2*keyframe) // so that keyframes are at most a third
	if b.Bytes > 0 {
		size = min(size, max(b.Bytes/2-keyframe, b.Bytes/segmentsPerRing))
	}
	return bytes-keyframe >= size
}
