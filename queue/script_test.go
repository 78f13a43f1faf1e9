package queue_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestScripts runs the scripts in testdata, in which the expected moves follow each command. To update them, run
// "go test ./queue -rewrite" and review the diff. testdata/README documents the commands.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.HasSuffix(path, "README") || strings.Contains(path, "testdata/rapid/") {
			t.Skip("documentation, or a recorded failure of a property test")
		}
		s := &script{}
		s.reset(queue.Defaults())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.run(t, d)
			if err := s.queue.Invariants(); err != nil {
				t.Errorf("%s: %v", d.Pos, err)
			}
			return out
		})
	})
}

// script is the state of a script: a queue, its plugins and its pods.
type script struct {
	queue *queue.Queue
	now   time.Time
	pods  map[string]*v1.Pod
	hints map[string]map[string]string // by plugin and event label: queue, skip or fail
	gates map[string]string            // gating PreEnqueue plugins by pod
	uids  int
	out   strings.Builder
}

func (s *script) reset(opts queue.Options) {
	*s = script{
		now:   noon,
		pods:  map[string]*v1.Pod{},
		hints: map[string]map[string]string{},
		gates: map[string]string{},
	}
	s.queue = queue.New(opts, s, s)
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "options":
		s.reset(options(t, d))
	case "hint":
		plugin, event, answer := d.CmdArgs[0].Key, d.CmdArgs[1].Key, d.CmdArgs[2].Key
		if s.hints[plugin] == nil {
			s.hints[plugin] = map[string]string{}
		}
		s.hints[plugin][event] = answer
	case "gate":
		s.gates[d.CmdArgs[0].Key] = arg(d, "by", "")
	case "at":
		s.now = at(t, s.now, d.CmdArgs[0].Key)
	case "run":
		s.runTo(at(t, s.now, d.CmdArgs[0].Key))
	case "add":
		s.queue.Add(s.now, s.pod(t, d))
	case "pop":
		can := s.queue.CanPop()
		popped, ok := s.queue.PopEntity(s.now)
		if can != ok {
			t.Errorf("%s: CanPop returns %t, and PopEntity %t", d.Pos, can, ok)
		}
		if !ok {
			return "nothing to pop\n"
		}
		name, attempts := "", popped.Pod.Attempts
		if g := popped.Group; g != nil {
			name, attempts = "group "+g.Name.Name, g.Attempts
		} else {
			name = popped.Pod.Pod.Name
		}
		fmt.Fprintf(&s.out, "popped %s, attempt %d, scheduling cycle %d\n", name, attempts, s.queue.SchedulingCycle())
	case "group":
		s.queue.AddPodGroup(s.now, s.group(t, d))
	case "regroup":
		s.queue.UpdatePodGroup(s.group(t, d))
	case "ungroup":
		s.queue.DeletePodGroup(s.now, s.group(t, d))
	case "attempted":
		outcome, ok := map[string]queue.GroupOutcome{"scheduled": queue.GroupScheduled, "rejected": queue.GroupRejected, "failed": queue.GroupFailed}[d.CmdArgs[1].Key]
		if !ok {
			t.Fatalf("%s: no outcome %s", d.Pos, d.CmdArgs[1].Key)
		}
		if err := s.queue.AddAttemptedPodGroupIfNeeded(s.now, types.NamespacedName{Namespace: "default", Name: d.CmdArgs[0].Key}, outcome); err != nil {
			fmt.Fprintf(&s.out, "error: %v\n", err)
		}
	case "unpop":
		to, err := queue.ParseTier(arg(d, "to", ""))
		if err != nil {
			t.Fatal(err)
		}
		s.queue.Unpop(s.named(d).UID, to)
	case "fail":
		why := queue.Rejection{UnschedulablePlugins: list(d, "by"), PendingPlugins: list(d, "pending")}
		if err := s.queue.AddUnschedulableIfNotPresent(s.now, s.named(d), why); err != nil {
			fmt.Fprintf(&s.out, "error: %v\n", err)
		}
	case "bind":
		s.queue.Bound(s.now, s.named(d).UID)
	case "done":
		s.queue.Done(s.now, s.named(d).UID)
	case "update":
		old := s.named(d)
		var events []fwk.ClusterEvent
		for _, label := range list(d, "means") {
			events = append(events, event(label))
		}
		s.queue.Update(s.now, old, s.changed(t, d, old), events)
	case "delete":
		s.queue.Delete(s.now, s.named(d))
	case "activate":
		s.queue.Activate(s.now, s.named(d))
	case "restore":
		to, err := queue.ParseTier(arg(d, "to", ""))
		if err != nil {
			t.Fatal(err)
		}
		s.queue.Restore(s.now, queue.PodInfo{Pod: s.named(d), Tier: to})
	case "event":
		only := list(d, "only")
		var preCheck func(*v1.Pod) bool
		if only != nil {
			preCheck = func(p *v1.Pod) bool { return slices.Contains(only, p.Name) }
		}
		var obj any
		if name := arg(d, "about", ""); name != "" {
			obj = s.pods[name]
		}
		s.queue.MoveAllToActiveOrBackoffQueue(s.now, event(d.CmdArgs[0].Key), obj, obj, preCheck)
	case "flush":
		if d.CmdArgs[0].Key == "backoff" {
			s.queue.FlushBackoffCompleted(s.now)
		} else {
			s.queue.FlushUnschedulableLeftover(s.now)
		}
	case "nominate":
		s.queue.AddNominatedPod(s.named(d), arg(d, "on", ""))
	case "nominated":
		for _, p := range s.queue.NominatedPodsForNode(d.CmdArgs[0].Key) {
			fmt.Fprintln(&s.out, p.Name)
		}
	case "observe":
		to, err := queue.ParseTier(arg(d, "to", ""))
		if err != nil {
			t.Fatal(err)
		}
		o := queue.Observation{
			Pod: s.named(d), To: to, Event: arg(d, "event", ""),
			UnschedulablePlugins: list(d, "by"), GatingPlugin: arg(d, "gated", ""),
		}
		if d.HasArg("again") {
			s.Moved(s.queue.Restated(s.now, o))
		} else {
			s.queue.Observe(s.now, o)
		}
	case "tiers":
		s.tiers()
	case "metrics":
		s.metrics()
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if s.out.Len() == 0 {
		return "ok\n"
	}
	return s.out.String()
}

