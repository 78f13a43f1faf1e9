package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/words"
)

// Why returns sentences about why a pod moved, including the arithmetic and the model's rule.
func (m *Moment) Why(t *board.Transition) []string {
	said := m.whyMoved(t)
	if b := t.Pod.Cause; b != nil && b.Rule != reason.ByQueue && !t.Observed {
		said = append(said, "Modelled. "+b.Sentence(m.Zone))
	}
	return said
}

func (m *Moment) whyMoved(t *board.Transition) []string {
	if said := whyMember(t); said != nil {
		return said
	}
	switch {
	case t.Restated():
		return []string{"The scheduler logged the pod's place again: nothing moved."}
	case t.Event == queue.ScheduleAttemptFailure:
		return m.whyFailed(t)
	case t.To == queue.InFlight:
		return m.whyPopped(t)
	case t.To == queue.Scheduled || t.To == queue.Deleted:
		return m.whyLeft(t)
	case t.To == queue.Gated:
		return []string{fmt.Sprintf("%s keeps it out of activeQ: no attempts and no backoff until the gate opens.", gatingPlugin(t))}
	case t.TakenBack():
		return []string{"No attempt followed, although the scheduling loop would have popped it at once: in the real scheduler the event did not wake it."}
	case t.Event == queue.BackoffComplete:
		return m.whyBackedOff(t)
	case t.Event == queue.UnschedulableTimeout:
		return []string{fmt.Sprintf("No event woke it for %s: the leftover flush (every %s) retries it.",
			words.Short(m.Options.PodMaxInUnschedulablePods), words.Short(queue.LeftoverFlushInterval)), whereTo(t)}
	case t.Event == queue.ForceActivate:
		return []string{"A plugin or a person activated it: it goes to activeQ regardless of its rejection and backoff."}
	case t.From == queue.None || t.From == queue.Scheduled || t.From == queue.Deleted:
		return []string{fmt.Sprintf("It entered the queue%s without a gate: activeQ orders it by priority (%d), then time.", causeOf(t), t.Pod.Priority)}
	default:
		return m.whyWoken(t)
	}
}

func (m *Moment) whyFailed(t *board.Transition) []string {
	plugins := t.Pod.RejectorPlugins()
	said := fmt.Sprintf("Attempt %s failed%s", t.AttemptCount(), afterStay(t))
	if len(plugins) == 0 {
		return append([]string{said + " with an error, not a rejection: it needs no event, only time."}, m.arithmeticOf(t)...)
	}
	said += ": rejected by " + strings.Join(plugins, ", ") + "."
	switch t.To {
	case queue.Unschedulable:
		return append([]string{said, m.Hints.waitsFor(plugins)}, m.arithmeticOf(t)...)
	case queue.Backoff:
		said += " An event that may help arrived during the attempt, so it goes to backoffQ."
	case queue.Active:
		said += " An event that may help arrived during the attempt, and its backoff is over, so it goes to activeQ."
	}
	return append([]string{said}, m.arithmeticOf(t)...)
}

func (m *Moment) whyPopped(t *board.Transition) []string {
	if t.From == queue.Backoff {
		return []string{fmt.Sprintf("Attempt %s: activeQ was empty, so the scheduler popped the first pod of backoffQ before its backoff ended (PopFromBackoffQ).", t.AttemptCount())}
	}
	return []string{fmt.Sprintf("Attempt %s: popped%s as the first in activeQ by priority (%d), then time.", t.AttemptCount(), afterStay(t), t.Pod.Priority)}
}

func (m *Moment) whyLeft(t *board.Transition) []string {
	switch {
	case t.To == queue.Scheduled && t.Pod.Node != "":
		return []string{fmt.Sprintf("Attempt %s bound it to %s, %s after it arrived.", t.Pod.AttemptCount(), t.Pod.Node, elapsed(t.Time.Sub(t.Pod.Arrived)))}
	case t.To == queue.Scheduled:
		return []string{fmt.Sprintf("Attempt %s bound it, %s after it arrived.", t.Pod.AttemptCount(), elapsed(t.Time.Sub(t.Pod.Arrived)))}
	default:
		return []string{fmt.Sprintf("It was deleted, %s after it arrived.", elapsed(t.Time.Sub(t.Pod.Arrived)))}
	}
}

func (m *Moment) whyBackedOff(t *board.Transition) []string {
	said := "Its backoff ended: the backoff flush (every " + words.Short(queue.BackoffFlushInterval) + ") moved it to activeQ."
	prev := t.Prev()
	if prev == nil || prev.Pod.BackoffExpiry.IsZero() {
		return []string{said}
	}
	return []string{m.arithmetic(prev.Pod), said}
}

// whyWoken says why an event moved a rejected or gated pod to activeQ or backoffQ.
func (m *Moment) whyWoken(t *board.Transition) []string {
	said := []string{fmt.Sprintf("%s woke it%s.", cmp.Or(t.Event, "An event"), afterStay(t))}
	if prev := t.Prev(); prev != nil && t.From == queue.Unschedulable {
		var registered []string
		for _, plugin := range prev.Pod.RejectorPlugins() {
			if slices.Contains(m.Hints.plugins[plugin], t.Event) || slices.Contains(m.Hints.own[plugin], t.Event) {
				registered = append(registered, plugin)
			}
		}
		if len(registered) > 0 {
			said[0] += fmt.Sprintf(" %s rejected it, registered for that event, and did not rule out that it helps.", strings.Join(registered, " and "))
		}
	}
	if s := whereTo(t); s != "" {
		said = append(said, s)
	}
	if t.To == queue.Backoff {
		said = append(said, m.arithmeticOf(t)...)
	}
	return said
}

// whereTo says in a sentence which tier a woken pod moves to, and why.
func whereTo(t *board.Transition) string {
	switch {
	case t.To == queue.Backoff:
		return "Its backoff had not ended: it goes to backoffQ first."
	case t.From == queue.Gated:
		return "Its gate is open: it goes to activeQ."
	case t.To == queue.Active:
		return "Its backoff had ended: it goes straight to activeQ."
	}
	return ""
}

// arithmeticOf explains the backoff expiry, if it is known.
func (m *Moment) arithmeticOf(t *board.Transition) []string {
	if t.Pod.BackoffExpiry.IsZero() {
		return nil
	}
	return []string{m.arithmetic(t.Pod)}
}

// causeOf returns the event that caused t as " (EVENT)", or "" if it is unknown.
func causeOf(t *board.Transition) string {
	if t.Event == "" {
		return ""
	}
	return " (" + t.Event + ")"
}

// gatingPlugin names the plugin that gates the pod, at the start of a sentence.
func gatingPlugin(t *board.Transition) string { return cmp.Or(t.GatingPlugin, "A PreEnqueue plugin") }

// afterStay says how long the pod was in the tier that it left: " after 4.2s". It is empty if that is
// unknown.
func afterStay(t *board.Transition) string {
	prev := t.Prev()
	if prev == nil || prev.Pod.Since.IsZero() || t.From == queue.None {
		return ""
	}
	return " after " + elapsed(t.Time.Sub(prev.Pod.Since))
}

// elapsed formats a duration to about three digits.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
