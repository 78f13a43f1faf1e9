package shadow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/queue/session/world/replayed"
	"github.com/schedq/schedq/sources"
)

// TestWaitingPodsAreQueuedOnce: after any sequence of scheduler actions and object changes, at any
// spacing, the model's queue contains exactly the waiting pods, each once.
func TestWaitingPodsAreQueuedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c world.Cluster
		seconds := 1.0
		world.Change(&c, seconds, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(&c, seconds, sources.Added, world.Node("node-b", "1"), nil)
		pods, failed := map[string]*v1.Pod{}, map[string]int{}
		attached := rapid.IntRange(-20, 20).Draw(t, "attached") // below 0: the recording is complete from the start
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			seconds += rapid.SampledFrom([]float64{0, 0.0001, 0.0005, 0.002, 0.02, 0.3, 1.1, 3}).Draw(t, "gap")
			if i == attached {
				c.Add(seconds, &sources.Attached{})
			}
			if rapid.IntRange(0, 19).Draw(t, "restart") == 19 {
				c.Add(seconds, &sources.SchedulerStarted{})
			}
			name := fmt.Sprint("p-", rapid.IntRange(1, 4).Draw(t, "pod"))
			pod := pods[name]
			if pod == nil {
				pod = world.PendingPod(name, rapid.SampledFrom([]string{"500m", "1", "4"}).Draw(t, "cpu"))
				pod.UID = types.UID(fmt.Sprint(name, "-", i))
				pod.CreationTimestamp = metav1.NewTime(world.At(seconds))
				pods[name], failed[name] = world.Change(&c, seconds, sources.Added, pod, nil), 0
				continue
			}
			switch does := rapid.SampledFrom([]string{"fail", "patch", "label", "bind", "end", "delete"}).Draw(t, "does"); {
			case does == "delete":
				world.Change(&c, seconds, sources.Deleted, pod, nil)
				delete(pods, name)
			case pod.Spec.NodeName != "" && does == "end":
				pods[name] = world.Change(&c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
			case pod.Spec.NodeName != "", does == "label":
				pods[name] = world.Change(&c, seconds, sources.Updated, pod, func(p *v1.Pod) { p.Labels = map[string]string{"step": fmt.Sprint(i)} })
			case does == "fail":
				failed[name]++
				c.Recorded(seconds, pod, failed[name])
			case does == "patch":
				pods[name] = c.Patched(seconds, pod, fmt.Sprint(world.TooSmall, i), "")
			default:
				pods[name] = c.Bound(seconds, pod, rapid.SampledFrom([]string{"node-a", "node-b"}).Draw(t, "node"))
			}
		}
		opts := world.Config(t)
		opts.Queue.PopFromBackoffQ = rapid.Bool().Draw(t, "SchedulerPopFromBackoffQ")
		rec := c.Recording(seconds + 15)
		placed := map[types.NamespacedName]types.UID{}
		err := timeline.Replay(context.Background(), rec, timeline.Options{Scheduler: opts}, func(m *board.Transition) error {
			if uid := m.Pod.Pod.UID; m.To == queue.Scheduled {
				placed[m.Pod.Key] = uid
			} else if m.To != queue.Deleted && placed[m.Pod.Key] == uid {
				t.Errorf("%s was bound and then moved to %s by %s", uid, m.To, m.Event)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		line := timeline.New(rec, opts, nil)
		line.GoTo(line.End)
		want := map[types.UID]bool{}
		for _, pod := range pods {
			if cluster.Waiting(pod) {
				want[pod.UID] = true
			}
		}
		for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight} {
			for i := range line.Shown.Total(tier) {
				uid := line.Shown.At(tier, i).Pod.UID
				if !want[uid] {
					t.Errorf("%s is %s, but is not waiting or is queued twice", uid, tier)
				}
				delete(want, uid)
			}
		}
		for uid := range want {
			t.Errorf("%s is waiting, but is not in the queue", uid)
		}
	})
}

// A local kube-scheduler takes the place of the real one, so every decision is known to the
// microsecond. A source contains some of them, as an audit log or the scheduler's log would, and the
// model must infer the rest.

// sourceDetail defines what a source contains about a scheduler.
type sourceDetail struct {
	requests  bool // status patches
	exact     bool // every request of the scheduler's client
	events    bool // Events written by the scheduler's recorder
	verbosity int  // verbosity of the scheduler's log; negative: no log
}

