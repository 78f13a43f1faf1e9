package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// waiting2 makes web wait for 2 CPUs at noon, with a tainted node of 1 and a node of 4 with 500m left.
func waiting2(c *world.Cluster) {
	world.Change(c, 1, sources.Added, world.Node("tainted", "1"), func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "infra", Effect: v1.TaintEffectNoSchedule}}
	})
	world.Change(c, 1.1, sources.Added, world.Node("full", "4"), nil)
	world.Change(c, 1.2, sources.Added, world.PendingPod("big", "3500m"), func(p *v1.Pod) { p.Spec.NodeName = "full" })
	world.Change(c, 2, sources.Added, world.PendingPod("web", "2"), nil)
}

func explained(t *testing.T, rec *sources.Recording, name string, when float64) *explain.Explanation {
	t.Helper()
	x, err := ExplainPod(t.Context(), rec, timeline.Options{}, world.Key(name), world.At(when))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestExplainPodJSON: the whole explanation of a pod with modelled moves.
func TestExplainPodJSON(t *testing.T) {
	var c world.Cluster
	c.Started(1)
	waiting2(&c)
	x := explained(t, c.Recording(20), "web", 2.5)
	got, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "source": "made",
 "time": "2026-11-21T12:00:02.5Z",
 "pod": "default/web",
 "reason": "InsufficientResources",
 "summary": "pending 0.5s, 1 attempt, unschedulable",
 "cause": "No node has 2 CPUs free.",
 "fix": "Closest: full needs only 1.5 more CPUs.",
 "helps": "a node with 2 CPUs free is added, or full frees 1.5 CPUs",
 "next": "Next try by about 12:05:31 (5 min timeout). Sooner, for example, if a node with 2 CPUs free is added, or full frees 1.5 CPUs.",
 "tier": "unschedulable",
 "since": "SINCE",
 "provenance": "modelled",
 "attempts": 1,
 "unschedulablePlugins": [
  "NodeResourcesFit",
  "TaintToleration"
 ],
 "pendingSince": "2026-11-21T12:00:02.001Z",
 "why": [
  "Rejected by NodeResourcesFit, TaintToleration at 12:00:02. Events that one of these plugins listens for can wake it.",
  "Attempt 1 failed at 12:00:02. Backoff: 1 s, until 12:00:04. An event before then moves it to backoffQ, where it is tried early if activeQ is empty.",
  "Without an event: retried at 12:05:31 (5 min timeout, checked every 30 s)."
 ],
 "lastAttempt": {
  "time": "SINCE",
  "provenance": "modelled",
  "nodes": 2,
  "reasons": [
   {
    "plugin": "NodeResourcesFit",
    "reason": "Insufficient cpu",
    "nodes": 1
   },
   {
    "plugin": "TaintToleration",
    "reason": "node(s) had untolerated taint(s)",
    "nodes": 1
   }
  ],
  "message": "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
  "postFilter": "Preemption: 1 node has no lower-priority pod to evict; it would not help on 1 node."
 },
 "nextTry": {
  "latest": "2026-11-21T12:05:31Z",
  "by": "UnschedulableTimeout",
  "mayBeEarlier": true
 },
 "ifWokenNow": {
  "tier": "backoff",
  "until": "2026-11-21T12:00:04Z"
 },
 "wokenBy": [
  {
   "plugin": "NodeResourcesFit",
   "events": [
    "NodeAdd",
    "NodeUpdateNodeAllocatable",
    "AssignedPodDelete",
    "AssignedPodUpdatePodScaleDown",
    "resource.k8s.io/DeviceClassAdd",
    "resource.k8s.io/DeviceClassUpdate",
    "TargetPodUpdatePodScaleDown"
   ]
  },
  {
   "plugin": "TaintToleration",
   "events": [
    "NodeAdd",
    "NodeUpdateNodeTaint",
    "TargetPodUpdatePodToleration"
   ]
  }
 ],
 "needs": {
  "nodes": 2,
  "fits": [],
  "nearest": [
   {
    "node": "full",
    "lacks": [
     {
      "plugin": "NodeResourcesFit",
      "reasons": [
       "Insufficient cpu"
      ],
      "resources": [
       {
        "resource": "cpu",
        "needs": "2",
        "free": "500m",
        "allocatable": "4",
        "lacks": "1500m"
       }
      ]
     }
    ]
   },
   {
    "node": "tainted",
    "lacks": [
     {
      "plugin": "TaintToleration",
      "reasons": [
       "node(s) had untolerated taint(s)"
      ],
      "details": [
       "taint dedicated=infra:NoSchedule"
      ],
      "final": true
     },
     {
      "plugin": "NodeResourcesFit",
      "reasons": [
       "Insufficient cpu"
      ],
      "final": true,
      "resources": [
       {
        "resource": "cpu",
        "needs": "2",
        "free": "1",
        "allocatable": "1",
        "lacks": "1"
       }
      ]
     }
    ],
    "never": true
   }
  ]
 },
 "notes": [
  "The pod's tier, time there and attempts are modelled: only a scheduler log at -v=5 contains them.",
  "The last attempt is modelled.",
  "The scheduler's release is unknown: v1.37's rules are assumed.",
  "Needs are computed by kube-scheduler v1.37's own plugins from the objects at that time; pods that are assumed but not yet bound are not counted."
 ]
}`
	since, _ := json.Marshal(x.Since) // the modelled duration of an attempt is not tested here
	text := strings.ReplaceAll(string(got), string(since), `"SINCE"`)
	if text != want {
		t.Errorf("got\n%s", text)
	}
	if late := x.Since.Sub(world.At(2)); late <= 0 || late > 100*time.Millisecond {
		t.Errorf("it failed %s after its arrival", late)
	}
	var sentences []string
	sentences = append(sentences, x.Needs.Sentences()...)
	for _, n := range x.Needs.Nearest {
		sentences = append(sentences, string(n.Node)+" "+n.String())
	}
	if want := []string{
		"It fits on none of the 2 nodes.", "Free is allocatable minus what pods request; actual usage is ignored.",
		"full NodeResourcesFit: needs 2 cpu, free 500m of 4: lacks 1500m",
		"tainted TaintToleration: node(s) had untolerated taint(s) (taint dedicated=infra:NoSchedule); " +
			"NodeResourcesFit: needs 2 cpu, free 1 of 1: lacks 1, too small even when empty",
	}; !slices.Equal(sentences, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(sentences, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestExplainPodAtMoments: one pod through its life.
func TestExplainPodAtMoments(t *testing.T) {
	var c world.Cluster
	waiting2(&c)
	world.Change(&c, 10, sources.Added, world.Node("new", "4"), nil)
	world.Change(&c, 10.05, sources.Updated, world.PendingPod("web", "2"), func(p *v1.Pod) { p.Spec.NodeName = "new" })
	rec := c.Recording(20)

	x := explained(t, rec, "web", 5)
	if x.IfWoken == nil || x.IfWoken.Tier != "active" || x.IfWoken.Until != nil {
		t.Errorf("after its backoff, an event moves it to %+v", x.IfWoken)
	}
	x = explained(t, rec, "web", 10.0001) // the node exists, but the scheduler does not know it yet
	if x.Tier != "unschedulable" || !slices.Equal(x.Needs.Fits, []sources.SafeText{"new"}) || x.Needs.Sentences()[0] != "It fits on 1 of 3 nodes: new." {
		t.Errorf("with the new node it is %s and fits on %v", x.Tier, x.Needs.Fits)
	}
	x = explained(t, rec, "web", 20)
	if x.Tier != "scheduled" || x.Node != "new" || x.Needs != nil || x.NextTry != nil || x.LastAttempt != nil {
		t.Errorf("once bound, it is %+v", x)
	}
	if want := "The pod has left the queue. It last waited (unschedulable) until 12:00:10.001: choose an earlier time."; !slices.Contains(x.Notes, want) {
		t.Errorf("notes %q, want %q", x.Notes, want)
	}
}

// TestExplainPodOfLog: with a scheduler log only, everything but the nodes is known.
func TestExplainPodOfLog(t *testing.T) {
	rec := world.SmallRecording()
	rec.Events[3].Fact.(*sources.Move).Message = "0/3 nodes are available: 1 something new, 2 Insufficient cpu. no luck"
	x := explained(t, rec, "batch-1", 11)
	if x.Tier != "unschedulable" || x.Provenance != "observed" || x.Priority != nil || x.Needs != nil {
		t.Errorf("got %+v", x)
	}
	if want := []string{"What it needs is unknown: this recording contains no nodes; an audit log would."}; !slices.Equal(x.Notes, want) {
		t.Errorf("notes %q, want %q", x.Notes, want)
	}
	a := x.LastAttempt
	if a == nil || a.Provenance != "observed" || a.Nodes != 3 || a.PostFilter != "PostFilter: no luck" || !a.Time.Equal(world.At(10.7)) ||
		!slices.Equal(a.Reasons, []explain.PluginReason{
			{Plugin: "NodeResourcesFit", Reason: "Insufficient cpu", Nodes: 2}, {Plugin: "NodeResourcesFit", Reason: "something new", Nodes: 1},
		}) {
		t.Errorf("its last attempt is %+v", a)
	}
	if len(x.WokenBy) != 1 || x.WokenBy[0].Plugin != "NodeResourcesFit" || !slices.Contains(x.WokenBy[0].Events, "AssignedPodDelete") {
		t.Errorf("it is woken by %+v", x.WokenBy)
	}
	if x = explained(t, rec, "batch-1", 11.4); x.NextTry == nil || !x.NextTry.Latest.Equal(world.At(12)) || x.NextTry.By != "BackoffComplete" || x.NextTry.Early || x.WokenBy != nil || x.IfWoken != nil {
		t.Errorf("in backoffQ got %+v", x)
	}
}

// TestExplainPodUnknown: each reason why a pod is not in the queue.
func TestExplainPodUnknown(t *testing.T) {
	var c world.Cluster
	waiting2(&c)
	world.Change(&c, 3, sources.Added, world.PendingPod("theirs", "1"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })
	world.Change(&c, 15, sources.Added, world.PendingPod("late", "1"), nil)
	rec := c.Recording(20)
	for name, want := range map[string]string{
		"big":    "default/big was never queued before 12:00:05: it runs on full",
		"theirs": "default/theirs was never queued before 12:00:05: its scheduler is other and its phase Pending",
		"late":   "default/late was not in the queue at 12:00:05: it arrived at 12:00:15",
		"nobody": "default/nobody was not in the queue at 12:00:05",
	} {
		if x, err := ExplainPod(t.Context(), rec, timeline.Options{}, world.Key(name), world.At(5)); err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v, want %s", name, x, err, want)
		}
	}
}

func TestFindPod(t *testing.T) {
	var c world.Cluster
	for _, name := range []string{"web-1", "web-2", "web-3", "web-4", "web-5", "web-6", "train-0"} {
		world.Change(&c, 1, sources.Added, world.PendingPod(name, "1"), nil)
	}
	world.Change(&c, 1, sources.Added, world.PendingPod("web-1", "1"), func(p *v1.Pod) { p.Namespace = "team" })
	rec := c.Recording(2)
	for name, want := range map[string]string{
		"train-0":       "default/train-0",
		"default/web-1": "default/web-1",
		"team/web-1":    "team/web-1",
		"web-1":         "2 pods match web-1: default/web-1, team/web-1",
		"web":           "pod web not found in made; did you mean default/web-1, default/web-2, default/web-3, default/web-4, default/web-5 and 2 more?",
		"trian-0":       "pod trian-0 not found in made; did you mean default/train-0?",
		"team/train-0":  "pod team/train-0 not found in made; did you mean default/train-0?",
		"zzz":           "pod zzz not found in made, nor a similar name among its 8 pods",
		"":              "pod  not found in made, nor a similar name among its 8 pods",
	} {
		got, err := cluster.FindPod(t.Context(), rec, name)
		if found := got.String(); err == nil && found != want || err != nil && err.Error() != want {
			t.Errorf("%q is %s, %v, want %s", name, found, err, want)
		}
	}
	if _, err := cluster.FindPod(t.Context(), &sources.Recording{Name: "made"}, "web"); err == nil || err.Error() != "made contains no pods" {
		t.Errorf("for an empty recording: %v", err)
	}
}

// TestDiagnose: the needs shown are those at the time of the request.
func TestDiagnose(t *testing.T) {
	var c world.Cluster
	waiting2(&c)
	world.Change(&c, 10, sources.Added, world.Node("new", "4"), nil)
	s := New(c.Recording(20), timeline.Options{Paused: true})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()

	s.Seek(world.At(12))
	s.Sync()
	s.Seek(world.At(5))
	s.Diagnose(world.Key("web"))
	f := s.Sync()
	if n := f.Needs; n == nil || n.Pod != world.Key("web") || !n.At.Equal(world.At(5)) || n.Nodes != 2 || len(n.Fits) != 0 || tierOf(f, "web") != "unschedulable" {
		t.Errorf("at a past moment of a what-if, %+v", f.Needs)
	}
	s.Step(1)
	if f = s.Sync(); f.Needs == nil || !f.Needs.At.Equal(world.At(5)) {
		t.Errorf("a step on, %+v", f.Needs)
	}
	s.Fork()
	s.AddPod(NewPod{Key: world.Key("one")})
	s.AddPod(NewPod{Key: world.Key("two")})
	if f = s.Sync(); f.Fork == nil || f.Needs != nil {
		t.Errorf("in a what-if, needs from the recording: %+v", f.Needs)
	}
	s.Diagnose(world.Key("web"))
	if f = s.Sync(); f.Needs == nil || f.Needs.Nodes == 0 {
		t.Errorf("in a what-if, %+v", f.Needs)
	}
	s.Step(-1)
	s.Diagnose(world.Key("web"))
	if f = s.Sync(); f.Needs == nil || f.Needs.Sentences()[0] != "What it needs is unknown: "+errMomentPassed.Error()+"." {
		t.Errorf("back in a what-if, %+v", f.Needs)
	}
	s.Diagnose(types.NamespacedName{Namespace: "default", Name: "nobody"})
	if f = s.Sync(); f.Needs != nil {
		t.Errorf("of no pod, %+v", f.Needs)
	}
}

// TestGateMessage: the message of a gate stands beside that of the last attempt, and does not replace it.
func TestGateMessage(t *testing.T) {
	const rejected = "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node a, preempting 1 victims"
	move := func(seconds float64, to sources.Tier, event, gate, message string) sources.Event {
		return sources.Event{Time: world.At(seconds), Fact: &sources.Move{Pod: world.Key("web"), To: to, Event: event, GatingPlugin: gate, Message: sources.SafeText(message)}}
	}
	rec := &sources.Recording{Name: "made", End: world.At(20), Events: []sources.Event{
		move(1, sources.TierActive, "UnscheduledPodAdd", "", ""),
		move(2, sources.TierInFlight, "", "", ""),
		move(2.1, sources.TierGated, "ScheduleAttemptFailure", "DefaultPreemption", rejected),
		move(2.2, sources.TierGated, "AssignedPodDelete", "DefaultPreemption", "waiting for the preemption for this pod to be finished"),
	}}
	x := explained(t, rec, "web", 3)
	if x.LastAttempt == nil || string(x.LastAttempt.Message) != rejected || x.GateMessage != "waiting for the preemption for this pod to be finished" {
		t.Errorf("got %+v, %q", x.LastAttempt, x.GateMessage)
	}
}
