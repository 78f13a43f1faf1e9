package timeline

import (
	"cmp"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Options say how a session begins.
type Options struct {
	// Scheduler configures the local scheduler. Nil is kube-scheduler's defaults, with the settings that
	// the recording tells.
	Scheduler *schedulerconfig.Config
	// Queue overrides the settings that the recording tells. Scheduler overrides it.
	Queue *queue.Options
	// Release is the one whose rules a rerun follows, one of queue.Releases. Empty is that of the scenario, or of the
	// recorded scheduler. Nothing but a rerun has a use for it.
	Release string
	// SchedulerRelease is the version of the scheduler that was recorded or is watched, such as v1.31.4 or v1.31. Empty is
	// what the recording or the cluster tells, or if that tells nothing, the newest.
	SchedulerRelease string
	// Filter selects the pods that are shown, and of which moves are told.
	Filter filter.Filter
	// Plugins answer the queue of a what-if. Nil is queue.EveryEvent.
	Plugins queue.Plugins
	// Paused leaves time standing until Play.
	Paused bool
	// Zone is the time zone in which what is said tells times of day.
	Zone words.Zone
	// Speed is how many model seconds pass in a second of playing. 0 is 1.
	Speed float64
	// Opens is how long after the recording's start the first moment shown is.
	Opens time.Duration
	// Memory is how many bytes may be kept in memory of what was played of a long recording. 0 is 64 MiB if Past is set, and
	// else 4 GiB.
	Memory int64
	// Past opens an empty file for the rest of what was played of a long recording. It is gone once it is closed. Nil: the rest is
	// forgotten, and played anew when a person goes back there.
	Past func() (archive.File, error)
	// Progress, if it is set, is told how much is played of a recording that is played to its end or to a moment, from 0 to 1.
	Progress func(share float64)
}

// Played tells Progress, if there is one, that so much is played of all.
func (opts Options) Played(so, all time.Duration) {
	if opts.Progress != nil && all > 0 {
		opts.Progress(min(max(float64(so)/float64(all), 0), 1))
	}
}

// Selects reports whether the filter selects the pod as it is after move t: then the move is told.
func (opts Options) Selects(t *board.Transition) bool {
	return opts.Filter.Empty() || opts.Filter.Match(t.Pod.Facts(t.Time))
}

// SchedulerConfig returns the configuration of the local scheduler: Scheduler, or what rec tells. It is never nil. It
// fails if upstream's defaults can't be had or the release is not known.
func (opts Options) SchedulerConfig(rec *sources.Recording) (*schedulerconfig.Config, error) {
	cfg, recorded := opts.Scheduler, RecordedScheduler(rec)
	if cfg == nil {
		var err error
		if cfg, err = schedulerconfig.Default(); err != nil {
			return &schedulerconfig.Config{Queue: queue.Defaults()}, err
		}
		groups := cfg.Queue.GenericWorkload // of the process, and not the recording's to say
		cfg.Queue = RecordedOptions(recorded)
		cfg.Queue.GenericWorkload = groups
		if opts.Queue != nil {
			cfg.Queue = *opts.Queue
		}
	}
	own := *cfg
	if recorded != nil && !rec.Rerun {
		if on, told := recorded.Gates["SchedulerAsyncAPICalls"]; told {
			own.SetAsyncAPICalls(on)
		}
	}
	own.Fixed = rec.Rerun || opts.SchedulerRelease != ""
	if asked := opts.rerunRelease(rec); asked != "" {
		return own.ForRelease(asked)
	}
	return own.ForVersion(opts.version(recorded)), nil
}

// rerunRelease returns the release that a person or a scenario asks for, or "".
func (opts Options) rerunRelease(rec *sources.Recording) string {
	if !rec.Rerun {
		return ""
	}
	return cmp.Or(opts.Release, rec.Release)
}

// version returns the version of the scheduler that was recorded, which may be nil, or "" if that is not known.
func (opts Options) version(recorded *sources.SchedulerStarted) string {
	if recorded == nil || opts.SchedulerRelease != "" {
		return opts.SchedulerRelease
	}
	return string(recorded.Release)
}

// ReleaseFor returns the release, one of queue.Releases, whose rules the queue follows with rec, from its beginning: of a
// rerun the one that a person or rec names, or else the recorded scheduler's, or where rec does not tell it, the newest.
func (opts Options) ReleaseFor(rec *sources.Recording) string {
	release := opts.rerunRelease(rec)
	if release == "" {
		release, _ = queue.ReleaseFor(opts.version(RecordedScheduler(rec)))
	}
	return cmp.Or(release, queue.Releases()[0])
}

// RecordedOptions returns the settings of the queue of a scheduler that was recorded; what the source
// does not tell has its default.
func RecordedOptions(s *sources.SchedulerStarted) queue.Options {
	opts := queue.Defaults()
	if s == nil {
		return opts
	}
	if on, ok := s.Gates["SchedulerPopFromBackoffQ"]; ok {
		opts.PopFromBackoffQ = on
	}
	if s.PodInitialBackoff >= 0 {
		opts.PodInitialBackoff = s.PodInitialBackoff
	}
	if s.PodMaxBackoff >= 0 {
		opts.PodMaxBackoff = s.PodMaxBackoff
	}
	if s.PodMaxInUnschedulablePods >= 0 {
		opts.PodMaxInUnschedulablePods = s.PodMaxInUnschedulablePods
	}
	return opts
}

// Span returns when a recording begins to be worth showing, a second before the first pod moves, and when
// it ends: the first and the last moment that can be explained.
func Span(rec *sources.Recording) (start, end time.Time) {
	events := rec.Events
	if len(events) == 0 {
		return rec.Begin, rec.End
	}
	start, end = events[0].Time, events[len(events)-1].Time
	for _, ev := range events {
		if _, ok := ev.Fact.(*sources.Move); ok {
			if first := ev.Time.Add(-time.Second); first.After(start) {
				start = first
			}
			break
		}
	}
	if rec.End.After(end) {
		end = rec.End
	}
	return start, end
}