// schedulerRun contains a scheduler's moves, and a source that shows some of them.
type schedulerRun struct {
	moves  []string
	source []sources.Event
}

// runScheduler runs a scheduler over the events of c until that many seconds after noon.
func runScheduler(t *testing.T, c *world.Cluster, until float64, popFromBackoffQ bool, detail sourceDetail) (r schedulerRun) {
	t.Helper()
	cfg := world.Config(t)
	cfg.Queue.PopFromBackoffQ = popFromBackoffQ
	rec := c.Recording(until)
	rec.Rerun = true
	feed := shadow.NewFeed(rec, cfg)
	pods := map[types.UID]*v1.Pod{}
	failures := map[string]int{} // by pod and resource version
	add := func(at time.Time, f sources.Fact) { r.source = append(r.source, sources.Event{Time: at, Fact: f}) }
	if detail.verbosity >= 0 {
		add(world.At(0), &sources.Logged{Verbosity: detail.verbosity})
	}
	const request = 2 * time.Millisecond // duration of a request
	for i := 0; feed.HasEvent(i); i++ {
		ev := feed.Events[i]
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			pod, ok := f.Object.(*v1.Pod)
			if !ok || f.Verb != sources.Updated {
				add(ev.Time, f)
			} else {
				before := pods[pod.UID]
				binds := before.Spec.NodeName == "" && pod.Spec.NodeName != ""
				c, was := cluster.Unscheduled(pod), cluster.Unscheduled(before)
				patches := c != nil && (was == nil || was.Message != c.Message) || pod.Status.NominatedNodeName != before.Status.NominatedNodeName
				if detail.exact && (binds || patches) {
					add(ev.Time.Add(-request), &sources.Requested{})
				}
				add(ev.Time, f)
				if detail.requests && patches {
					add(ev.Time, &sources.StatusPatched{Pod: world.Key(pod.Name), UID: pod.UID, Sent: ev.Time.Add(-request)})
				}
			}
			if ok {
				pods[pod.UID] = pod
			}
		case *shadow.Move:
			r.moves = append(r.moves, formatMove(ev.Time, f))
			pod := newestNamed(pods, f.Pod.Name)
			switch {
			case f.Event == queue.ScheduleAttemptFailure && f.Verdict != nil:
				attempt := &sources.FailedAttempt{Pod: f.Pod, UID: pod.UID, Message: f.Message}
				if detail.verbosity >= sources.AttemptsVerbosity && detail.verbosity < sources.MovesVerbosity {
					logged := *attempt
					logged.Log, logged.Plugins, logged.To = true, f.Plugins, f.To
					if detail.verbosity > sources.AttemptsVerbosity {
						logged.Began = ev.Time.Add(-f.Verdict.Took)
					}
					add(ev.Time, &logged)
				}
				at := pod.Name + pod.ResourceVersion
				if failures[at]++; detail.events && failures[at] <= 2 {
					attempt.Recorded = sources.NewRecorded(pod.ResourceVersion, failures[at])
					add(ev.Time, attempt)
				}
			case f.To == sources.TierScheduled && detail.verbosity >= sources.AttemptsVerbosity && detail.verbosity < sources.MovesVerbosity:
				add(ev.Time, &sources.Bound{Pod: f.Pod, UID: pod.UID, Node: f.Node})
			}
			if detail.verbosity >= sources.MovesVerbosity {
				add(ev.Time, f.Move)
			}
		default:
			add(ev.Time, ev.Fact)
		}
	}
	if feed.Err != nil {
		t.Fatal(feed.Err)
	}
	slices.SortStableFunc(r.source, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return r
}

// newestNamed returns the newest pod with the name.
func newestNamed(pods map[types.UID]*v1.Pod, name string) (last *v1.Pod) {
	for _, pod := range pods {
		if pod.Name == name && (last == nil || pod.UID > last.UID) {
			last = pod
		}
	}
	return last
}

// formatMove formats a move, with its time to a tenth of a second.
func formatMove(at time.Time, m *shadow.Move) string {
	return fmt.Sprintf("%s %.1f %s %s %s %s", m.Pod.Name, at.Sub(world.At(0)).Seconds(), m.To, m.Event, strings.Join(m.Plugins, ","), m.Node)
}