// runTo advances the time and runs both flushes as upstream's goroutines do: the backoff flush every second, the
// leftover flush every 30 s.
func (s *script) runTo(to time.Time) {
	for next := s.now.Truncate(time.Second).Add(time.Second); !next.After(to); next = next.Add(time.Second) {
		s.now = next
		s.queue.FlushBackoffCompleted(next)
		if next.Second()%30 == 0 {
			s.queue.FlushUnschedulableLeftover(next)
		}
	}
	s.now = to
}

func (s *script) tiers() {
	byTier := map[queue.Tier][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		info, ok := s.queue.Get("default", name)
		if !ok {
			continue
		}
		line := name
		if info.Attempts > 0 {
			line += fmt.Sprintf(" attempts=%d", info.Attempts)
		}
		if !info.BackoffExpiry.IsZero() {
			line += " expiry=" + clock(info.BackoffExpiry)
		}
		if info.GatingPlugin != "" {
			line += " gated-by=" + info.GatingPlugin
		}
		byTier[info.Tier] = append(byTier[info.Tier], line)
	}
	for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight, queue.Incomplete, queue.Pending} {
		if n := s.queue.PendingPods(tier); n != len(byTier[tier]) {
			fmt.Fprintf(&s.out, "PendingPods(%s) is %d, but the tier contains:\n", tier, n)
		}
		for _, line := range byTier[tier] {
			fmt.Fprintf(&s.out, "%-13s %s\n", tier, line)
		}
	}
}

func (s *script) metrics() {
	for tier := queue.Active; tier <= queue.Gated; tier++ {
		fmt.Fprintf(&s.out, "scheduler_pending_pods{queue=%q} %d\n", tier, s.queue.PendingPods(tier))
	}
	total := s.queue.IncomingPodsTotal()
	keys := slices.SortedFunc(maps.Keys(total), func(a, b queue.Incoming) int {
		return strings.Compare(a.Queue.String()+a.Event, b.Queue.String()+b.Event)
	})
	for _, k := range keys {
		fmt.Fprintf(&s.out, "scheduler_queue_incoming_pods_total{queue=%q,event=%q} %d\n", k.Queue, k.Event, total[k])
	}
}

// Moved implements queue.Observer.
func (s *script) Moved(t queue.Transition) {
	from := t.From.String()
	if t.From == queue.None {
		from = "new"
	}
	fmt.Fprintf(&s.out, "%s %s: %s → %s", clock(t.Time), t.Pod.Name, from, t.To)
	if t.Event != "" {
		fmt.Fprintf(&s.out, " by %s", t.Event)
	}
	if t.To == queue.Backoff {
		fmt.Fprintf(&s.out, ", expiry %s", clock(t.BackoffExpiry))
	}
	if t.Observed {
		s.out.WriteString(" (observed)")
	}
	s.out.WriteString("\n")
}

// Failed implements queue.Observer.
func (s *script) Failed(err error) { fmt.Fprintf(&s.out, "logged: %v\n", err) }

// PreEnqueue implements queue.Plugins.
func (s *script) PreEnqueue(pod *v1.Pod, gating string) string {
	if plugin := s.gates[pod.Name]; plugin != "" {
		return plugin
	}
	return queue.EveryEvent{}.PreEnqueue(pod, gating)
}

// Interested implements queue.Plugins.
func (s *script) Interested(e fwk.ClusterEvent) bool {
	for plugin := range s.hints {
		if s.Registered(plugin, e) {
			return true
		}
	}
	return false
}

// Registered implements queue.Plugins.
func (s *script) Registered(plugin string, e fwk.ClusterEvent) bool {
	_, ok := s.hints[plugin][e.Label()]
	return ok
}

