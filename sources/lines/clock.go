package lines

import (
	"bytes"
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
)

// Clock parses the times of a file's lines, which are nearly in order. Without it, one damaged digit in a time would
// move everything after it by up to centuries.
type Clock struct {
	// Find returns the text of a line's time, or nil if it has none.
	Find func(line []byte) []byte
	// Offset is where that text begins in most lines. 0 if that varies.
	Offset int
	// MinuteLen is the length of the prefix that the times of one minute share.
	MinuteLen int
	// Parse returns the time. ok is false for anything else, which the format's reader reports.
	Parse func(text []byte) (at time.Time, ok bool)
	// Period is after how long the times repeat, for formats without a year. Zero if they don't.
	Period time.Duration
	// Agrees, if set, reports whether another time in the line confirms at, if known: then a shipper delivered the line
	// late. It is only called for times that are far from those around them.
	Agrees func(line []byte, at time.Time) (agrees, known bool)
}

const (
	// far is the minimum distance of a damaged time from those around it: clocks are set and lines are late by less.
	far = 10 * time.Minute
	// outOfProportion is the minimum ratio of that distance to the distance between those around it.
	outOfProportion = 10
	// lookAhead limits the number of consecutive lines with damaged times.
	lookAhead = 3
)

// CheckTimes makes Next skip and report each line whose time is far from the times before and after it, while those
// are near each other. This does not apply to pauses, clocks that are set, and concatenated files. It must be called
// before Next.
func (r *Reader) CheckTimes(c Clock) { r.order = &timeOrder{Clock: c} }

// timeOrder is the state of a Reader with a Clock.
type timeOrder struct {
	Clock
	text []byte // the time of a recent line that Next returned, to the minute

	looking bool        // lines were read ahead
	ahead   []aheadLine // lines that were not returned yet
	err     error       // after them
	end     aheadLine   // where reading stopped
	moved   bool        // r is not at end
}

// aheadLine is a line that was read ahead.
type aheadLine struct {
	line   []byte
	number int
	cut    bool
}

// next is Next for a Reader with a Clock.
func (o *timeOrder) next(r *Reader) ([]byte, error) {
	for {
		line, err := o.take(r)
		if err != nil {
			return nil, err
		}
		if end := o.Offset + o.MinuteLen; o.Offset > 0 && len(line) > end && len(o.text) > 0 && string(line[o.Offset:end]) == string(o.text[:o.MinuteLen]) {
			return line, nil
		}
		text := o.Find(line)
		if len(text) < o.MinuteLen || len(o.text) > 0 && string(text[:o.MinuteLen]) == string(o.text[:o.MinuteLen]) {
			return line, nil
		}
		at, ok := o.Parse(text)
		if !ok {
			return line, nil
		}
		refused := sources.CheckTime(at)
		if last, _ := o.Parse(o.text); refused == nil && (len(o.text) == 0 || o.distance(at, last) > far) {
			line, text = bytes.Clone(line), bytes.Clone(text)
			if o.isStray(r, line, at, last) {
				refused = fmt.Errorf("its time, %s, is far from the times around it", sources.Sanitize(string(text)))
			}
		}
		if refused == nil {
			o.text = append(o.text[:0], text...)
			return line, nil
		}
		if err := r.Unread(refused); err != nil {
			return nil, err
		}
	}
}

// take returns the next line.
func (o *timeOrder) take(r *Reader) ([]byte, error) {
	if !o.looking {
		return r.unordered()
	}
	if len(o.ahead) > 0 {
		l := o.ahead[0]
		o.ahead = o.ahead[1:]
		r.line, r.cut = l.number, l.cut
		return l.line, nil
	}
	if o.moved {
		o.moved, r.line, r.cut = false, o.end.number, o.end.cut
	}
	if o.err != nil {
		return nil, o.err
	}
	o.looking = false
	return r.unordered()
}

// isStray reports whether a line's time is damaged: one of the next lines is near the last time again. The time of the
// file's first or last line is damaged if another time in the line contradicts it.
func (o *timeOrder) isStray(r *Reader, line []byte, at, last time.Time) bool {
	number, cut := r.line, r.cut
	defer func() { r.line, r.cut = number, cut }()
	first, times := len(o.text) == 0, 0
	for i := 0; times < lookAhead; i++ {
		if i == len(o.ahead) && !o.readAhead(r) {
			break
		}
		text := o.Find(o.ahead[i].line)
		if text == nil {
			continue
		}
		next, ok := o.Parse(text)
		if !ok {
			continue
		}
		times++
		away := o.distance(at, next)
		if away <= far {
			return false
		}
		if !first && outOfProportion*o.distance(next, last) <= min(away, o.distance(at, last)) {
			agrees, _ := o.agrees(line, at)
			return !agrees
		}
	}
	agrees, known := o.agrees(line, at)
	return (first || times == 0) && known && !agrees
}

func (o *timeOrder) agrees(line []byte, at time.Time) (agrees, known bool) {
	if o.Agrees == nil {
		return false, false
	}
	return o.Agrees(line, at)
}

// maxAhead limits the number of lines read ahead, most of which have no time.
const maxAhead = 100

// readAhead reads one more line ahead. It returns false at the end.
func (o *timeOrder) readAhead(r *Reader) bool {
	if o.err != nil || len(o.ahead) >= maxAhead {
		return false
	}
	if o.moved {
		r.line, r.cut = o.end.number, o.end.cut
	}
	line, err := r.unordered()
	o.looking, o.moved, o.end = true, true, aheadLine{number: r.line, cut: r.cut}
	if err != nil {
		o.err = err
		return false
	}
	o.ahead = append(o.ahead, aheadLine{bytes.Clone(line), r.line, r.cut})
	return true
}

// distance returns how far apart two times are.
func (o *timeOrder) distance(a, b time.Time) time.Duration {
	d := a.Sub(b).Abs()
	if o.Period > 0 {
		d = min(d, (o.Period - d).Abs())
	}
	return d
}

// RFC3339 returns the Clock for times as kube-apiserver and schedq write them.
func RFC3339(find func(line []byte) []byte) Clock {
	return Clock{Find: find, MinuteLen: len("2026-11-21T10:56"), Parse: func(text []byte) (time.Time, bool) {
		at, err := time.Parse(time.RFC3339Nano, string(text))
		return at.UTC(), err == nil
	}}
}

// JSONTimes returns the Clock for JSON records that begin with their time, `{"time":"…"`.
func JSONTimes() Clock {
	c := RFC3339(firstTime)
	c.Offset = len(timePrefix)
	return c
}

const timePrefix = `{"time":"`

// firstTime returns the text of the time at the beginning of a record, or nil.
func firstTime(line []byte) []byte {
	rest, ok := bytes.CutPrefix(line, []byte(timePrefix))
	if i := bytes.IndexByte(rest, '"'); ok && i >= 0 {
		return rest[:i]
	}
	return nil
}
