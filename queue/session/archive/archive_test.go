package archive

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/board/boardtest"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/verdict"
)

// memory is an in-memory file that can't grow beyond limit.
type memory struct {
	bytes []byte
	limit int
}

var errNoSpace = errors.New("no space left on device")

func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.bytes).ReadAt(p, at)
}

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if m.limit > 0 && int(at)+len(p) > m.limit {
		return 0, errNoSpace
	}
	m.bytes = append(m.bytes[:at], p...)
	return len(p), nil
}

func (*memory) Close() error { return nil }

func newArchive(t *testing.T, f *memory) *Archive {
	t.Helper()
	a, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

var noon = time.Date(2026, 11, 24, 12, 0, 0, 123456789, time.UTC)

// filled sets every field that v contains or points to, except pods' objects and moves.
func filled(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(noon.Add(time.Duration(*n) * time.Millisecond)))
		return
	case *v1.Pod, *board.Transition, *board.Pod:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 7))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0), n)
		filled(v.Index(1), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i), n)
			}
		}
	default:
		panic(v.Kind())
	}
}

// TestEveryField: every field of a pod, its move, its verdict and its cause is read back, including fields
// added in the future.
func TestEveryField(t *testing.T) {
	n := 0
	pod, move := &board.Pod{}, &board.Transition{}
	filled(reflect.ValueOf(pod).Elem(), &n)
	filled(reflect.ValueOf(move).Elem(), &n)
	object := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: map[string]string{"app": "web"}, UID: "u"}}
	pod.PodInfo.Pod, move.Transition.Pod = object, object
	pod.Last, move.Pod = move, pod
	move.Seq, move.Change = 7, 0

	a := newArchive(t, &memory{})
	if err := a.Append([]board.Change{{At: noon, After: pod, Move: move}}, 7); err != nil {
		t.Fatal(err)
	}
	got := a.Change(0)
	if got.Move != got.After.Last || got.Move.Pod != got.After || a.Move(7) != got.Move {
		t.Error("the pod and its move do not refer to each other")
	}
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is\n%+v\nwant\n%+v", what, got, want)
		}
	}
	same("the object", got.After.Object(), object)
	if first := got.After.Object(); got.After.Object() != first {
		t.Error("the object is unpacked more than once")
	}
	same("the verdict", got.After.Verdict, pod.Verdict)
	same("the cause", got.After.Cause, pod.Cause)
	move.Transition.Pod = nil // only stored with the pod
	same("the queue's transition", got.Move.Transition, move.Transition)
	if got.Move.Seq != 7 {
		t.Errorf("the move has number %d, want 7", got.Move.Seq)
	}
	was := *pod
	was.Last, got.After.Last = nil, nil
	got.After.ReadObject(got.After.Object())
	same("the pod", *got.After, was)
}

// TestMissingValues: missing values are read back as missing.
func TestMissingValues(t *testing.T) {
	a := newArchive(t, &memory{})
	if err := a.Append([]board.Change{{At: noon, After: &board.Pod{PodInfo: queue.PodInfo{PendingPlugins: []string{}}}}, {}}, 0); err != nil {
		t.Fatal(err)
	}
	if p := a.Change(0).After; !reflect.DeepEqual(*p, board.Pod{PodInfo: queue.PodInfo{PendingPlugins: []string{}}}) {
		t.Errorf("an empty pod is read as %+v", *p)
	}
	if c := a.Change(1); !reflect.DeepEqual(c, board.Change{}) {
		t.Errorf("an empty change is read as %+v", c)
	}
}

