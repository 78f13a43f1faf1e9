package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

const (
	arrives  = " >active UnscheduledPodAdd modelled"
	popped   = " active>inflight modelled"
	fails    = " inflight>unschedulable ScheduleAttemptFailure NodeResourcesFit modelled"
	woken    = " unschedulable>backoff AssignedPodDelete NodeResourcesFit modelled"
	isPopped = " backoff>inflight NodeResourcesFit modelled"
	asleep   = " backoff>unschedulable NodeResourcesFit modelled"
	isTaken  = " unschedulable>inflight NodeResourcesFit modelled"
)

// TestRecorder: the first and the second failed attempt of a pod that stays as it is are seen, and so there
// was none that is not. Those that follow are not seen, and are modelled.
func TestRecorder(t *testing.T) {
	var c cluster
	first := c.small()
	second, third := c.another(1), c.another(1)
	web := c.stuck(2, "web")
	c.goes(3, first) // the loop is not seen to take web for this, nor for what follows
	c.recorded(6.001, web, 1)
	c.goes(8, second)
	c.recorded(8.2, web, 2)
	c.goes(11, third) // from here on its attempts are not seen
	err := Replay(t.Context(), c.recording(20), Options{}, func(m *Transition) error {
		if asleep := m.From == queue.Backoff && m.To == queue.Unschedulable; m.PutBack() != asleep {
			t.Errorf("%s → %s %s is told to be put back, or is not", m.From, m.To, m.Event)
		} else if asleep && !strings.HasPrefix(new(Frame).Why(m)[0], "No attempt of it was seen") {
			t.Error(new(Frame).Why(m))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, moves(t, c.recording(20), "web"), []string{
		"2" + arrives, "2" + popped, "2" + fails,
		"3" + woken, "3" + asleep, "6" + isTaken, "6" + fails,
		"8" + woken, "8" + isPopped, "8" + fails,
		"11" + woken, "11" + isPopped, "11" + fails,
	})
}

// TestRecorderOfAnother: the loop takes others before a pod whose attempt is yet to be seen.
func TestRecorderOfAnother(t *testing.T) {
	var c cluster
	small := c.small()
	web, db := c.stuck(2, "web"), c.stuck(2.5, "db") // so web is the first in activeQ
	c.goes(4, small)
	c.recorded(4.1, db, 1)
	c.recorded(4.3, web, 1)
	taken(t, c.recording(20), 4, "db 4.10", "web 4.30")
}

// taken compares when the loop takes which pod after so many seconds.
func taken(t *testing.T, rec *sources.Recording, after float64, want ...string) {
	t.Helper()
	var got []string
	err := Replay(t.Context(), rec, Options{}, func(m *Transition) error {
		if m.To == queue.InFlight && m.Time.After(at(after)) {
			got = append(got, fmt.Sprintf("%s %.2f", m.Pod.Key.Name, m.Time.Sub(at(0)).Seconds()))
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestLoopWaits: until its patch of a pod's status is answered, the loop takes no other.
func TestLoopWaits(t *testing.T) {
	var c cluster
	small := c.small()
	web, db := c.stuck(2, "web"), c.stuck(2.5, "db")
	c.recorded(3, web, 2)
	c.goes(10, small)
	reasons := "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
	c.add(10.002, &sources.FailedAttempt{Pod: key("db"), UID: db.UID, Message: sources.SafeText(reasons), Recorded: sources.NewRecorded(db.ResourceVersion, 1)})
	db = happens(&c, 10.3, sources.Updated, db, func(p *v1.Pod) { reject(p, reasons, "") })
	c.add(10.3, &sources.StatusPatched{Pod: key("db"), UID: db.UID, Sent: at(10.004)})
	taken(t, c.recording(20), 4, "db 10.00", "web 10.30")
}

// TestLoopWaitsUntold: where it is not told when the patch was sent, the loop waits for as long as requests take at
// the least. The model had not woken the pod that is patched.
func TestLoopWaitsUntold(t *testing.T) {
	var c cluster
	small := c.small()
	web := c.stuck(2, "web")
	c.recorded(3, web, 2)
	picky := happens(&c, 4, sources.Added, wants("picky", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	picky = c.patched(4.01, picky, "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.", "")
	c.goes(10, small)
	happens(&c, 10.0035, sources.Updated, picky, func(p *v1.Pod) { reject(p, tooSmall, "") })
	c.add(10.0035, &sources.StatusPatched{Pod: key("picky"), UID: picky.UID})
	var popped []float64
	err := Replay(t.Context(), c.recording(11), Options{}, func(m *Transition) error {
		if m.To == queue.InFlight && m.Pod.Key.Name == "web" && m.Time.After(at(10)) {
			popped = append(popped, m.Time.Sub(at(10)).Seconds())
		}
		return nil
	})
	if err != nil || len(popped) != 1 || popped[0] < 0.0035 || popped[0] > 0.005 {
		t.Errorf("%v, web is popped %v seconds later, want it after the patch", err, popped)
	}
}

// TestLoopHeldUp: where the first pod's attempt is seen late, and nothing can have woken the pod in between, the loop was
// held up, and took none behind it either.
func TestLoopHeldUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(c *cluster, other *v1.Pod)
		want    []string
	}{
		{"nothing", func(*cluster, *v1.Pod) {}, []string{"web 10.05", "db 10.05"}},
		{"a pod's end", func(c *cluster, other *v1.Pod) { c.goes(10.03, other) }, []string{"db 10.00", "web 10.05", "db 10.05"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r cluster
			small := r.small()
			other := r.another(1)
			web, db := r.stuck(2, "web"), r.stuck(2.5, "db") // so web is the first in activeQ
			r.recorded(3, db, 2)                             // what follows of it is not seen
			r.goes(10, small)
			c.between(&r, other)
			r.recorded(10.05, web, 1)
			taken(t, r.recording(10.2), 4, c.want...)
		})
	}
}

// TestBoundLate: others have to provide a volume before the pod that the loop took is bound.
func TestBoundLate(t *testing.T) {
	var c cluster
	c.small()
	c.stuck(1.5, "other")
	mode, class := storagev1.VolumeBindingWaitForFirstConsumer, "disk"
	happens(&c, 2, sources.Added, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "disk.example.com", VolumeBindingMode: &mode}, nil)
	happens(&c, 2, sources.Added, pendingClaim("data", class), nil)
	pod := happens(&c, 3, sources.Added, wants("store", "100m"), func(p *v1.Pod) {
		p.CreationTimestamp = metav1.NewTime(at(3))
		mount(p, "data")
	})
	c.bound(4.5, pod, "node-a")
	taken(t, c.recording(20), 2, "store 3.00")
}

// TestRecorderUnknown: of a pod that was there before the source, and of all where the source tells nothing of the
// recorder, no attempt is held back.
func TestRecorderUnknown(t *testing.T) {
	for _, c := range []struct {
		name  string
		stuck func(c *cluster) *v1.Pod
	}{
		{"a pod from before", func(c *cluster) *v1.Pod {
			c.stuck(1.5, "other")
			pod := happens(c, 2, sources.Added, wants("web", "4"), nil)
			return c.patched(2.01, pod, tooSmall, "")
		}},
		{"no recorder", func(c *cluster) *v1.Pod {
			pod := wants("web", "4")
			pod.CreationTimestamp = metav1.NewTime(at(2))
			pod = happens(c, 2, sources.Added, pod, nil)
			return c.patched(2.01, pod, tooSmall, "")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r cluster
			small := r.small()
			c.stuck(&r)
			r.goes(3, small)
			compare(t, moves(t, r.recording(20), "web"), []string{
				"2" + arrives, "2" + popped, "2" + fails, "3" + woken, "3" + isPopped, "3" + fails,
			})
		})
	}
}
