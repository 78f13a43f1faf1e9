package schedlog

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

var nov = Year{Near: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}

// told is what a log tells, and what is known of it as a whole.
type told struct {
	*Log
	Events []sources.Event
}

// readKept reads a log whose lines are kept.
func readKept(r *lines.Reader, year Year) (*told, error) {
	log, err := Survey(r, year, true, nil)
	if err != nil {
		return nil, err
	}
	all := &told{Log: log}
	for ev := range log.Events(nil) {
		all.Events = append(all.Events, ev)
	}
	return all, nil
}

// read reads a log, and once more as one that is not kept, which has to tell the same each time.
func read(t testing.TB, text string, year Year, strict ...bool) (*told, error) {
	t.Helper()
	open := func() *lines.Reader {
		r, err := lines.New(context.Background(), "sched.log", time.Time{}, io.NopCloser(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		if len(strict) > 0 {
			r.Strict()
		}
		return r
	}
	kept, err := readKept(open(), year)
	long, longErr := Survey(open(), year, false, nil)
	if fmt.Sprint(err) != fmt.Sprint(longErr) {
		t.Fatalf("error %v, and of one that is not kept %v", err, longErr)
	}
	if err == nil {
		compareLong(t, kept, long, open)
	}
	return kept, err
}

// compareLong compares what a log that is not kept tells with what it tells if it is.
func compareLong(t testing.TB, kept *told, long *Log, open func() *lines.Reader) {
	t.Helper()
	want := kept.Events
	known := *kept.Log
	known.isKept, known.kept = false, nil
	if !reflect.DeepEqual(&known, long) {
		t.Errorf("%v of a log that is not kept, and of one that is %v", long, &known)
	}
	for range 2 {
		var got, spans, starts []sources.Event
		moves := false
		for ev, err := range long.Events(open()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ev)
			switch ev.Fact.(type) {
			case *sources.Logged:
				spans = append(spans, ev)
			case *sources.SchedulerStarted:
				starts = append(starts, ev)
			case *sources.Move:
				moves = true
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("a log that is not kept tells\n%s\nand one that is\n%s", show(got), show(want))
		}
		if len(spans) > 0 {
			spans = spans[:len(spans)-1]
		}
		if !reflect.DeepEqual(spans, long.Spans) || !reflect.DeepEqual(starts, long.Starts) || moves && !long.Moves {
			t.Fatalf("spans %v and starts %v, and it tells %v and %v", long.Spans, long.Starts, spans, starts)
		}
	}
}

// show prints events one a line, times as seconds of their minute.
func show(events []sources.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s ", e.Time.Format("05.000000"))
		switch f := e.Fact.(type) {
		case *sources.SchedulerStarted:
			fmt.Fprintf(&b, "start %s inferred=%v %v %v %v %v", f.Release, f.ReleaseInferred, f.Gates, f.PodInitialBackoff,
				f.PodMaxBackoff, f.PodMaxInUnschedulablePods)
		case *sources.Dumped:
			fmt.Fprintf(&b, "dumped %s (%s) in %s", f.Pod, f.UID, f.In)
		case *sources.Logged:
			fmt.Fprintf(&b, "logged %d", f.Verbosity)
		case *sources.Bound:
			fmt.Fprintf(&b, "bound %s on %s", f.Pod, f.Node)
		case *sources.FailedAttempt:
			fmt.Fprintf(&b, "failed %s %q", f.Pod, f.Message)
			if f.Error {
				b.WriteString(" error")
			}
			if !f.Began.IsZero() {
				fmt.Fprintf(&b, " began %s %s %v", f.Began.Format("05.000000"), f.To, f.Plugins)
			}
		case *sources.Move:
			fmt.Fprintf(&b, "%s %s", f.Pod, f.To)
			for name, v := range map[string]string{"": f.Event} {
				if v != "" {
					fmt.Fprintf(&b, " %s%s", name, v)
				}
			}
			if f.Restated {
				b.WriteString(" restated")
			}
			if f.Plugins != nil {
				fmt.Fprintf(&b, " %v", f.Plugins)
			}
			if f.GatingPlugin != "" {
				fmt.Fprintf(&b, " by %s", f.GatingPlugin)
			}
			if f.Message != "" {
				fmt.Fprintf(&b, " %q", f.Message)
			}
			if f.Node != "" {
				fmt.Fprintf(&b, " on %s", f.Node)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"v1.37, from the start", `I1121 10:00:00.000001   25911 flags.go:64] FLAG: --feature-gates=":SchedulerPopFromBackoffQ=false,kube:A=true"
I1121 10:00:00.000002   25911 flags.go:64] FLAG: --pod-max-in-unschedulable-pods-duration="5m0s"
I1121 10:00:00.000003   25911 configfile.go:94] "Using component config" config=<
	apiVersion: kubescheduler.config.k8s.io/v1
	podInitialBackoffSeconds: 1
	podMaxBackoffSeconds: 10
 >
I1121 10:00:00.000004   25911 server.go:187] "Starting Kubernetes Scheduler" version="v0.0.0-master+$Format:%H$"
I1121 10:00:01.000000   25911 active_queue.go:414] "Entity moved to an internal scheduling queue" type="pod" entity="default/web-1" event="UnscheduledPodAdd" queue="Active"
I1121 10:00:01.000001   25911 schedule_one.go:151] "About to try and schedule pod" pod="default/web-1"
I1121 10:00:01.000002   25911 schedule_one.go:158] "Attempting to schedule pod" pod="default/web-1"
I1121 10:00:01.000004   25911 schedule_one.go:483] "Successfully bound pod to node" pod="default/web-1" node="node-a" evaluatedNodes=2 feasibleNodes=2
I1121 10:00:01.000003   25911 eventhandlers.go:364] "Delete event for unscheduled pod" pod="default/web-1"
`, `00.000004 start v1.37 inferred=true map[A:true SchedulerPopFromBackoffQ:false] 1s 10s 5m0s
01.000000 default/web-1 active UnscheduledPodAdd
01.000002 default/web-1 inflight
01.000004 default/web-1 scheduled on node-a
01.000004 default/web-1 deleted
`},
		{"an attempt fails after its pod was deleted", `I1122 04:54:22.954301   22566 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"
I1122 04:54:22.954602   22566 eventhandlers.go:364] "Delete event for unscheduled pod" pod="default/a"
I1122 04:54:22.954812   22566 schedule_one.go:1205] "Pod doesn't exist in informer cache" pod="default/a" err="pod \"a\" not found"
`, `22.954301 start  inferred=false map[] -1ns -1ns -1ns
22.954301 default/a inflight
22.954602 default/a deleted
22.954812 default/a deleted ScheduleAttemptFailure
`},
		{"v1.35, an event told twice", `I1122 04:39:10.591153       1 scheduling_queue.go:662] "Pod moved to an internal scheduling queue, because the pod is gated" pod="default/a" event="UnschedulablePodAdd" queue="Unschedulable"
I1122 04:39:15.919254       1 active_queue.go:110] "Pod moved to an internal scheduling queue" pod="default/a" event="UnschedulablePodUpdatePodSchedulingGatesEliminated" queue="Active"
I1122 04:39:15.919260       1 schedule_one.go:99] "Attempting to schedule pod" pod="default/a"
I1122 04:39:15.919266       1 scheduling_queue.go:1075] "Pod moved to an internal scheduling queue because the Pod is updated" pod="default/a" event="UnschedulablePodUpdatePodSchedulingGatesEliminated" queue="Active"
I1122 04:39:16.000000       1 scheduling_queue.go:880] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=9 hint=0 unschedulable plugins={}
I1122 04:39:17.000000       1 backoff_queue.go:200] "Pod moved to an internal scheduling queue" pod="default/a" event="NodeAdd" queue="Backoff"
I1122 04:39:17.000004       1 scheduling_queue.go:1312] "Pod moved to an internal scheduling queue" pod="default/a" event="NodeAdd" queue="Backoff" hint=1
I1122 04:39:18.000000       1 active_queue.go:110] "Pod moved to an internal scheduling queue" pod="default/a" event="BackoffComplete" queue="Active"
I1122 04:39:18.000001       1 schedule_one.go:99] "Attempting to schedule pod" pod="default/a"
I1122 04:39:18.000002       1 scheduling_queue.go:880] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=10 hint=0 unschedulable plugins={}
I1122 04:39:19.000000       1 backoff_queue.go:200] "Pod moved to an internal scheduling queue" pod="default/a" event="NodeAdd" queue="Backoff"
`, `10.591153 start  inferred=false map[] -1ns -1ns -1ns
10.591153 default/a gated UnschedulablePodAdd
15.919254 default/a active UnschedulablePodUpdatePodSchedulingGatesEliminated
15.919260 default/a inflight
16.000000 default/a unschedulable ScheduleAttemptFailure
17.000000 default/a backoff NodeAdd
18.000000 default/a active BackoffComplete
18.000001 default/a inflight
18.000002 default/a unschedulable ScheduleAttemptFailure
19.000000 default/a backoff NodeAdd
`},
		{"v1.37, failures", `I1121 10:00:01.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"
I1121 10:00:01.000001       1 schedule_one.go:1194] "Unable to schedule pod; no fit; waiting" pod="default/a" err="0/3 nodes are available: persistentvolumeclaim \"c-0\" not found. not found"
I1121 10:00:01.000002       1 active_queue.go:451] "Checking events for in-flight pod" pod="default/a" unschedulablePlugins={"VolumeRestrictions":{},"NodeResourcesFit":{}} inFlightEventsSize=1 inFlightPodsSize=1
I1121 10:00:01.000003       1 scheduling_queue.go:1137] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=9 hint=0 unschedulable plugins={"VolumeRestrictions":{},"NodeResourcesFit":{}}
I1121 10:00:01.000004       1 schedule_one.go:1293] "Updating pod condition and nominated node name" pod="default/a" conditionType="PodScheduled" conditionStatus="False" conditionReason="Unschedulable" nominatedNodeName="n-167" nominatingMode=1
I1121 10:00:02.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"
I1121 10:00:02.000001       1 schedule_one.go:1190] "Unable to schedule pod; no nodes are registered to the cluster; waiting" pod="default/a"
I1121 10:00:02.000002       1 backoff_queue.go:324] "Entity moved to an internal scheduling queue" type="pod" entity="default/a" event="ScheduleAttemptFailure" queue="Backoff"
I1121 10:00:02.000003       1 scheduling_queue.go:1137] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Backoff" schedulingCycle=10 hint=1 unschedulable plugins={}
I1121 10:00:03.000000       1 schedule_one.go:158] "Attempting to schedule pod" pod="default/a"
I1121 10:00:03.000001       1 active_queue.go:451] "Checking events for in-flight pod" pod="default/a" unschedulablePlugins={"NodeResourcesFit":{}} inFlightEventsSize=2 inFlightPodsSize=1
I1121 10:00:03.000002       1 scheduling_queue.go:787] "Status after running PreEnqueue plugin" pod="default/a" plugin="DefaultPreemption" status="waiting for the preemption for this pod to be finished"
I1121 10:00:03.000003       1 scheduling_queue.go:856] "Entity moved to an internal scheduling queue, because it is gated" pod="default/a" type="pod" entity="default/a" event="ScheduleAttemptFailure" queue="Unschedulable"
I1121 10:00:03.000004       1 scheduling_queue.go:1137] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=1595 hint=1 unschedulable plugins={"NodeResourcesFit":{}}
I1121 10:00:04.000000       1 active_queue.go:414] "Entity moved to an internal scheduling queue" type="pod" entity="default/a" event="TargetPodUpdatePodSchedulingGatesEliminated" queue="Active"
I1121 10:00:04.000001       1 scheduling_queue.go:1437] "Entity moved to an internal scheduling queue because the Pod is updated" type="pod" entity="default/a" pod="default/a" event="TargetPodUpdatePodSchedulingGatesEliminated" queue="Active"
E1121 10:00:05.000000       1 schedule_one.go:1100] "Error scheduling pod; retrying" err=<
	first
	second
 > pod="default/a"
I1121 10:00:06.000000       1 x.go:1] "Entity moved to an internal scheduling queue" type="podgroup" entity="default/group" event="PodGroupAdd" queue="Active"
`, `01.000000 start v1.37 inferred=true map[] -1ns -1ns -1ns
01.000000 default/a inflight
01.000003 default/a unschedulable ScheduleAttemptFailure [NodeResourcesFit VolumeRestrictions] "0/3 nodes are available: persistentvolumeclaim \"c-0\" not found. not found" on n-167
02.000000 default/a inflight
02.000002 default/a backoff ScheduleAttemptFailure "no nodes are registered to the cluster"
03.000000 default/a inflight
03.000003 default/a gated ScheduleAttemptFailure [NodeResourcesFit] by DefaultPreemption "waiting for the preemption for this pod to be finished"
04.000000 default/a active TargetPodUpdatePodSchedulingGatesEliminated
04.000001 default/a active TargetPodUpdatePodSchedulingGatesEliminated restated
`},
		{"v1.30, from -v=5", `I1121 10:00:01.000000       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="PodAdd" queue="Active"
I1121 10:00:02.000000       1 schedule_one.go:1] "Attempting to schedule pod" pod="default/a"
I1121 10:00:02.000001       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Backoff" hint="QueueAfterBackoff"
I1121 10:00:02.000002       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="Backoff" schedulingCycle=2 hint="QueueAfterBackoff" unschedulable plugins={"X":{}}
I1121 10:00:03.000000       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="BackoffComplete" queue="ActiveQ"
`, `01.000000 start  inferred=false map[] -1ns -1ns -1ns
01.000000 default/a active PodAdd
02.000000 default/a inflight
02.000001 default/a backoff ScheduleAttemptFailure
03.000000 default/a active BackoffComplete
`},
		{"-v=3", `I1121 10:00:02.000000       1 schedule_one.go:1] "Attempting to schedule pod" pod="default/a"
I1121 10:00:02.000002       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="ScheduleAttemptFailure" queue="ActiveQueue" schedulingCycle=2 hint=2 unschedulable plugins={"X":{}}
`, `02.000000 start  inferred=false map[] -1ns -1ns -1ns
02.000000 default/a inflight
02.000002 default/a active ScheduleAttemptFailure [X]
`},
		{"a container's", `2026-11-21T10:00:02.372925000Z stderr F I1121 10:00:02.000000       1 server.go:187] "Starting Kubernetes Scheduler" version="v1.31.4"
2026-11-21T10:00:02.372925000Z stderr P I1121 10:00:02.000001       1 schedule_one.go:1] "Attempting to 
2026-11-21T10:00:02.372925000Z stderr F schedule pod" pod="default/a"
2026-11-21T10:00:02.372925000Z I1121 10:00:02.000002       1 schedule_one.go:1] "Attempting to schedule pod" pod="default/b"
`, `02.000000 start v1.31.4 inferred=false map[] -1ns -1ns -1ns
02.000001 default/a inflight
02.000002 default/b inflight
`},
		{"odd lines", `Flag --x has been deprecated
I1121 10:00:01.000000       1 a.go:1] 
I1121 10:00:01.000000       1 a.go:1] "
I1121 10:00:01.000000       1 a.go:1]
I1121 10:00:01.000000       1 a.go:1] "Attempting to schedule pod"
I1121 10:00:01.000000       1 a.go:1] "Attempting to schedule pod" pod="default/
I1121 99:00:01.000000       1 a.go:1] "Attempting to schedule pod" pod="default/a"
I1121 10:00:02.000000       1 a.go:1] "Something else" pod="BAD"
I1121 10:00:02.000000       1 a.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="PodAdd" queue="Elsewhere"
I1121 10:00:02.000000       1 a.go:1] "Pod moved to an internal scheduling queue" pod="default/a"
I1121 10:00:02.000000       1 a.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="a\x1b[31m" queue="Active" unschedulable plugins={not json}
panic: something
`, `01.000000 start  inferred=false map[] -1ns -1ns -1ns
02.000000 default/a active a␛[31m
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, err := read(t, c.log, nov)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(part.Events); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if y := part.First.Year(); y != 2026 {
				t.Errorf("the year is %d", y)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	const whole = "I1121 10:00:01.000000       1 a.go:1] \"Attempting to schedule pod\" pod=\"default/web-1\"\n"
	for _, c := range []struct{ name, log, want string }{
		{"another program", "I1121 10:00:01.000000       1 kubelet.go:1] \"Starting kubelet\"\nI1121 10:00:01.000000       1 kubelet.go:1] \"SyncLoop ADD\" pod=\"default/a\"\n",
			"sched.log: this is not a kube-scheduler log: it is kubelet's"},
		{"a program that is not known", "I1121 10:00:01.000000       1 main.go:1] Program started\n",
			"sched.log: this is not a kube-scheduler log: none of its 1 lines is one that kube-scheduler writes"},
		{"escape codes in a name", whole + "I1121 10:00:01.000000       1 a.go:1] \"Attempting to schedule pod\" pod=\"default/\x1b]0;x\"\n",
			`sched.log:2: "␛]0;x" is not a Kubernetes object name`},
		{"quoted escape codes in a name", whole + "\nI1121 10:00:01.000000       1 a.go:1] \"Attempting to schedule pod\" pod=\"default/\\u202e\"\n",
			`sched.log:3: "<U+202E>" is not a Kubernetes object name`},
		{"no namespace", whole + "I1121 10:00:01.000000       1 a.go:1] \"Attempting to schedule pod\" pod=\"a\"\n",
			`sched.log:2: "a" is not a pod's namespace/name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := read(t, c.log, nov, true); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestCutOff(t *testing.T) {
	log := `I1121 10:00:01.000000       1 a.go:1] "Attempting to schedule pod" pod="default/web-1"
I1121 10:00:02.000000       1 a.go:1] "Attempting to schedule pod" pod="default/web-2"
`
	for i := 1; i <= len(log); i++ {
		part, err := read(t, log[:i], nov)
		first, end := strings.IndexByte(log, '\n')+1, len(log)
		if i < first {
			if err == nil {
				t.Errorf("at %d: a log without a whole line was taken", i)
			}
			continue
		}
		if err != nil {
			t.Fatalf("at %d: %v", i, err)
		}
		moves := strings.Count(show(part.Events), "inflight")
		cut := i > first && i < end
		if want := 1; i == end {
			want = 2
			if moves != want || len(part.Notices) != 0 {
				t.Errorf("%d moves, %q", moves, part.Notices)
			}
		} else if moves != want || cut && (len(part.Notices) != 1 ||
			part.Notices[0] != "sched.log: line 2 is cut off; the recording ends at 2026-11-21 10:00:01.000 UTC") {
			t.Errorf("at %d: %d moves, %q", i, moves, part.Notices)
		}
	}
}

func TestNoMoves(t *testing.T) {
	part, err := read(t, "I1121 10:00:01.000000       1 server.go:187] \"Starting Kubernetes Scheduler\" version=\"v1.37.1\"\n", nov)
	if err != nil || len(part.Notices) != 1 || !strings.Contains(part.Notices[0], "-v=5") {
		t.Errorf("%v %+v", err, part)
	}
}

func TestRestart(t *testing.T) {
	line := "I1121 10:00:0%d.000000       1 server.go:187] \"Starting Kubernetes Scheduler\" version=\"v1.3%d.0\"\n"
	part, err := read(t, fmt.Sprintf(line, 1, 6)+fmt.Sprintf(line, 2, 7), nov)
	if err != nil || show(part.Events) != "01.000000 start v1.36.0 inferred=false map[] -1ns -1ns -1ns\n02.000000 start v1.37.0 inferred=false map[] -1ns -1ns -1ns\n" {
		t.Errorf("%v %s", err, show(part.Events))
	}
}

func TestYear(t *testing.T) {
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 12, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		name   string
		stamps []string
		hint   Year
		want   []int
	}{
		{"the file's year", []string{"1121"}, Year{NotAfter: at(2026, 11, 22)}, []int{2026}},
		{"the year before", []string{"1121"}, Year{NotAfter: at(2026, 3, 1)}, []int{2025}},
		{"a day's grace", []string{"1122"}, Year{NotAfter: at(2026, 11, 21)}, []int{2026}},
		{"more than a day", []string{"1124"}, Year{NotAfter: at(2026, 11, 21)}, []int{2025}},
		{"near, after new year", []string{"0101"}, Year{Near: at(2026, 12, 31), NotAfter: at(2030, 1, 1)}, []int{2027}},
		{"near, before new year", []string{"1231"}, Year{Near: at(2027, 1, 1)}, []int{2026}},
		{"over new year", []string{"1231", "0101", "1231", "0102"}, Year{NotAfter: at(2027, 1, 2)}, []int{2026, 2027, 2026, 2027}},
		{"leap day", []string{"0229"}, Year{NotAfter: at(2026, 11, 21)}, []int{2024}},
		{"leap day, near", []string{"0229"}, Year{Near: at(2025, 2, 1)}, []int{2024}},
		{"no hint", []string{"1121"}, Year{}, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := clock{hint: c.hint}
			for i, stamp := range c.stamps {
				h, ok := parseHeader([]byte("I" + stamp + " 10:00:00.000000       1 a.go:1] x"))
				if !ok {
					t.Fatal("not a header")
				}
				got := clock.time(&h)
				if c.want[0] != 0 && (got.Year() != c.want[i] || got.Format("0102") != stamp) {
					t.Errorf("%s is %v, want the year %d", stamp, got, c.want[i])
				}
			}
		})
	}
}

func FuzzSchedlog(f *testing.F) {
	f.Add(`I1121 10:00:01.000000       1 a.go:1] "Attempting to schedule pod" pod="default/a"`+"\n", int64(1790000000))
	f.Add(`I0229 10:00:01.000000       1 a.go:1] "Pod moved to an internal scheduling queue" pod="d/a" event="ScheduleAttemptFailure" queue="Unschedulable" unschedulable plugins={"A":{}}`+"\n", int64(0))
	f.Add("2026-11-21T10:00:02Z stderr P I1121 10:00:02.0\n2026-11-21T10:00:02Z stderr F 00001       1 a.go:1] \"Unable to schedule pod; x\" pod=\"d/a\" err=<\n\tb\n >\n", int64(1))
	f.Add(dumpOf("activeQ:1; backoffQ:1; unschedulableEntities:1", "a", "b", "c"), int64(1))
	f.Fuzz(func(t *testing.T, log string, at int64) {
		if log == "" {
			return
		}
		r, err := lines.New(context.Background(), "f", time.Time{}, io.NopCloser(strings.NewReader(log)))
		if err != nil {
			return
		}
		r.Close()
		part, err := read(t, log, Year{NotAfter: time.Unix(at%(1<<40), 0)})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "sched.log:") || len(err.Error()) > 1000 {
				t.Fatalf("%q", err)
			}
			return
		}
		for _, e := range part.Events {
			if d, ok := e.Fact.(*sources.Dumped); ok && (sources.CheckName(d.Pod.Name) != nil || !d.In.Known() || string(sources.Sanitize(string(d.UID))) != string(d.UID)) {
				t.Fatalf("%+v", d)
			}
			m, ok := e.Fact.(*sources.Move)
			if !ok {
				continue
			}
			if string(sources.Sanitize(m.Pod.Name)) != m.Pod.Name || strings.HasSuffix(m.Pod.Name, "=") || !m.To.Known() || string(sources.Sanitize(m.Event)) != m.Event ||
				sources.Sanitize(string(m.Message)) != m.Message || string(sources.Sanitize(m.Node)) != m.Node {
				t.Fatalf("%+v", m)
			}
		}
	})
}

