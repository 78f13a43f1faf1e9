package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	st := s.state[r.name]
	s.heard[r.name] = time.Now()
	if st.State == sources.ResourceWaiting || st.State == sources.ResourceFailing {
		st.State, st.Objects = sources.ResourceListing, 0 // its trouble is over when all of it is in
	}
	if st.State == sources.ResourceListing {
		st.Objects++
	}
}

// listed notes that a whole list is in. The lock is held.
func (s *Source) listed(r *resource) {
	delete(s.lost, r.name)
	s.state[r.name].State, s.state[r.name].Trouble = sources.ResourceWatched, ""
	s.attachIfReady(time.Now())
}

// watched notes that a watch began.
func (s *Source) watched(r *resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.lost[r.name]; was {
		delete(s.lost, r.name)
		s.state[r.name].State, s.state[r.name].Trouble = sources.ResourceWatched, ""
	}
}

// failed notes that a request failed that will be made again.
func (s *Source) failed(r *resource, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state[r.name]
	if _, lost := s.lost[r.name]; !lost && st.State == sources.ResourceWatched {
		s.lost[r.name] = time.Now()
	}
	st.State = sources.ResourceFailing
	st.Trouble = sources.Sanitize(Sentence("", err).Error())
}

// comingBack is for how long a server that is asked again may deny what it gave before: one that has just
// started does, until it has loaded its roles.
const comingBack = 10 * time.Second

// hadRights reports whether r was watched, and is not lost for longer than a server takes to come back.
func (s *Source) hadRights(r *resource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, lost := s.lost[r.name]
	return s.state[r.name].State == sources.ResourceWatched || lost && time.Since(since) < comingBack
}

// unavailable notes that a resource has to be done without.
func (s *Source) unavailable(r *resource, state sources.ResourceState, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state[r.name]
	if st.State == state {
		return
	}
	st.State, st.Trouble = state, sources.Sanitize(err.Error())
	delete(s.lost, r.name)
	s.attachIfReady(time.Now())
}

// attachIfReady begins as soon as all is there that can be had, and the API server was asked for its version. The lock is held.
func (s *Source) attachIfReady(now time.Time) {
	if !s.attached.IsZero() || !s.asked || s.state[pods].State != sources.ResourceWatched || !s.state[nodes].Settled() {
		return
	}
	waited := now.Sub(s.begun) > patience
	for _, st := range s.state {
		if !st.Settled() && !(waited && st.State == sources.ResourceFailing) {
			return
		}
	}
	s.attach(now)
}

// status is how the source stands. The lock is held.
func (s *Source) status(now time.Time) sources.Status {
	status := sources.Status{Attached: s.attached, Notices: slices.Concat(s.notices, s.said), StaleSince: s.silent}
	if said := s.delays.Notice(now); said != "" {
		status.Notices = append(status.Notices, said)
	}
	status.Answers, status.Ahead = s.delays.Answers(), s.delays.Ahead(now)
	var missing []string
	for _, st := range s.stores {
		r := *s.state[st.kind.name]
		if r.State == sources.ResourceWatched {
			r.Objects = len(st.objects)
		}
		if r.Trouble == "" && s.overdue(r, now) {
			r.Trouble = overdueText
		}
		status.Resources = append(status.Resources, r)
		if r.State == sources.ResourceForbidden {
			missing = append(missing, fmt.Sprintf("%s (%s)", st.kind.name, st.kind.without))
		}
	}
	if len(missing) > 0 {
		status.Notices = append(status.Notices, "You may not list and watch "+strings.Join(missing, ", ")+".")
	}
	for _, since := range s.lost {
		if status.StaleSince.IsZero() || since.Before(status.StaleSince) {
			status.StaleSince = since
		}
	}
	if status.Trouble = s.unheard; s.silent.IsZero() {
		status.Trouble = troubleOf(status.Resources)
	}
	if s.plugin != nil {
		status.Trouble = cmp.Or(s.plugin.waits(now), status.Trouble)
	}
	return status
}

// overdueAfter is for how long nothing may come of a list before that is trouble: an API server begins to
// answer at once, also where the whole answer takes long.
const overdueAfter = 2 * time.Second

var overdueText = sources.SafeText(fmt.Sprintf("no object has come from the API server for more than %s", overdueAfter))

// overdue reports whether nothing has come of a list for too long. The lock is held.
func (s *Source) overdue(r sources.Resource, now time.Time) bool {
	if s.begun.IsZero() || r.State != sources.ResourceWaiting && r.State != sources.ResourceListing {
		return false
	}
	last := s.heard[r.Name]
	if last.IsZero() {
		last = s.begun
	}
	return now.Sub(last) > overdueAfter
}

// maxNamed is how many of the resources that fail for one reason are named.
const maxNamed = 3

// troubleOf says which resources fail, and why, each reason once. It is empty if none does.
func troubleOf(resources []sources.Resource) sources.SafeText {
	var reasons []sources.SafeText
	failing := map[sources.SafeText][]string{}
	for _, r := range resources {
		if r.Trouble == "" || r.State == sources.ResourceForbidden || r.State == sources.ResourceNotServed {
			continue // nothing is wrong, or it is done without
		}
		if failing[r.Trouble] == nil {
			reasons = append(reasons, r.Trouble)
		}
		failing[r.Trouble] = append(failing[r.Trouble], r.Name)
	}
	var all []string
	for _, reason := range reasons {
		names := failing[reason]
		if len(names) == len(resources) {
			return reason
		}
		if more := len(names) - maxNamed; more > 0 {
			names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
		}
		list := strings.Join(names, ", ")
		if i := strings.LastIndex(list, ", "); i >= 0 {
			list = list[:i] + " and " + list[i+2:]
		}
		all = append(all, fmt.Sprintf("%s can't be read: %s", list, reason))
	}
	return sources.Sanitize(strings.Join(all, "; "))
}
