package archive

import (
	"encoding/binary"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// errDamaged is what is read from a file that somebody else changed.
var errDamaged = errors.New("it is damaged")

// decoder reads what an encoder wrote. After the first failure all that it reads is empty.
type decoder struct {
	in        []byte
	past      board.Past // where the moves before those that are read are found
	texts     []string
	pods      []*board.Pod
	moves     []*board.Transition
	objects   []*v1.Pod
	verdicts  []*verdict.Verdict
	explained []*reason.Because
	depth     int // how many pods are being read, each of which holds the next
	failed    error
}

// maxDepth is how many pods hold each other: one its last move, that the pod as it was then.
const maxDepth = 16

func (d *decoder) fail() {
	if d.failed == nil {
		d.failed = errDamaged
	}
	d.in = nil
}

// find returns what a reference refers to. It is new if what it is follows.
func find[T any](d *decoder, seen *[]*T) (found *T, isNew bool) {
	switch n := d.number(); {
	case d.failed != nil, n == absent:
		return nil, false
	case n == fresh:
		found = new(T)
		*seen = append(*seen, found)
		return found, true
	case n-known < uint64(len(*seen)):
		return (*seen)[n-known], false
	default:
		d.fail()
		return nil, false
	}
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.in)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.in = d.in[size:]
	return n
}

func (d *decoder) signed() int64 {
	n, size := binary.Varint(d.in)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.in = d.in[size:]
	return n
}

func (d *decoder) int() int { return int(d.signed()) }

// count reads how many things follow, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.in)) {
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

// bytes reads so many bytes, which are valid as long as the decoder's input is.
func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.in[:n]
	d.in = d.in[n:]
	return b
}

func (d *decoder) text() string {
	switch n := d.number(); {
	case d.failed != nil:
		return ""
	case n == fresh:
		s := string(d.bytes())
		d.texts = append(d.texts, s)
		return s
	case n >= known && n-known < uint64(len(d.texts)):
		return d.texts[n-known]
	}
	d.fail()
	return ""
}

func (d *decoder) list() []string {
	n := d.count()
	if n == absent {
		return nil
	}
	all := make([]string, n-1)
	for i := range all {
		all[i] = d.text()
	}
	return all
}

func (d *decoder) time() time.Time {
	nanos := d.number()
	if nanos == absent {
		return time.Time{}
	}
	return time.Unix(d.signed(), int64(nanos-1)%int64(time.Second)).UTC()
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
	d.flags(&p.Observed, &p.Estimated)
	p.Key.Namespace, p.Key.Name = d.text(), d.text()
	p.Priority = int32(d.signed())
	p.Since, p.Arrived = d.time(), d.time()
	p.Message = sources.SafeText(d.text())
	p.Group, p.Node = d.text(), d.text()

	p.PodInfo.Pod = d.object()
	p.Tier = d.tier()
	p.Attempts, p.UnschedulableCount, p.ConsecutiveErrorsCount = d.int(), d.int(), d.int()
	p.Timestamp, p.InitialAttemptTimestamp, p.BackoffExpiry, p.FlushTimestamp = d.time(), d.time(), d.time(), d.time()
	p.UnschedulablePlugins, p.PendingPlugins = d.list(), d.list()
	p.GatingPlugin, p.NominatedNode = d.text(), d.text()

	p.Verdict, p.Because, p.Last = d.verdict(), d.because(), d.move()
	return p
}

func (d *decoder) move() *board.Transition {
	m, isNew := find(d, &d.moves)
	if !isNew {
		return m
	}
	m.Transition.Pod = d.object()
	m.From, m.To = d.tier(), d.tier()
	m.Event, m.Time, m.Attempts, m.BackoffExpiry = d.text(), d.time(), d.int(), d.time()
	m.UnschedulablePlugins, m.PendingPlugins = d.list(), d.list()
	m.GatingPlugin = d.text()
	d.flags(&m.Observed)
	m.Seq, m.Change = d.int(), d.int()
	if seq := d.number(); seq != absent {
		m.FollowIn(d.past, int(seq-1))
	}
	m.Pod = d.pod()
	return m
}

func (d *decoder) object() *v1.Pod {
	pod, isNew := find(d, &d.objects)
	if isNew && pod.Unmarshal(d.bytes()) != nil {
		d.fail()
	}
	return pod
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

func (d *decoder) because() *reason.Because {
	b, isNew := find(d, &d.explained)
	if !isNew {
		return b
	}
	b.Rule, b.Silence, b.Seen = reason.Rule(d.number()), reason.Silence(d.number()), evidence.Kind(d.number())
	b.At = d.time()
	return b
}

// board reads the pods of a board, and returns it as nobody sees it.
func (d *decoder) board() *board.Board {
	bound, n := d.int(), d.count()
	pods := make([]*board.Pod, 0, n)
	for range n {
		if p := d.pod(); p != nil {
			pods = append(pods, p)
		}
	}
	return board.Of(pods, bound)
}
