package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// patience is how long the source waits for optional lists once pods and nodes are complete.
const patience = 15 * time.Second

// askEvery is how often the source probes the API server: only this detects a connection that died silently.
// answerWithin is the timeout of a probe.
const (
	askEvery     = 4 * time.Second
	answerWithin = 3 * time.Second
)

// listen probes the API server until ctx ends.
func (s *Source) listen(ctx context.Context) {
	ask := time.NewTicker(askEvery)
	defer ask.Stop()
	_ = s.ask(ctx) // the lists report an error
	s.mu.Lock()
	s.asked = true
	s.attachIfReady(time.Now())
	s.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ask.C:
		}
		asked := time.Now()
		err := s.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		switch {
		case err == nil:
			s.silent = time.Time{}
		case s.silent.IsZero():
			s.silent = asked
		}
		if err != nil {
			s.reason = sources.Sanitize(Sentence("", err).Error())
		}
		s.attachIfReady(time.Now())
		s.mu.Unlock()
	}
}

// noteRunning records each second that this process runs, until ctx ends.
func (s *Source) noteRunning(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		s.mu.Lock()
		s.watches.Runs(time.Now())
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ask probes the API server and reads its release.
func (s *Source) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	asked := time.Now()
	release, err := s.version(ctx)
	answered := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serves = cmp.Or(release, s.serves)
	if err == nil {
		s.delays.Answered(answered, answered.Sub(asked))
	}
	return err
}

// streamed counts an object of an incomplete list.
func (s *Source) streamed(r *resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Streamed(time.Now(), r.name)
}

// listed records a complete list. The lock is held.
func (s *Source) listed(r *resource) {
	now := time.Now()
	s.watches.Watched(now, r.name)
	s.attachIfReady(now)
}

// watched records that a watch continued where the last one had ended.
func (s *Source) watched(r *resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Watched(time.Now(), r.name)
}

// ended records that the watch of r has ended. Unless that was expected, an incomplete streamed list has failed.
func (s *Source) ended(r *resource, expected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.watches.Ended(now, r.name); !expected && s.watches.State(r.name) == sources.ResourceListing {
		s.watches.Failed(now, r.name, cutText)
	}
}

// failed records a failed request that will be retried.
func (s *Source) failed(r *resource, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Failed(time.Now(), r.name, sources.Sanitize(Sentence("", err).Error()))
}

// isLost reports whether a response that r does not exist or may not be read is temporary: r was watched before, or it is
// the pods. A server that has just started refuses what it served before, as does a failing proxy.
func (s *Source) isLost(r *resource, exists bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches.WasWatched(r.name) || !exists && r.name == pods
}

// unavailable records that a resource can't be read.
func (s *Source) unavailable(r *resource, state sources.ResourceState, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.watches.Unavailable(now, r.name, state, sources.Sanitize(err.Error())) {
		s.attachIfReady(now)
	}
}

// attachIfReady attaches once all available lists are complete and the API server's version was requested. The lock is
// held.
func (s *Source) attachIfReady(now time.Time) {
	if !s.attached.IsZero() || !s.asked || s.watches.State(pods) != sources.ResourceWatched || !(sources.Resource{State: s.watches.State(nodes)}).Settled() {
		return
	}
	if s.watches.Ready(now.Sub(s.watches.Begun()) > patience) {
		s.attach(now)
	}
}

// status returns the status of the source. The lock is held.
func (s *Source) status(now time.Time) sources.Status {
	status := sources.Status{Attached: s.attached, Notices: slices.Concat(s.notices, s.said), StaleSince: s.silent}
	if said := s.delays.Notice(now); said != "" {
		status.Notices = append(status.Notices, said)
	}
	status.Answers, status.Ahead = s.delays.Answers(), s.delays.Ahead(now)
	status.Resources = s.watches.Report(now, func(name string) int { return len(s.store(name).objects) })
	if notice := limitedView(status.Resources); notice != "" && !s.attached.IsZero() { // the number is not final before
		status.Notices = append(status.Notices, notice)
	}
	if since := StaleSince(status.Resources); status.StaleSince.IsZero() || !since.IsZero() && since.Before(status.StaleSince) {
		status.StaleSince = since
	}
	if status.Trouble = s.reason; s.silent.IsZero() {
		status.Trouble = TroubleOf(status.Resources)
	}
	if s.plugin != nil {
		status.Trouble = cmp.Or(s.plugin.waits(now), status.Trouble)
	}
	return status
}

// limitedView returns a notice with the number of kinds that the user may not read, or "". doctor explains each.
func limitedView(resources []sources.Resource) string {
	forbidden := 0
	for _, r := range resources {
		if r.State == sources.ResourceForbidden {
			forbidden++
		}
	}
	switch forbidden {
	case 0:
		return ""
	case 1:
		return "limited view: 1 kind is not readable; schedq doctor lists it"
	}
	return fmt.Sprintf("limited view: %d kinds are not readable; schedq doctor lists them", forbidden)
}

// markSilence emits marks for the resources without a working watch, and when it works again. They are for readers of a
// recording. The lock is held.
func (s *Source) markSilence(now time.Time, status sources.Status) {
	if s.attached.IsZero() {
		return
	}
	silent := map[string]time.Time{}
	if stale := status.StaleSince; !stale.IsZero() {
		silent["the cluster"] = stale
	} else {
		for _, r := range status.Resources {
			if since := r.Gap.Since; r.Broken() && now.Sub(since) > markedAfter {
				silent[r.Name] = since
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.marked)) {
		if _, still := silent[name]; !still {
			s.emit(now, &sources.Mark{Text: sources.SafeText(name + ": updates resumed")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		if _, already := s.marked[name]; !already {
			s.emit(now, &sources.Mark{Text: sources.SafeText(name + ": no updates since " + silent[name].UTC().Format("15:04:05"))})
		}
	}
	s.marked = silent
}

// markedAfter is how long a watch must be broken to be marked by itself: when an API server stops, its watches break one
// by one.
const markedAfter = 2 * time.Second
