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

// Why says in sentences why a pod moved, with the arithmetic, and by which rule of the model it did.
func (m *Moment) Why(t *board.Transition) []string {
	said := m.whyMoved(t)
	if b := t.Pod.Because; b != nil && b.Rule != reason.ByQueue && !t.Observed {
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
		return []string{"The scheduler said a second time that the pod is here: nothing moved."}
	case t.Event == queue.ScheduleAttemptFailure:
		return m.whyFailed(t)
	case t.To == queue.InFlight:
		return m.whyPopped(t)
	case t.To == queue.Scheduled || t.To == queue.Deleted:
		return m.whyLeft(t)
	case t.To == queue.Gated:
		return []string{fmt.Sprintf("%s keeps it out of activeQ: it takes no attempt and no backoff until that lets it go.", gatedBy(t))}
	case t.PutBack():
		return []string{"No attempt of it was seen, and the scheduling loop would have taken it at once: what wakes it here did not wake it in the real scheduler."}
	case t.Event == queue.BackoffComplete:
		return m.whyBackedOff(t)
	case t.Event == queue.UnschedulableTimeout:
		return []string{fmt.Sprintf("No event woke it for %s: the leftover flush, every %s, has it tried again.",
			words.Short(m.Options.PodMaxInUnschedulablePods), words.Short(queue.LeftoverFlushInterval)), whereTo(t)}
	case t.Event == queue.ForceActivate:
		return []string{"It was activated, by a plugin or a person: it goes to activeQ whatever rejected it and however long it should back off."}
	case t.From == queue.None || t.From == queue.Scheduled || t.From == queue.Deleted:
		return []string{fmt.Sprintf("It came to the queue%s, and no gate holds it: activeQ takes it by priority (%d), then by time.", causeOf(t), t.Pod.Priority)}
	default:
		return m.whyWoken(t)
	}
}

func (m *Moment) whyFailed(t *board.Transition) []string {
	plugins := t.Pod.RejectorPlugins()
	said := fmt.Sprintf("Attempt %d failed%s", t.Attempts, afterStay(t))
	if len(plugins) == 0 {
		return append([]string{said + ", by an error and not by a plugin: it needs no event, only time."}, m.arithmeticOf(t)...)
	}
	said += ": " + strings.Join(plugins, ", ") + " rejected it."
	switch t.To {
	case queue.Unschedulable:
		return append([]string{said, m.Hints.waitsFor(plugins)}, m.arithmeticOf(t)...)
	case queue.Backoff:
		said += " An event that may help came during the attempt, so it only backs off."
	case queue.Active:
		said += " An event that may help came during the attempt, and it need not back off."
	}
	return append([]string{said}, m.arithmeticOf(t)...)
}

func (m *Moment) whyPopped(t *board.Transition) []string {
	if t.From == queue.Backoff {
		return []string{fmt.Sprintf("Attempt %d: activeQ was empty, and so the scheduler popped the first pod of backoffQ before its backoff was over (PopFromBackoffQ).", t.Attempts)}
	}
	return []string{fmt.Sprintf("Attempt %d: it was the first in activeQ, by priority (%d) and then by time, and was popped%s.", t.Attempts, t.Pod.Priority, afterStay(t))}
}

func (m *Moment) whyLeft(t *board.Transition) []string {
	switch {
	case t.To == queue.Scheduled && t.Pod.Node != "":
		return []string{fmt.Sprintf("Attempt %d bound it to %s, %s after it came.", t.Pod.Attempts, t.Pod.Node, lapse(t.Time.Sub(t.Pod.Arrived)))}
	case t.To == queue.Scheduled:
		return []string{fmt.Sprintf("Attempt %d bound it, %s after it came.", t.Pod.Attempts, lapse(t.Time.Sub(t.Pod.Arrived)))}
	default:
		return []string{fmt.Sprintf("It was deleted, %s after it came.", lapse(t.Time.Sub(t.Pod.Arrived)))}
	}
}

func (m *Moment) whyBackedOff(t *board.Transition) []string {
	said := "Its backoff was over: the flush, every " + words.Short(queue.BackoffFlushInterval) + ", took it to activeQ."
	prev := t.Prev()
	if prev == nil || prev.Pod.BackoffExpiry.IsZero() {
		return []string{said}
	}
	return []string{m.arithmetic(prev.Pod), said}
}

// whyWoken is why an event took a rejected or gated pod to activeQ or backoffQ.
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
			said[0] += fmt.Sprintf(" %s, by which it was rejected, registered for that event and did not rule out that it helps.", strings.Join(registered, " and "))
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

// whereTo says in a sentence which tier a woken pod goes to, and why.
func whereTo(t *board.Transition) string {
	switch {
	case t.To == queue.Backoff:
		return "Its backoff was not over: it goes to backoffQ first."
	case t.From == queue.Gated:
		return "Its gate is open: it goes to activeQ."
	case t.To == queue.Active:
		return "It need not back off any more: it goes straight to activeQ."
	}
	return ""
}

// arithmeticOf is how the backoff expiry came about, if it is known.
func (m *Moment) arithmeticOf(t *board.Transition) []string {
	if t.Pod.BackoffExpiry.IsZero() {
		return nil
	}
	return []string{m.arithmetic(t.Pod)}
}

// causeOf returns the event that caused t, in parentheses after a blank, or nothing if it is not known.
func causeOf(t *board.Transition) string {
	if t.Event == "" {
		return ""
	}
	return " (" + t.Event + ")"
}

// gatedBy names the plugin that gates the pod, as the beginning of a sentence.
func gatedBy(t *board.Transition) string { return cmp.Or(t.GatingPlugin, "A PreEnqueue plugin") }

// afterStay says how long the pod was in the tier that it moved from: " after 4.2s". It is empty if that is not
// known.
func afterStay(t *board.Transition) string {
	prev := t.Prev()
	if prev == nil || prev.Pod.Since.IsZero() || t.From == queue.None {
		return ""
	}
	return " after " + lapse(t.Time.Sub(prev.Pod.Since))
}

// lapse writes how long something took, to three digits or so.
func lapse(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
