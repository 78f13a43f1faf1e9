package shadow_test

import (
	"context"
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
	"github.com/schedq/schedq/sources"
)

// TestAnyCluster: whatever the real scheduler is seen to do to pods, and however close together that is told, once
// all is quiet just the pods that wait are in the model's queue, each once.
func TestAnyCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c world.Cluster
		seconds := 1.0
		world.Change(&c, seconds, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(&c, seconds, sources.Added, world.Node("node-b", "1"), nil)
		pods, failed := map[string]*v1.Pod{}, map[string]int{}
		attached := rapid.IntRange(-20, 20).Draw(t, "attached") // below 0: the recording has it all
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
				t.Errorf("%s was bound, and is %s for %s", uid, m.To, m.Event)
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
					t.Errorf("%s is %s, and does not wait, or is there twice", uid, tier)
				}
				delete(want, uid)
			}
		}
		for uid := range want {
			t.Errorf("%s waits, and is nowhere", uid)
		}
	})
}

// A kube-scheduler that is run over a cluster stands for the real one: what it decides is known to the microsecond. A source tells
// some of it, as an audit log or the scheduler's own log would, and the model has to make the rest.

// tells is what a source tells of a scheduler.
type tells struct {
	requests  bool // its patches
	exact     bool // each request of its client
	events    bool // the Events that its recorder writes
	verbosity int  // its log, to that verbosity; negative: none
}

// real is what a scheduler did over a cluster.
type real struct {
	moves  []string
	source []sources.Event
}

// runs has a scheduler run over what happens in c, until seconds after noon, and tells of it.
func runs(t *testing.T, c *world.Cluster, until float64, popFromBackoffQ bool, of tells) (r real) {
	t.Helper()
	cfg := world.Config(t)
	cfg.Queue.PopFromBackoffQ = popFromBackoffQ
	rec := c.Recording(until)
	rec.Rerun = true
	feed := shadow.NewFeed(rec, cfg)
	pods := map[types.UID]*v1.Pod{}
	failed := map[string]int{} // of a pod at one version
	tell := func(at time.Time, f sources.Fact) { r.source = append(r.source, sources.Event{Time: at, Fact: f}) }
	if of.verbosity >= 0 {
		tell(world.At(0), &sources.Logged{Verbosity: of.verbosity})
	}
	const request = 2 * time.Millisecond // from the API server to its answer
	for i := 0; feed.HasEvent(i); i++ {
		ev := feed.Events[i]
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			pod, ok := f.Object.(*v1.Pod)
			if !ok || f.Verb != sources.Updated {
				tell(ev.Time, f)
			} else {
				before := pods[pod.UID]
				binds := before.Spec.NodeName == "" && pod.Spec.NodeName != ""
				c, was := cluster.Unscheduled(pod), cluster.Unscheduled(before)
				patches := c != nil && (was == nil || was.Message != c.Message) || pod.Status.NominatedNodeName != before.Status.NominatedNodeName
				if of.exact && (binds || patches) {
					tell(ev.Time.Add(-request), &sources.Requested{})
				}
				tell(ev.Time, f)
				if of.requests && patches {
					tell(ev.Time, &sources.StatusPatched{Pod: world.Key(pod.Name), UID: pod.UID, Sent: ev.Time.Add(-request)})
				}
			}
			if ok {
				pods[pod.UID] = pod
			}
		case *shadow.Move:
			r.moves = append(r.moves, said(ev.Time, f))
			pod := named(pods, f.Pod.Name)
			switch {
			case f.Event == queue.ScheduleAttemptFailure && f.Verdict != nil:
				told := &sources.FailedAttempt{Pod: f.Pod, UID: pod.UID, Message: f.Message}
				if of.verbosity >= sources.AttemptsVerbosity && of.verbosity < sources.MovesVerbosity {
					logged := *told
					logged.Log, logged.Plugins, logged.To = true, f.Plugins, f.To
					if of.verbosity > sources.AttemptsVerbosity {
						logged.Began = ev.Time.Add(-f.Verdict.Took)
					}
					tell(ev.Time, &logged)
				}
				at := pod.Name + pod.ResourceVersion
				if failed[at]++; of.events && failed[at] <= 2 {
					told.Recorded = sources.NewRecorded(pod.ResourceVersion, failed[at])
					tell(ev.Time, told)
				}
			case f.To == sources.TierScheduled && of.verbosity >= sources.AttemptsVerbosity && of.verbosity < sources.MovesVerbosity:
				tell(ev.Time, &sources.Bound{Pod: f.Pod, UID: pod.UID, Node: f.Node})
			}
			if of.verbosity >= sources.MovesVerbosity {
				tell(ev.Time, f.Move)
			}
		default:
			tell(ev.Time, ev.Fact)
		}
	}
	if feed.Err != nil {
		t.Fatal(feed.Err)
	}
	slices.SortStableFunc(r.source, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	return r
}

