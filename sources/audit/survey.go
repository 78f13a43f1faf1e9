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

// Logs are read twice: once for what must be known of them as a whole before the first event can be told, and then event by
// event. So what is kept of them are the objects that are there at a moment, and not those that were.

// survey is what logs tell as a whole.
type survey struct {
	begin    *earlier.Beginning
	zones    *objects.Zones
	own      bool // whether the user kube-scheduler did anything in them
	starts   []sources.Event
	lapses   []sources.Event
	heard    []sources.Event
	unheard  []sources.Event // since when Events of attempts have not come
	late     []item          // what was told later than soon
	atWork   bool            // whether the scheduler was at work when they began
	versions map[types.UID]string
	longest  time.Duration // how long after a change one was told that was made before it, at most
}

// soon is how much later than it was an attempt, or a request, is told as a rule. Those that are told later are kept from the
// first reading.
const soon = 10 * time.Second

// surveyor makes a survey.
type surveyor struct {
	survey
	*teller
	worked   time.Time // when the scheduler was seen to work first
	requests [2]calls  // by its user, and by what only calls itself so
	failed   map[types.UID]sources.Event
	last     sources.Event // of the failed attempts that are told, the last one
	lateness lateness
	visit    func(sources.Event)
}

// calls are requests of which it is not known whether they count.
type calls struct {
	count int
	last  time.Time
	early []sources.Event // the first of them
}

// maxEarly is how many requests are told each with its time: as many as tell whether they waited for the rate limit when the
// logs began.
const maxEarly = 10_000

// newSurveyor returns a surveyor of logs of which changes are told at most that long after those that were made later. It shows visit what they tell, nearly as it is told later, unless that is nil.
func newSurveyor(patience time.Duration, forget bool, visit func(sources.Event)) *surveyor {
	s := &surveyor{failed: map[types.UID]sources.Event{}, lateness: newLateness(), visit: visit}
	s.teller = newTeller(patience, visit)
	s.begin, s.zones = earlier.New(0), objects.NewZones()
	if forget {
		s.begin = earlier.New(overlaps)
	}
	play := s.weaver.out
	s.weaver.out = func(e *entry) {
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

// work notes that the scheduler worked at that moment, if it is one.
func (s *surveyor) work(at time.Time) {
	if !at.IsZero() && (s.worked.IsZero() || at.Before(s.worked)) {
		s.worked = at
	}
}

// takeItem takes in an item.
func (s *surveyor) takeItem(it *item) {
	s.saw(it.read)
	late := s.now.Sub(it.event.Time) > soon
	switch it.what {
	case toldChange:
		s.change(it)
		return
	case toldRequest, toldCall:
		s.request(&s.requests[it.what-toldRequest], it.event)
	case toldFailure:
		s.work(it.event.Time)
		s.fail(it.event)
		if (late || s.visit == nil) && !s.attempts.First(it.event, s.now) {
			return
		}
	case toldName:
		s.work(it.event.Time)
	}
	switch {
	case late:
		s.late = append(s.late, *it)
	case s.visit != nil && it.what != toldRequest && it.what != toldCall:
		s.know(it)
	}
}

// change takes in a change.
func (s *surveyor) change(it *item) {
	e := it.change
	if s.weaver.repeats(e) {
		s.work(e.patched)
		if s.visit != nil {
			s.history.asked(e)
		}
		return
	}
	s.lateness.add(e, s.weaver.add(e, s.now, it.cost), s.now)
	s.weaver.advance(s.now)
}

// request counts a request.
func (s *surveyor) request(of *calls, ev sources.Event) {
	of.count++
	if of.last = ev.Time; len(of.early) < maxEarly {
		of.early = append(of.early, ev)
	}
}

// fail notes the last failed attempt, and as which version of its pod the first of it was recorded, if the pod was there at the beginning.
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

// finish returns the survey of logs, all of which was taken in.
func (s *surveyor) finish(logs []*Log) *survey {
	if s.weaver.finish(); s.visit != nil {
		s.teller.finish()
	}
	var own, called doings
	heardAt, end := hearing{}, time.Time{}
	for _, l := range logs {
		own.join(&l.own)
		called.join(&l.called)
		for at := range l.hearing {
			heardAt[at] = struct{}{}
		}
		if l.Last.After(end) {
			end = l.Last
		}
	}
	s.own = !own.empty() || s.requests[0].count > 0
	if !s.own {
		own = called // where there is both, the others are schedulers beside it
	}
	own.worked.sort()
	s.starts = own.starts.schedulers(own.worked)
	s.lapses = lapses(own.starts.held(), heardAt, end)
	s.heard = own.worked.heard()
	s.unheard = attempts.HeldUp(s.last, end)
	s.atWork = len(s.starts) == 0 || !s.worked.IsZero() && s.worked.Before(s.starts[0].Time)
	s.versions = map[types.UID]string{}
	for uid, ev := range s.failed {
		s.versions[uid] = ev.Fact.(*sources.FailedAttempt).Version
	}
	s.longest = s.lateness.most
	for _, l := range logs {
		s.begin.Within(l.First, l.Last)
	}
	found := s.survey // and not the surveyor, which has all objects that were there at the end
	return &found
}

// newTeller returns a teller that has been told all but the logs' items: the seed, and what the survey found.
func (s *survey) newTeller(seed earlier.Seed, patience time.Duration, tell func(sources.Event)) *teller {
	t := newTeller(patience, tell)
	if !s.own {
		t.requests = toldCall
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
	t.add(rankRelease, s.heard...)
	t.add(rankRequest, s.unheard...)
	for _, c := range s.begin.Late() {
		e := entry{op: put, kind: objects.Kind{Name: c.Of.Kind}, key: c.Of.NamespacedName, uid: c.UID, time: c.At, object: c.Object, created: true}
		t.weaver.add(&e, e.time, 0)
	}
	for i := range s.late {
		t.know(&s.late[i])
	}
	return t
}

// lateness finds out how long after a change one is told at most that was made before it.
type lateness struct {
	most     time.Duration
	highest  uint64
	rises    []rise                  // of the highest revision, one a second
	recent   map[overtaker]time.Time // when they were told
	overtook []overtaker             // the same, in the order of time
}

// overtaker is what may be told of an object before something that belongs before it: that it is gone, or that it is on a node.
type overtaker struct {
	of   types.UID
	gone bool
}

// rise is when a revision was told that was higher than all before.
type rise struct {
	at       time.Time
	revision uint64
}

// overlap is for how long what was told of an object is remembered: no request takes longer.
const overlap = 2 * time.Minute

func newLateness() lateness { return lateness{recent: map[overtaker]time.Time{}} }

// add takes in a change that is told now, and has its place by a revision. 0: it has none.
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
		l.late(now.Sub(at) + time.Second) // one that rose within the second before is not in them
	}
}

// overtake notes that something is told.
func (l *lateness) overtake(o overtaker, now time.Time) {
	if _, known := l.recent[o]; !known {
		l.recent[o] = now
		l.overtook = append(l.overtook, o)
	}
}

func (l *lateness) late(by time.Duration) { l.most = max(l.most, by) }