// TestUnplaced: a failed attempt of a log of 5 is a move, also where no line follows on where the pod went.
func TestUnplaced(t *testing.T) {
	const (
		add     = `I1121 10:00:00.000000       1 scheduling_queue.go:635] "Pod moved to an internal scheduling queue" pod="a/b" event="UnscheduledPodAdd" queue="Active"` + "\n"
		attempt = `I1121 10:00:01.000000       1 schedule_one.go:96] "Attempting to schedule pod" pod="a/b"` + "\n"
		nofit   = `I1121 10:00:02.000000       1 schedule_one.go:1055] "Unable to schedule pod; no fit; waiting" pod="a/b" err="0/1 nodes are available: 1 Insufficient cpu."` + "\n"
		failed  = `E1121 10:00:02.000000       1 schedule_one.go:1102] "Error scheduling pod; retrying" pod="a/b" err="x"` + "\n"
		other   = `I1121 10:00:03.000000       1 schedule_one.go:96] "Attempting to schedule pod" pod="a/c"` + "\n"
		moved   = `I1121 10:00:03.500000       1 scheduling_queue.go:800] "Pod moved to an internal scheduling queue" pod="a/b" event="ScheduleAttemptFailure" queue="Backoff"` + "\n"
		again   = `I1121 10:00:09.000000       1 schedule_one.go:96] "Attempting to schedule pod" pod="a/b"` + "\n"
	)
	for name, c := range map[string]struct {
		log      string
		to       sources.Tier
		unplaced bool
	}{
		"before another attempt":    {nofit + other, sources.TierUnschedulable, true},
		"at the log's end":          {nofit, sources.TierUnschedulable, true},
		"before its next attempt":   {nofit + again, sources.TierUnschedulable, true},
		"an error":                  {failed + other, sources.TierBackoff, true},
		"the line comes":            {nofit + moved + other, sources.TierBackoff, false},
		"the line comes afterwards": {nofit + other + moved, sources.TierBackoff, false},
	} {
		part, err := read(t, add+attempt+c.log, nov)
		if err != nil {
			t.Fatal(err)
		}
		var failures []*sources.Move
		for _, ev := range part.Events {
			if m, is := ev.Fact.(*sources.Move); is && m.Event == "ScheduleAttemptFailure" {
				failures = append(failures, m)
			}
		}
		if len(failures) != 1 || failures[0].To != c.to || failures[0].Unplaced != c.unplaced || failures[0].Message == "" {
			t.Errorf("%s:\n%s", name, show(part.Events))
		}
	}
}

