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

// patience is how long the lists of what can be done without are waited for once pods and nodes are in.
const patience = 15 * time.Second

// askEvery is how often the API server is asked whether it is there: a connection that died without a word
// shows only so. answerWithin is how long it has for that.
const (
	askEvery     = 4 * time.Second
	answerWithin = 3 * time.Second
)

// listen finds out whether the API server answers, until ctx ends.
func (s *Source) listen(ctx context.Context) {
	ask := time.NewTicker(askEvery)
	defer ask.Stop()
	_ = s.ask(ctx) // that it does not answer shows in its lists
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
			s.unheard = sources.Sanitize(Sentence("", err).Error())
		}
		s.attachIfReady(time.Now())
		s.mu.Unlock()
	}
}

// noteRunning notes each second that this process runs, until ctx ends.
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

// ask finds out whether the API server answers, and of which release it is.
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

// streamed counts an object of a list that is on its way.
func (s *Source) streamed(r *resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Streamed(time.Now(), r.name)
}

// listed notes that a whole list is in. The lock is held.
func (s *Source) listed(r *resource) {
	now := time.Now()
	s.watches.Heard(now, r.name)
	s.attachIfReady(now)
}

// watched notes that a watch began where the one before had ended.
func (s *Source) watched(r *resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Heard(time.Now(), r.name)
}

// ended notes that no watch hears of r any more. Unless that was to be expected, a streamed list that was on its way has failed.
func (s *Source) ended(r *resource, expected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.watches.Ended(now, r.name); !expected && s.watches.State(r.name) == sources.ResourceListing {
		s.watches.Failed(now, r.name, cutText)
	}
}

// failed notes that a request failed that will be made again.
func (s *Source) failed(r *resource, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Failed(time.Now(), r.name, sources.Sanitize(Sentence("", err).Error()))
}

// isLost reports whether an answer that r does not exist, or may not be read, is to be doubted: r was watched before, or it is the
// pods. A server that has just started denies what it gave before, and so does a proxy in trouble.
func (s *Source) isLost(r *resource, exists bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches.WasWatched(r.name) || !exists && r.name == pods
}

// unavailable notes that a resource has to be done without.
func (s *Source) unavailable(r *resource, state sources.ResourceState, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.watches.Unavailable(now, r.name, state, sources.Sanitize(err.Error())) {
		s.attachIfReady(now)
	}
}

// attachIfReady begins as soon as all is there that can be had, and the API server was asked for its version. The lock is held.
func (s *Source) attachIfReady(now time.Time) {
	if !s.attached.IsZero() || !s.asked || s.watches.State(pods) != sources.ResourceWatched || !(sources.Resource{State: s.watches.State(nodes)}).Settled() {
		return
	}
	if s.watches.Ready(now.Sub(s.watches.Begun()) > patience) {
		s.attach(now)
	}
}

// status is how the source stands. The lock is held.
func (s *Source) status(now time.Time) sources.Status {
	status := sources.Status{Attached: s.attached, Notices: slices.Concat(s.notices, s.said), StaleSince: s.silent}
	if said := s.delays.Notice(now); said != "" {
		status.Notices = append(status.Notices, said)
	}
	status.Answers, status.Ahead = s.delays.Answers(), s.delays.Ahead(now)
	status.Resources = s.watches.Tell(now, func(name string) int { return len(s.store(name).objects) })
	if said := limitedView(status.Resources); said != "" && !s.attached.IsZero() { // before, the number grows
		status.Notices = append(status.Notices, said)
	}
	if since := StaleSince(status.Resources); status.StaleSince.IsZero() || !since.IsZero() && since.Before(status.StaleSince) {
		status.StaleSince = since
	}
	if status.Trouble = s.unheard; s.silent.IsZero() {
		status.Trouble = TroubleOf(status.Resources)
	}
	if s.plugin != nil {
		status.Trouble = cmp.Or(s.plugin.waits(now), status.Trouble)
	}
	return status
}

// limitedView says how many kinds the user may not read, or "". What that means for each, doctor says.
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

// markSilence tells, for whoever reads it later, what is not heard any more, and that it is again. The lock is held.
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
			s.emit(now, &sources.Mark{Text: sources.SafeText(name + heardVerb(name) + " heard of again")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		if _, already := s.marked[name]; !already {
			s.emit(now, &sources.Mark{Text: sources.SafeText(name + heardVerb(name) + " not heard of since " + silent[name].UTC().Format("15:04:05"))})
		}
	}
	s.marked = silent
}

// markedAfter is for how long one watch alone must be broken to be marked: when an API server stops, all break one by one.
const markedAfter = 2 * time.Second

// heardVerb is the verb behind the name of a resource, or of the cluster.
func heardVerb(name string) string {
	if name == "the cluster" {
		return " is"
	}
	return " are"
}
