package live

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
)

// leadership is the state of the schedulers' lease.
type leadership struct {
	leader      string
	lasts       time.Duration // the duration of the lease, after which it expires
	lastRenewal time.Time     // when the last renewal arrived, by this machine's clock. Zero if there is no lease
	lapsed      bool          // its expiry was emitted
}

// leaseLasts is the default duration of the schedulers' lease (component-base, config.LeaderElectionConfiguration).
const leaseLasts = 15 * time.Second

// onRenewal handles a change of the lease.
func (s *Source) onRenewal(now time.Time, lease *coordinationv1.Lease) {
	s.setLeader(now, holder(lease), acquired(lease))
	s.lastRenewal, s.lasts = now, leaseLasts
	if seconds := lease.Spec.LeaseDurationSeconds; seconds != nil && *seconds > 0 {
		s.lasts = time.Duration(*seconds) * time.Second
	}
	if s.lapsed {
		s.lapsed = false
		s.emit(now, &sources.Silent{})
	}
}

// setLeader records the leader of the schedulers, and since when it leads. A new leader starts with an empty queue,
// and its flushes follow from when it acquired the lease.
func (s *Source) setLeader(now time.Time, by string, since time.Time) {
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
	if before != "" || known { // otherwise it has led before, and the lease could not be read
		release, from := s.release()
		s.emit(since, &sources.SchedulerStarted{Release: release, From: from, PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
		s.emit(now, &sources.Mark{Text: sources.Sanitize("a new scheduler leads, with an empty queue: " + by)})
	}
}

// noteLapse emits the expiry of the lease if it is watched and not renewed. The lock is held.
func (s *Source) noteLapse(now time.Time, heard bool) {
	switch {
	case s.lastRenewal.IsZero(), s.lapsed:
		return
	case !heard, !s.watches.Delivers(now, leases):
		s.lastRenewal = now // a renewal may have been missed
		return
	case now.Sub(s.lastRenewal) <= s.lasts:
		return
	}
	s.lapsed = true
	s.emit(now, &sources.Silent{Since: s.lastRenewal.UTC()})
}

// acquired returns when the lease's holder acquired it. Zero if unknown.
func acquired(obj runtime.Object) time.Time {
	lease, ok := obj.(*coordinationv1.Lease)
	if !ok || lease == nil || lease.Spec.AcquireTime == nil || sources.CheckTime(lease.Spec.AcquireTime.Time) != nil {
		return time.Time{}
	}
	return lease.Spec.AcquireTime.UTC()
}

// renewed returns when the lease's holder renewed it, by its own clock. Zero if unknown.
func renewed(lease *coordinationv1.Lease) time.Time {
	if lease.Spec.RenewTime == nil || sources.CheckTime(lease.Spec.RenewTime.Time) != nil {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Time
}

// holder returns the holder of the lease. Empty if there is none.
func holder(obj runtime.Object) string {
	lease, ok := obj.(*coordinationv1.Lease)
	if !ok || lease == nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
