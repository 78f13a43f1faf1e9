package archive

import (
	"encoding/binary"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
)

// encoder encodes changes and pods. It writes repeated values once, and then refers to them by their
// number among the values of their type. Texts are identified by content, everything else by address.
type encoder struct {
	out      []byte
	texts    map[string]uint64
	lists    map[string]uint64 // by content
	pods     map[*board.Pod]uint64
	moves    map[*board.Transition]uint64
	objects  map[*v1.Pod]uint64
	verdicts map[*verdict.Verdict]uint64
	opinions map[*opinion.Verdict]uint64
	causes   map[*reason.Cause]uint64
	seconds  int64 // the last time written
	failed   error
}

func newEncoder() *encoder {
	return &encoder{
		texts: map[string]uint64{}, lists: map[string]uint64{}, pods: map[*board.Pod]uint64{}, moves: map[*board.Transition]uint64{}, objects: map[*v1.Pod]uint64{},
		verdicts: map[*verdict.Verdict]uint64{}, opinions: map[*opinion.Verdict]uint64{}, causes: map[*reason.Cause]uint64{},
	}
}

// A reference is absent, or fresh and followed by the value, or known plus the number of a known value.
const (
	absent = iota
	fresh
	known
)

// refer writes a reference to p, and reports whether the value must follow.
func refer[T any](e *encoder, seen map[*T]uint64, p *T) bool {
	if p == nil {
		e.number(absent)
		return false
	}
	n, ok := seen[p]
	if ok {
		e.number(n + known)
		return false
	}
	seen[p] = uint64(len(seen))
	e.number(fresh)
	return true
}

func (e *encoder) number(n uint64) { e.out = binary.AppendUvarint(e.out, n) }

func (e *encoder) signed(n int64) { e.out = binary.AppendVarint(e.out, n) }

func (e *encoder) flags(all ...bool) {
	var bits uint64
	for i, on := range all {
		if on {
			bits |= 1 << i
		}
	}
	e.number(bits)
}

func (e *encoder) text(s string) {
	if n, ok := e.texts[s]; ok {
		e.number(n + known)
		return
	}
	e.texts[s] = uint64(len(e.texts))
	e.number(fresh)
	e.number(uint64(len(s)))
	e.out = append(e.out, s...)
}

// list writes nil as absent.
func (e *encoder) list(all []string) {
	if all == nil {
		e.number(absent)
		return
	}
	key := strings.Join(all, "\x00")
	if len(all) == 0 {
		key = "\x00" // differs from a list of one empty text
	}
	if n, ok := e.lists[key]; ok {
		e.number(n + known)
		return
	}
	e.lists[key] = uint64(len(e.lists))
	e.number(fresh)
	e.number(uint64(len(all)))
	for _, s := range all {
		e.text(s)
	}
}

// time writes the zero time as absent, and other times relative to the last. It drops time zones.
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.number(absent)
		return
	}
	e.number(uint64(t.Nanosecond()) + 1)
	e.signed(t.Unix() - e.seconds)
	e.seconds = t.Unix()
}

func (e *encoder) change(c *board.Change) {
	e.time(c.At)
	e.pod(c.Before)
	e.pod(c.After)
	e.move(c.Move)
}

func (e *encoder) pod(p *board.Pod) {
	if !refer(e, e.pods, p) {
		return
	}
	e.flags(p.Observed, p.Estimated, p.AttemptsAtLeast)
	e.text(p.Key.Namespace)
	e.text(p.Key.Name)
	e.signed(int64(p.Priority))
	e.time(p.Since)
	e.time(p.Arrived)
	e.time(p.FailedBy)
	e.time(p.GoneSince)
	e.text(string(p.Message))
	e.text(string(p.GateMessage))
	e.text(p.Group)
	e.text(p.Node)

	e.object(p.PodInfo.Pod)
	e.number(uint64(p.Tier))
	e.signed(int64(p.Attempts))
	e.signed(int64(p.Uncounted))
	e.signed(int64(p.UnschedulableCount))
	e.signed(int64(p.ConsecutiveErrorsCount))
	e.time(p.Timestamp)
	e.time(p.InitialAttemptTimestamp)
	e.time(p.BackoffExpiry)
	e.time(p.FlushTimestamp)
	e.list(p.UnschedulablePlugins)
	e.list(p.PendingPlugins)
	e.text(p.GatingPlugin)
	e.text(p.NominatedNode)

	e.verdict(p.Verdict)
	e.opinion(p.Opinion)
	e.cause(p.Cause)
	e.move(p.Last)
}

func (e *encoder) move(m *board.Transition) {
	if !refer(e, e.moves, m) {
		return
	}
	e.number(uint64(m.From))
	e.number(uint64(m.To))
	e.text(m.Event)
	e.time(m.Time)
	e.signed(int64(m.Attempts))
	e.time(m.BackoffExpiry)
	e.list(m.UnschedulablePlugins)
	e.list(m.PendingPlugins)
	e.text(m.GatingPlugin)
	e.flags(m.Observed)
	e.signed(int64(m.Seq))
	e.signed(int64(m.Change))
	if seq, ok := m.PrevSeq(); ok {
		e.number(uint64(seq) + 1)
	} else {
		e.number(absent)
	}
	e.pod(m.Pod)
}

func (e *encoder) object(pod *v1.Pod) {
	if !refer(e, e.objects, pod) {
		return
	}
	n := pod.Size()
	e.number(uint64(n))
	at := len(e.out)
	e.out = append(e.out, make([]byte, n)...)
	if _, err := pod.MarshalToSizedBuffer(e.out[at:]); err != nil && e.failed == nil {
		e.failed = err
	}
}

func (e *encoder) verdict(v *verdict.Verdict) {
	if !refer(e, e.verdicts, v) {
		return
	}
	e.time(v.At)
	e.signed(int64(v.Took))
	e.text(string(v.Message))
	e.signed(int64(v.Nodes))
	e.signed(int64(v.Evaluated))
	e.signed(int64(v.Feasible))
	e.text(v.Nominated)
	e.text(v.Placed)
	if v.Reasons == nil {
		e.number(absent)
		return
	}
	e.number(uint64(len(v.Reasons)) + 1)
	for _, r := range v.Reasons {
		e.text(r.Plugin)
		e.text(string(r.Text))
		e.signed(int64(r.Nodes))
		e.flags(r.Final)
	}
}

func (e *encoder) opinion(v *opinion.Verdict) {
	if !refer(e, e.opinions, v) {
		return
	}
	e.text(string(v.Code))
	e.time(v.Since)
	e.text(v.Event)
	e.text(v.On)
	e.flags(v.Certain)
	e.number(uint64(len(v.Evidence)))
	for _, seen := range v.Evidence {
		e.time(seen.Time)
		e.text(string(seen.Text))
	}
}

func (e *encoder) cause(b *reason.Cause) {
	if !refer(e, e.causes, b) {
		return
	}
	e.number(uint64(b.Rule))
	e.number(uint64(b.Silence))
	e.number(uint64(b.Seen))
	e.time(b.At)
}

// orders writes all orders of a board but the first, as indices into that, and how many pods were bound.
func (e *encoder) orders(all *board.Orders, bound int) {
	e.signed(int64(bound))
	numbers := make(map[*board.Pod]int, len(all[0]))
	for i, p := range all[0] {
		numbers[p] = i
	}
	for _, order := range all[1:] {
		e.number(uint64(len(order)))
		for _, p := range order {
			e.number(uint64(numbers[p]))
		}
	}
}
