package audit

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/objects"
)

// Logs are read twice: first for the facts about them as a whole, then event by event. So only the objects of one moment
// are kept, not their history.

// survey has the facts about logs as a whole.
type survey struct {
	begin    *earlier.Beginning
	zones    *objects.Zones
	own      bool // whether the user system:kube-scheduler was active in them
	starts   []sources.Event
	lapses   []sources.Event
	running  []sources.Event
	heldUp   []sources.Event // when Events of attempts stopped
	late     []item          // items logged later than soon
	atWork   bool            // whether the scheduler was at work when they began
	versions map[types.UID]string
	longest  time.Duration // how late a change was logged at most
}

// soon is how late an attempt or a request is usually logged. Later ones are kept from the first reading.
const soon = 10 * time.Second

// surveyor builds a survey.
type surveyor struct {
	survey
	*emitter
	worked   time.Time // when the scheduler first worked
	requests [2]calls  // by its user, and by clients that only call themselves so
	failed   map[types.UID]sources.Event
	last     sources.Event // the last failed attempt
	lateness lateness
	visit    func(sources.Event)
}

// calls are requests that may count.
type calls struct {
	count int
	last  time.Time
	early []sources.Event // the first of them
}

// maxEarly is how many requests are kept with their times: enough to find out whether they waited for the rate limit when
// the logs began.
const maxEarly = 10_000

// newSurveyor returns a surveyor of logs whose changes are late by at most patience. It passes visit, unless nil, the
// events nearly as Events yields them later.
func newSurveyor(patience time.Duration, forget bool, visit func(sources.Event)) *surveyor {
	s := &surveyor{failed: map[types.UID]sources.Event{}, lateness: newLateness(), visit: visit}
	s.emitter = newEmitter(patience, visit)
	s.begin, s.zones = earlier.New(0), objects.NewZones()
	if forget {
		s.begin = earlier.New(overlaps)
	}
	play := s.merger.out
	s.merger.out = func(e *entry) {
		s.begin.Note(e.earlier())
		noteZones(s.zones, e)
		s.work(e.patched)
		if e.op == bind {
			s.work(e.time)
		}
		if visit != nil {
			play(e)
		}
	}
	return s
}

// work records that the scheduler worked at a time, unless that is zero.
func (s *surveyor) work(at time.Time) {
	if !at.IsZero() && (s.worked.IsZero() || at.Before(s.worked)) {
		s.worked = at
	}
}

// takeItem processes an item.
func (s *surveyor) takeItem(it *item) {
	s.saw(it.read)
	late := s.now.Sub(it.event.Time) > soon
	switch it.what {
	case changeItem:
		s.change(it)
		return
	case requestItem, callItem:
		s.request(&s.requests[it.what-requestItem], it.event)
	case failureItem:
		s.work(it.event.Time)
		s.fail(it.event)
		if (late || s.visit == nil) && !s.attempts.First(it.event, s.now) {
			return
		}
	case nameItem:
		s.work(it.event.Time)
	}
	switch {
	case late:
		s.late = append(s.late, *it)
	case s.visit != nil && it.what != requestItem && it.what != callItem:
		s.know(it)
	}
}

// change processes a change.
func (s *surveyor) change(it *item) {
	e := it.change
	if s.merger.repeats(e) {
		s.work(e.patched)
		if s.visit != nil {
			s.history.asked(e)
		}
		return
	}
	s.lateness.add(e, s.merger.add(e, s.now, it.cost), s.now)
	s.merger.advance(s.now)
}

// request counts a request.
func (s *surveyor) request(of *calls, ev sources.Event) {
	of.count++
	if of.last = ev.Time; len(of.early) < maxEarly {
		of.early = append(of.early, ev)
	}
}

// fail records the last failed attempt, and, for a pod that existed at the beginning, the version of it in its first one.
func (s *surveyor) fail(ev sources.Event) {
	if ev.Time.After(s.last.Time) {
		s.last = ev
	}
	f := ev.Fact.(*sources.FailedAttempt)
	if f.Version == "" || s.begin.Came(f.Pod) {
		return
	}
	if first, known := s.failed[f.UID]; !known || ev.Time.Before(first.Time) {
		s.failed[f.UID] = ev
	}
}