// named returns the pod of that name that came last.
func named(pods map[types.UID]*v1.Pod, name string) (last *v1.Pod) {
	for _, pod := range pods {
		if pod.Name == name && (last == nil || pod.UID > last.UID) {
			last = pod
		}
	}
	return last
}

// said tells a move, and when it was to a tenth of a second.
func said(at time.Time, m *shadow.Move) string {
	return fmt.Sprintf("%s %.1f %s %s %s %s", m.Pod.Name, at.Sub(world.At(0)).Seconds(), m.To, m.Event, strings.Join(m.Plugins, ","), m.Node)
}

// follows has the model follow what a source tells, and returns its moves.
func follows(t *testing.T, source []sources.Event, until float64, popFromBackoffQ bool) (moves []string) {
	t.Helper()
	cfg := world.Config(t)
	cfg.Queue.PopFromBackoffQ = popFromBackoffQ
	feed := shadow.NewFeed(&sources.Recording{Name: "seen", Events: source, End: world.At(until)}, cfg)
	for i := 0; feed.HasEvent(i); i++ {
		switch m := feed.Events[i].Fact.(type) {
		case *shadow.Move:
			if !m.Restated {
				moves = append(moves, said(feed.Events[i].Time, m))
			}
		case *sources.Move:
			moves = append(moves, said(feed.Events[i].Time, &shadow.Move{Move: m}))
		}
	}
	if feed.Err != nil {
		t.Fatal(feed.Err)
	}
	return moves
}

// important gives p that priority.
func important(priority int32) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Priority = &priority }
}

// inACrowd reports whether the source tells enough where one attempt comes right after the other.
func (of tells) inACrowd() bool {
	return of.exact && of.events || of.verbosity >= sources.AttemptsVerbosity
}

// crowd is the story in which many pods come at once.
const crowd = "a crowd comes at once"

// stories are what happens in clusters, and for how many seconds.
var stories = []struct {
	name    string
	until   float64
	happens func(c *world.Cluster)
}{
	{"pods fit, or wait for room", 60, func(c *world.Cluster) {
		n := world.Change(c, 1, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(c, 2, sources.Added, world.PendingPod("web", "1"), nil)
		db := world.Change(c, 3, sources.Added, world.PendingPod("db", "1"), nil)
		world.Change(c, 4, sources.Added, world.PendingPod("late", "1"), nil)
		world.Change(c, 5, sources.Added, world.PendingPod("large", "3"), nil)
		world.Change(c, 10, sources.Deleted, db, nil)
		world.Change(c, 20, sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, "3") })
		world.Change(c, 30, sources.Added, world.Node("node-b", "4"), nil)
	}},
	{"events wake pods in vain", 60, func(c *world.Cluster) {
		n := world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
		for i := range 4 {
			world.Change(c, 2+float64(i)/10, sources.Added, world.PendingPod(fmt.Sprint("web-", i), "2"), nil)
		}
		for i := range 5 {
			n = world.Change(c, 5+float64(i*i), sources.Updated, n, func(n *v1.Node) { world.SetCPU(n, fmt.Sprint(1+i%2, "500m")[:1]) })
		}
	}},
	{"one preempts others", 30, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "2"), nil)
		world.Change(c, 2, sources.Added, world.PendingPod("low-1", "1"), important(0))
		world.Change(c, 3, sources.Added, world.PendingPod("low-2", "1"), important(1))
		world.Change(c, 10, sources.Added, world.PendingPod("high", "2"), important(100))
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
	{crowd, 30, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "4"), nil)
		world.Change(c, 1, sources.Added, world.Node("node-b", "2"), nil)
		for i := range 12 {
			world.Change(c, 2+float64(i)/1000, sources.Added, world.PendingPod(fmt.Sprint("web-", i), fmt.Sprint(1+i%3)), important(int32(i%2)))
		}
		world.Change(c, 10, sources.Added, world.Node("node-c", "8"), nil)
	}},
	{"nothing is there to run on", 20, func(c *world.Cluster) {
		world.Change(c, 1, sources.Added, world.Node("node-a", "1"), nil)
		pod := world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
		world.Change(c, 3, sources.Updated, pod, func(p *v1.Pod) { p.Labels = map[string]string{"tier": "web"} })
		picky := world.Change(c, 4, sources.Added, world.PendingPod("picky", "1"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
		world.Change(c, 6, sources.Deleted, picky, nil)
		world.Change(c, 7, sources.Added, world.PendingPod("picky", "1"), func(p *v1.Pod) { p.UID = "picky-again" })
	}},
}

// byPod are moves by their pods, without those of pods that have left already.
func byPod(moves []string) map[string][]string {
	of := map[string][]string{}
	for _, m := range moves {
		pod, m, _ := strings.Cut(m, " ")
		if n := len(of[pod]); n > 0 && strings.Contains(of[pod][n-1], " scheduled ") && strings.Contains(m, " deleted ") {
			continue
		}
		of[pod] = append(of[pod], m)
	}
	return of
}

// TestItsOwnMoves: a source tells what a scheduler that is known wrote, and the model makes the moves that this one made.
func TestItsOwnMoves(t *testing.T) {
	for name, of := range map[string]tells{
		"objects alone":           {verbosity: -1},
		"Events":                  {events: true, verbosity: -1},
		"patches and Events":      {requests: true, events: true, verbosity: -1},
		"all requests":            {requests: true, exact: true, verbosity: -1},
		"all requests and Events": {requests: true, exact: true, events: true, verbosity: -1},
		"a log of -v=2":           {requests: true, exact: true, verbosity: 2},
		"a log of -v=3":           {requests: true, exact: true, verbosity: 3},
		"a log of -v=5":           {requests: true, exact: true, verbosity: 5},
	} {
		for _, story := range stories {
			if story.name == crowd && !of.inACrowd() {
				continue
			}
			for _, pop := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/PopFromBackoffQ=%t", name, story.name, pop), func(t *testing.T) {
					var c world.Cluster
					story.happens(&c)
					r := runs(t, &c, story.until, pop, of)
					got := byPod(follows(t, r.source, story.until, pop))
					for pod, want := range byPod(r.moves) {
						if !slices.Equal(got[pod], want) {
							t.Errorf("%s goes\n  %s\nand the scheduler had it go\n  %s", pod, strings.Join(got[pod], "\n  "), strings.Join(want, "\n  "))
						}
					}
				})
			}
		}
	}
}

