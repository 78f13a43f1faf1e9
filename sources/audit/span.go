package audit

import (
	"bytes"
	"fmt"
	"time"

	"github.com/schedq/schedq/sources/jsonscan"
)

// span is a range of RFC 3339 times, compared as text: an API server writes them all alike, in UTC with
// six digits.
type span struct {
	first        string
	last         []byte
	from, backTo string // the first times between which it went back, if it did
	heard        hearing
	stretch      string // of the line before
}

// backBy is how much earlier a line may be than one before it: requests are told when they are answered.
const backBy = time.Minute

// add takes the time of a line: stamp, unless the event's members were not read so far.
func (s *span) add(line, stamp []byte) {
	const key = `"stageTimestamp":"`
	value := stamp
	if value == nil {
		value = jsonscan.LastText(line, key, len(`"stage`))
	}
	if len(value) != len("2026-11-21T10:56:13.789662Z") {
		return
	}
	if string(value[:stretch]) != s.stretch {
		s.stretch = string(value[:stretch])
		if _, known := s.heard[s.stretch]; !known && len(s.heard) < maxEntries {
			if s.heard == nil {
				s.heard = hearing{}
			}
			s.heard[s.stretch] = struct{}{}
		}
	}
	if s.first == "" || string(value) < s.first {
		s.first = string(value)
	}
	const minutes = len("2026-11-21T10:56")
	if s.from == "" && len(s.last) > 0 && string(value[:minutes]) < string(s.last[:minutes]) && parse(string(s.last)).Sub(parse(string(value))) > backBy {
		s.from, s.backTo = string(s.last), string(value)
	}
	if bytes.Compare(value, s.last) > 0 {
		s.last = append(s.last[:0], value...)
	}
}

// goneBack says that the times of the log went back, or "" if they did not. What happened is put in order all the same: see Order.
func (s *span) goneBack() string {
	if s.from == "" {
		return ""
	}
	const format = "2006-01-02 15:04:05 UTC"
	return fmt.Sprintf("its times go back from %s to %s: a clock was set, or several logs are one after the other. What happened is told in the order of revisions",
		parse(s.from).Format(format), parse(s.backTo).Format(format))
}

func (s *span) start() time.Time { return parse(s.first) }
func (s *span) end() time.Time   { return parse(string(s.last)) }