// finish returns the survey once all items were processed.
func (s *surveyor) finish(logs []*Log) *survey {
	if s.merger.finish(); s.visit != nil {
		s.emitter.finish()
	}
	var own, called activity
	covered, end := coverage{}, time.Time{}
	for _, l := range logs {
		own.join(&l.own)
		called.join(&l.called)
		for at := range l.covered {
			covered[at] = struct{}{}
		}
		if l.Last.After(end) {
			end = l.Last
		}
	}
	s.own = !own.empty() || s.requests[0].count > 0
	if !s.own {
		own = called // if there are both, the called ones are second schedulers
	}
	own.worked.sort()
	s.starts = own.starts.schedulers(own.worked)
	s.lapses = lapses(own.starts.held(), covered, end)
	s.running = own.worked.events()
	s.heldUp = attempts.HeldUp(s.last, end)
	s.atWork = len(s.starts) == 0 || !s.worked.IsZero() && s.worked.Before(s.starts[0].Time)
	s.versions = map[types.UID]string{}
	for uid, ev := range s.failed {
		s.versions[uid] = ev.Fact.(*sources.FailedAttempt).Version
	}
	s.longest = s.lateness.most
	for _, l := range logs {
		s.begin.Within(l.First, l.Last)
	}
	found := s.survey // a copy: the surveyor refers to all objects
	return &found
}

// newEmitter returns an emitter with the seed and the survey's findings, which then needs only the logs' items.
func (s *survey) newEmitter(seed earlier.Seed, patience time.Duration, out func(sources.Event)) *emitter {
	t := newEmitter(patience, out)
	if !s.own {
		t.requests = callItem
	}
	t.history.zones.BeginAs(s.zones)
	t.begins = true
	was := s.begin.Restore(s.versions, s.zones)
	t.history.begin(s.begin.At(), was)
	if len(was) > 0 && s.atWork {
		t.history.attach(s.begin.At(), seed)
	}
	t.begins = false
	t.add(rankStart, s.starts...)
	t.add(rankSilence, s.lapses...)
	t.add(rankRelease, s.running...)
	t.add(rankRequest, s.heldUp...)
	for _, c := range s.begin.Late() {
		e := entry{op: put, kind: objects.Kind{Name: c.Of.Kind}, key: c.Of.NamespacedName, uid: c.UID, time: c.At, object: c.Object, created: true}
		t.merger.add(&e, e.time, 0)
	}
	for i := range s.late {
		t.know(&s.late[i])
	}
	return t
}

// lateness measures how late changes are logged at most.
type lateness struct {
	most     time.Duration
	highest  uint64
	rises    []rise                  // of the highest revision, at most one per second
	recent   map[overtaker]time.Time // when they were logged
	overtook []overtaker             // the same, in the order of time
}

// overtaker is a fact about an object that may be logged before an earlier one: that it is gone, or that it is on a node.
type overtaker struct {
	of   types.UID
	gone bool
}

// rise is when a revision higher than all previous ones was logged.
type rise struct {
	at       time.Time
	revision uint64
}

// overlap is how long facts about an object are remembered: no request takes longer.
const overlap = 2 * time.Minute

func newLateness() lateness { return lateness{recent: map[overtaker]time.Time{}} }

// add adds a change that is logged now and is ordered by a revision, or 0 if it has none.
func (l *lateness) add(e *entry, place uint64, now time.Time) {
	l.late(now.Sub(e.time))
	if e.uid != "" {
		if at, overtaken := l.recent[overtaker{e.uid, e.op != bind}]; overtaken && (e.op == bind || place > 0) {
			l.late(now.Sub(at))
		}
		if e.op == remove {
			l.overtake(overtaker{e.uid, true}, now)
		}
		if objects.Assigned(e.object) {
			l.overtake(overtaker{e.uid, false}, now)
		}
	}
	for len(l.overtook) > 0 && now.Sub(l.recent[l.overtook[0]]) > overlap {
		delete(l.recent, l.overtook[0])
		l.overtook = l.overtook[1:]
	}
	switch {
	case place == 0 || place == l.highest:
	case place > l.highest:
		l.highest = place
		if n := len(l.rises); n == 0 || now.Sub(l.rises[n-1].at) >= time.Second {
			l.rises = append(l.rises, rise{now, place})
		}
	default:
		i, _ := slices.BinarySearchFunc(l.rises, place, func(r rise, revision uint64) int {
			if r.revision > revision {
				return 1
			}
			return -1
		})
		at := now
		if i < len(l.rises) {
			at = l.rises[i].at
		}
		l.late(now.Sub(at) + time.Second) // rises within the last second are not recorded
	}
}

// overtake records that a fact was logged.
func (l *lateness) overtake(o overtaker, now time.Time) {
	if _, known := l.recent[o]; !known {
		l.recent[o] = now
		l.overtook = append(l.overtook, o)
	}
}

func (l *lateness) late(by time.Duration) { l.most = max(l.most, by) }
