package timeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Schedulers are the kube-schedulers that ran while a source was recorded, one after the other, as far as they are known.
type Schedulers []Scheduler

// Scheduler is a kube-scheduler that ran from some moment on.
type Scheduler struct {
	Since time.Time
	*sources.SchedulerStarted
}

// SchedulersOf returns rec's schedulers. For a rerun, which has one scheduler throughout, it returns only the first.
func SchedulersOf(rec *sources.Recording) Schedulers {
	var s Schedulers
	for _, ev := range rec.Events {
		s.Add(ev)
	}
	if rec.Rerun {
		s = s[:min(len(s), 1)]
	}
	return s
}

// Add updates the schedulers with ev. A scheduler of unknown release gets the release of the one before it. A known
// release also applies to all earlier schedulers whose release is unknown.
func (s *Schedulers) Add(ev sources.Event) {
	var next sources.SchedulerStarted
	last := len(*s) - 1
	switch f := ev.Fact.(type) {
	case *sources.SchedulerStarted:
		next = *f
		if last >= 0 && !isStated(&next) {
			was := (*s)[last]
			next.Release, next.ReleaseInferred, next.From = was.Release, was.ReleaseInferred, was.From
		}
	case *sources.SchedulerRunning:
		next = sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
		if last >= 0 {
			next = *(*s)[last].SchedulerStarted
			if (next.Release == f.Release || f.ReleaseInferred) && isStated(&next) {
				return
			}
		}
		next.Release, next.ReleaseInferred, next.From = f.Release, f.ReleaseInferred, f.From
	default:
		return
	}
	if isStated(&next) {
		for i := range *s {
			if was := &(*s)[i]; !isStated(was.SchedulerStarted) {
				known := *was.SchedulerStarted
				known.Release, known.ReleaseInferred, known.From = next.Release, false, next.From
				was.SchedulerStarted = &known
			}
		}
	}
	*s = append(*s, Scheduler{ev.Time, &next})
}

// isStated reports whether the release is known from more than the wording of a log.
func isStated(s *sources.SchedulerStarted) bool { return s.Release != "" && !s.ReleaseInferred }

// At returns the scheduler at that time: the last one that had started, or else the first. It is nil if there is none.
func (s Schedulers) At(now time.Time) *sources.SchedulerStarted {
	for i := len(s) - 1; i >= 0; i-- {
		if i == 0 || !s[i].Since.After(now) {
			return s[i].SchedulerStarted
		}
	}
	return nil
}

// upgrade is a change of the scheduler's release.
type upgrade struct {
	At       time.Time
	From, To sources.SafeText
}

// upgrades returns the changes of the release, in time order.
func (s Schedulers) upgrades() []upgrade {
	var all []upgrade
	for i := 1; i < len(s); i++ {
		if from, to := s[i-1].Release, s[i].Release; from != to {
			all = append(all, upgrade{s[i].Since, from, to})
		}
	}
	return all
}

// Marks returns a mark for each upgrade.
func (s Schedulers) Marks() []Mark {
	var marks []Mark
	for _, u := range s.upgrades() {
		marks = append(marks, Mark{At: u.At, Text: "kube-scheduler " + u.From + " → " + u.To})
	}
	return marks
}

// maxUpgrades limits how many upgrades have a notice of their own.
const maxUpgrades = 3

// Notices returns notices about the releases of the schedulers: what they are, how they are known, and which rules are
// assumed if schedq does not know them.
func (s Schedulers) Notices() []string {
	if len(s) == 0 || s[0].Release == "" {
		return nil // the later ones are unknown too: see Add
	}
	var notices []string
	addUnknown := func(release sources.SafeText) {
		if notice := unknownRelease(release); notice != "" && !slices.Contains(notices, notice) {
			notices = append(notices, notice)
		}
	}
	switch from := releaseFrom[s[0].From]; {
	case s[0].ReleaseInferred:
		notices = append(notices, Assumed(s[0].SchedulerStarted))
	case from != "":
		notices = append(notices, fmt.Sprintf("The scheduler is kube-scheduler %s: %s.", s[0].Release, from))
	}
	addUnknown(s[0].Release)
	upgrades := s.upgrades()
	for _, u := range upgrades[:min(len(upgrades), maxUpgrades)] {
		notices = append(notices, fmt.Sprintf("From %s on the scheduler is %s, and was %s before: the queue follows the rules of each in its time.",
			u.At.UTC().Format("2006-01-02 15:04:05 UTC"), u.To, u.From))
		addUnknown(u.To)
	}
	if more := len(upgrades) - maxUpgrades; more > 0 {
		notices = append(notices, fmt.Sprintf("Its release changes %s more.", words.Plural(more, "time")))
	}
	return notices
}

// releaseFrom describes how a release is known.
var releaseFrom = map[sources.ReleaseSource]string{
	sources.ReleaseGiven:  "you said so",
	sources.ReleaseLogged: "its log says so",
	sources.ReleaseAgent:  "it calls itself so in its requests",
	sources.ReleaseImage:  "its pod's image says so",
	sources.ReleaseServer: "that is the API server's release, because no image of a scheduler pod shows its release",
}

// unknownRelease returns a notice for a release whose rules schedq does not know, or "" for others.
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

// Assumed returns a sentence about which release's rules are assumed for a scheduler whose own rules are unknown. It is
// empty if they are known. s may be nil.
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

// RecordedScheduler returns rec's first scheduler, or nil.
func RecordedScheduler(rec *sources.Recording) *sources.SchedulerStarted {
	return SchedulersOf(rec).At(time.Time{})
}
