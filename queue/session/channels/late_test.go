package channels_test

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestEventsWait: while Events are late, a pod without one may have been tried all the same.
func TestEventsWait(t *testing.T) {
	pod := world.PendingPod("web", "4")
	pod.ResourceVersion = "7"
	const untilNow = 10.5 // half a second ahead
	for _, c := range []struct {
		name       string
		came, made float64 // the last Event, and its attempt
		until      float64
		limited    bool
		tried      bool // before: no request need show its attempt
		want       reason.Silence
	}{
		{"Events come at once", 10.4, 10.38, untilNow, false, false, reason.Told},
		{"Events come late", 10.4, 9.9, untilNow, false, false, reason.Late},
		{"Events came late, and none is left", 9.4, 8.9, untilNow, false, false, reason.Told},
		{"Events come as late as they may without waiting", 10.25, 10, untilNow, false, false, reason.Told},
		{"Events came late, and the next would have come by now", 9.5, 9, untilNow, false, false, reason.Told},
		{"all have come", 10.4, 9.9, 100, false, false, reason.Told},
		{"the patches had to wait, too, and tell the order", 10.4, 9.9, untilNow, true, false, reason.Told},
		{"the patches had to wait, too, and only its Event would show", 10.4, 9.9, untilNow, true, true, reason.Late},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := pod.DeepCopy()
			if c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			s := channels.New(world.Config(t), true)
			s.Recorded(pod.UID, sources.NewRecorded("7", 1))
			s.Until = world.At(c.until)
			s.Events.Come(world.At(c.came), world.At(c.made))
			if c.limited {
				for range 100 {
					s.Sent(world.At(9), true)
				}
			}
			if got := s.Silence(world.At(10), pod); got != c.want {
				t.Errorf("silence is %v, want %v", got, c.want)
			}
		})
	}
}

// TestEventsDropped: an Event as late as a full queue of them takes means that others were dropped. So a pod without one may have been tried
// all the same, unless a request shows its attempt.
func TestEventsDropped(t *testing.T) {
	for _, c := range []struct {
		name    string
		late    time.Duration
		qps     float32
		tried   bool // before: no request need show its attempt
		dropped bool
		want    reason.Silence
	}{
		{"in time", time.Second, 50, true, false, reason.Told},
		{"a thousandth before", 19980 * time.Millisecond, 50, true, false, reason.Told},
		{"behind a thousand others", 20 * time.Second, 50, true, true, reason.Late},
		{"behind a thousand others, and a request would show", 20 * time.Second, 50, false, true, reason.Told},
		{"of a client that may send more", 20 * time.Second, 100, true, true, reason.Late},
		{"of a client that may send less", 20 * time.Second, 25, true, false, reason.Told},
		{"of a client without a limit", time.Hour, -1, true, false, reason.Told},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := world.PendingPod("web", "4")
			if pod.ResourceVersion = "7"; c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			cfg := world.Config(t)
			cfg.ClientQPS = c.qps
			s := channels.New(cfg, true)
			s.Recorded(pod.UID, sources.NewRecorded("7", 1))
			s.Until = world.At(100)
			came := func(late time.Duration) bool {
				return s.Came(world.At(10), &sources.FailedAttempt{Heard: world.At(10).Add(late)})
			}
			if got := came(c.late); got != c.dropped {
				t.Errorf("others were dropped: %v, want %v", got, c.dropped)
			}
			if got := s.Silence(world.At(10), pod); got != c.want {
				t.Errorf("silence is %v, want %v", got, c.want)
			}
			if came(0); s.Silence(world.At(10), pod) != reason.Told {
				t.Error("silence does not tell once an Event comes in time")
			}
			s.Events.Come(world.At(10).Add(c.late), world.At(10)) // as a live source says it
			if got := s.Came(world.At(10), &sources.FailedAttempt{}); got != c.dropped {
				t.Errorf("of a live source, others were dropped: %v, want %v", got, c.dropped)
			}
		})
	}
}

// TestSlack: a sign of an attempt may come much later if no recorder is known, if requests wait, or if the watch was broken that shows it.
func TestSlack(t *testing.T) {
	broken := func(s *channels.Channels, resource string) {
		gap := sources.Gap{Since: world.At(5), Until: world.At(10)}
		s.Gaps.Note(world.At(10), sources.Status{Resources: []sources.Resource{{Name: resource, Unheard: gap}}})
	}
	for _, c := range []struct {
		name         string
		set          func(*channels.Channels)
		event, patch time.Duration
	}{
		{"the recorder is known", func(*channels.Channels) {}, channels.AttemptSlack, channels.AttemptSlack},
		{"no recorder", func(s *channels.Channels) { s.Records = false }, channels.UnrecordedSlack, channels.UnrecordedSlack},
		{"requests wait", func(s *channels.Channels) {
			for range s.Config.ClientBurst {
				s.Requested(world.At(10))
			}
		}, channels.UnrecordedSlack, channels.UnrecordedSlack},
		{"Events were missed", func(s *channels.Channels) { broken(s, sources.EventsWatch) }, channels.AttemptSlack, channels.UnrecordedSlack},
		{"pods were missed", func(s *channels.Channels) { broken(s, sources.PodsWatch) }, channels.AttemptSlack, 5*time.Second + channels.UnrecordedSlack},
	} {
		s := channels.New(world.Config(t), true)
		s.Records = true
		c.set(s)
		if event, patch := s.Slack(world.At(10), true), s.Slack(world.At(10), false); event != c.event || patch != c.patch {
			t.Errorf("%s: %v of an Event and %v of a patch, want %v and %v", c.name, event, patch, c.event, c.patch)
		}
	}
}