// Hint implements queue.Plugins.
func (s *script) Hint(plugin string, _ *v1.Pod, e fwk.ClusterEvent, _, _ any) (fwk.QueueingHint, error) {
	switch s.hints[plugin][e.Label()] {
	case "queue":
		return fwk.Queue, nil
	case "fail":
		return fwk.QueueSkip, errors.New("it broke")
	default:
		return fwk.QueueSkip, nil
	}
}

func (s *script) pod(t *testing.T, d *datadriven.TestData) *v1.Pod {
	s.uids++
	pod := newPod(d.CmdArgs[0].Key, fmt.Sprint("uid-", s.uids))
	pod.Namespace = "default"
	return s.changed(t, d, pod)
}

// group returns the PodGroup of the command's first argument.
func (s *script) group(t *testing.T, d *datadriven.TestData) *schedulingv1beta1.PodGroup {
	g := podGroup(d.CmdArgs[0].Key)
	g.Namespace, g.Spec.Priority = "default", priority(t, d)
	return g
}

// priority returns the command's priority, or nil.
func priority(t *testing.T, d *datadriven.TestData) *int32 {
	p := arg(d, "priority", "")
	if p == "" {
		return nil
	}
	n, err := strconv.ParseInt(p, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	priority := int32(n)
	return &priority
}

// changed returns a copy of pod with the changes in the command's arguments.
func (s *script) changed(t *testing.T, d *datadriven.TestData, pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	if p := priority(t, d); p != nil {
		pod.Spec.Priority = p
	}
	if d.HasArg("gates") {
		pod.Spec.SchedulingGates = nil
		for _, g := range list(d, "gates") {
			pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, v1.PodSchedulingGate{Name: g})
		}
	}
	if g := arg(d, "group", ""); g != "" {
		pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &g}
	}
	if l := arg(d, "label", ""); l != "" {
		pod.Labels = map[string]string{l: ""}
	}
	if d.HasArg("nominated") {
		pod.Status.NominatedNodeName = arg(d, "nominated", "")
	}
	s.pods[pod.Name] = pod
	return pod
}

// named returns the pod of the command's first argument or, with "stub", an object with its name only. The pod need
// not have been added.
func (s *script) named(d *datadriven.TestData) *v1.Pod {
	name := d.CmdArgs[0].Key
	if d.HasArg("stub") {
		pod := newPod(name, "")
		pod.Namespace = "default"
		return pod
	}
	if s.pods[name] == nil {
		s.uids++
		pod := newPod(name, fmt.Sprint("uid-", s.uids))
		pod.Namespace = "default"
		s.pods[name] = pod
	}
	return s.pods[name]
}

func options(t *testing.T, d *datadriven.TestData) queue.Options {
	opts := queue.Defaults()
	for _, a := range d.CmdArgs {
		duration := func() time.Duration {
			v, err := time.ParseDuration(a.Vals[0])
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		switch a.Key {
		case "release":
			var err error
			if opts, err = queue.ForRelease(a.Vals[0]); err != nil {
				t.Fatal(err)
			}
		case "PopFromBackoffQ":
			opts.PopFromBackoffQ = a.Vals[0] == "true"
		case "GenericWorkload":
			opts.GenericWorkload = a.Vals[0] == "true"
		case "PodInitialBackoff":
			opts.PodInitialBackoff = duration()
		case "PodMaxBackoff":
			opts.PodMaxBackoff = duration()
		case "PodMaxInUnschedulablePods":
			opts.PodMaxInUnschedulablePods = duration()
		default:
			t.Fatalf("unknown option %s", a.Key)
		}
	}
	return opts
}

// event returns the cluster event with that label.
func event(label string) fwk.ClusterEvent {
	for _, r := range []fwk.EventResource{fwk.Node, fwk.AssignedPod, fwk.TargetPod, fwk.PersistentVolumeClaim, fwk.PersistentVolume, fwk.WildCard} {
		rest, ok := strings.CutPrefix(label, string(r))
		for a := fwk.Add; ok && a <= fwk.All; a <<= 1 {
			if a.String() == rest {
				return fwk.ClusterEvent{Resource: r, ActionType: a}
			}
		}
		if ok && (rest == "All" || rest == "Update") {
			return fwk.ClusterEvent{Resource: r, ActionType: map[string]fwk.ActionType{"All": fwk.All, "Update": fwk.Update}[rest]}
		}
	}
	panic("unknown event " + label)
}

// at parses a time of day on the day of now.
func at(t *testing.T, now time.Time, text string) time.Time {
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if clock, err := time.Parse(layout, text); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), time.UTC)
		}
	}
	t.Fatalf("invalid time of day %q", text)
	return time.Time{}
}

func clock(t time.Time) string { return t.Format("15:04:05.999") }

func arg(d *datadriven.TestData, key, otherwise string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return otherwise
}

func list(d *datadriven.TestData, key string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			values := strings.Split(strings.Join(a.Vals, ","), ",") // by=A,B has one value, by=(A,B) two
			return slices.DeleteFunc(values, func(v string) bool { return v == "" })
		}
	}
	return nil
}
