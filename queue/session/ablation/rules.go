package main

// rule is a rule of the model. To switch it off, build replaces old by new in file, a path below queue/session.
// OFF in new is true while the rule is off.
type rule struct{ name, file, old, new string }

var rules = []rule{
	{"pods taken in the order of waiting patches", "shadow/decide.go",
		`if o.channels.Config.AsyncAPICalls || o.channels.Logged() {
		return nil
	}
	if patch := o.future.NextPatch`, `if OFF || o.channels.Config.AsyncAPICalls || o.channels.Logged() {
		return nil
	}
	if patch := o.future.NextPatch`},
	{"wait for a failed pod in another tier", "shadow/decide.go",
		`case pod == nil && saturated:`, `case !OFF && pod == nil && saturated:`},
	{"untried pods are put back", "shadow/decide.go",
		`case until.Sub(now) == evidence.Foresight && o.queue`, `case !OFF && until.Sub(now) == evidence.Foresight && o.queue`},
	{"loop held up", "shadow/decide.go",
		`if heldUp || nHeld == upcomingLimit {`, `if heldUp && !OFF || nHeld == upcomingLimit {`},
	{"loop held up because nothing can have woken the pod", "shadow/decide.go",
		`until.Before(o.channels.Horizon(now, pod)) && !o.mayWakeBy(now, until)`, `!OFF && until.Before(o.channels.Horizon(now, pod)) && !o.mayWakeBy(now, until)`},
	{"no active scheduler", "shadow/presence.go",
		`if now.Sub(p.since) < longestSilence ||`, `if OFF || now.Sub(p.since) < longestSilence ||`},
	{"pods without a trace are held", "shadow/decide.go",
		`	return horizon, true, turn
}`, `	return horizon, !OFF, turn
}`},
	{"claims that the scheduler writes", "shadow/binding.go",
		`	if !cluster.MayHaveDevices(pod) || w.Claimed(pod) {`, `	if OFF || !cluster.MayHaveDevices(pod) || w.Claimed(pod) {`},
	{"pods that await a volume are not held", "shadow/decide.go",
		`	if o.preBind.AwaitsVolume(pod) {
		return until, false`, `	if !OFF && o.preBind.AwaitsVolume(pod) {
		return until, false`},
	{"devices that are not ready", "shadow/binding.go",
		`	if !cluster.MayHaveDevices(pod) {
		return nil
	}
	if claim := w.UnreadyClaim`, `	if OFF || !cluster.MayHaveDevices(pod) {
		return nil
	}
	if claim := w.UnreadyClaim`},
	{"another attempt in place of one without a trace", "shadow/decide.go",
		`if a.Skipped || !o.channels.Requests {
		return nil, because`, `if OFF || a.Skipped || !o.channels.Requests {
		return nil, because`},
	{"in place: the pod of the waiting patch", "shadow/decide.go",
		`sent := o.takenByPatch(now); pod != nil && pod.UID != a.Pod.UID &&`, `sent := o.takenByPatch(now); !OFF && pod != nil && pod.UID != a.Pod.UID &&`},
	{"attempts end when their Event says", "shadow/driver.go",
		`d.oracle.failsAt(now, a); ok && fails {`, `d.oracle.failsAt(now, a); ok && fails && !OFF {`},
	{"patch of an attempt with another outcome", "shadow/driver.go",
		`	if d.oracle != nil && d.AwaitedPatch == nil {
		if patch`, `	if !OFF && d.oracle != nil && d.AwaitedPatch == nil {
		if patch`},
	{"patches behind the end of the source", "shadow/oracle.go",
		`	return !o.channels.Config.AsyncAPICalls && !o.channels.Logged() && o.channels.Saturated(now) &&
		o.channels.Until`, `	return !OFF && !o.channels.Config.AsyncAPICalls && !o.channels.Logged() && o.channels.Saturated(now) &&
		o.channels.Until`},
	{"patch of an attempt to come", "shadow/oracle.go",
		`	return !o.channels.Config.AsyncAPICalls && !o.channels.Exact && o.queue.PlacesOthers`, `	return !OFF && !o.channels.Config.AsyncAPICalls && !o.channels.Exact && o.queue.PlacesOthers`},
	{"catching up: the pods before", "shadow/driver.go",
		`		if now.Sub(at) < soon {
			break`, `		if OFF || now.Sub(at) < soon {
			break`},
	{"catching up: the wait continues", "shadow/driver.go",
		`awaited != nil && (d.oracle.channels.Exact`, `!OFF && awaited != nil && (d.oracle.channels.Exact`},
	{"changes delivered earlier", "shadow/follow.go",
		`	for len(s.deliveries) > 0 && !s.oracle.queue.IsAwake(pod) {
		s.deliverNext(now)
	}
	for seen`, `	for !OFF && len(s.deliveries) > 0 && !s.oracle.queue.IsAwake(pod) {
		s.deliverNext(now)
	}
	for seen`},
	{"changes delivered before the source has them", "shadow/follow.go",
		`		if s.oracle.queue.IsAwake(pod) {
			return`, `		if OFF || s.oracle.queue.IsAwake(pod) {
			return`},
	{"observed backoff flushes", "shadow/follow.go",
		`	if !ok || info.Tier != queue.Backoff || s.cfg`, `	if OFF || !ok || info.Tier != queue.Backoff || s.cfg`},
	{"late patches belong to the last attempt", "shadow/follow.go",
		`recent := ok && (now.Sub`, `recent := !OFF && ok && (now.Sub`},
	{"requests wait for the rate limit", "evidence/ratelimit.go",
		`	low := lowVisible`, `	if OFF {
		return false
	}
	low := lowVisible`},
	{"requests known to have waited", "evidence/requests.go",
		`	return i > 0 && r.sent[i-1].limited`, `	return !OFF && i > 0 && r.sent[i-1].limited`},
	{"cadence of waiting requests", "evidence/cadence.go",
		`	if c.interval <= 0 {`, `	if OFF || c.interval <= 0 {`},
	{"Events show a pod's first two attempts at a version", "evidence/channels.go",
		`	last, known := c.recorder[pod.UID]
	if !known`, `	last, known := c.recorder[pod.UID]
	if OFF || !known`},
	{"first attempts show by a request", "evidence/channels.go",
		`	return c.Requests && cluster.Unscheduled`, `	return !OFF && c.Requests && cluster.Unscheduled`},
	{"versions delivered late", "evidence/channels.go",
		`	if c.recorder[uid].Count >= eventsPerVersion {`, `	if !OFF && c.recorder[uid].Count >= eventsPerVersion {`},
	{"Events wait for the rate limit", "evidence/backlog.go",
		`	return e.delay > maxUnlimitedDelay`, `	return !OFF && e.delay > maxUnlimitedDelay`},
	{"dropped Events", "evidence/channels.go",
		`	c.eventsDropped = full > 0`, `	c.eventsDropped = !OFF && full > 0`},
	{"late patches precede their effects", "evidence/late.go",
		`	if f.latePatchesFrom.IsZero() {
		return`, `	if OFF || f.latePatchesFrom.IsZero() {
		return`},
	{"waiting requests are back to back", "evidence/requests.go",
		`(r.recorded || r.isBackToBack(at, refused))`, `(OFF || r.recorded || r.isBackToBack(at, refused))`},
	{"refused bindings of deleted pods", "evidence/requests.go",
		`!r.recorded && n > 0 && r.sent[n-1].limited {`, `!OFF && !r.recorded && n > 0 && r.sent[n-1].limited {`},
	{"another scheduler's pods", "evidence/evidence.go",
		`	case f.responsible != nil && !f.responsible(pod):`, `	case !OFF && f.responsible != nil && !f.responsible(pod):`},
	{"estimate: judged by the plugins", "shadow/attach.go",
		`	if g.Judge == nil {`, `	if OFF || g.Judge == nil {`},
	{"events delay the loop", "shadow/driver.go",
		`	if d.LoopFree.Before(now) {
		d.LoopFree = now
	}
	d.LoopFree = d.LoopFree.Add(by)`, `	if OFF {
		return
	}
	if d.LoopFree.Before(now) {
		d.LoopFree = now
	}
	d.LoopFree = d.LoopFree.Add(by)`},
	{"deadlines of volumes and devices", "shadow/driver.go",
		`d.oracle.channels.Config, b.Pod); err != nil {`, `d.oracle.channels.Config, b.Pod); err != nil && !OFF {`},
	{"nodes selected for volumes", "shadow/follow.go",
		`	if node == "" || !s.oracle.seesNodes() {`, `	if OFF || node == "" || !s.oracle.seesNodes() {`},
	{"attempts that failed with an error", "shadow/follow.go",
		`	if s.cfg.Queue.Rules.ErrorsWait {`, `	if OFF || s.cfg.Queue.Rules.ErrorsWait {`},
	{"bindings without a trace are taken back at once", "shadow/oracle.go",
		`	return !o.channels.Requests || !o.channels.WatchesPods(now) || o.bindingShows(now, pod)`, `	return OFF || !o.channels.Requests || !o.channels.WatchesPods(now) || o.bindingShows(now, pod)`},
	{"loop waits for the answer to a patch under way", "shadow/decide.go",
		`	if patch == nil {
		return until, false
	}`, `	if OFF || patch == nil {
		return until, false
	}`},
	{"pods taken because they fail next", "shadow/decide.go",
		`o.future.Failure(now, crowding); seen != nil &&`, `o.future.Failure(now, crowding); !OFF && seen != nil &&`},
	{"untried pods are put back only while idle", "shadow/decide.go",
		`!cluster.MayHaveDevices(pod) && o.channels.Idle(now):`, `!cluster.MayHaveDevices(pod) && (OFF || o.channels.Idle(now)):`},
	{"pods with a later trace are held", "shadow/decide.go",
		`		until = seen.EndedBy.Add(-soon)
`, `		if until = seen.EndedBy.Add(-soon); OFF {
			return until, false, reason.ByEvidence(reason.InOrder, seen)
		}
`},
	{"attempts that share the time until a trace", "shadow/decide.go",
		`	switch {
	case seen == nil:
		return LongestGap`, `	switch {
	case OFF || seen == nil:
		return LongestGap`},
	{"in place: the pod that fails next", "shadow/decide.go",
		`	seen := o.future.Failure(now, within)
	if seen == nil {`, `	seen := o.future.Failure(now, within)
	if OFF || seen == nil {`},
	{"patch that says why its attempt failed", "shadow/oracle.go",
		`	if message != "" {`, `	if message != "" && !OFF {`},
	{"learned pace", "shadow/pace.go",
		`	return time.Duration(float64(nominal) *`, `	if OFF {
		return nominal
	}
	return time.Duration(float64(nominal) *`},
	{"estimate: backoff until the next trace", "shadow/attach.go",
		`	switch {
	case opts.PopFromBackoffQ && !s.limited:`, `	switch {
	case OFF:
	case opts.PopFromBackoffQ && !s.limited:`},
	{"estimate: likely backoff", "shadow/attach.go",
		`	if e.failedLast || e.Attempts < 2`, `	if OFF || e.failedLast || e.Attempts < 2`},
	{"estimate: pods of a crowd", "shadow/attach.go",
		`	e.InCrowd = true
`, `	if OFF {
		return
	}
	e.InCrowd = true
`},
	{"requests counted from attaching", "evidence/ratelimit.go",
		`	if l.attached.IsZero() ||`, `	if OFF || l.attached.IsZero() ||`},
	{"rate limit reached before attaching", "evidence/ratelimit.go",
		`	return attached, cfg.ClientQPS > 0`, `	return attached, !OFF && cfg.ClientQPS > 0`},
}