// history returns n changes of some pods, and the boards before each.
func history(n int) (changes []board.Change, boards []*board.Board) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := board.New()
	moves := 0
	plugins := [][]string{nil, {"NodeResourcesFit"}, {"NodeAffinity", "TaintToleration"}}
	for i := range n {
		boards = append(boards, b.Copy())
		name := fmt.Sprintf("pod-%d", rng.IntN(40))
		object := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "1"}}
		c := board.Change{At: noon.Add(time.Duration(i) * time.Second)}
		after := &board.Pod{}
		after.Key.Namespace, after.Key.Name = "default", name
		if c.Before = b.Get(after.Key); c.Before != nil {
			*after = *c.Before
		}
		after.PodInfo.Pod = object
		if rng.IntN(4) > 0 {
			m := &board.Transition{Seq: moves, Change: i, Pod: after}
			m.Time, m.From, m.To, m.Event = c.At, after.Tier, queue.Tier(1+rng.IntN(7)), "NodeAdd"
			if c.Before != nil {
				m.SetPrev(c.Before.Last)
			}
			after.Tier, after.Since, after.Last = m.To, c.At, m
			after.UnschedulablePlugins = plugins[rng.IntN(len(plugins))]
			after.Verdict = &verdict.Verdict{Message: "0/3 nodes are available"}
			after.Cause = &reason.Cause{Rule: reason.InOrder}
			c.Move = m
			moves++
		} else {
			after.Message += "."
		}
		c.After = after
		b.Replace(c.Before, c.After)
		changes = append(changes, c)
	}
	return changes, boards
}

// appendAll appends changes as a timeline does, in batches, with the board before each.
func appendAll(t *testing.T, a *Archive, changes []board.Change, boards []*board.Board, batch int) {
	t.Helper()
	moves := 0
	for at := 0; at < len(changes); at += batch {
		some := changes[at:min(at+batch, len(changes))]
		if err := a.AppendBoard(boards[at], func(*board.Pod) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if err := a.Append(some, moves); err != nil {
			t.Fatal(err)
		}
		for i := range some {
			moves += some[i].MoveCount()
		}
	}
}

// TestFind: changes and moves are found by number and by time, with a board near each, and the chain of a
// pod's moves continues in earlier blocks.
func TestFind(t *testing.T) {
	changes, boards := history(5 * BlockLen)
	a := newArchive(t, &memory{})
	appendAll(t, a, changes, boards, 3*BlockLen/2)
	moves := 0
	for i, c := range changes {
		got := a.Change(i)
		if !got.At.Equal(c.At) || got.After.Key != c.After.Key || got.After.Tier != c.After.Tier || (got.Before == nil) != (c.Before == nil) {
			t.Fatalf("change %d is %+v, want %+v", i, got, c)
		}
		if n := a.ChangesBy(c.At); n != i+1 {
			t.Fatalf("%d changes by change %d", n, i)
		}
		if n := a.ChangesBy(c.At.Add(-1)); n != i {
			t.Fatalf("%d changes before change %d", n, i)
		}
		if n := a.MovesBefore(i); n != moves {
			t.Fatalf("%d moves before change %d, want %d", n, i, moves)
		}
		if c.Move == nil {
			continue
		}
		for got, want := a.Move(moves), c.Move; want != nil; got, want = got.Prev(), want.Prev() {
			if got == nil || got.Seq != want.Seq || got.Pod.Key != want.Pod.Key || !got.Time.Equal(want.Time) {
				t.Fatalf("the chain of move %d has %+v, want %+v", moves, got, want)
			}
			if i%97 > 0 {
				break
			}
		}
		moves++
	}
	for i := 0; i < len(changes); i += 113 {
		b, at := a.Board(i)
		if at > i || i-at >= 3*BlockLen/2 {
			t.Fatalf("the board for change %d is before change %d", i, at)
		}
		for ; at < i; at++ {
			c := a.Change(at)
			b.Replace(c.Before, c.After)
		}
		if got, want := boardtest.Picture(b), boardtest.Picture(boards[i]); got != want {
			t.Fatalf("before change %d the board is\n%s\nwant\n%s", i, got, want)
		}
		if got, want := lanes(b), lanes(boards[i]); got != want {
			t.Fatalf("before change %d the lanes are\n%s\nwant\n%s", i, got, want)
		}
	}
	if err := a.Err(); err != nil {
		t.Error(err)
	}
}

// TestManyPods: a board of several parts is read back, finds each pod, and can be changed.
func TestManyPods(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := board.New()
	for i := range 2*partLen + 100 {
		p := &board.Pod{}
		p.Key.Namespace, p.Key.Name = "default", fmt.Sprintf("pod-%05d", rng.IntN(1_000_000))
		p.PodInfo.Pod = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: p.Key.Name}}
		p.Tier, p.Arrived, p.Since = queue.Tier(1+rng.IntN(7)), noon.Add(time.Duration(rng.IntN(1000))*time.Second), noon.Add(time.Duration(i)*time.Second)
		b.Replace(b.Get(p.Key), p)
	}
	a := newArchive(t, &memory{})
	if err := a.AppendBoard(b, func(*board.Pod) bool { return true }); err != nil {
		t.Fatal(err)
	}
	got, _ := a.Board(0)
	same := func() {
		t.Helper()
		if got, want := boardtest.Picture(got), boardtest.Picture(b); got != want {
			t.Fatal("the board is not the one that was written")
		}
		if got, want := lanes(got), lanes(b); got != want || strings.Contains(got, "false") {
			t.Fatal("the lanes are not those that were written, or a pod is not found")
		}
	}
	same()
	for i := range 500 {
		p := *b.Lanes(time.Time{}).At(rng.IntN(b.Pods.Len()))
		p.Tier, p.Since = queue.Tier(1+rng.IntN(7)), noon.Add(time.Duration(i)*time.Hour)
		got.Replace(got.Get(p.Key), &p)
		b.Replace(b.Get(p.Key), &p)
	}
	same()
}

