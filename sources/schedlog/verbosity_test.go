package schedlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// attempt are the lines of one attempt of a pod that no node fits, as a scheduler of that verbosity writes them.
func attempt(verbosity, second int, pod string) string {
	at := func(v, micro int, text string) string {
		if v > verbosity {
			return ""
		}
		return fmt.Sprintf("I1121 10:00:%02d.%06d       1 x.go:1] %s\n", second, micro, fmt.Sprintf(text, `pod="default/`+pod+`"`))
	}
	return at(5, 0, `"Entity moved to an internal scheduling queue" type="pod" %s entity="default/`+pod+`" event="NodeAdd" queue="Active"`) +
		at(3, 1, `"Attempting to schedule pod" %s`) +
		at(2, 2, `"Unable to schedule pod; no fit; waiting" %s err="0/1 nodes are available: 1 Too many pods."`) +
		at(5, 3, `"Checking events for in-flight pod" %s unschedulablePlugins={"NodeResourcesFit":{}}`) +
		at(3, 4, `"Pod moved to an internal scheduling queue" %s event="ScheduleAttemptFailure" queue="Unschedulable" hint=0 unschedulable plugins={"NodeResourcesFit":{}}`)
}

func binding(second int, pod string) string {
	return fmt.Sprintf("I1121 10:00:%02d.000009       1 x.go:1] \"Successfully bound pod to node\" pod=\"default/%s\" node=\"n\"\n", second, pod)
}

func failing(second int, pod string) string {
	return fmt.Sprintf("E1121 10:00:%02d.000005       1 x.go:1] \"Error scheduling pod; retrying\" err=\"no\" pod=\"default/%s\"\n", second, pod)
}

