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

// Options configure a session, Replay and Follow.
type Options struct {
	// Scheduler configures the local scheduler. Nil means kube-scheduler's defaults with the recorded settings.
	Scheduler *schedulerconfig.Config
	// Queue overrides the recorded settings of the queue. Scheduler overrides it.
	Queue *queue.Options
	// Release is the release, one of queue.Releases, whose rules a rerun follows. Empty means the scenario's, or else the
	// recorded scheduler's. Only reruns use it.
	Release string
	// SchedulerRelease is the version of the recorded or watched scheduler, such as v1.31.4 or v1.31. Empty means the one
	// found in the recording or the cluster, or else the newest.
	SchedulerRelease string
	// Filter selects the pods to show, and the moves that Replay reports.
	Filter filter.Filter
	// Plugins provide the queueing hints and gates of a what-if. Nil means queue.EveryEvent.
	Plugins queue.Plugins
	// Paused starts a session without playing.
	Paused bool
	// Zone is the time zone of messages.
	Zone words.Zone
	// Speed is the playback speed, in model seconds per second. 0 means 1.
	Speed float64
	// StartOffset is the first moment shown, relative to the recording's start.
	StartOffset time.Duration
	// Memory limits the memory for the history of a long recording, in bytes. 0 means 64 MiB with OpenArchive, and else
	// 4 GiB.
	Memory int64
	// OpenArchive creates an empty file for the history beyond Memory, which is removed when it is closed. If it is nil, that
	// history is dropped, and replayed when the user goes back there.
	OpenArchive func() (archive.File, error)
	// Progress is called with the share, from 0 to 1, of a recording that has been replayed. It may be nil.
	Progress func(share float64)
}

// ReportProgress calls Progress, unless it is nil.
func (opts Options) ReportProgress(done, total time.Duration) {
	if opts.Progress != nil && total > 0 {
		opts.Progress(min(max(float64(done)/float64(total), 0), 1))
	}
}

// Selects reports whether the filter selects the moved pod in its state after t.
func (opts Options) Selects(t *board.Transition) bool {
	return opts.Filter.Empty() || opts.Filter.Match(t.Pod.Facts(t.Time))
}

// SchedulerConfig returns the configuration of the local scheduler: Scheduler, or else the defaults with rec's settings. It
// returns an error if upstream's defaults can't be created or the release is unknown, and even then the configuration is
// not nil.
func (opts Options) SchedulerConfig(rec *sources.Recording) (*schedulerconfig.Config, error) {
	cfg, recorded := opts.Scheduler, RecordedScheduler(rec)
	if cfg == nil {
		var err error
		if cfg, err = schedulerconfig.Default(); err != nil {
			return &schedulerconfig.Config{Queue: queue.Defaults()}, err
		}
		groups := cfg.Queue.GenericWorkload // a setting of this process, not of the recording
		cfg.Queue = RecordedOptions(recorded)
		cfg.Queue.GenericWorkload = groups
		if opts.Queue != nil {
			cfg.Queue = *opts.Queue
		}
	}
	own := *cfg
	if recorded != nil && !rec.Rerun {
		if on, known := recorded.Gates["SchedulerAsyncAPICalls"]; known {
			own.SetAsyncAPICalls(on)
		}
	}
	own.Fixed = rec.Rerun || opts.SchedulerRelease != ""
	if release := opts.rerunRelease(rec); release != "" {
		return own.ForRelease(release)
	}
	return own.ForVersion(opts.version(recorded)), nil
}

// rerunRelease returns the release that the user or the scenario names for a rerun, or "".
func (opts Options) rerunRelease(rec *sources.Recording) string {
	if !rec.Rerun {
		return ""
	}
	return cmp.Or(opts.Release, rec.Release)
}

// version returns SchedulerRelease, or else the version of recorded, or "" if it is unknown. recorded may be nil.
func (opts Options) version(recorded *sources.SchedulerStarted) string {
	if recorded == nil || opts.SchedulerRelease != "" {
		return opts.SchedulerRelease
	}
	return string(recorded.Release)
}

// ReleaseFor returns the release, one of queue.Releases, whose rules the queue follows at the start of rec: for a rerun the
// one that the user or rec names, and else the recorded scheduler's, or the newest if that is unknown.
func (opts Options) ReleaseFor(rec *sources.Recording) string {
	release := opts.rerunRelease(rec)
	if release == "" {
		release, _ = queue.ReleaseFor(opts.version(RecordedScheduler(rec)))
	}
	return cmp.Or(release, queue.Releases()[0])
}

// RecordedOptions returns the queue settings of a recorded scheduler, with the defaults for unknown ones. s may be nil.
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

// Span returns the first and the last moment of rec that can be shown. The first is one second before the first recorded
// move, if there is any.
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
