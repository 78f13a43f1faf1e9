// Package facts checks explanations of waiting pods against the raw lines of recordings.
package facts

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

var (
	seed   = flag.Uint64("seed", 1, "seed of the draws")
	pairs  = flag.Int("pairs", 60, "number of pods to draw over all recordings")
	always = flag.Bool("print", false, "print every explanation")
)

// TestFacts draws 60 waiting pods, each at a moment, over the recordings in SCHEDQ_RECORDINGS, a folder of recordings,
// each a folder with audit.log.gz and sched.log.gz. Every sentence about them must agree with the raw lines. A third of
// them are explained from the audit log alone.
func TestFacts(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if root == "" {
		t.Skip("SCHEDQ_RECORDINGS is not set")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	var all tally
	for i, log := range logs {
		dir := filepath.Dir(log)
		n := *pairs/len(logs) + min(1, max(0, *pairs%len(logs)-i))
		t.Run(filepath.Base(dir), func(t *testing.T) {
			raw := readRaw(t, dir)
			audit := filepath.Join(dir, "audit.log.gz")
			both, err := files.Open(t.Context(), []string{audit, log}, files.Options{})
			if err != nil {
				t.Fatal(err)
			}
			alone, err := files.Open(t.Context(), []string{audit}, files.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all.add(checkFacts(t, raw, n-n/3, both, false))
			all.add(checkFacts(t, raw, n/3, alone, true))
		})
	}
	t.Logf("all: %s", all)
}

// TestFactsEmbedded is TestFacts for the embedded recordings.
func TestFactsEmbedded(t *testing.T) {
	var all tally
	for _, info := range embedded.All() {
		t.Run(info.Name, func(t *testing.T) {
			raw := readTrace(t, filepath.Join("..", "..", "..", "sources", "embedded", info.Name+".jsonl.zst"), !strings.HasSuffix(info.Name, "nopop"))
			rec, err := embedded.Open(t.Context(), info.Name)
			if err != nil {
				t.Fatal(err)
			}
			all.add(checkFacts(t, raw, 5, rec, false))
		})
	}
	t.Logf("all: %s", all)
}

// tally counts what was checked.
type tally struct{ pairs, statements, wrong, inTransit, assumed int }

func (t *tally) add(o tally) {
	t.pairs, t.statements, t.wrong = t.pairs+o.pairs, t.statements+o.statements, t.wrong+o.wrong
	t.inTransit, t.assumed = t.inTransit+o.inTransit, t.assumed+o.assumed
}

func (t tally) String() string {
	return fmt.Sprintf("%d pods, %d statements, %d wrong; excused: %d pods whose cluster changed within %s, %d with pods assumed but not bound",
		t.pairs, t.statements, t.wrong, t.inTransit, transit, t.assumed)
}

func checkFacts(t *testing.T, raw *raw, n int, rec *sources.Recording, modelled bool) tally {
	var all tally
	opts := timeline.Options{}
	if modelled && !strings.HasPrefix(raw.release, "v0.") {
		opts.SchedulerRelease = raw.release
	}
	draw := rand.New(rand.NewPCG(*seed, 7))
	names := slices.Sorted(maps.Keys(raw.moves))
	for tries := 0; all.pairs < n && tries < 200*n; tries++ {
		now := raw.first.Add(time.Duration(draw.Int64N(int64(raw.last.Sub(raw.first))))).Truncate(time.Microsecond)
		waits := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			s := raw.at(name, now)
			return s.tier == "" || s.tier == "gone" || s.near || s.assumed != ""
		})
		if len(waits) == 0 {
			continue
		}
		name := waits[draw.IntN(len(waits))]
		namespace, pod, _ := strings.Cut(name, "/")
		x, err := session.ExplainPod(context.Background(), rec, opts, types.NamespacedName{Namespace: namespace, Name: pod}, now)
		if err != nil {
			t.Errorf("%s at %s: %v", name, now, err)
			continue
		}
		if modelled && x.Conclusion == nil {
			continue // the model has it in another tier, which make verify counts
		}
		all.pairs++
		all.add(checkOne(t, raw, name, now, x, modelled))
	}
	return all
}

