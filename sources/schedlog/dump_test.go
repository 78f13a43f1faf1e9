package schedlog

import (
	"bytes"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2/textlogger"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache/debugger"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// pending is a scheduling queue of which only a dump is asked.
type pending struct {
	queue.SchedulingQueue
	pods    []*v1.Pod
	summary string
}

func (p pending) PendingPods() ([]*v1.Pod, string)        { return p.pods, p.summary }
func (pending) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

// oneNode is a cache with a node on which a pod runs.
type oneNode struct{ cache.Cache }

func (oneNode) Dump() *cache.Dump {
	node := framework.NewNodeInfo(waiting("runs"))
	return &cache.Dump{Nodes: map[string]*framework.NodeInfo{"n": node}}
}

func waiting(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-of-" + name)}, Status: v1.PodStatus{Phase: v1.PodPending}}
}

// dumpOf is what upstream's own dumper writes of a queue with these pods.
func dumpOf(summary string, names ...string) string {
	var log bytes.Buffer
	q := pending{summary: summary}
	for _, name := range names {
		q.pods = append(q.pods, waiting(name))
	}
	debugger.New(nil, nil, oneNode{}, q).Dumper.DumpAll(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log), textlogger.FixedTime(nov.NotAfter))))
	return log.String()
}

func TestDump(t *testing.T) {
	at := nov.NotAfter.Format("05.000000") + " "
	dumped := func(of ...string) string {
		var want strings.Builder
		for _, of := range of {
			name, in, _ := strings.Cut(of, " ")
			want.WriteString(at + "dumped default/" + name + " (uid-of-" + name + ") in " + in + "\n")
		}
		return want.String()
	}
	for _, c := range []struct{ name, log, want string }{
		{"up to v1.36", dumpOf("activeQ:2; backoffQ:1; unschedulablePods:1", "a", "b", "c", "d"), dumped("a active", "b active", "c backoff", "d unschedulable")},
		{"v1.37", dumpOf("activeQ:0; backoffQ:1; unschedulableEntities:2", "a", "b", "c"), dumped("a backoff", "b unschedulable", "c unschedulable")},
		{"v1.37 with pod groups", dumpOf("activeQ:1; backoffQ:0; unschedulableEntities:0; pendingPodGroupMemberPods:1; incompletePodGroupPods:1", "a", "b", "c"), dumped("a active")},
		{"nothing waits", dumpOf("activeQ:0; backoffQ:0; unschedulablePods:0"), ""},
		{"names that are none", dumpOf("activeQ:2; backoffQ:0; unschedulablePods:0", "A\x1b[2J", "b"), dumped("b active")},
		{"klog's JSON format, unwrapped", `I` + nov.NotAfter.Format("0102 15:04:05.000000") + `       1 dumper.go:70] "Dump of scheduling queue" ` +
			`pods="name: a, namespace: default, uid: uid-of-a, phase: Pending, nominated node:  name: b, namespace: default, uid: uid-of-b, phase: Pending, nominated node: n " ` +
			`summary="activeQ:1; backoffQ:1; unschedulablePods:0"` + "\n", dumped("a active", "b backoff")},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, err := read(t, c.log, nov)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(part.Events); got != c.want {
				t.Errorf("got\n%s\nwant\n%s\nof\n%s", got, c.want, c.log)
			}
			f := NewFollower("sched.log")
			for line := range strings.Lines(c.log) {
				if err := f.Line([]byte(strings.TrimSuffix(line, "\n")), nov.NotAfter); err != nil {
					t.Fatal(err)
				}
			}
			if got := show(f.Take(nov.NotAfter.Add(time.Second))); got != c.want {
				t.Errorf("followed\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	if _, err := read(t, dumpOf("activeQ:many"), nov); err == nil {
		t.Error("a dump without its counts is read")
	}
}
