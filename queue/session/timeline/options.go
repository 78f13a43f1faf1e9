package timeline

import (
	"cmp"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/sources"
)

// Options say how a session begins.
type Options struct {
	// Scheduler configures the local scheduler. Nil is kube-scheduler's defaults, with the settings that
	// the recording tells.
	Scheduler *schedulerconfig.Config
	// Queue overrides the settings that the recording tells. Scheduler overrides it.
	Queue *queue.Options
	// Release has the queue follow the rules of that release, one of queue.Releases. Empty is the recorded
	// scheduler's, or where the recording does not tell it, the newest's.
	Release string
	// Filter selects the pods that are shown, and of which moves are told.
	Filter filter.Filter
	// Plugins answer the queue of a what-if. Nil is queue.EveryEvent.
	Plugins queue.Plugins
	// Paused leaves time standing until Play.
	Paused bool
	// Speed is how many model seconds pass in a second of playing. 0 is 1.
	Speed float64
	// Opens is how long after the recording's start the first moment shown is.
	Opens time.Duration
	// Told is true if a stream tells the scheduler's moves itself, so that none is to be modelled.
	Told bool
}

// Selects reports whether the filter selects the pod as it is after move t: then the move is told.
func (opts Options) Selects(t *board.Transition) bool {
	return opts.Filter.Empty() || opts.Filter.Match(t.Pod.Facts(t.Time))
}

// SchedulerConfig returns the configuration of the local scheduler: Scheduler, or what rec tells. It is never nil. It
// fails if upstream's defaults can't be had or the release is not known.
func (opts Options) SchedulerConfig(rec *sources.Recording) (*schedulerconfig.Config, error) {
	cfg := opts.Scheduler
	if cfg == nil {
		var err error
		if cfg, err = schedulerconfig.Default(); err != nil {
			return &schedulerconfig.Config{Queue: queue.Defaults()}, err
		}
		groups := cfg.Queue.GenericWorkload // of the process, and not the recording's to say
		cfg.Queue = RecordedOptions(RecordedScheduler(rec))
		cfg.Queue.GenericWorkload = groups
		if opts.Queue != nil {
			cfg.Queue = *opts.Queue
		}
	}
	release := opts.ReleaseFor(rec)
	if release == queue.Releases()[0] && cmp.Or(opts.Release, rec.Release) == "" {
		return cfg, nil // it is what cfg is made for, pod groups included
	}
	of, err := cfg.In(release)
	if s := RecordedScheduler(rec); err == nil && s != nil && cmp.Or(opts.Release, rec.Release) == "" {
		of.AsyncAPICalls = schedulerconfig.AsyncAPICalls(string(s.Release))
		if on, told := s.Gates["SchedulerAsyncAPICalls"]; told {
			of.AsyncAPICalls = on
		}
	}
	return of, err
}

// ReleaseFor returns the release, one of queue.Releases, whose rules the queue follows with rec: the one that a person
// or rec names, or else the recorded scheduler's, or where rec does not tell it, the newest.
func (opts Options) ReleaseFor(rec *sources.Recording) string {
	release := cmp.Or(opts.Release, rec.Release)
	if s := RecordedScheduler(rec); s != nil && release == "" {
		release, _ = queue.ReleaseFor(string(s.Release))
	}
	return cmp.Or(release, queue.Releases()[0])
}

// RecordedScheduler returns what rec tells of the scheduler, or nil. Where its start does not tell the release, that is the
// one that was heard first.
func RecordedScheduler(rec *sources.Recording) *sources.SchedulerStarted {
	var started *sources.SchedulerStarted
	for _, ev := range rec.Events {
		switch f := ev.Fact.(type) {
		case *sources.SchedulerStarted:
			if f.Release != "" && !f.ReleaseInferred {
				return f
			}
			if started == nil {
				started = f
			}
		case *sources.SchedulerHeard:
			if started == nil {
				started = &sources.SchedulerStarted{PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
			}
			known := *started
			known.Release, known.ReleaseInferred = f.Release, false
			return &known
		}
	}
	return started
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
		return time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
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
