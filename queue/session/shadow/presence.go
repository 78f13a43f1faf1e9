package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// longestSilence is how long a scheduler that is at work may not show where it must. Derived: no longer than another one waits
// until it leads in its place (LeaderElectionConfiguration, LeaseDuration, by default).
const longestSilence = 15 * time.Second

// presence is for which profiles a scheduler is at work, as far as the source shows.
//
// A scheduler that leads renews its lease, which the source tells if it can (sources.Silent). And a pod's first attempt
// always shows: by a binding, or by the condition that it writes. So where the pod whose turn it is would have to be seen,
// and is not for as long as a lease lasts, and nothing else is heard of its profile, no scheduler is there, or it hangs.
type presence struct {
	// Profiles is how many there are.
	Profiles int
	// Silent has the profiles of which nothing is heard.
	Silent map[string]bool
	// Lapsed is true while nobody holds the lease.
	Lapsed bool

	tell func(time.Time, *sources.Silent)

	began time.Time            // when the source began to hear
	heard map[string]time.Time // when a profile was heard to work last

	turn  types.UID // the pod whose turn it is, if it is not seen to be tried
	since time.Time // and since when
}

// newPresence returns that of the scheduler with that configuration, which is taken to be at work. tell is called when nothing is heard of it, or of
// one profile, and when it is heard again.
func newPresence(cfg *schedulerconfig.Config, tell func(time.Time, *sources.Silent)) *presence {
	return &presence{Profiles: len(cfg.Profiles), Silent: map[string]bool{}, tell: tell, heard: map[string]time.Time{}}
}

// Restart takes in that a scheduler begins at now, or that the source comes to one.
func (p *presence) Restart(now time.Time) {
	p.began, p.turn = now, ""
	p.end(now)
}

// None reports whether no scheduler is at work.
func (p *presence) None() bool { return p.Lapsed || len(p.Silent) == p.Profiles }

// Works reports whether a scheduler is at work for pod.
func (p *presence) Works(pod *v1.Pod) bool { return !p.None() && !p.Silent[pod.Spec.SchedulerName] }

// SawWork notes that the scheduler was seen to work on a pod of that profile. It returns true if none was thought to be there.
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

// passesOver reports whether the pod whose turn it is has not been tried for so long that it can't be in the real queue.
func (p *presence) passesOver(now time.Time) bool {
	return p.turn != "" && now.Sub(p.since) > writePatience
}

// NotTried notes that pod, whose turn it is, would be seen to be tried if a scheduler were there, and is not. A nil pod is
// that the loop waits for none.
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
