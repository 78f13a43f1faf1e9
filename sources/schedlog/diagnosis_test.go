package schedlog

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestDiagnosis: a log without attempts is named for what it is, with what to do next. The lines are kube-scheduler's and client-go's
// (v1.13 to v1.37).
func TestDiagnosis(t *testing.T) {
	const (
		started  = `server.go:154] "Starting Kubernetes Scheduler" version="v1.31.4"`
		health   = `httplog.go:132] "HTTP" verb="GET" URI="/healthz" latency="0.5ms" userAgent="kube-probe/1.31" resp=200`
		waits    = `leaderelection.go:250] attempting to acquire leader lease kube-system/kube-scheduler...`
		leads    = `leaderelection.go:260] successfully acquired lease kube-system/kube-scheduler`
		refused  = `reflector.go:158] "Unhandled Error" err="failed to list *v1.Node: Get \"https://10.0.0.1:6443/api/v1/nodes\": dial tcp 10.0.0.1:6443: connect: connection refused"`
		rejected = `schedule_one.go:1055] "Unable to schedule pod; no fit; waiting" pod="mill/saw-0" err="0/4 nodes are available: 4 Insufficient cpu."`
	)
	for name, c := range map[string]struct {
		lines   []string
		refused string // or
		notice  string
	}{
		"a standby at -v=4":          {lines: []string{`leaderelection.go:354] lock is held by cp1_3 and has not yet expired`, `leaderelection.go:255] failed to acquire lease kube-system/kube-scheduler`, health}, refused: "this kube-scheduler waits for the lease, which cp1_3 holds: open the holder's log"},
		"a standby at -v=2":          {lines: []string{waits}, refused: "this kube-scheduler waits for the lease, which another holds: open the holder's log (kubectl -n kube-system get lease kube-scheduler shows which)"},
		"a standby of v1.36":         {lines: []string{`leaderelection.go:258] "Attempting to acquire leader lease..." lock="kube-system/kube-scheduler"`, `leaderelection.go:493] "Lease is held by and has not yet expired" lock="kube-system/kube-scheduler" holder="cp2_7"`}, refused: "this kube-scheduler waits for the lease, which cp2_7 holds: open the holder's log"},
		"a standby from its start":   {lines: []string{started, waits}, notice: "this kube-scheduler waits for the lease, which another holds: open the holder's log (kubectl -n kube-system get lease kube-scheduler shows which)"},
		"a leader at -v=0":           {lines: []string{waits, leads}, refused: "this kube-scheduler has the lease, and its log contains no attempt: it logs how attempts end at -v=2 and above, and every move at -v=5"},
		"a leader from its start":    {lines: []string{started, waits, leads}, notice: "this kube-scheduler has the lease, and its log contains no attempt: it logs how attempts end at -v=2 and above, and every move at -v=5"},
		"an API server that is down": {lines: []string{refused, refused}, refused: "the API server could not be reached or refused (dial tcp 10.0.0.1:6443: connect: connection refused; 2 such lines), and without it kube-scheduler makes no attempts"},
		"health checks":              {lines: []string{health, health}, refused: "its lines are only HTTP requests to kube-scheduler's own server, such as health checks: attempts are logged at -v=2 and above"},
		"a panic":                    {lines: []string{leads, "", "panic: runtime error: invalid memory address"}, refused: "kube-scheduler ended in a panic, and the log contains no attempt: panic: runtime error: invalid memory address"},
		"v1.18":                      {lines: []string{`scheduler.go:731] pod mill/web-0 is bound successfully on node "edge1", 4 nodes evaluated, 2 nodes were found feasible.`}, refused: "it is the log of kube-scheduler v1.18 or older: schedq reads logs of v1.19 and newer"},
		"v1.18, an error alone":      {lines: []string{`factory.go:478] Error scheduling mill/db-0: running "VolumeBinding" filter plugin for pod "db-0": no; retrying`}, refused: "it is the log of kube-scheduler v1.18 or older: schedq reads logs of v1.19 and newer"},
		"another leader":             {lines: []string{`leaderelection.go:250] attempting to acquire leader lease kube-system/kube-controller-manager...`}, refused: "this is not a kube-scheduler log: it is kube-controller-manager's"},
		"only failures":              {lines: []string{rejected, rejected}, notice: "this log is of -v=2, at least in part: it shows how attempts ended, but not how pods moved in between"},
		"v1.23 at -v=5": {lines: []string{`scheduling_queue.go:869] "About to try and schedule pod" pod="mill/saw-0"`, `scheduler.go:459] "Attempting to schedule pod" pod="mill/saw-0"`, strings.Replace(rejected, "schedule_one.go", "factory.go", 1)},
			notice: "this log is of a release before v1.26, which logs how attempts ended, but at no verbosity how pods moved in between"},
	} {
		t.Run(name, func(t *testing.T) {
			var log string
			for i, line := range c.lines {
				if strings.Contains(line, "] ") {
					line = "I1121 10:00:0" + string(rune('0'+i)) + ".000000     402 " + line
				}
				log += line + "\n"
			}
			part, err := read(t, log, nov)
			switch {
			case err != nil && err.Error() != "sched.log: "+c.refused, err == nil && c.refused != "":
				t.Errorf("got %v, want %s", err, c.refused)
			case err == nil && !strings.HasSuffix(strings.Join(part.Notices, "|"), "sched.log: "+c.notice):
				t.Errorf("it says %q, want %s", part.Notices, c.notice)
			}
		})
	}
}

