package trace

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
)

// member reads one member of a record. An error is the reason why the record is refused.
func (t *Reader) member(r *members, name string, value []byte) (refused error) {
	switch name {
	case "time":
		r.at, r.timeErr = time.Parse(time.RFC3339Nano, string(jsonscan.Text(value)))
		r.timed = r.timeErr == nil
	case "verb":
		r.verb = sources.Verb(jsonscan.Text(value))
	case "object":
		r.object = value
	case "notes":
		r.notes = value
	case "delivered":
		r.delivered, refused = moment(value, "its delivery")
	case "sent":
		r.sent, refused = moment(value, "the request for it")
	case "scheduler":
		s := &scheduler{}
		if refused = t.fact(value, s, "release", "releaseInferred", "from", "gates", "podInitialBackoff", "podMaxBackoff",
			"podMaxInUnschedulablePods"); refused == nil {
			r.fact, refused = s.fact()
		}
	case "failed", "bound", "patched", "refused", "tried", "logged", "dumped", "discarded":
		refused = t.attempt(r, name, value)
	case "requested":
		if refused = t.fact(value, &requested{}); refused == nil {
			r.fact = &sources.Requested{}
		}
	case "heard", "silent", "unheard", "clocks":
		refused = t.hearing(r, name, value)
	case "attached":
		a := &attached{}
		if refused = t.fact(value, a, "began", "nodes"); refused == nil {
			r.fact, refused = a.fact()
		}
	case "move":
		m := t.usualMove(value)
		if m == nil {
			m = &move{}
			if refused = t.fact(value, m, "pod", "to", "event", "restated", "plugins", "gatingPlugin", "message",
				"node", "unplaced"); refused != nil {
				break
			}
		}
		if !m.To.Known() {
			t.unknown++
			r.other = true
			break
		}
		r.fact, refused = m.fact(t.pods)
	case "counts":
		c := &counts{}
		if refused = t.fact(value, c, "active", "backoff", "unschedulable", "gated"); refused == nil {
			r.fact, refused = c.fact()
		}
	case "mark":
		m := &mark{}
		if refused = t.fact(value, m, "text"); refused == nil {
			r.fact = &sources.Mark{Text: sources.Sanitize(m.Text)}
		}
	case "end":
		r.ends, r.other = true, true
	default:
		t.unknown++
		r.other = true
	}
	return refused
}

// hearing reads a member about a signal that is received or missing. An error is the reason why the record is refused.
func (t *Reader) hearing(r *members, name string, value []byte) (err error) {
	switch name {
	case "heard":
		h := &heard{}
		if err = t.fact(value, h, "release", "releaseInferred", "from"); err == nil {
			r.fact = &sources.SchedulerRunning{Release: sources.Sanitize(h.Release), ReleaseInferred: h.ReleaseInferred, From: knownSource(h.From)}
		}
	case "silent":
		q := &silent{}
		if err = t.fact(value, q, "since", "profile", "ended"); err == nil {
			r.fact, err = q.fact()
		}
	case "unheard":
		u := &unheard{}
		if err = t.fact(value, u, "of", "since", "until"); err == nil {
			r.fact, err = u.fact()
		}
	case "clocks":
		c := &clocks{}
		if err = t.fact(value, c, "ahead"); err == nil {
			r.fact, err = c.fact()
		}
	}
	return err
}

// attempt reads a member about an attempt or the log's verbosity. An error is the reason why the record is refused.
func (t *Reader) attempt(r *members, name string, value []byte) (err error) {
	switch name {
	case "failed":
		a := &attempt{}
		if err = t.fact(value, a, "pod", "uid", "message", "version", "count", "log", "error", "began", "heard", "plugins", "to"); err == nil {
			r.fact, err = a.failed()
		}
	case "bound":
		b := &bound{}
		if err = t.fact(value, b, "pod", "uid", "node", "began"); err == nil {
			r.fact, err = b.fact()
		}
	case "logged":
		l := &logged{}
		if err = t.fact(value, l, "verbosity"); err == nil {
			r.fact = &sources.Logged{Verbosity: l.Verbosity}
		}
	case "dumped":
		d := &dumped{}
		if err = t.fact(value, d, "pod", "uid", "in"); err == nil {
			r.fact, err = d.fact()
		}
	case "discarded":
		d := &discarded{}
		if err = t.fact(value, d, "pod"); err == nil {
			r.fact, err = d.fact()
		}
	case "patched":
		a := &attempt{}
		if err = t.fact(value, a, "pod", "uid", "sent", "clears"); err == nil {
			r.fact, err = a.patched()
		}
	case "refused":
		a := &attempt{}
		if err = t.fact(value, a, "pod", "uid", "sent", "binding", "node"); err == nil {
			r.fact, err = a.refused()
		}
	case "tried":
		a := &tried{}
		if err = t.fact(value, a, "pod", "uid", "attempts", "first", "failed", "message", "version", "count"); err == nil {
			r.fact, err = a.fact()
		}
	}
	return err
}

// moment reads a time of an object in a record.
func moment(value []byte, of string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, string(jsonscan.Text(value)))
	if err != nil {
		return at, fmt.Errorf("the time of %s is invalid: %s", of, sources.Sanitize(err.Error()))
	}
	return at.UTC(), sources.CheckTime(at)
}