// TestRepeated: a line that is in the log twice, anywhere, is one line.
func TestRepeated(t *testing.T) {
	const (
		a = `I1121 10:00:01.000000       1 schedule_one.go:1055] "Unable to schedule pod; no fit; waiting" pod="a/b" err="x"` + "\n"
		b = `I1121 10:00:02.000000       1 schedule_one.go:1055] "Unable to schedule pod; no fit; waiting" pod="a/b" err="x"` + "\n"
		c = `I1121 10:00:03.000000       1 schedule_one.go:314] "Successfully bound pod to node" pod="a/b" node="n"` + "\n"
	)
	for log, repeated := range map[string]string{
		a + b + c:             "",
		a + a + b + c:         "1 line is repeated",
		a + b + c + a + b + c: "3 lines are repeated",
		a + b + "2026-11-21T10:00:02.1Z " + b + c: "1 line is repeated",
	} {
		part, err := read(t, log, nov)
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		for _, ev := range part.Events {
			switch ev.Fact.(type) {
			case *sources.FailedAttempt, *sources.Bound:
				attempts++
			}
		}
		if said := strings.Join(part.Notices, "\n"); attempts != 3 || !strings.Contains(said, repeated) || repeated == "" && strings.Contains(said, "repeated") {
			t.Errorf("%d attempts, %s", attempts, said)
		}
	}
}