// TestRedacted: redacted names are shown as they are, made safe. A single invalid name among valid ones is damage.
func TestRedacted(t *testing.T) {
	line := func(pod string) string {
		return `I1121 10:00:01.000000       1 schedule_one.go:314] "Successfully bound pod to node" pod="` + pod + `" node="edge1"` + "\n"
	}
	for name, c := range map[string]struct{ log, want string }{
		"capital letters":         {line("mill/pod-A"), "mill/pod-A"},
		"brackets":                {line("[REDACTED]"), "/[REDACTED]"},
		"colours":                 {line("mill/\x1b[01;31msaw-0\x1b[m"), "mill/␛[01;31msaw-0␛[m"},
		"beside others":           {line("kube-system/dns") + line("mill/<a>") + line("mill/<b>"), "kube-system/dns mill/<a> mill/<b>"},
		"one torn name of others": {line("mill/a") + line("mill/b") + line("mil\x00l/c"), "mill/a mill/b"},
	} {
		t.Run(name, func(t *testing.T) {
			part, err := read(t, c.log, nov)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ev := range part.Events {
				if f, is := ev.Fact.(*sources.Bound); is {
					got = append(got, f.Pod.String())
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestBeginsInWords: v1.19 logs that an attempt begins in a line without keys.
func TestBeginsInWords(t *testing.T) {
	part, err := read(t, `I1121 10:00:00.000000       1 scheduler.go:604] "Successfully bound pod to node" pod="mill/a" node="edge1"
I1121 10:00:01.000000       1 scheduler.go:459] Attempting to schedule pod: mill/saw-0
I1121 10:00:03.000000       1 scheduler.go:604] "Successfully bound pod to node" pod="mill/saw-0" node="edge1"
`, nov)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range part.Events {
		if f, is := ev.Fact.(*sources.Bound); is && f.Pod.Name == "saw-0" && f.Began.Second() != 1 {
			t.Errorf("it began at %v", f.Began)
		}
	}
}

// TestTraceSteps: the steps of a trace, each on a line of its own, are no damage.
func TestTraceSteps(t *testing.T) {
	part, err := read(t, `I1121 10:00:01.000000       1 trace.go:236] Trace[77]: "Scheduling" namespace:mill,name:saw-1 (21-Nov-2026 10:00:00.100) (total time: 900ms):
Trace[77]: ---"Computing predicates done" 10ms (10:00:00.110)
Trace[77]: [900ms] [900ms] END
I1121 10:00:02.000000       1 schedule_one.go:314] "Successfully bound pod to node" pod="mill/saw-1" node="edge1"
`, nov)
	if err != nil || len(part.Notices) != 1 { // and that it is of -v=2
		t.Errorf("%v, and it says %q", err, part.Notices)
	}
}
