package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/flush"
	"github.com/schedq/schedq/queue/session/words"
)

// Wait is how long a pod stays where it is, at the most.
type Wait struct {
	// From is when it began and Until when it ends. Both zero if there is no such bound.
	From, Until time.Time
	// Early is true if the pod may leave before Until.
	Early bool
}

// Bounded reports whether the wait has an end that is known.
func (w Wait) Bounded() bool { return !w.Until.IsZero() }

// Remaining returns how much of the wait is left at now: 0 at the least, and 0 if there is no bound.
func (w Wait) Remaining(now time.Time) time.Duration { return max(0, w.Until.Sub(now)) }

// RemainingShare returns which part of the wait is left at now, from 1 at its beginning down to 0.
func (w Wait) RemainingShare(now time.Time) float64 {
	total := w.Until.Sub(w.From)
	if total <= 0 {
		return 0
	}
	return min(1, float64(w.Remaining(now))/float64(total))
}

// Wait returns how long p waits: in backoffQ until the flush that takes it, as an unschedulable or gated
// pod until the leftover flush. Elsewhere there is no bound.
func (m *Moment) Wait(p *board.Pod) Wait {
	switch p.Tier {
	case queue.Backoff:
		if p.BackoffExpiry.IsZero() {
			return Wait{}
		}
		return Wait{From: p.Since, Until: m.backoffTick(p), Early: m.Options.PopFromBackoffQ && !afterError(p) && p.Group == ""}
	case queue.Unschedulable, queue.Gated:
		return Wait{From: lastTimestamp(p), Until: m.leftoverTick(p), Early: true}
	}
	return Wait{}
}

// leftoverTick returns the leftover flush that takes p if nothing else does.
func (m *Moment) leftoverTick(p *board.Pod) time.Time {
	return flush.TickAfter(m.Ticks.Leftover, queue.LeftoverFlushInterval, lastTimestamp(p).Add(m.Options.PodMaxInUnschedulablePods))
}

// lastTimestamp is what the leftover flush counts from.
func lastTimestamp(p *board.Pod) time.Time {
	if p.FlushTimestamp.After(p.Timestamp) {
		return p.FlushTimestamp
	}
	return p.Timestamp
}

// afterError reports whether p's last attempt failed without a rejector plugin.
func afterError(p *board.Pod) bool {
	return len(p.UnschedulablePlugins) == 0 && len(p.PendingPlugins) == 0 && p.ConsecutiveErrorsCount > 0
}

// Explain says in sentences where p is, why, and when it moves next, with the arithmetic.
func (m *Moment) Explain(p *board.Pod) []string {
	if p.Group != "" {
		if said, own := m.explainMember(p); own {
			return said
		}
	}
	said := m.explainTier(p)
	if q := m.Silent; q != nil && p.Tier.Queued() && (q.Profile == "" || q.Profile == p.Object().Spec.SchedulerName) {
		return append([]string{q.Sentence(m.Zone) + " It waits until there is one."}, said...)
	}
	return said
}

// explainTier is Explain by the tier alone.
func (m *Moment) explainTier(p *board.Pod) []string {
	switch p.Tier {
	case queue.Active:
		return m.explainActive(p)
	case queue.Backoff:
		return m.explainBackoff(p)
	case queue.Unschedulable:
		return m.explainUnschedulable(p)
	case queue.Gated:
		return m.explainGated(p)
	case queue.InFlight:
		return m.explainInFlight(p)
	case queue.Scheduled:
		if p.Node != "" {
			return []string{fmt.Sprintf("Bound to %s at %s after %s.", p.Node, m.Zone.Clock(p.Since), words.Times(p.Attempts, "attempt"))}
		}
		return []string{fmt.Sprintf("Bound at %s after %s.", m.Zone.Clock(p.Since), words.Times(p.Attempts, "attempt"))}
	case queue.Deleted:
		return []string{fmt.Sprintf("Deleted at %s, before it had a node.", m.Zone.Clock(p.Since))}
	}
	return []string{"The queue does not know this pod."}
}

func (m *Moment) explainInFlight(p *board.Pod) []string {
	lines := []string{fmt.Sprintf("Popped at %s: attempt %d is under way. Events that come now are replayed if it fails.", m.Zone.Clock(p.Since), p.Attempts)}
	for _, s := range m.Stages {
		if s.Pod != p.Key {
			continue
		}
		said := fmt.Sprintf("Stage %s since %s, for %s in the model.", s.Name, m.Zone.Precise(s.Since), s.Until.Sub(s.Since).Round(10*time.Microsecond))
		if s.Node != "" {
			said += " Assumed on " + s.Node + "."
		}
		lines = append(lines, said)
	}
	return lines
}

func (m *Moment) explainActive(p *board.Pod) []string {
	ahead := m.Board.Unfiltered().Index(p)
	if ahead == 0 {
		return []string{fmt.Sprintf("Next to be popped: the first of %s by priority (%d), then by time.", words.Times(m.Board.Total(queue.Active), "pod"), p.Priority)}
	}
	return []string{fmt.Sprintf("Ready since %s. %s ahead of it: a higher priority than %d, or the same and an earlier time (%s).",
		m.Zone.Clock(p.Since), words.Standing(ahead), p.Priority, m.Zone.Clock(p.Timestamp))}
}

