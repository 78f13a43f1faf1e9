package channels_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/reason"
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
		want             reason.Silence
	}{
		{"no delay", 10.4, 10.38, untilNow, false, false, reason.Conclusive},
		{"backlogged", 10.4, 9.9, untilNow, false, false, reason.Late},
		{"no longer backlogged", 9.4, 8.9, untilNow, false, false, reason.Conclusive},
		{"the longest delay without a backlog", 10.25, 10, untilNow, false, false, reason.Conclusive},
		{"the next Event is overdue", 9.5, 9, untilNow, false, false, reason.Conclusive},
		{"all Events have arrived", 10.4, 9.9, 100, false, false, reason.Conclusive},
		{"patches wait too, and show the order", 10.4, 9.9, untilNow, true, false, reason.Conclusive},
		{"patches wait too, and the attempt would only have an Event", 10.4, 9.9, untilNow, true, true, reason.Late},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := pod.DeepCopy()
			if c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			s := channels.New(world.Config(t), true)
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
		want    reason.Silence
	}{
		{"1 s late", time.Second, 50, true, false, reason.Conclusive},
		{"just below a full queue", 19980 * time.Millisecond, 50, true, false, reason.Conclusive},
		{"behind 1000 Events", 20 * time.Second, 50, true, true, reason.Late},
		{"behind 1000 Events, and the attempt would send a request", 20 * time.Second, 50, false, true, reason.Conclusive},
		{"a higher rate limit", 20 * time.Second, 100, true, true, reason.Late},
		{"a lower rate limit", 20 * time.Second, 25, true, false, reason.Conclusive},
		{"no rate limit", time.Hour, -1, true, false, reason.Conclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := world.PendingPod("web", "4")
			if pod.ResourceVersion = "7"; c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			cfg := world.Config(t)
			cfg.ClientQPS = c.qps
			s := channels.New(cfg, true)
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
			if record(0); s.Silence(world.At(10), pod) != reason.Conclusive {
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
	breakWatch := func(s *channels.Channels, resource string) {
		gap := sources.Gap{Since: world.At(5), Until: world.At(10)}
		s.Gaps.Update(world.At(10), sources.Status{Resources: []sources.Resource{{Name: resource, Gap: gap}}})
	}
	for _, c := range []struct {
		name         string
		set          func(*channels.Channels)
		event, patch time.Duration
	}{
		{"with a recorder", func(*channels.Channels) {}, channels.AttemptSlack, channels.AttemptSlack},
		{"without a recorder", func(s *channels.Channels) { s.HasRecorder = false }, channels.UnrecordedSlack, channels.UnrecordedSlack},
		{"requests wait", func(s *channels.Channels) {
			for range s.Config.ClientBurst {
				s.RecordRequest(world.At(10))
			}
		}, channels.UnrecordedSlack, channels.UnrecordedSlack},
		{"Events watch broken", func(s *channels.Channels) { breakWatch(s, sources.EventsWatch) }, channels.AttemptSlack, channels.UnrecordedSlack},
		{"pods watch broken", func(s *channels.Channels) { breakWatch(s, sources.PodsWatch) }, channels.AttemptSlack, 5*time.Second + channels.UnrecordedSlack},
	} {
		s := channels.New(world.Config(t), true)
		s.HasRecorder = true
		c.set(s)
		if event, patch := s.Slack(world.At(10), true), s.Slack(world.At(10), false); event != c.event || patch != c.patch {
			t.Errorf("%s: %v for an Event and %v for a patch, want %v and %v", c.name, event, patch, c.event, c.patch)
		}
	}
}