// TestStandby: a scheduler counts from when it acquires the lease. Its queue is then as its lines before put it.
func TestStandby(t *testing.T) {
	const (
		start   = `I1121 10:00:00.000000       1 server.go:154] "Starting Kubernetes Scheduler" version="v1.31.4"` + "\n"
		waits   = `I1121 10:00:00.100000       1 leaderelection.go:250] attempting to acquire leader lease kube-system/kube-scheduler...` + "\n"
		held    = `I1121 10:00:21.000000       1 leaderelection.go:354] lock is held by cp1_3 and has not yet expired` + "\n"
		arrives = `I1121 10:00:01.000000       1 scheduling_queue.go:635] "Pod moved to an internal scheduling queue" pod="a/b" event="UnscheduledPodAdd" queue="Active"` + "\n"
		other   = `I1121 10:00:02.000000       1 scheduling_queue.go:635] "Pod moved to an internal scheduling queue" pod="a/c" event="UnscheduledPodAdd" queue="Active"` + "\n"
		deleted = `I1121 10:00:30.000000       1 eventhandlers.go:201] "Delete event for unscheduled pod" pod="a/c"` + "\n"
		leads   = `I1121 10:01:00.000000       1 leaderelection.go:260] successfully acquired lease kube-system/kube-scheduler` + "\n"
		attempt = `I1121 10:01:01.000000       1 schedule_one.go:96] "Attempting to schedule pod" pod="a/b"` + "\n"
	)
	for name, c := range map[string]struct{ log, want string }{
		"a standby that takes over":   {start + waits + arrives + other + held + deleted + leads + attempt, "00.000000 start v1.31.4 00.000000 a/b active 01.000000 a/b inflight"},
		"of v1.33":                    {start + strings.Replace(waits, "attempting to acquire leader lease kube-system/kube-scheduler...", `"Attempting to acquire leader lease..." lock="kube-system/kube-scheduler"`, 1) + arrives + strings.Replace(leads, "successfully acquired lease kube-system/kube-scheduler", `"Successfully acquired lease" lock="kube-system/kube-scheduler"`, 1) + attempt, "00.000000 start v1.31.4 00.000000 a/b active 01.000000 a/b inflight"},
		"the line on the lease lacks": {start + waits + arrives + held + attempt, "01.000000 start v1.31.4 01.000000 a/b active 01.000000 a/b inflight"},
		"one that restarted before":   {start + waits + arrives + held + strings.Replace(start, "10:00:00", "10:00:40", 1) + strings.Replace(waits, "10:00:00", "10:00:40", 1) + strings.Replace(arrives, "10:00:01", "10:00:41", 1) + leads + attempt, "00.000000 start v1.31.4 00.000000 a/b active 01.000000 a/b inflight"},
		"alone":                       {start + waits + arrives + strings.Replace(leads, "10:01:00", "10:00:00", 1) + attempt, "00.000000 start v1.31.4 01.000000 a/b active 01.000000 a/b inflight"},
	} {
		part, err := read(t, c.log, nov)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range strings.Split(strings.TrimSpace(show(part.Events)), "\n") {
			words := strings.Fields(line)
			got = append(got, words[:min(3, len(words))]...)
		}
		if said := strings.Join(got, " "); said != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, said, c.want)
		}
	}
}

// TestOrder: lines that are not in the order in which they were written are reported, also if they are out of place by less than
// clocks are set.
func TestOrder(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf("I1121 10:00:00.%06d       1 schedule_one.go:158] \"Attempting to schedule pod\" pod=\"default/p%d\"\n", i, i)
	}
	ordered, swapped := "", ""
	for i := 0; i < 400; i += 2 {
		ordered += line(i) + line(i+1)
		swapped += line(i+1) + line(i)
	}
	for text, want := range map[string]bool{ordered: false, swapped: true} {
		part, err := read(t, text, nov)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(part.Notices, "\n"), "200 of its 400 lines about pods are earlier"); got != want {
			t.Errorf("%v, want %v: %q", got, want, part.Notices)
		}
	}
}
