package live

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
)

// leadership is who leads the schedulers, and for how long that was not heard.
type leadership struct {
	leader       string
	lasts        time.Duration // how long the lease is: nobody leads once it was not renewed for that long
	heardRenewal time.Time     // when that it was renewed was heard last, by this machine's clock. Zero if there is no lease
	lapsed       bool          // that was told
}

// leaseLasts is how long the schedulers' lease is by default (component-base, config.LeaderElectionConfiguration).
const leaseLasts = 15 * time.Second

// renewal takes in a change of the lease.
func (s *Source) renewal(now time.Time, lease *coordinationv1.Lease) {
	s.led(now, holder(lease), acquired(lease))
	s.heardRenewal, s.lasts = now, leaseLasts
	if seconds := lease.Spec.LeaseDurationSeconds; seconds != nil && *seconds > 0 {
		s.lasts = time.Duration(*seconds) * time.Second
	}
	if s.lapsed {
		s.lapsed = false
		s.emit(now, &sources.Silent{})
	}
}

// led notes who leads the schedulers, and since when. Another one has none of the memory of the one before,
// and its flushes follow from when it took the lease.
func (s *Source) led(now time.Time, by string, since time.Time) {
	if by == "" || by == s.leader {
		return
	}
	before := s.leader
	s.leader = by
	if !since.IsZero() {
		since = since.Add(s.delays.Offset(now))
	}
	known := since.After(s.attached) && since.Before(now)
	if !known {
		since = now
	}
	if before != "" || known { // or it has led for long, and the lease could not be read before
		release, from := s.release()
		s.emit(since, &sources.SchedulerStarted{Release: release, From: from, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
		s.emit(now, &sources.Mark{Text: sources.Sanitize("a new scheduler leads, and begins with an empty queue: " + by)})
	}
}

// noteLapse tells that nobody renews the lease, if it is watched and that is so. The lock is held.
func (s *Source) noteLapse(now time.Time, heard bool) {
	switch {
	case s.heardRenewal.IsZero(), s.lapsed:
		return
	case !heard, !s.watches.Hears(now, leases):
		s.heardRenewal = now // whether it was renewed meanwhile is not known
		return
	case now.Sub(s.heardRenewal) <= s.lasts:
		return
	}
	s.lapsed = true
	s.emit(now, &sources.Silent{Since: s.heardRenewal.UTC()})
}

// acquired is when the lease's holder took it. Zero if that is not known.
func acquired(obj runtime.Object) time.Time {
	lease, ok := obj.(*coordinationv1.Lease)
	if !ok || lease == nil || lease.Spec.AcquireTime == nil || sources.CheckTime(lease.Spec.AcquireTime.Time) != nil {
		return time.Time{}
	}
	return lease.Spec.AcquireTime.UTC()
}

// renewed is when the lease's holder renewed it, by its own clock. Zero if that is not known.
func renewed(lease *coordinationv1.Lease) time.Time {
	if lease.Spec.RenewTime == nil || sources.CheckTime(lease.Spec.RenewTime.Time) != nil {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Time
}

// holder is who holds the lease. Empty if nobody does.
func holder(obj runtime.Object) string {
	lease, ok := obj.(*coordinationv1.Lease)
	if !ok || lease == nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
