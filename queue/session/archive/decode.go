package archive

import (
	"encoding/binary"
	"errors"
	"time"
	"unsafe"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// errDamaged is returned for a file that was modified by someone else.
var errDamaged = errors.New("file is damaged")

// decoder decodes an encoder's output. After the first failure it only returns empty values.
type decoder struct {
	in       []byte     // texts and objects refer to it, so it must not change
	at       int        // read position
	past     board.Past // contains earlier moves
	texts    []string
	lists    [][]string
	pods     seen[board.Pod]
	moves    seen[board.Transition]
	objects  seen[board.Packed]
	verdicts seen[verdict.Verdict]
	opinions seen[opinion.Verdict]
	causes   seen[reason.Cause]
	seconds  int64 // the last time read
	depth    int   // nesting depth of pods being read
	failed   error
}

// maxDepth limits the nesting of pods: a pod contains its last move, and that contains the pod as it was.
const maxDepth = 16

func (d *decoder) fail() {
	if d.failed == nil {
		d.failed = errDamaged
	}
	d.at = len(d.in)
}

// seen contains the values of one type that were read.
type seen[T any] struct {
	all   []*T
	spare []T // allocated in advance: single allocations take longer than decoding
}

// chunkLen is the number of values allocated at once: few, so that one that is kept retains little else.
const chunkLen = 32

// add adds and returns an empty value.
func (s *seen[T]) add() *T {
	if len(s.spare) == 0 {
		s.spare = make([]T, chunkLen)
	}
	one := &s.spare[0]
	s.spare = s.spare[1:]
	s.all = append(s.all, one)
	return one
}

// find returns the value that a reference refers to. If it is new, its content follows.
func find[T any](d *decoder, s *seen[T]) (found *T, isNew bool) {
	n := d.reference(len(s.all))
	switch n {
	case absent:
		return nil, false
	case fresh:
		return s.add(), true
	}
	return s.all[n-known], false
}

// reference reads a reference to one of count known values. After a failure it is absent.
func (d *decoder) reference(count int) uint64 {
	n := d.number()
	if n >= known && n-known >= uint64(count) {
		d.fail()
	}
	if d.failed != nil {
		return absent
	}
	return n
}

func (d *decoder) number() uint64 {
	if d.at < len(d.in) && d.in[d.at] < 0x80 { // the common case
		d.at++
		return uint64(d.in[d.at-1])
	}
	n, size := binary.Uvarint(d.in[d.at:])
	if size <= 0 {
		d.fail()
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) signed() int64 {
	n := d.number()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) int() int { return int(d.signed()) }

// count reads the number of the following values, each of which takes at least a byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.in)-d.at) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) flags(all ...*bool) {
	bits := d.number()
	for i, on := range all {
		*on = bits>>i&1 == 1
	}
}

// bytes reads a byte string, which is valid as long as the decoder's input is.
func (d *decoder) bytes() []byte {
	n := d.count()
	d.at += n
	return d.in[d.at-n : d.at : d.at]
}

func (d *decoder) text() string {
	n := d.reference(len(d.texts))
	switch n {
	case absent:
		d.fail()
		return ""
	case fresh:
		b := d.bytes()
		s := unsafe.String(unsafe.SliceData(b), len(b))
		d.texts = append(d.texts, s)
		return s
	}
	return d.texts[n-known]
}

func (d *decoder) list() []string {
	n := d.reference(len(d.lists))
	switch n {
	case absent:
		return nil
	case fresh:
		all := make([]string, d.count())
		for i := range all {
			all[i] = d.text()
		}
		d.lists = append(d.lists, all)
		return all
	}
	return d.lists[n-known]
}

func (d *decoder) time() time.Time {
	nanos := d.number()
	if nanos == absent {
		return time.Time{}
	}
	d.seconds += d.signed()
	return time.Unix(d.seconds, int64(nanos-1)%int64(time.Second)).UTC()
}

func (d *decoder) tier() queue.Tier { return queue.Tier(d.number()) }

func (d *decoder) change() board.Change {
	return board.Change{At: d.time(), Before: d.pod(), After: d.pod(), Move: d.move()}
}

func (d *decoder) pod() *board.Pod {
	p, isNew := find(d, &d.pods)
	if !isNew {
		return p
	}
	if d.depth++; d.depth > maxDepth {
		d.fail()
	}
	defer func() { d.depth-- }()
	d.flags(&p.Observed, &p.Estimated, &p.AttemptsAtLeast)
	p.Key.Namespace, p.Key.Name = d.text(), d.text()
	p.Priority = int32(d.signed())
	p.Since, p.Arrived, p.FailedBy, p.GoneSince = d.time(), d.time(), d.time(), d.time()
	p.Message, p.GateMessage = sources.SafeText(d.text()), sources.SafeText(d.text())
	p.Group, p.Node = d.text(), d.text()

	p.SetPacked(d.object())
	p.Tier = d.tier()
	p.Attempts, p.Uncounted, p.UnschedulableCount, p.ConsecutiveErrorsCount = d.int(), d.int(), d.int(), d.int()
	p.Timestamp, p.InitialAttemptTimestamp, p.BackoffExpiry, p.FlushTimestamp = d.time(), d.time(), d.time(), d.time()
	p.UnschedulablePlugins, p.PendingPlugins = d.list(), d.list()
	p.GatingPlugin, p.NominatedNode = d.text(), d.text()

	p.Verdict, p.Opinion, p.Cause, p.Last = d.verdict(), d.opinion(), d.cause(), d.move()
	return p
}

func (d *decoder) move() *board.Transition {
	m, isNew := find(d, &d.moves)
	if !isNew {
		return m
	}
	m.From, m.To = d.tier(), d.tier()
	m.Event, m.Time, m.Attempts, m.BackoffExpiry = d.text(), d.time(), d.int(), d.time()
	m.UnschedulablePlugins, m.PendingPlugins = d.list(), d.list()
	m.GatingPlugin = d.text()
	d.flags(&m.Observed)
	m.Seq, m.Change = d.int(), d.int()
	if seq := d.number(); seq != absent {
		m.SetPrevIn(d.past, int(seq-1))
	}
	m.Pod = d.pod()
	return m
}

func (d *decoder) object() *board.Packed {
	object, isNew := find(d, &d.objects)
	if isNew {
		object.Pack(d.bytes())
	}
	return object
}

func (d *decoder) verdict() *verdict.Verdict {
	v, isNew := find(d, &d.verdicts)
	if !isNew {
		return v
	}
	v.At, v.Took, v.Message = d.time(), time.Duration(d.signed()), sources.SafeText(d.text())
	v.Nodes, v.Evaluated, v.Feasible = d.int(), d.int(), d.int()
	v.Nominated, v.Placed = d.text(), d.text()
	n := d.count()
	if n == absent {
		return v
	}
	v.Reasons = make([]verdict.Reason, n-1)
	for i := range v.Reasons {
		r := &v.Reasons[i]
		r.Plugin, r.Text, r.Nodes = d.text(), sources.SafeText(d.text()), d.int()
		d.flags(&r.Final)
	}
	return v
}

func (d *decoder) opinion() *opinion.Verdict {
	v, isNew := find(d, &d.opinions)
	if !isNew {
		return v
	}
	v.Code, v.Since, v.Event, v.On = opinion.Code(d.text()), d.time(), d.text(), d.text()
	d.flags(&v.Certain)
	v.Evidence = make([]opinion.Evidence, d.count())
	for i := range v.Evidence {
		v.Evidence[i] = opinion.Evidence{Time: d.time(), Text: sources.SafeText(d.text())}
	}
	return v
}

func (d *decoder) cause() *reason.Cause {
	b, isNew := find(d, &d.causes)
	if !isNew {
		return b
	}
	b.Rule, b.Silence, b.Seen = reason.Rule(d.number()), evidence.Silence(d.number()), evidence.Kind(d.number())
	b.At = d.time()
	return b
}

// part reads a part of a board's pods.
func (d *decoder) part() []*board.Pod {
	pods := make([]*board.Pod, 0, d.count())
	for range cap(pods) {
		p := d.pod()
		if p == nil {
			d.fail()
			return nil
		}
		pods = append(pods, p)
	}
	return pods
}

// orders reads the orders of a board whose first order is pods, and how many pods were bound.
func (d *decoder) orders(pods []*board.Pod) (all *board.Orders, bound int) {
	all = &board.Orders{pods}
	bound = d.int()
	for i := range all[1:] {
		order := make([]*board.Pod, d.count())
		for j := range order {
			n := d.number()
			if n >= uint64(len(pods)) {
				d.fail()
				return &board.Orders{}, 0
			}
			order[j] = pods[n]
		}
		all[1+i] = order
	}
	return all, bound
}
