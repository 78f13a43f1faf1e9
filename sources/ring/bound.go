package ring

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Bound is how much a ring keeps. Zero is no bound of that kind; one of them is set.
type Bound struct {
	// Age is how long a window is kept at the least: the oldest segment goes once what is behind it is older.
	Age time.Duration
	// Bytes are how many the segments may have together.
	Bytes int64
}

// The least that a ring can be told to keep. Below, keyframes would take most of it.
const (
	leastAge   = time.Minute
	leastBytes = 4 << 20
	mostAge    = 10 * 365 * 24 * time.Hour
)

// ParseBound reads bounds as a person gives them: "24h", "2GiB", one of each at the most.
func ParseBound(texts ...string) (Bound, error) {
	var b Bound
	for _, text := range texts {
		err := b.set(text)
		if err != nil {
			return Bound{}, fmt.Errorf("%s %w", sources.Sanitize(text), err)
		}
	}
	if b == (Bound{}) {
		return b, errors.New("how long or how large a ring is: 24h, 2GiB")
	}
	return b, nil
}

func (b *Bound) set(text string) error {
	if age, err := time.ParseDuration(text); err == nil {
		switch {
		case b.Age != 0:
			return errors.New("is a second duration: a ring has one, and one size")
		case age < leastAge || age > mostAge:
			return errors.New("is no length of a ring: it keeps a minute or more, and 87600h at the most")
		}
		b.Age = age
		return nil
	}
	size, err := sources.ParseQuantity(strings.TrimSuffix(text, "B"))
	switch {
	case err != nil:
		return errors.New("is neither a duration nor a size: 24h, 2GiB")
	case b.Bytes != 0:
		return errors.New("is a second size: a ring has one, and one duration")
	case size.Value() < leastBytes:
		return errors.New("is too small for a ring: it has 4MiB or more")
	}
	b.Bytes = size.Value()
	return nil
}

// shares is into how many segments a bound is divided, about: what goes at once when the bound is met.
const shares = 32

// largest is the most that a segment of a ring without a bound in bytes has.
const largest = 64 << 20

// full reports whether a segment has its share: of so many bytes, the keyframe's among them, and of that age.
func (b Bound) full(bytes, keyframe int64, age time.Duration) bool {
	if b.Age > 0 && age >= b.Age/shares {
		return true
	}
	share := int64(largest)
	if b.Bytes > 0 {
		share = b.Bytes / shares
	}
	share = max(share, 2*keyframe) // so that keyframes are a third of it at the most
	if b.Bytes > 0 {
		share = min(share, max(b.Bytes/2-keyframe, b.Bytes/shares))
	}
	return bytes-keyframe >= share
}
