package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// Replay runs rec from its first event to its last, at once and without a screen, and hands each move to
// each, in order, as far as opts.Filter lets them be told. It is what a session does when it is played to the end. It stops at each's first error
// and returns that, or when ctx is done.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*Transition) error) error {
	board := newBoard()
	start, _ := span(rec)
	cfg, err := opts.scheduler(rec)
	if err != nil {
		return err
	}
	e := newEngine(cfg.Queue, nil, start)
	e.board = board
	var failed error
	e.emit = func(c change) {
		board.replace(c.before, c.after)
		if c.move != nil && failed == nil && opts.Tells(c.move) {
			failed = each(c.move)
		}
	}
	f := newFeed(rec, cfg)
	defer f.close()
	for i := 0; f.has(i); i++ {
		if i%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if e.apply(f.events[i]); failed != nil {
			return failed
		}
	}
	return f.failed
}

// MarshalJSON writes the move as one line of "watch -o json": see docs/watch.md.
func (t *Transition) MarshalJSON() ([]byte, error) {
	type line struct {
		Time          time.Time        `json:"time"`
		Pod           string           `json:"pod"`
		From          string           `json:"from,omitempty"`
		To            string           `json:"to"`
		Event         string           `json:"event,omitempty"`
		Attempts      int              `json:"attempts,omitempty"`
		BackoffExpiry *time.Time       `json:"backoffExpiry,omitempty"`
		Plugins       []string         `json:"plugins,omitempty"`
		GatingPlugin  string           `json:"gatingPlugin,omitempty"`
		Node          string           `json:"node,omitempty"`
		Message       sources.SafeText `json:"message,omitempty"`
		Provenance    string           `json:"provenance"`
	}
	l := line{
		Time: t.Time.UTC(), Pod: t.Pod.Key.String(), From: t.From.String(), To: t.To.String(), Event: t.Event,
		Attempts: t.Attempts, Plugins: t.Pod.RejectorPlugins(), GatingPlugin: t.GatingPlugin, Provenance: t.Provenance(),
	}
	if !t.BackoffExpiry.IsZero() {
		expiry := t.BackoffExpiry.UTC()
		l.BackoffExpiry = &expiry
	}
	if t.Event == queue.ScheduleAttemptFailure {
		l.Message = t.Pod.Message
	}
	if t.To == queue.Scheduled {
		l.Node = t.Pod.Node
	}
	return json.Marshal(l)
}

// Provenance is "observed" for a move seen in the real scheduler, "modelled" for one of the model, and
// "estimated" for one that rests on what is thought of a pod from before its source came: see
// Pod.Estimated.
func (t *Transition) Provenance() string {
	if t.Pod.Estimated && !t.Observed {
		return "estimated"
	}
	return provenance(t.Observed)
}

// Provenance is where it comes from that p is where it is: see Transition.Provenance.
func (p *Pod) Provenance() string {
	if p.Estimated && !p.Observed {
		return "estimated"
	}
	return provenance(p.Observed)
}

func provenance(observed bool) string {
	if observed {
		return "observed"
	}
	return "modelled"
}

// String writes the move as a line for a person.
func (t *Transition) String() string {
	from := t.From.String()
	if t.From == queue.None {
		from = "·"
	}
	s := fmt.Sprintf("%s  %-13s → %-13s  %s", t.Time.UTC().Format("2006-01-02 15:04:05.000"), from, t.To, t.Pod.Key)
	if t.Event != "" {
		s += "  " + t.Event
	}
	if t.Event == queue.ScheduleAttemptFailure {
		if plugins := t.Pod.RejectorPlugins(); len(plugins) > 0 {
			s += fmt.Sprint("  ", plugins)
		} else {
			s += "  [no plugin: an error]"
		}
	}
	if t.To == queue.Backoff && !t.BackoffExpiry.IsZero() {
		s += "  until " + clock(t.BackoffExpiry)
	}
	if t.To == queue.Scheduled && t.Pod.Node != "" {
		s += "  " + t.Pod.Node
	}
	if t.Attempts > 0 {
		s += "  " + times(t.Attempts, "attempt")
	}
	return s
}
