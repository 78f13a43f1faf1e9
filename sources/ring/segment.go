package ring

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/schedq/schedq/sources"
)

// segment is a file of a ring.
type segment struct {
	path   string
	number uint64 // the order of a ring's segments, whatever the clock said
	// start is the time of the segment's first record, by the recorder's clock.
	start time.Time
	// discontinuous is true if the segment may not continue the one before: the recorder had just started, could not write
	// for a while, or its clock was set back.
	discontinuous bool
	bytes         int64
	ended         time.Time // when it was last written
}

// nameTime is the format of the start in a segment's name.
const nameTime = "20060102T150405.000Z"

// maxNumber is the largest number that fits a segment's name.
const maxNumber = 999_999_999_999_999_999

// segmentName matches the names of segments: ring-0000000017-20261123T085657.123Z.jsonl.zst.
var segmentName = regexp.MustCompile(`^ring-([0-9]{10,18})-([0-9]{8}T[0-9]{6}\.[0-9]{3}Z)(-began)?\.jsonl\.zst$`)

// fileName returns the name of the segment's file.
func (s *segment) fileName() string {
	began := ""
	if s.discontinuous {
		began = "-began"
	}
	return fmt.Sprintf("ring-%010d-%s%s.jsonl.zst", s.number, s.start.UTC().Format(nameTime), began)
}

// parseName parses the name of a segment's file, and returns false for other names.
func parseName(name string) (segment, bool) {
	m := segmentName.FindStringSubmatch(name)
	if m == nil {
		return segment{}, false
	}
	number, err := strconv.ParseUint(m[1], 10, 64)
	start, err2 := time.Parse(nameTime, m[2])
	return segment{number: number, start: start, discontinuous: m[3] != ""}, err == nil && err2 == nil
}

// Is reports whether path is a folder with segments.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, ok := parseName(e.Name())
		return ok && e.Type().IsRegular()
	})
}

// segments returns the segments in a folder, the oldest first. It skips files that are removed meanwhile.
func segments(folder string) ([]segment, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("the ring %s can't be read: %w", sources.Sanitize(folder), causeOf(err))
	}
	var all []segment
	for _, e := range entries {
		s, ok := parseName(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		s.path, s.bytes, s.ended = filepath.Join(folder, e.Name()), info.Size(), info.ModTime()
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b segment) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.path, b.path))
	})
	return all, nil
}

// splitMisplaced splits segments into those with a plausible number and the others: renamed files, whose number does not
// follow another and that start before it. Two segments may have one number, because a failing disk leaves empty files.
func splitMisplaced(all []segment) (placed, misplaced []segment) {
	for _, s := range all {
		if n := len(placed); n > 0 && s.number > placed[n-1].number+1 && s.start.Before(placed[n-1].start) {
			misplaced = append(misplaced, s)
			continue
		}
		placed = append(placed, s)
	}
	return placed, misplaced
}