func TestVerbosity(t *testing.T) {
	const told2 = `01.000002 failed default/a "0/1 nodes are available: 1 Too many pods."`
	for _, c := range []struct{ name, log, want string }{
		{"2", attempt(2, 1, "a") + binding(2, "b") + failing(3, "c"), `01.000002 logged 2
` + told2 + `
02.000009 bound default/b on n
03.000005 failed default/c "no" error
03.000005 logged -1
`},
		{"3", attempt(3, 1, "a") + attempt(3, 2, "b"), `01.000001 logged 3
` + told2 + ` began 01.000001 unschedulable [NodeResourcesFit]
02.000002 failed default/b "0/1 nodes are available: 1 Too many pods." began 02.000001 unschedulable [NodeResourcesFit]
02.000004 logged -1
`},
		{"0", failing(1, "a") + failing(2, "a"), `01.000005 logged 0
01.000005 failed default/a "no" error
02.000005 failed default/a "no" error
02.000005 logged -1
`},
		{"turned up and down", attempt(2, 1, "a") + binding(1, "d") + binding(1, "e") + attempt(5, 2, "a") + attempt(2, 3, "a") + attempt(2, 4, "b") + binding(5, "c"), `01.000002 logged 2
` + told2 + `
01.000009 bound default/d on n
01.000009 bound default/e on n
02.000000 logged 5
02.000000 default/a active NodeAdd
02.000001 default/a inflight
02.000004 default/a unschedulable ScheduleAttemptFailure [NodeResourcesFit] "0/1 nodes are available: 1 Too many pods."
02.010003 logged 2
03.000002 failed default/a "0/1 nodes are available: 1 Too many pods."
04.000002 failed default/b "0/1 nodes are available: 1 Too many pods."
05.000009 bound default/c on n
05.000009 logged -1
`},
		{"3, turned down to 2 and up again", attempt(3, 1, "a") + attempt(2, 2, "a") + binding(2, "b") + failing(2, "c") + binding(3, "d") +
			attempt(3, 4, "a") + attempt(3, 5, "a") + attempt(3, 6, "a"), `01.000001 logged 3
` + told2 + ` began 01.000001 unschedulable [NodeResourcesFit]
02.000002 logged 2
02.000002 failed default/a "0/1 nodes are available: 1 Too many pods."
02.000005 failed default/c "no" error
02.000009 bound default/b on n
03.000009 bound default/d on n
04.000002 logged 3
04.000002 failed default/a "0/1 nodes are available: 1 Too many pods." began 04.000001 unschedulable [NodeResourcesFit]
05.000002 failed default/a "0/1 nodes are available: 1 Too many pods." began 05.000001 unschedulable [NodeResourcesFit]
06.000002 failed default/a "0/1 nodes are available: 1 Too many pods." began 06.000001 unschedulable [NodeResourcesFit]
06.000004 logged -1
`},
		{"5, from the middle of an attempt", binding(1, "b") + attempt(5, 2, "a"), `01.000009 start v1.37 inferred=true map[] -1ns -1ns -1ns
01.000009 default/b scheduled on n
02.000000 default/a active NodeAdd
02.000001 default/a inflight
02.000004 default/a unschedulable ScheduleAttemptFailure [NodeResourcesFit] "0/1 nodes are available: 1 Too many pods."
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
		})
	}
}

// TestBurst: a scheduler that logs at 5 binds a crowd without a line of 5 between, and says of bound pods that they are
// no longer unscheduled.
func TestBurst(t *testing.T) {
	var log strings.Builder
	for _, step := range []func(pod string) string{
		func(pod string) string {
			return `"Entity moved to an internal scheduling queue" type="pod" entity="default/` + pod + `" event="UnscheduledPodAdd" queue="Active"`
		},
		func(pod string) string { return `"Attempting to schedule pod" pod="default/` + pod + `"` },
		func(pod string) string { return `"Delete event for unscheduled pod" pod="default/` + pod + `"` },
		func(pod string) string {
			return `"Successfully bound pod to node" pod="default/` + pod + `" node="n"`
		},
	} {
		for n := range 10 {
			fmt.Fprintf(&log, "I1121 10:00:01.000000       1 x.go:1] %s\n", step(fmt.Sprintf("crowd-%d", n)))
		}
	}
	part, err := read(t, log.String(), nov)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range part.Events {
		if _, is := e.Fact.(*sources.Logged); is || len(part.Events) != 41 {
			t.Fatalf("%d events:\n%s", len(part.Events), show(part.Events))
		}
	}
}

// TestFollowed: a log that is followed tells of which verbosity it is, and what one of that verbosity tells; what was taken is
// not kept. While it can't be read it tells nothing, and what is read a second time is left out.
func TestFollowed(t *testing.T) {
	f := NewFollower("sched.log")
	steps := []struct {
		name, lines, want string
		level             int
	}{
		{"nothing", "", "", -1},
		{"2", attempt(2, 1, "a") + binding(2, "b"), `01.000002 logged 2
01.000002 failed default/a "0/1 nodes are available: 1 Too many pods."
02.000009 bound default/b on n
`, 2},
		{"an error", failing(3, "a"), "03.000005 failed default/a \"no\" error\n", 2},
		{"3", attempt(3, 4, "a"), `04.000002 logged 3
04.000002 failed default/a "0/1 nodes are available: 1 Too many pods." began 04.000001 unschedulable [NodeResourcesFit]
`, 3},
		{"3, of a pod that was tried before", binding(4, "f"), "04.000009 bound default/f on n\n", 3},
		{"3, turned down to 2", binding(4, "g") + attempt(2, 5, "a"), `04.000009 logged 2
04.000009 bound default/g on n
05.000002 failed default/a "0/1 nodes are available: 1 Too many pods."
`, 2},
		{"5", attempt(5, 5, "a"), `05.000000 logged 5
05.000000 default/a active NodeAdd
05.000001 default/a inflight
05.000004 default/a unschedulable ScheduleAttemptFailure [NodeResourcesFit] "0/1 nodes are available: 1 Too many pods."
`, 5},
		{"5, two that came in before", binding(6, "c") + binding(6, "d"), `06.000009 default/c scheduled on n
06.000009 default/d scheduled on n
`, 5},
		{"2 again", binding(7, "e"), "05.010003 logged 2\n06.000009 bound default/c on n\n06.000009 bound default/d on n\n07.000009 bound default/e on n\n", 2},
	}
	for n, step := range steps {
		now := nov.NotAfter.Add(time.Duration(n) * time.Second)
		for line := range strings.Lines(step.lines) {
			if err := f.Line([]byte(strings.TrimSuffix(line, "\n")), now); err != nil {
				t.Fatal(err)
			}
		}
		if got := show(f.Take(nov.NotAfter.Add(time.Hour))); got != step.want || f.Verbosity() != step.level {
			t.Errorf("%s: verbosity %d and\n%s\nwant %d and\n%s", step.name, f.Verbosity(), got, step.level, step.want)
		}
	}
	if v := &f.p.verbosity; v.quiet().n > 0 || len(v.facts) > 0 || len(v.spans) != 1 || len(f.p.part.Events) > 0 {
		t.Errorf("%d and %d facts, %d spans and %d events are kept", v.quiet().n, len(v.facts), len(v.spans), len(f.p.part.Events))
	}
	f.Lose(nov.NotAfter.Add(8 * time.Second))
	for line := range strings.Lines(binding(7, "e") + binding(9, "g")) {
		_ = f.Line([]byte(strings.TrimSuffix(line, "\n")), nov.NotAfter)
	}
	if got, want := show(f.Take(nov.NotAfter.Add(time.Hour))), "08.000000 logged -1\n09.000009 logged 2\n09.000009 bound default/g on n\n"; got != want {
		t.Errorf("after it was lost\n%s\nwant\n%s", got, want)
	}
}

// TestFollowedSettles: the last line is emitted once no continuation can follow.
func TestFollowedSettles(t *testing.T) {
	f := NewFollower("sched.log")
	at := nov.NotAfter.Add(time.Second)
	for line := range strings.Lines(attempt(2, 1, "a")) {
		if err := f.Line([]byte(strings.TrimSuffix(line, "\n")), at); err != nil {
			t.Fatal(err)
		}
	}
	if early := f.Take(at.Add(settled / 2)); len(early) > 0 {
		t.Errorf("at once: %s", show(early))
	}
	if late := f.Take(at.Add(2 * settled)); len(late) != 2 {
		t.Errorf("then: %s", show(late))
	}
}