func (m *Moment) explainBackoff(p *board.Pod) []string {
	if p.BackoffExpiry.IsZero() {
		return []string{"Backs off, but its failure was not seen: the expiry is not known."}
	}
	lines := []string{m.arithmetic(p)}
	leaves := fmt.Sprintf("Leaves for activeQ at the %s flush", m.Zone.Clock(m.backoffTick(p)))
	switch {
	case afterError(p):
		leaves += "; never earlier, because it failed by an error."
	case m.Options.PopFromBackoffQ:
		leaves += ", or earlier if activeQ is empty (PopFromBackoffQ)."
	default:
		leaves += "; not earlier, because PopFromBackoffQ is off."
	}
	leaves += m.overdue(m.backoffTick(p))
	return append(lines, leaves)
}

// arithmetic is how the backoff expiry came about: "failed 12:00:10.7, 3rd time → 4 s → expiry 12:00:14".
func (m *Moment) arithmetic(p *board.Pod) string {
	count, kind := p.UnschedulableCount, "time"
	if p.ConsecutiveErrorsCount > 0 {
		count, kind = p.ConsecutiveErrorsCount, "error in a row"
	}
	d := m.Options.Backoff(count)
	s := fmt.Sprintf("Failed %s, %s %s → %s → expiry %s", m.Zone.Clock(p.Timestamp), words.Ordinal(count), kind, words.Short(d), m.Zone.Clock(p.BackoffExpiry))
	switch {
	case !m.Options.PopFromBackoffQ || p.Timestamp.Add(d).Equal(p.BackoffExpiry):
	case p.BackoffExpiry.Nanosecond() == 0:
		s += " (cut to the whole second)"
	default:
		s += " (cut to the whole second of the scheduler's clock)"
	}
	return s + "."
}

func (m *Moment) explainUnschedulable(p *board.Pod) []string {
	var lines []string
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		lines = append(lines, fmt.Sprintf("Rejected by %s at %s. %s", strings.Join(plugins, ", "), m.Zone.Clock(p.Timestamp), m.Hints.waitsFor(plugins)))
	} else {
		lines = append(lines, "No rejector plugin is known: any event wakes it.")
	}
	if sentence := m.explainWoken(p); sentence != "" {
		lines = append(lines, sentence)
	}
	return append(lines, fmt.Sprintf("Without any event: the leftover flush, which looks every %s, tries it after %s, at %s.%s",
		words.Short(queue.LeftoverFlushInterval), words.Short(m.Options.PodMaxInUnschedulablePods), m.Zone.Clock(m.leftoverTick(p)), m.overdue(m.leftoverTick(p))))
}

// Woken is where a pod would go that an event wakes.
type Woken struct {
	Tier queue.Tier
	// Until is when it would leave backoffQ at the latest, and then also from when on it would go straight
	// to activeQ.
	Until time.Time
	// Pending are the plugins, if Tier is Backoff, whose events take it to activeQ all the same.
	Pending []string
}

// IfWoken returns where p would go if an event woke it now, and false if it does not wait for one.
func (m *Moment) IfWoken(p *board.Pod) (Woken, bool) {
	if p.Tier != queue.Unschedulable && p.Tier != queue.Gated {
		return Woken{}, false
	}
	if ends := m.backoffEnds(p); m.Now.Before(ends) {
		return Woken{Tier: queue.Backoff, Until: ends, Pending: p.PendingPlugins}, true
	}
	return Woken{Tier: queue.Active}, true
}

// backoffEnds is from when on p does not back off any more. Zero if it has no backoff.
func (m *Moment) backoffEnds(p *board.Pod) time.Time {
	switch {
	case p.BackoffExpiry.IsZero():
		return time.Time{}
	case m.Options.PopFromBackoffQ:
		return p.BackoffExpiry.Add(queue.BackoffFlushInterval)
	}
	return p.BackoffExpiry
}

// explainWoken says where p would go if an event woke it, or nothing if its backoff is not known.
func (m *Moment) explainWoken(p *board.Pod) string {
	w, waits := m.IfWoken(p)
	switch {
	case !waits || p.BackoffExpiry.IsZero():
		return ""
	case w.Tier == queue.Active:
		return fmt.Sprintf("Its backoff ended at %s: woken now, it goes straight to activeQ.", m.Zone.Clock(p.BackoffExpiry))
	}
	s := m.arithmetic(p) + fmt.Sprintf(" Woken before %s, it goes to backoffQ first", m.Zone.Clock(w.Until))
	if len(w.Pending) > 0 {
		s += fmt.Sprintf(", unless by an event for %s: then straight to activeQ", strings.Join(w.Pending, ", "))
	}
	return s + "."
}

func (m *Moment) explainGated(p *board.Pod) []string {
	plugin := p.GatingPlugin
	if plugin == "" {
		plugin = "a PreEnqueue plugin"
	}
	return []string{
		fmt.Sprintf("Kept out of activeQ by %s since %s: it takes no attempt and no backoff.", plugin, m.Zone.Clock(p.Since)),
		fmt.Sprintf("Without any event: the leftover flush has the gate asked again after %s, at %s; while it holds, the pod stays.%s",
			words.Short(m.Options.PodMaxInUnschedulablePods), m.Zone.Clock(m.leftoverTick(p)), m.overdue(m.leftoverTick(p))),
	}
}
