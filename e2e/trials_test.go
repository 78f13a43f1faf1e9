package e2e

import (
	"flag"
	"testing"
	"time"
)

var all = flag.Bool("all", false, "play all trials; else only as many as every change must pass")

// A link to a cluster far away, and a clock that nobody has set for a while.
const (
	farDelay = 80 * time.Millisecond // each way
	farAhead = 300 * time.Millisecond
)

// Of the audit log alone, the goal for v1.37, and those for other releases and for a field workload.
var (
	ownGoal   = figures{0.985, 0.985, 0.985}
	otherGoal = figures{0.97, 0.97, 0.98}
)

// TestAgreement plays workloads to a real scheduler, and compares what schedq makes of them with the
// scheduler's own log: attached from the start, attached half-way, and from the audit log afterwards.
func TestAgreement(t *testing.T) {
	near := trial{goal: ownGoal, audit: figures{0.90, 0.90, 0.93}, live: figures{0.93, 0.93, 0.93}, halfway: figures{0.90, 0.85, 0.90}}
	// The goal is that these differ from near by a point at most. What was measured of recall, precision and time in the
	// right tier, from the start and half-way: far 97 to 99, 96 to 99, 99.6, and 94 to 99, 91 to 99, 99.3; field, far or not,
	// 95 to 99, 95 to 99, 97 to 99, and 94 to 99, 90 to 99, 96 to 99. Field from the audit log: 96 to 99, 93 to 99, 97 to 99, on a busy
	// machine 85 of precision; 98 of slow volumes. What is asked for is the worst, less 6 to 8 points, and of slow volumes the goal.
	far, field := near, near
	far.delay, far.ahead = farDelay, farAhead
	far.live, far.halfway = figures{0.89, 0.88, 0.91}, figures{0.86, 0.85, 0.91}
	field.workload, field.goal, field.audit, field.slow = "field", otherGoal, figures{0.88, 0.77, 0.88}, 0.95
	field.live, field.halfway = figures{0.87, 0.77, 0.88}, figures{0.86, 0.77, 0.88}
	behind, fieldFar := far, field
	behind.ahead = -farAhead
	fieldFar.delay, fieldFar.ahead = farDelay, farAhead
	for i, one := range []struct {
		name  string
		gates string
		long  bool
		trial
	}{
		{"PopFromBackoffQ", "SchedulerPopFromBackoffQ=true", false, near},
		{"no PopFromBackoffQ", "SchedulerPopFromBackoffQ=false", false, near},
		{"far", "", true, far},
		{"field", "", true, field},
		{"far, behind", "", true, behind},
		{"field, far", "", true, fieldFar},
	} {
		t.Run(one.name, func(t *testing.T) {
			skipLong(t, one.long)
			tr := one.trial
			tr.seed, tr.gates = uint64(i), one.gates
			tr.play(t)
		})
	}
}

// TestReleases plays to kube-scheduler of other releases, and checks what schedq makes of the audit log. Nobody is
// attached: the API server says that it is v1.37.1.
func TestReleases(t *testing.T) {
	for _, one := range []struct {
		release string
		long    bool
		// The goal does not hold of all yet: what was measured of a workload of 100 s, less 6 to 11 points.
		floor figures
	}{
		{"v1.30.0", true, figures{0.88, 0.83, 0.89}},
		{"v1.31.4", true, figures{0.87, 0.84, 0.88}},
		{"v1.32.0", true, figures{0.89, 0.88, 0.89}},
		{"v1.33.0", false, figures{0.86, 0.88, 0.90}},
		{"v1.34.1", true, figures{0.79, 0.86, 0.88}},
		{"v1.35.0", true, figures{0.83, 0.85, 0.88}},
		{"v1.36.1", true, figures{0.86, 0.88, 0.90}},
	} {
		t.Run(one.release, func(t *testing.T) {
			skipLong(t, one.long)
			tr := trial{release: one.release, goal: otherGoal, audit: one.floor}
			tr.verifyAudit(t, tr.record(t))
		})
	}
}

// skipLong skips what is only played with -all.
func skipLong(t *testing.T, long bool) {
	if long && !*all {
		t.Skip("only with -all, for its time")
	}
}
