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
	case *sources.SchedulerHeard:
		next = sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if last >= 0 {
			next = *(*s)[last].SchedulerStarted
			if next.Release == f.Release && stated(&next) {
				return
			}
		}
		next.Release, next.ReleaseInferred, next.From = f.Release, false, f.From
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

// Upgrades returns the schedulers that were of another release than the one before.
func (s Schedulers) Upgrades() []Scheduler {
	var all []Scheduler
	for i := 1; i < len(s); i++ {
		if s[i].Release != s[i-1].Release {
			all = append(all, s[i])
		}
	}
	return all
}

// maxUpgrades is how many changes of the release are told of one by one.
const maxUpgrades = 3

// Notices returns what a person should know of the schedulers: of which releases they are, what tells that, and whether
// the rules of those are known.
func (s Schedulers) Notices() []string {
	var notices []string
	var last sources.SafeText
	changes := 0
	for i := range s {
		if release := s[i].Release; release == "" || release == last {
			continue
		} else if last != "" {
			if changes++; changes <= maxUpgrades {
				notices = append(notices, fmt.Sprintf("From %s on the scheduler is %s, and was %s before: the queue follows the rules of each in its time.",
					s[i].Since.UTC().Format("2006-01-02 15:04:05 UTC"), release, last))
			}
		} else if from := saidBy[s[i].From]; from != "" {
			notices = append(notices, fmt.Sprintf("The scheduler is kube-scheduler %s: %s.", release, from))
		}
		last = s[i].Release
		if said := unknownRelease(last); said != "" && !slices.Contains(notices, said) && changes <= maxUpgrades {
			notices = append(notices, said)
		}
	}
	if changes > maxUpgrades {
		notices = append(notices, fmt.Sprintf("Its release changes %s more.", words.Times(changes-maxUpgrades, "time")))
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
	if exact || name == "" {
		return ""
	}
	return fmt.Sprintf("The scheduler is %s, whose rules are not known here: those of %s are taken.", release, name)
}

// RecordedScheduler returns what rec tells of its first scheduler, or nil.
func RecordedScheduler(rec *sources.Recording) *sources.SchedulerStarted {
	return NewSchedulers(rec.Tells()).At(time.Time{})
}
