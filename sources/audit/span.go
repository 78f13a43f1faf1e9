package audit

import (
	"bytes"
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
)

// span is a range of RFC 3339 times, compared as text: an API server writes them all alike, in UTC with
// six digits.
type span struct {
	first        string
	last         []byte
	from, backTo string // the first times between which the clock went back
	covered      coverage
	interval     string // of the previous line
}

// backBy limits how much earlier a line may be than a previous one: requests are logged when they are answered.
const backBy = time.Minute

// stampOf returns the text of a line's time, or nil.
func stampOf(line []byte) []byte { return jsonscan.LastText(line, `"stageTimestamp":"`, len(`"stage`)) }

// clock returns the clock of audit logs. The time at which a request was received confirms that of its answer.
func clock() lines.Clock {
	c := lines.RFC3339(stampOf)
	c.Agrees = func(line []byte, at time.Time) (agrees, known bool) {
		received := parse(string(jsonscan.LastText(line, `"requestReceivedTimestamp":"`, len(`"request`))))
		took, longest := at.Sub(received), time.Duration(overlaps)
		if bytes.Contains(line, []byte(`"verb":"watch"`)) {
			longest = longestWatch
		}
		return took >= -backBy && took <= longest, !received.IsZero()
	}
	return c
}

// checkReceived forgets when the request was received, if that is too far from when it was answered.
func (e *event) checkReceived() error {
	const tenMinutes = len("2026-11-21T10:5")
	if len(e.received) < tenMinutes || len(e.stamp) < tenMinutes || string(e.received[:tenMinutes]) == string(e.stamp[:tenMinutes]) ||
		string(e.verb) == "watch" && string(e.stage) == "ResponseComplete" {
		return nil
	}
	took := parse(string(e.stamp)).Sub(parse(string(e.received)))
	if took >= -backBy && took <= overlaps {
		return nil
	}
	err := fmt.Errorf("the request was received at %s and answered at %s", sources.Sanitize(string(e.received)), sources.Sanitize(string(e.stamp)))
	e.received = nil
	return err
}

// longestWatch limits how long a watch lasts: kube-apiserver ends it after one to two times its --min-request-timeout, by
// default 30 minutes.
const longestWatch = 2 * time.Hour

// add adds the time of a line.
func (s *span) add(value []byte) {
	if len(value) != len("2026-11-21T10:56:13.789662Z") || string(value[:4]) > "2261" { // as sources.CheckTime has it
		return
	}
	if string(value[:intervalLen]) != s.interval {
		s.interval = string(value[:intervalLen])
		if _, known := s.covered[s.interval]; !known && len(s.covered) < maxEntries {
			if s.covered == nil {
				s.covered = coverage{}
			}
			s.covered[s.interval] = struct{}{}
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
