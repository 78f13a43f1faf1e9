package tui

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// zero is the start of the scripts.
var zero = time.Date(2026, 3, 1, 10, 36, 0, 0, time.UTC)

// sample has a pod in every place at 10:36:06.5. Each line is a time in seconds, then what happened:
//
//	pod NAME PRIORITY [label=value...] [group=PODGROUP]
//	NAME TIER [EVENT [PLUGIN,PLUGIN...]] [| MESSAGE]
//	NAME scheduled NODE
//	counts ACTIVE BACKOFF UNSCHEDULABLE GATED
//	mark TEXT
const sample = `
0.0  mark the cluster has three nodes
1.0  pod web-1 0 app=web
1.0  web-1 active UnscheduledPodAdd
1.1  web-1 inflight
1.2  web-1 scheduled node-1
2.0  pod train-0 1000 app=train team=ml
2.0  train-0 active UnscheduledPodAdd
2.1  train-0 inflight
2.2  train-0 unschedulable ScheduleAttemptFailure NodeAffinity,NodeResourcesFit | 0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient nvidia.com/gpu.
3.0  pod held-1 0
3.0  held-1 gated UnscheduledPodAdd SchedulingGates
4.0  pod shop/cart-7d9f8c6b5-x2k1p 0 app=cart
4.0  shop/cart-7d9f8c6b5-x2k1p active UnscheduledPodAdd
4.1  shop/cart-7d9f8c6b5-x2k1p inflight
4.2  shop/cart-7d9f8c6b5-x2k1p unschedulable ScheduleAttemptFailure TaintToleration | 0/3 nodes are available: 3 node(s) had untolerated taint(s).
5.0  batch-1 active UnscheduledPodAdd
5.1  batch-1 inflight
5.2  batch-1 unschedulable ScheduleAttemptFailure NodeResourcesFit | 0/3 nodes are available: 3 Insufficient cpu.
5.4  batch-1 backoff AssignedPodDelete
5.5  err-1 active UnscheduledPodAdd
5.6  err-1 inflight
5.8  err-1 backoff ScheduleAttemptFailure
6.0  counts 0 2 1 1
6.1  mark web-1 is deleted
6.2  pod urgent-1 100 app=web
6.2  urgent-1 active UnscheduledPodAdd
6.3  web-2 active UnscheduledPodAdd
6.4  web-3 active UnscheduledPodAdd
6.45 web-3 inflight
7.0  web-3 scheduled node-2
8.0  batch-1 active BackoffComplete
8.1  err-1 active BackoffComplete
`

// tell returns the recording that a script describes, of kube-scheduler v1.37.1 with
// PopFromBackoffQ off.
func tell(t testing.TB, script string) *sources.Recording {
	t.Helper()
	rec := &sources.Recording{Name: "sample", Formats: []string{"schedlog"}}
	add := func(at time.Time, fact sources.Fact) {
		rec.Events = append(rec.Events, sources.Event{Time: at, Fact: fact})
	}
	add(zero, &sources.SchedulerStarted{
		Release: "v1.37.1", Gates: map[string]bool{"SchedulerPopFromBackoffQ": false},
		PodInitialBackoff: time.Second, PodMaxBackoff: 10 * time.Second, PodMaxInUnschedulablePods: 5 * time.Minute,
	})
	for line := range strings.Lines(strings.TrimSpace(script)) {
		line, message, _ := strings.Cut(strings.TrimSpace(line), " | ")
		words := strings.Fields(line)
		seconds, err := strconv.ParseFloat(words[0], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		at := zero.Add(time.Duration(math.Round(seconds*1000)) * time.Millisecond)
		switch words[1] {
		case "mark":
			add(at, &sources.Mark{Text: sources.Sanitize(strings.Join(words[2:], " "))})
		case "counts":
			add(at, &sources.Counts{Active: atoi(t, words[2]), Backoff: atoi(t, words[3]), Unschedulable: atoi(t, words[4]), Gated: atoi(t, words[5])})
		case "pod":
			add(at, added(words[2], atoi(t, words[3]), words[4:]))
		default:
			add(at, move(t, words[1:], message))
		}
	}
	return rec
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// named returns the key of "namespace/name", or of "name" in the namespace default.
func named(s string) types.NamespacedName {
	if namespace, name, ok := strings.Cut(s, "/"); ok {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	return types.NamespacedName{Namespace: "default", Name: s}
}

func added(name string, priority int, labels []string) *sources.ObjectChange {
	key := named(name)
	p := int32(priority)
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID("uid-of-" + key.String())}, Spec: v1.PodSpec{Priority: &p}}
	for _, label := range labels {
		k, v, _ := strings.Cut(label, "=")
		if k == "group" {
			pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &v}
			continue
		}
		metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
	}
	return &sources.ObjectChange{Verb: sources.Added, Object: pod}
}

func move(t testing.TB, words []string, message string) *sources.Move {
	m := &sources.Move{Pod: named(words[0]), To: sources.Tier(words[1]), Message: sources.Sanitize(message)}
	if !m.To.Known() {
		t.Fatalf("unknown tier %s", m.To)
	}
	if len(words) > 2 {
		if m.To == sources.TierScheduled {
			m.Node = words[2]
		} else {
			m.Event = words[2]
		}
	}
	if len(words) > 3 {
		if m.To == sources.TierGated {
			m.GatingPlugin = words[3]
		} else {
			m.Plugins = strings.Split(words[3], ",")
		}
	}
	return m
}

// paused returns a paused session at the start of the script's recording.
func paused(t testing.TB, script string) *session.Session {
	t.Helper()
	return session.New(tell(t, script), timeline.Options{Paused: true})
}