func checkOne(t *testing.T, raw *raw, name string, now time.Time, x *explain.Explanation, modelled bool) tally {
	s := raw.at(name, now)
	var best *reading
	exact := true
	for i, w := range raw.clusters(now) {
		if w.pods[name] == nil {
			continue
		}
		r := newReading(w, w.pods[name], s, x, modelled)
		r.checkDetails(raw, now)
		if c := x.Conclusion; c != nil {
			r.read(string(c.Cause), causes)
			fix, besides, _ := strings.Cut(string(c.Fix), "Besides, ")
			r.read(strings.TrimSpace(fix), fixes)
			if besides != "" {
				r.read(strings.ToUpper(besides[:1])+besides[1:], causes)
			}
			r.read(string(c.Next), nexts)
		}
		r.checkNeeds()
		if best == nil || len(r.wrong) < len(best.wrong) {
			best, exact = r, i == 0
		}
		if len(r.wrong) == 0 {
			break
		}
	}
	if best == nil {
		t.Errorf("%s at %s: no such object", name, now)
		return tally{wrong: 1}
	}
	all := tally{statements: best.statements, wrong: len(best.wrong)}
	if !exact {
		all.inTransit++
	}
	for other := range raw.moves {
		if o := raw.at(other, now); o.tier == "inflight" && o.assumed != "" {
			all.assumed++
			break
		}
	}
	if c := x.Conclusion; c != nil && (*always || len(best.wrong) > 0) {
		t.Logf("%s at %s: %s %s\n  %s\n  %s\n  %s\n  %s", name, now.Format("15:04:05.000000"), c.Reason, c.Summary, c.Cause, c.Fix, c.Next, strings.Join(texts(x), "\n  "))
	}
	for _, w := range best.wrong {
		t.Errorf("%s at %s: %s", name, now.Format("15:04:05.000000"), w)
	}
	return all
}

func texts(x *explain.Explanation) []string {
	var all []string
	for _, w := range x.Why {
		all = append(all, string(w))
	}
	if a := x.LastAttempt; a != nil {
		all = append(all, "message: "+string(a.Message), "postFilter: "+string(a.PostFilter))
	}
	return all
}