// followSource returns the moves that the model makes from a source.
func followSource(t *testing.T, source []sources.Event, until float64, popFromBackoffQ bool) (moves []string) {
	t.Helper()
	cfg := world.Config(t)
	cfg.Queue.PopFromBackoffQ = popFromBackoffQ
	feed := shadow.NewFeed(&sources.Recording{Name: "source", Events: source, End: world.At(until)}, cfg)
	for i := 0; feed.HasEvent(i); i++ {
		switch m := feed.Events[i].Fact.(type) {
		case *shadow.Move:
			if !m.Restated {
				moves = append(moves, formatMove(feed.Events[i].Time, m))
			}
		case *sources.Move:
			moves = append(moves, formatMove(feed.Events[i].Time, &shadow.Move{Move: m}))
		}
	}
	if feed.Err != nil {
		t.Fatal(feed.Err)
	}
	return moves
}

// showsEveryAttempt reports whether the source is detailed enough for back-to-back attempts.
func (d sourceDetail) showsEveryAttempt() bool {
	return d.exact && d.events || d.verbosity >= sources.AttemptsVerbosity
}

// manyPods is the name of the workload whose attempts are back to back.
const manyPods = "many pods are created at once"

// workloads are sequences of object changes, each with its length in seconds.
var workloads = []struct {
	name  string
	until float64
	build func(c *world.Cluster)
}{
	{"pods fit, or wait for resources", 60, func(c *world.Cluster) {
		n := world.Change(c, 1, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(c, 2, sources.Added, world.PendingPod("web", "1"), nil)
		db := world.Change(c, 3, sources.Added, world.PendingPod("db", "1"), nil)
		world.Change(c, 4, sources.Added, world.PendingPod("late", "1"), nil)
		world.Change(c, 5, sources.Added, world.PendingPod("large", "3"), nil)
		world.Change(c, 10, sources.Deleted, db, nil)
		world.Change(c, 20, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "3") })
		world.Change(c, 30, sources.Added, world.Node("node-b", "4"), nil)
	}},
	{"pods are woken and fail again", 60, func(c *world.Cluster) {
		n := world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
		for i := range 4 {
			world.Change(c, 2+float64(i)/10, sources.Added, world.PendingPod(fmt.Sprint("web-", i), "2"), nil)
		}
		for i := range 5 {
			n = world.Change(c, 5+float64(i*i), sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, fmt.Sprint(1+i%2, "500m")[:1]) })
		}
	}},
	{"a pod preempts others", 30, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(c, 2, sources.Added, world.PendingPod("low-1", "1"), priority(0))
		world.Change(c, 3, sources.Added, world.PendingPod("low-2", "1"), priority(1))
		world.Change(c, 10, sources.Added, world.PendingPod("high", "2"), priority(100))
	}},
	{"pods are gated", 30, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "2"), nil)
		gated := world.Change(c, 2, sources.Added, world.PendingPod("gated", "1"), func(p *v1.Pod) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
		})
		other := world.Change(c, 3, sources.Added, world.PendingPod("other", "1"), func(p *v1.Pod) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "quota"}}
		})
		world.Change(c, 10, sources.Updated, gated, func(p *v1.Pod) { p.Spec.SchedulingGates = nil })
		world.Change(c, 12, sources.Deleted, other, nil)
	}},
	{"a volume is bound", 30, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(c, 3, sources.Added, world.PendingPod("store", "1"), func(p *v1.Pod) { world.Mount(p, "data") })
		world.Change(c, 8, sources.Added, world.PendingClaim("data", "disk"), nil)
		world.Change(c, 9, sources.Added, world.PendingPod("web", "1"), nil)
	}},
	{manyPods, 30, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(c, 1, sources.Added, world.Node("node-b", "2"), nil)
		for i := range 12 {
			world.Change(c, 2+float64(i)/1000, sources.Added, world.PendingPod(fmt.Sprint("web-", i), fmt.Sprint(1+i%3)), priority(int32(i%2)))
		}
		world.Change(c, 10, sources.Added, world.Node("node-c", "8"), nil)
	}},
	{"no node is large enough", 20, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
		pod := world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
		world.Change(c, 3, sources.Updated, pod, func(p *v1.Pod) { p.Labels = map[string]string{"tier": "web"} })
		picky := world.Change(c, 4, sources.Added, world.PendingPod("picky", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
		world.Change(c, 6, sources.Deleted, picky, nil)
		world.Change(c, 7, sources.Added, world.PendingPod("picky", "1"), func(p *v1.Pod) { p.UID = "picky-again" })
	}},
}

