package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// longestSilence limits how long a working scheduler can go without a required trace. Derived: a
// standby takes over after the default LeaseDuration (LeaderElectionConfiguration), also 15 s.
const longestSilence = 15 * time.Second

// presence tracks for which profiles a scheduler is at work, as far as the source shows.
//
// A leading scheduler renews its lease, which the source reports if it can (sources.Silent). Also,
// a pod's first attempt always leaves a trace: the binding, or the condition that it writes. If the
// next pod in the queue must leave a trace, none is observed for the duration of a lease, and there
// is no other activity for its profile, then no scheduler is running or it hangs.
type presence struct {
	// Profiles is the number of configured profiles.
	Profiles int
	// Silent contains the profiles without activity.
	Silent map[string]bool
	// Lapsed is true while nobody holds the lease.
	Lapsed bool

	tell func(time.Time, *sources.Silent)

	began time.Time            // when the source began to observe the scheduler
	heard map[string]time.Time // last observed activity, by profile

	turn  types.UID // the next pod in the queue, if no attempt of it is observed
	since time.Time // since when turn has been the next pod
}

// newPresence returns the presence of a scheduler with that configuration, which is assumed to be
// at work. It calls tell when the scheduler or one profile becomes silent, and when activity
// resumes.
func newPresence(cfg *schedulerconfig.Config, tell func(time.Time, *sources.Silent)) *presence {
	return &presence{Profiles: len(cfg.Profiles), Silent: map[string]bool{}, tell: tell, heard: map[string]time.Time{}}
}

// Restart resets p because a scheduler starts at now, or the source attaches to one.
func (p *presence) Restart(now time.Time) {
	p.began, p.turn = now, ""
	p.end(now)
}

// None reports whether no scheduler is at work.
func (p *presence) None() bool { return p.Lapsed || len(p.Silent) == p.Profiles }

// Works reports whether a scheduler is at work for pod.
func (p *presence) Works(pod *v1.Pod) bool { return !p.None() && !p.Silent[pod.Spec.SchedulerName] }

// SawWork records scheduler activity for that profile. It returns true if no scheduler was thought
// to be at work for it.
func (p *presence) SawWork(now time.Time, profile string) bool {
	p.heard[profile] = now
	if p.Works(&v1.Pod{Spec: v1.PodSpec{SchedulerName: profile}}) {
		return false
	}
	p.end(now)
	return true
}

// end ends every silence.
func (p *presence) end(now time.Time) {
	if p.Lapsed || len(p.Silent) > 0 {
		p.tell(now, &sources.Silent{})
	}
	p.Lapsed = false
	clear(p.Silent)
}

// passesOver reports whether the next pod has gone without an attempt for so long that it can't be
// in the real queue.
func (p *presence) passesOver(now time.Time) bool {
	return p.turn != "" && now.Sub(p.since) > writePatience
}

// NotTried records that pod is next in the queue and that no attempt of it is observed, although a
// running scheduler's attempt would be. A nil pod means that the loop is not waiting for any pod.
func (p *presence) NotTried(now time.Time, pod *v1.Pod) {
	if pod == nil {
		p.turn = ""
		return
	}
	if pod.UID != p.turn {
		p.turn, p.since = pod.UID, now
	}
	profile := pod.Spec.SchedulerName
	last, ok := p.heard[profile]
	if !ok {
		last = p.began
	}
	if now.Sub(p.since) < longestSilence || now.Sub(last) < longestSilence || p.Silent[profile] {
		return
	}
	p.Silent[profile] = true
	if p.None() {
		profile = ""
		for _, at := range p.heard {
			if at.After(last) {
				last = at
			}
		}
	}
	p.tell(now, &sources.Silent{Since: last, Profile: profile})
}
