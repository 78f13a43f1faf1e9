package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Schedulers are the kube-schedulers that a source tells of, one after the other, and what it tells of each.
type Schedulers []Scheduler

// Scheduler is a kube-scheduler that ran from some moment on.
type Scheduler struct {
	Since time.Time
	*sources.SchedulerStarted
}

// NewSchedulers returns the schedulers that events tell of.
func NewSchedulers(events []sources.Event) Schedulers {
	var s Schedulers
	for _, ev := range events {
		s.Add(ev)
	}
	return s
}

// SchedulersOf returns the schedulers that rec tells of. Of a rerun, over all of which one decides, that is the first.
func SchedulersOf(rec *sources.Recording) Schedulers {
	s := NewSchedulers(rec.Events)
	if rec.Rerun {
		s = s[:min(len(s), 1)]
	}
	return s
}

// Add takes in what ev tells. Where it does not tell the release, that is as it was; and where nothing had told it so far,
// it was so before, too.
func (s *Schedulers) Add(ev sources.Event) {
	var next sources.SchedulerStarted
	last := len(*s) - 1
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		next = *f
		if last >= 0 && !stated(&next) {
			was := (*s)[last]
			next.Release, next.ReleaseInferred, next.From = was.Release, was.ReleaseInferred, was.From
		}
	case *sources.SchedulerRunning:
		next = sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if last >= 0 {
			next = *(*s)[last].SchedulerStarted
			if (next.Release == f.Release || f.ReleaseInferred) && stated(&next) {
				return
			}
		}
		next.Release, next.ReleaseInferred, next.From = f.Release, f.ReleaseInferred, f.From
	default:
		return
	}
	if stated(&next) {
		for i := range *s {
			if was := &(*s)[i]; !stated(was.SchedulerStarted) {
				known := *was.SchedulerStarted
				known.Release, known.ReleaseInferred, known.From = next.Release, false, next.From
				was.SchedulerStarted = &known
			}
		}
	}
	*s = append(*s, Scheduler{ev.Time, &next})
}

// stated reports whether the release is known, and not from the wording of a log alone.
func stated(s *sources.SchedulerStarted) bool { return s.Release != "" && !s.ReleaseInferred }

// At returns the scheduler of that moment: the last that had begun by then, or the first. It is nil if there is none.
func (s Schedulers) At(now time.Time) *sources.SchedulerStarted {
	for i := len(s) - 1; i >= 0; i-- {
		if i == 0 || !s[i].Since.After(now) {
			return s[i].SchedulerStarted
		}
	}
	return nil
}

// Upgrade is the moment from which on the scheduler was of another release.
type Upgrade struct {
	At       time.Time
	From, To sources.SafeText
}

// Upgrades returns when the release changed, in the order of time.
func (s Schedulers) Upgrades() []Upgrade {
	var all []Upgrade
	for i := 1; i < len(s); i++ {
		if from, to := s[i-1].Release, s[i].Release; from != to {
			all = append(all, Upgrade{s[i].Since, from, to})
		}
	}
	return all
}

// Marks name the moments of the upgrades.
func (s Schedulers) Marks() []Mark {
	var marks []Mark
	for _, u := range s.Upgrades() {
		marks = append(marks, Mark{At: u.At, Text: "kube-scheduler " + u.From + " → " + u.To})
	}
	return marks
}

// maxUpgrades is how many changes of the release are told of one by one.
const maxUpgrades = 3

// Notices returns what a person should know of the schedulers: of which releases they are, what tells that, and whether
// the rules of those are known.
func (s Schedulers) Notices() []string {
	if len(s) == 0 || s[0].Release == "" {
		return nil // nothing tells it later, either: see Add
	}
	var notices []string
	tellUnknown := func(release sources.SafeText) {
		if said := unknownRelease(release); said != "" && !slices.Contains(notices, said) {
			notices = append(notices, said)
		}
	}
	switch from := saidBy[s[0].From]; {
	case s[0].ReleaseInferred:
		notices = append(notices, Assumed(s[0].SchedulerStarted))
	case from != "":
		notices = append(notices, fmt.Sprintf("The scheduler is kube-scheduler %s: %s.", s[0].Release, from))
	}
	tellUnknown(s[0].Release)
	upgrades := s.Upgrades()
	for _, u := range upgrades[:min(len(upgrades), maxUpgrades)] {
		notices = append(notices, fmt.Sprintf("From %s on the scheduler is %s, and was %s before: the queue follows the rules of each in its time.",
			u.At.UTC().Format("2006-01-02 15:04:05 UTC"), u.To, u.From))
		tellUnknown(u.To)
	}
	if more := len(upgrades) - maxUpgrades; more > 0 {
		notices = append(notices, fmt.Sprintf("Its release changes %s more.", words.Plural(more, "time")))
	}
	return notices
}

// saidBy says what tells a release.
var saidBy = map[sources.ReleaseSource]string{
	sources.ReleaseGiven:  "you said so",
	sources.ReleaseLogged: "its log says so",
	sources.ReleaseAgent:  "it calls itself so in its requests",
	sources.ReleaseImage:  "its pod's image says so",
	sources.ReleaseServer: "that is the API server's release, and no pod of the scheduler is seen whose image tells more",
}

// unknownRelease returns what a person should know of a scheduler whose release's rules are not known, or "".
func unknownRelease(release sources.SafeText) string {
	name, exact := queue.ReleaseFor(string(release))
	switch {
	case exact || name == "":
		return ""
	case name == queue.Releases()[0]:
		return fmt.Sprintf("kube-scheduler %s is newer than schedq knows: %s's rules are assumed.", release, name)
	}
	return fmt.Sprintf("kube-scheduler %s is older than schedq knows: %s's rules are assumed.", release, name)
}

// Assumed says which release's rules are assumed where those of the scheduler, which may be nil, are not known, as a sentence. It is
// empty if they are.
func Assumed(s *sources.SchedulerStarted) string {
	newest := queue.Releases()[0]
	if s == nil || s.Release == "" {
		return fmt.Sprintf("The scheduler's release is unknown: %s's rules are assumed.", newest)
	}
	name, _ := queue.ReleaseFor(string(s.Release))
	switch {
	case name == "":
		return fmt.Sprintf("The rules of kube-scheduler %s are unknown: %s's are assumed.", s.Release, newest)
	case s.ReleaseInferred && name == newest:
		return fmt.Sprintf("The scheduler's log has the wording of %s: its rules are assumed.", s.Release)
	case s.ReleaseInferred:
		return fmt.Sprintf("The scheduler's log has the wording of %s or before: %[1]s's rules are assumed.", s.Release)
	}
	return unknownRelease(s.Release)
}

// RecordedScheduler returns what rec tells of its first scheduler, or nil.
func RecordedScheduler(rec *sources.Recording) *sources.SchedulerStarted {
	return SchedulersOf(rec).At(time.Time{})
}