// movesByPod groups moves by pod. It omits the deletion of a bound pod, which is not a move.
func movesByPod(moves []string) map[string][]string {
	byPod := map[string][]string{}
	for _, m := range moves {
		pod, m, _ := strings.Cut(m, " ")
		if n := len(byPod[pod]); n > 0 && strings.Contains(byPod[pod][n-1], " scheduled ") && strings.Contains(m, " deleted ") {
			continue
		}
		byPod[pod] = append(byPod[pod], m)
	}
	return byPod
}

// TestModelFollowsScheduler: from the requests, Events or log of a scheduler, the model infers the
// moves of that scheduler, whichever of them the source contains.
func TestModelFollowsScheduler(t *testing.T) {
	for name, detail := range map[string]sourceDetail{
		"only objects":            {verbosity: -1},
		"Events":                  {events: true, verbosity: -1},
		"patches and Events":      {requests: true, events: true, verbosity: -1},
		"all requests":            {requests: true, exact: true, verbosity: -1},
		"all requests and Events": {requests: true, exact: true, events: true, verbosity: -1},
		"a log at -v=2":           {requests: true, exact: true, verbosity: 2},
		"a log at -v=3":           {requests: true, exact: true, verbosity: 3},
		"a log at -v=5":           {requests: true, exact: true, verbosity: 5},
	} {
		for _, workload := range workloads {
			if workload.name == manyPods && !detail.showsEveryAttempt() {
				continue
			}
			for _, pop := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/PopFromBackoffQ=%t", name, workload.name, pop), func(t *testing.T) {
					var c world.Cluster
					workload.build(&c)
					r := runScheduler(t, &c, workload.until, pop, detail)
					got := movesByPod(followSource(t, r.source, workload.until, pop))
					for pod, want := range movesByPod(r.moves) {
						if !slices.Equal(got[pod], want) {
							t.Errorf("the model's moves of %s are\n  %s\nthe scheduler's are\n  %s", pod, strings.Join(got[pod], "\n  "), strings.Join(want, "\n  "))
						}
					}
				})
			}
		}
	}
}

// ruleLabels are short labels of the rules by which the model makes moves.
var ruleLabels = map[reason.Rule]string{reason.InOrder: "(turn)", reason.OutOfOrder: "(passing)", reason.ByFailure: "(failure)", reason.ByRequests: "(requests)",
	reason.Replacement: "(in place)", reason.ByCatchingUp: "(behind)", reason.ByOutcome: "(outcome)", reason.NotTried: "(not tried)", reason.NotBound: "(not bound)",
	reason.ByDump: "(dump)"}

// traceRecording plays rec to its end and returns the model's moves from that second on, one a line:
// "2.001 web inflight". A line contains the event, plugins, node and duration of the attempt, and the
// rule, if there are any. The trace of a rerun also contains the changes of pods.
func traceRecording(t *testing.T, rec *sources.Recording, cfg *schedulerconfig.Config, after float64) string {
	t.Helper()
	f := shadow.NewFeed(rec, cfg)
	t.Cleanup(f.Close)
	for i := 0; f.HasEvent(i); i++ {
	}
	if f.Err != nil {
		t.Fatal(f.Err)
	}
	if !slices.IsSortedFunc(f.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) }) {
		t.Error("the events are not in time order")
	}
	seen := map[sources.Fact]bool{}
	for _, ev := range f.Events {
		if c, ok := ev.Fact.(*sources.ObjectChange); ok && seen[c] {
			t.Errorf("a change of %T occurs twice", c.Object)
		}
		seen[ev.Fact] = true
	}
	return traceFeed(f, after, rec.Rerun)
}

