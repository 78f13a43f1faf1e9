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

// segment is a file of a ring, as its name tells.
type segment struct {
	path   string
	number uint64 // the order of a ring's segments, whatever the clock said
	// start is the moment at which the segment's first record was known, by the recorder's clock.
	start time.Time
	// began is true if what comes before may not join up: the recorder began, or could not write for a while, or its clock was set
	// back.
	began bool
	bytes int64
	ended time.Time // when it was last written
}

// stamp is how a segment's name has its start.
const stamp = "20060102T150405.000Z"

// maxNumber is the largest number that a segment's name has room for.
const maxNumber = 999_999_999_999_999_999

// named matches the names of segments: ring-0000000017-20261123T085657.123Z.jsonl.zst.
var named = regexp.MustCompile(`^ring-([0-9]{10,18})-([0-9]{8}T[0-9]{6}\.[0-9]{3}Z)(-began)?\.jsonl\.zst$`)

// fileName is the name of s's file.
func (s *segment) fileName() string {
	began := ""
	if s.began {
		began = "-began"
	}
	return fmt.Sprintf("ring-%010d-%s%s.jsonl.zst", s.number, s.start.UTC().Format(stamp), began)
}

// parseName returns what a file's name tells, and false if it is no segment's.
func parseName(name string) (segment, bool) {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return segment{}, false
	}
	number, err := strconv.ParseUint(m[1], 10, 64)
	start, err2 := time.Parse(stamp, m[2])
	return segment{number: number, start: start, began: m[3] != ""}, err == nil && err2 == nil
}

// Is reports whether path is a ring's folder: one with segments in it.
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

// segments returns those in the folder, the oldest first. A file that went meanwhile is none.
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

// inPlace returns the segments of all that belong where their numbers put them, and the others: those that follow no other's
// number and yet begin before it, which only a renamed file does. Two may have one number: a disk that fails leaves an empty one.
func inPlace(all []segment) (these, others []segment) {
	for _, s := range all {
		if n := len(these); n > 0 && s.number > these[n-1].number+1 && s.start.Before(these[n-1].start) {
			others = append(others, s)
			continue
		}
		these = append(these, s)
	}
	return these, others
}