// lanes returns the names of the pods of all lanes, and whether each is found by its name.
func lanes(b *board.Board) string {
	var names strings.Builder
	for i, l := 0, b.Lanes(time.Time{}); i < l.Len(); i++ {
		p := l.At(i)
		fmt.Fprintln(&names, p.Key.Name, p.Tier, b.Get(p.Key) == p)
	}
	return names.String()
}

// TestFull: a failed write returns an error and keeps earlier data.
func TestFull(t *testing.T) {
	changes, _ := history(4 * BlockLen)
	f := &memory{limit: 40_000}
	a := newArchive(t, f)
	if err := a.Append(changes, 0); !errors.Is(err, errNoSpace) {
		t.Fatalf("the error is %v", err)
	}
	n := a.end
	if n == 0 || n == len(changes) {
		t.Fatalf("%d changes are stored", n)
	}
	if got := a.Change(n - 1); got.After == nil || got.After.Key != changes[n-1].After.Key {
		t.Errorf("the last change is %+v", got)
	}
}

// TestDamaged: a file that was modified reads as empty, with an error.
func TestDamaged(t *testing.T) {
	changes, boards := history(BlockLen)
	for name, damage := range map[string]func(f *memory){
		"cut":     func(f *memory) { f.bytes = f.bytes[:len(f.bytes)/2] },
		"changed": func(f *memory) { f.bytes[len(f.bytes)/2] ^= 0xff },
		"emptied": func(f *memory) { clear(f.bytes) },
	} {
		f := &memory{}
		a := newArchive(t, f)
		appendAll(t, a, changes, boards, BlockLen)
		damage(f)
		if c := a.Change(7); c.After != nil {
			t.Errorf("%s: change 7 is %+v", name, c)
		}
		if m := a.Move(7); m != nil {
			t.Errorf("%s: move 7 is %+v", name, m)
		}
		if err := a.Err(); err == nil || !strings.HasPrefix(err.Error(), "read history: ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// FuzzDecode: no input makes decoding panic or allocate without limit.
func FuzzDecode(f *testing.F) {
	changes, boards := history(50)
	e := newEncoder()
	e.number(uint64(len(changes)))
	for i := range changes {
		e.change(&changes[i])
	}
	f.Add(e.out)
	all := boards[49].Orders(func(*board.Pod) bool { return true })
	e = newEncoder()
	e.number(uint64(len(all[0])))
	for _, p := range all[0] {
		e.pod(p)
	}
	f.Add(e.out)
	e = newEncoder()
	e.orders(all, boards[49].Bound())
	f.Add(e.out)
	f.Fuzz(func(t *testing.T, in []byte) {
		d := &decoder{in: in}
		for range d.count() {
			d.change()
		}
		board.FromOrders((&decoder{in: in}).orders((&decoder{in: in}).part()))
		board.FromOrders((&decoder{in: in}).orders(all[0]))
	})
}
