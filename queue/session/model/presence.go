package model

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// presence is for which profiles a scheduler is at work, as far as the source shows.
//
// A scheduler that leads renews its lease, which the source tells if it can (sources.Silent). And a pod's first attempt
// always shows: by a binding, or by the condition that it writes. So where the pod whose turn it is would have to be seen,
// and is not for as long as a lease lasts, and nothing else is heard of its profile, no scheduler is there, or it hangs.
type presence struct {
	profiles int
	tell     func(time.Time, *sources.Silent)

	began  time.Time            // when the source began to hear
	heard  map[string]time.Time // when a profile was heard to work last
	silent map[string]bool      // the profiles of which nothing is heard
	lapsed bool                 // nobody holds the lease

	turn  types.UID // the pod whose turn it is, if it is not seen to be tried
	since time.Time // and since when
}

func newPresence(cfg *schedulerconfig.Config, tell func(time.Time, *sources.Silent)) *presence {
	return &presence{profiles: len(cfg.Profiles), tell: tell, heard: map[string]time.Time{}, silent: map[string]bool{}}
}

// restart takes in that a scheduler begins at now, or that the source comes to one.
func (p *presence) restart(now time.Time) {
	p.began, p.turn = now, ""
	p.end(now)
}

// none reports whether no scheduler is at work.
func (p *presence) none() bool { return p.lapsed || len(p.silent) == p.profiles }

// works reports whether a scheduler is at work for pod.
func (p *presence) works(pod *v1.Pod) bool { return !p.none() && !p.silent[pod.Spec.SchedulerName] }

// sawWork notes that the scheduler was seen to work on a pod of that profile. It returns true if none was thought to be there.
func (p *presence) sawWork(now time.Time, profile string) bool {
	p.heard[profile] = now
	if p.works(&v1.Pod{Spec: v1.PodSpec{SchedulerName: profile}}) {
		return false
	}
	p.end(now)
	return true
}

// end ends every silence.
func (p *presence) end(now time.Time) {
	if p.lapsed || len(p.silent) > 0 {
		p.tell(now, &sources.Silent{})
	}
	p.lapsed = false
	clear(p.silent)
}

// notTried notes that pod, whose turn it is, would be seen to be tried if a scheduler were there, and is not. A nil pod is
// that the loop waits for none.
func (p *presence) notTried(now time.Time, pod *v1.Pod) {
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
	if now.Sub(p.since) < longestSilence || now.Sub(last) < longestSilence || p.silent[profile] {
		return
	}
	p.silent[profile] = true
	if p.none() {
		profile = ""
		for _, at := range p.heard {
			if at.After(last) {
				last = at
			}
		}
	}
	p.tell(now, &sources.Silent{Since: last, Profile: profile})
}