// checkDetails checks the explanation without its conclusion.
func (r *reading) checkDetails(raw *raw, now time.Time) {
	x, s := r.x, r.s
	near := func(a, b time.Time, within time.Duration) bool { return a.Sub(b).Abs() <= within }
	if r.modelled {
		r.check(near(x.PendingSince, s.arrived, 2*transit), "pending since %s, but the log adds it at %s", x.PendingSince, s.arrived)
		return
	}
	const same = 5 * time.Millisecond
	r.check(x.Conclusion != nil, "it waits in %s, but has no conclusion", s.tier)
	r.check(near(x.PendingSince, s.arrived, same), "pending since %s, but the log adds it at %s", x.PendingSince, s.arrived)
	r.check(strings.EqualFold(x.Tier, s.tier) || x.Tier == "inFlight" && s.tier == "inflight", "tier %s, but the log has %s", x.Tier, s.tier)
	r.check(near(x.Since, s.since, same), "there since %s, but the log has %s", x.Since, s.since)
	r.check(x.Attempts == s.attempts, "%d attempts, but the log has %d", x.Attempts, s.attempts)
	r.check(x.Priority != nil && *x.Priority == priority(r.pod), "priority %v, but the object has %d", x.Priority, priority(r.pod))
	r.check(string(x.NominatedNode) == r.pod.Status.NominatedNodeName, "nominated to %q, but the object has %q", x.NominatedNode, r.pod.Status.NominatedNodeName)
	if len(s.plugins) > 0 && s.attempts > 0 && (s.tier == "unschedulable" || s.tier == "backoff") {
		plugins := slices.Sorted(slices.Values(append(slices.Clone(x.UnschedulablePlugins), x.PendingPlugins...)))
		r.check(slices.Equal(plugins, s.plugins), "rejected by %v, but the log has %v", plugins, s.plugins)
	}
	if s.woken.IsZero() {
		r.check(x.LastWoken == nil, "woken by %v, but the log has no such line", x.LastWoken)
	} else {
		r.check(x.LastWoken != nil && x.LastWoken.Event == s.wokenBy && near(x.LastWoken.Time, s.woken, same), "woken by %v, but the log has %s at %s", x.LastWoken, s.wokenBy, s.woken)
	}
	if a := x.LastAttempt; a != nil && s.attempts > 0 {
		noNodes := s.message == "no nodes are registered to the cluster" && string(a.Message) == "no nodes available to schedule pods" // as in the condition
		r.check(string(a.Message) == s.message || noNodes, "the message is %q, but the log has %q", a.Message, s.message)
		reasons, nodes := reasonsIn(s.message)
		r.check(a.Nodes == nodes, "%d nodes, but the message counts %d", a.Nodes, nodes)
		for _, reason := range a.Reasons {
			if len(reasons) == 0 && reason.Nodes == nodes && strings.Contains(s.message, string(reason.Reason)) {
				continue // rejected before any node was evaluated
			}
			r.check(reasons[string(reason.Reason)] == reason.Nodes, "%d nodes for %q, but the message counts %d", reason.Nodes, reason.Reason, reasons[string(reason.Reason)])
		}
	}
	if x.NextTry == nil {
		return
	}
	switch s.tier {
	case "unschedulable":
		timeout := s.failed.Add(5 * time.Minute)
		r.check(!x.NextTry.Latest.Before(timeout.Add(-same)) && x.NextTry.Latest.Before(timeout.Add(30*time.Second+same)), "next try by %s, but it failed at %s", x.NextTry.Latest, s.failed)
	case "backoff":
		wait := min(10*time.Second, time.Second<<min(10, max(0, s.failures-1)))
		ends := s.failed.Add(wait)
		if raw.pops {
			late := ends.Add(same).Truncate(time.Second).Add(time.Second)
			early := ends.Add(-same).Truncate(time.Second).Add(time.Second)
			r.check(x.NextTry.Latest.Equal(late) || x.NextTry.Latest.Equal(early), "next try by %s, but failure %d was at %s", x.NextTry.Latest, s.failures, s.failed)
		} else {
			r.check(!x.NextTry.Latest.Before(ends.Add(-same)) && x.NextTry.Latest.Before(ends.Add(time.Second+same)), "next try by %s, but failure %d was at %s", x.NextTry.Latest, s.failures, s.failed)
		}
	}
	if !s.leaves.IsZero() {
		r.check(!s.leaves.After(x.NextTry.Latest.Add(500*time.Millisecond)), "next try by %s, but it stays until %s", x.NextTry.Latest, s.leaves)
	}
}

// checkNeeds checks the nodes on which the pod fits, and what the nearest others lack.
func (r *reading) checkNeeds() {
	n := r.x.Needs
	if n == nil || len(n.Everywhere) > 0 || len(claimsOf(r.pod)) > 0 {
		return
	}
	r.check(n.Nodes == len(r.nodes), "%d nodes, but there are %d", n.Nodes, len(r.nodes))
	var fits []string
	for _, f := range n.Fits {
		fits = append(fits, string(f))
	}
	r.check(slices.Equal(fits, r.fitting()), "it fits on %v, but by the objects on %v", fits, r.fitting())
	for _, near := range n.Nearest {
		m := r.misses[string(near.Node)]
		if m == nil {
			r.check(false, "there is no node %s", near.Node)
			continue
		}
		for _, l := range near.Lacks {
			for _, short := range l.Resources {
				s := m.short[resourceName(short.Resource)]
				r.check(s.lacks.Cmp(short.Lacks) == 0 && s.free.Cmp(short.Free) == 0, "%s lacks %s of %s, but by the objects %s", near.Node, short.Lacks.String(), short.Resource, s.lacks.String())
			}
		}
	}
}