// traceFeed returns the trace of a feed that was played. writes adds the changes of pods.
func traceFeed(f *shadow.Feed, after float64, writes bool) string {
	var trace strings.Builder
	add := func(ev sources.Event, words ...string) {
		if ev.Time.Before(world.At(after)) {
			return
		}
		fmt.Fprintf(&trace, "%.3f %s\n", ev.Time.Sub(world.At(0)).Seconds(), strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	for _, ev := range f.Events {
		switch fact := ev.Fact.(type) {
		case *shadow.Move:
			words := []string{fact.Pod.Name, string(fact.To), fact.Event, strings.Join(fact.Plugins, ","), fact.Node}
			if fact.Verdict != nil {
				words = append(words, "in "+fact.Verdict.Took.Round(10*time.Microsecond).String())
			}
			if fact.Estimate != nil {
				words = append(words, fmt.Sprintf("after %d", fact.Estimate.Attempts))
			}
			if !fact.Expiry.IsZero() {
				words = append(words, fmt.Sprintf("until %.3f", fact.Expiry.Sub(world.At(0)).Seconds()))
			}
			if fact.Restated {
				words = append(words, "restated")
			}
			if fact.Because != nil && fact.Because.Rule != reason.ByQueue {
				words = append(words, ruleLabels[fact.Because.Rule])
			}
			add(ev, words...)
		case *sources.Silent:
			add(ev, "silent", fact.Profile)
		case *sources.ObjectChange:
			if pod, ok := fact.Object.(*v1.Pod); ok && writes {
				add(ev, pod.Name+":", podState(fact.Verb, pod))
			}
		}
	}
	return trace.String()
}

// podState describes a pod after a change.
func podState(verb sources.Verb, pod *v1.Pod) string {
	switch {
	case verb == sources.Deleted:
		return "deleted"
	case pod.DeletionTimestamp != nil:
		return "terminating"
	case pod.Spec.NodeName != "":
		return "on " + pod.Spec.NodeName
	case pod.Status.NominatedNodeName != "":
		return "nominated to " + pod.Status.NominatedNodeName
	case cluster.Unscheduled(pod) != nil:
		return "rejected"
	}
	return "pending"
}

// compareTrace fails the test unless got equals want, whose lines may be indented.
func compareTrace(t *testing.T, got, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(want)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if got = strings.TrimSpace(got); got != strings.Join(lines, "\n") {
		t.Errorf("the trace is\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}

// preempting returns a recording of a pod that preempts one on the named node of two. While the victim is
// being deleted, a small pod on the other node is deleted.
func preempting(on string) *sources.Recording {
	var c world.Cluster
	low, small := map[string]*v1.Pod{}, map[string]*v1.Pod{}
	for _, name := range []string{"node-a", "node-b"} {
		world.Change(&c, 1, sources.Added, world.Node(name, "2"), nil)
		assigned := func(p *v1.Pod) { p.Spec.NodeName, p.Spec.Priority = name, new(int32) }
		low[name] = world.Change(&c, 2, sources.Added, world.PendingPod("low-"+name, "1500m"), assigned)
		small[name] = world.Change(&c, 2, sources.Added, world.PendingPod("small-"+name, "500m"), func(p *v1.Pod) {
			assigned(p)
			*p.Spec.Priority = 1000
		})
	}
	high := world.Change(&c, 5, sources.Added, world.PendingPod("high", "1500m"), func(p *v1.Pod) {
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = 100
	})
	high = c.Patched(5.006, high, "0/2 nodes are available: 2 Insufficient cpu.", on)
	other := map[string]string{"node-a": "node-b", "node-b": "node-a"}[on]
	world.Change(&c, 5.008, sources.Deleted, small[other], nil)
	victim := world.Change(&c, 5.012, sources.Updated, low[on], func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: world.At(36)} })
	world.Change(&c, 6, sources.Deleted, victim, nil)
	c.Bound(6.01, high, on)
	return c.Recording(6.5)
}

// TestReplayIsDeterministic: each replay of a recording has the same moves, to the nanosecond.
func TestReplayIsDeterministic(t *testing.T) {
	replay := func() (lines []string) {
		for _, on := range []string{"node-a", "node-b"} {
			if err := timeline.Replay(t.Context(), preempting(on), timeline.Options{}, func(m *board.Transition) error {
				line, err := json.Marshal(m)
				lines = append(lines, string(line))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		return lines
	}
	first := replay()
	for range 5 {
		replayed.Compare(t, replay(), first)
	}
}

// TestEventCenturiesAhead: an event dated centuries ahead is played in a short time.
func TestEventCenturiesAhead(t *testing.T) {
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.PendingPod("web", "1"), nil)
	world.Change(&c, 150*365*24*3600, sources.Added, world.PendingPod("late", "1"), nil)
	got := replayed.Moves(t, c.Recording(150*365*24*3600+10), "late")
	if len(got) == 0 {
		t.Error("the late pod does not move")
	}
}

// expect fails the test unless got equals want.
func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}
