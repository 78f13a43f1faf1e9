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
	from, backTo string // the first times between which the clock went back
	heard        hearing
	stretch      string // of the previous line
}

// backBy limits how much earlier a line may be than a previous one: requests are logged when they are answered.
const backBy = time.Minute

// add adds the time of a line. stamp is empty if the event's members were not read that far.
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

// goneBack returns a notice if the times of the log went back, or "". The merger orders the changes anyway.
func (s *span) goneBack() string {
	if s.from == "" {
		return ""
	}
	const format = "2006-01-02 15:04:05 UTC"
	return fmt.Sprintf("its times go back from %s to %s: a clock was set, or the file contains several logs. schedq orders the changes by etcd revision",
		parse(s.from).Format(format), parse(s.backTo).Format(format))
}

func (s *span) start() time.Time { return parse(s.first) }
func (s *span) end() time.Time   { return parse(string(s.last)) }
