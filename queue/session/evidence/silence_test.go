package evidence_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestBackloggedEvents: while Events are backlogged, a pod without one may have been tried.
func TestBackloggedEvents(t *testing.T) {
	pod := world.PendingPod("web", "4")
	pod.ResourceVersion = "7"
	const untilNow = 10.5 // half a second ahead
	for _, c := range []struct {
		name             string
		received, failed float64 // the last Event, and its attempt
		until            float64
		limited          bool
		tried            bool // before, so its attempt need not send a request
		want             evidence.Silence
	}{
		{"no delay", 10.4, 10.38, untilNow, false, false, evidence.Conclusive},
		{"backlogged", 10.4, 9.9, untilNow, false, false, evidence.Late},
		{"no longer backlogged", 9.4, 8.9, untilNow, false, false, evidence.Conclusive},
		{"the longest delay without a backlog", 10.25, 10, untilNow, false, false, evidence.Conclusive},
		{"the next Event is overdue", 9.5, 9, untilNow, false, false, evidence.Conclusive},
		{"all Events have arrived", 10.4, 9.9, 100, false, false, evidence.Conclusive},
		{"patches wait too, and show the order", 10.4, 9.9, untilNow, true, false, evidence.Conclusive},
		{"patches wait too, and the attempt would only have an Event", 10.4, 9.9, untilNow, true, true, evidence.Late},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := pod.DeepCopy()
			if c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			s := evidence.NewChannels(world.Config(t), true)
			s.SetRecorded(pod.UID, sources.NewRecorded("7", 1))
			s.Until = world.At(c.until)
			s.Events.Record(world.At(c.received), world.At(c.failed))
			if c.limited {
				for range 100 {
					s.CountRequest(world.At(9), true)
				}
			}
			if got := s.Silence(world.At(10), pod); got != c.want {
				t.Errorf("Silence is %v, want %v", got, c.want)
			}
		})
	}
}

// TestEventsDropped: an Event that is as late as with a full recorder queue shows that others were dropped. So
// a pod without one may have been tried, unless its attempt would send a request.
func TestEventsDropped(t *testing.T) {
	for _, c := range []struct {
		name    string
		late    time.Duration
		qps     float32
		tried   bool // before, so its attempt need not send a request
		dropped bool
		want    evidence.Silence
	}{
		{"1 s late", time.Second, 50, true, false, evidence.Conclusive},
		{"just below a full queue", 19980 * time.Millisecond, 50, true, false, evidence.Conclusive},
		{"behind 1000 Events", 20 * time.Second, 50, true, true, evidence.Late},
		{"behind 1000 Events, and the attempt would send a request", 20 * time.Second, 50, false, true, evidence.Conclusive},
		{"a higher rate limit", 20 * time.Second, 100, true, true, evidence.Late},
		{"a lower rate limit", 20 * time.Second, 25, true, false, evidence.Conclusive},
		{"no rate limit", time.Hour, -1, true, false, evidence.Conclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := world.PendingPod("web", "4")
			if pod.ResourceVersion = "7"; c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			cfg := world.Config(t)
			cfg.ClientQPS = c.qps
			s := evidence.NewChannels(cfg, true)
			s.SetRecorded(pod.UID, sources.NewRecorded("7", 1))
			s.Until = world.At(100)
			record := func(late time.Duration) bool {
				return s.RecordEvent(world.At(10), &sources.FailedAttempt{Received: world.At(10).Add(late)})
			}
			if got := record(c.late); got != c.dropped {
				t.Errorf("others dropped: %v, want %v", got, c.dropped)
			}
			if got := s.Silence(world.At(10), pod); got != c.want {
				t.Errorf("Silence is %v, want %v", got, c.want)
			}
			if record(0); s.Silence(world.At(10), pod) != evidence.Conclusive {
				t.Error("Silence is not conclusive after an Event in time")
			}
			s.Events.Record(world.At(10).Add(c.late), world.At(10)) // as for a live source
			if got := s.RecordEvent(world.At(10), &sources.FailedAttempt{}); got != c.dropped {
				t.Errorf("others dropped with a live source: %v, want %v", got, c.dropped)
			}
		})
	}
}

// TestSlack: a trace may be much later than its attempt without a recorder, if requests wait, or if its watch
// was broken.
func TestSlack(t *testing.T) {
	breakWatch := func(s *evidence.Channels, resource string) {
		gap := sources.Gap{Since: world.At(5), Until: world.At(10)}
		s.Gaps.Update(world.At(10), sources.Status{Resources: []sources.Resource{{Name: resource, Gap: gap}}})
	}
	for _, c := range []struct {
		name         string
		set          func(*evidence.Channels)
		event, patch time.Duration
	}{
		{"with a recorder", func(*evidence.Channels) {}, evidence.AttemptSlack, evidence.AttemptSlack},
		{"without a recorder", func(s *evidence.Channels) { s.HasRecorder = false }, evidence.UnrecordedSlack, evidence.UnrecordedSlack},
		{"requests wait", func(s *evidence.Channels) {
			for range s.Config.ClientBurst {
				s.RecordRequest(world.At(10))
			}
		}, evidence.UnrecordedSlack, evidence.UnrecordedSlack},
		{"Events watch broken", func(s *evidence.Channels) { breakWatch(s, sources.EventsWatch) }, evidence.AttemptSlack, evidence.UnrecordedSlack},
		{"pods watch broken", func(s *evidence.Channels) { breakWatch(s, sources.PodsWatch) }, evidence.AttemptSlack, 5*time.Second + evidence.UnrecordedSlack},
	} {
		s := evidence.NewChannels(world.Config(t), true)
		s.HasRecorder = true
		c.set(s)
		if event, patch := s.Slack(world.At(10), true), s.Slack(world.At(10), false); event != c.event || patch != c.patch {
			t.Errorf("%s: %v for an Event and %v for a patch, want %v and %v", c.name, event, patch, c.event, c.patch)
		}
	}
}