// rules are brief words for why the model made a move.
var rules = map[reason.Rule]string{reason.InOrder: "(turn)", reason.OutOfOrder: "(passing)", reason.ByFailure: "(failure)", reason.ByRequests: "(requests)",
	reason.Replacement: "(in place)", reason.ByCatchingUp: "(behind)", reason.ByOutcome: "(outcome)", reason.NotTried: "(not tried)", reason.NotBound: "(not bound)",
	reason.ByDump: "(dump)"}

// traced plays rec to its end and tells all that the model makes of it after so many seconds, to the millisecond: "2.001 web inflight"
// is a move, with its event, its plugins and node, how long its attempt took, and why the model made it. Of a rerun, which writes to its cluster, the changes of pods are told, too.
func traced(t *testing.T, rec *sources.Recording, cfg *schedulerconfig.Config, after float64) string {
	t.Helper()
	f := shadow.NewFeed(rec, cfg)
	t.Cleanup(f.Close)
	for i := 0; f.HasEvent(i); i++ {
	}
	if f.Err != nil {
		t.Fatal(f.Err)
	}
	if !slices.IsSortedFunc(f.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) }) {
		t.Error("what it tells is not in the order of time")
	}
	told := map[sources.Fact]bool{}
	for _, ev := range f.Events {
		if c, ok := ev.Fact.(*sources.ObjectChange); ok && told[c] {
			t.Errorf("a change of %T is told twice", c.Object)
		}
		told[ev.Fact] = true
	}
	return traceOf(f, after, rec.Rerun)
}

// traceOf is what traced tells, of a feed that was played.
func traceOf(f *shadow.Feed, after float64, writes bool) string {
	var said strings.Builder
	tell := func(ev sources.Event, words ...string) {
		if ev.Time.Before(world.At(after)) {
			return
		}
		fmt.Fprintf(&said, "%.3f %s\n", ev.Time.Sub(world.At(0)).Seconds(), strings.Join(strings.Fields(strings.Join(words, " ")), " "))
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
				words = append(words, rules[fact.Because.Rule])
			}
			tell(ev, words...)
		case *sources.Silent:
			tell(ev, "silent", fact.Profile)
		case *sources.ObjectChange:
			if pod, ok := fact.Object.(*v1.Pod); ok && writes {
				tell(ev, pod.Name+":", stateOf(fact.Verb, pod))
			}
		}
	}
	return said.String()
}

// stateOf says what a change of a pod comes to.
func stateOf(verb sources.Verb, pod *v1.Pod) string {
	switch {
	case verb == sources.Deleted:
		return "gone"
	case pod.DeletionTimestamp != nil:
		return "going"
	case pod.Spec.NodeName != "":
		return "on " + pod.Spec.NodeName
	case pod.Status.NominatedNodeName != "":
		return "nominated to " + pod.Status.NominatedNodeName
	case cluster.Unscheduled(pod) != nil:
		return "rejected"
	}
	return "waits"
}

// says fails the test unless got is want, whose lines may be indented.
func says(t *testing.T, got, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(want)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if got = strings.TrimSpace(got); got != strings.Join(lines, "\n") {
		t.Errorf("it goes\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}
