package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/words"
)

// Wait is the longest time that a pod stays where it is.
type Wait struct {
	// From is the start and Until the end. Both are zero if there is no limit.
	From, Until time.Time
	// Early is true if the pod may leave before Until.
	Early bool
}

// Bounded reports whether the wait has a known end.
func (w Wait) Bounded() bool { return !w.Until.IsZero() }

// Remaining returns how much of the wait is left at now, or 0 if there is no limit.
func (w Wait) Remaining(now time.Time) time.Duration { return max(0, w.Until.Sub(now)) }

// RemainingShare returns the share of the wait that is left at now, from 1 at its start down to 0.
func (w Wait) RemainingShare(now time.Time) float64 {
	total := w.Until.Sub(w.From)
	if total <= 0 {
		return 0
	}
	return min(1, float64(w.Remaining(now))/float64(total))
}

// Wait returns how long p waits: in backoffQ until the flush that moves it, as an unschedulable or gated
// pod until the leftover flush. In other tiers there is no limit.
func (m *Moment) Wait(p *board.Pod) Wait {
	switch p.Tier {
	case queue.Backoff:
		if p.BackoffExpiry.IsZero() {
			return Wait{}
		}
		until, exact := m.backoffTick(p)
		return Wait{From: p.Since, Until: until, Early: !exact || m.Options.PopFromBackoffQ && !afterError(p) && p.Group == ""}
	case queue.Unschedulable, queue.Gated:
		until, _ := m.leftoverTick(p)
		return Wait{From: lastTimestamp(p), Until: until, Early: true}
	}
	return Wait{}
}

// leftoverTick returns the time of the leftover flush that moves p unless something else does first. If exact
// is false, that is the latest time.
func (m *Moment) leftoverTick(p *board.Pod) (at time.Time, exact bool) {
	at, exact = m.Ticks.LeftoverBy(lastTimestamp(p).Add(m.Options.PodMaxInUnschedulablePods))
	return at, exact && p.FailedBy.IsZero()
}

// lastTimestamp returns the latest time that the leftover flush may count from.
func lastTimestamp(p *board.Pod) time.Time {
	if failed := lastFailed(p); failed.After(p.FlushTimestamp) {
		return failed
	}
	return p.FlushTimestamp
}

// afterError reports whether p's last attempt failed with an error, without a rejecting plugin.
func afterError(p *board.Pod) bool {
	return len(p.UnschedulablePlugins) == 0 && len(p.PendingPlugins) == 0 && p.ConsecutiveErrorsCount > 0
}

// Explain returns sentences about where p is, why, and when it moves next, including the arithmetic.
func (m *Moment) Explain(p *board.Pod) []string {
	if p.Group != "" {
		if said, own := m.explainMember(p); own {
			return said
		}
	}
	said := m.explainTier(p)
	if m.isLost(p) {
		return []string{p.Opinion.Sentence(m.Zone)}
	}
	if q := m.Silent; q != nil && p.Tier.Queued() && (q.Profile == "" || q.Profile == p.Object().Spec.SchedulerName) {
		return append([]string{q.PodSentence(m.Zone)}, said...)
	}
	return said
}

// explainTier is Explain for a pod's tier, ignoring groups and silent schedulers.
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
			return []string{fmt.Sprintf("Bound to %s at %s after %s.", p.Node, m.Zone.Clock(p.Since), p.AttemptCount().Attempts())}
		}
		return []string{fmt.Sprintf("Bound at %s after %s.", m.Zone.Clock(p.Since), p.AttemptCount().Attempts())}
	case queue.Deleted:
		return []string{fmt.Sprintf("Deleted at %s, before it was bound.", m.Zone.Clock(p.Since))}
	}
	return []string{"This pod is not in the queue."}
}

func (m *Moment) explainInFlight(p *board.Pod) []string {
	lines := []string{fmt.Sprintf("Popped at %s: attempt %s is running. If it fails, events received meanwhile are replayed.", m.Zone.Clock(p.Since), p.AttemptCount())}
	for _, s := range m.Stages {
		if s.Pod != p.Key {
			continue
		}
		said := fmt.Sprintf("Stage %s since %s, takes %s in the model.", s.Name, m.Zone.Precise(s.Since), s.Until.Sub(s.Since).Round(10*time.Microsecond))
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
		return []string{fmt.Sprintf("Next to be popped: first of %s in activeQ by priority (%d), then time.", words.Plural(m.Board.Total(queue.Active), "pod"), p.Priority)}
	}
	return []string{fmt.Sprintf("Ready since %s, behind %s with a priority above %d, or the same priority and a time before %s.",
		m.Zone.Clock(p.Since), words.Plural(ahead, "pod"), p.Priority, m.Zone.Clock(p.Timestamp))}
}

func (m *Moment) explainBackoff(p *board.Pod) []string {
	if p.BackoffExpiry.IsZero() {
		return []string{"In backoff, but its failure was not recorded: the expiry is unknown."}
	}
	lines := []string{m.arithmetic(p)}
	tick, exact := m.backoffTick(p)
	leaves := fmt.Sprintf("Moves to activeQ %s the %s flush", atOrBy(exact), m.Zone.Clock(tick))
	switch {
	case !exact:
		leaves += "."
	case afterError(p):
		leaves += ", not earlier, because it failed with an error."
	case m.Options.PopFromBackoffQ:
		leaves += ", or earlier if activeQ is empty (PopFromBackoffQ)."
	default:
		leaves += ", not earlier, because PopFromBackoffQ is off."
	}
	leaves += m.overdue(tick)
	return append(lines, leaves)
}

// orLater follows the time of p's last attempt, which may have been a later one.
func orLater(p *board.Pod) string {
	if p.FailedBy.IsZero() {
		return ""
	}
	return " or later"
}

// atOrBy returns the preposition of a time that is exact, or the latest possible.
func atOrBy(exact bool) string {
	if exact {
		return "at"
	}
	return "by"
}

// arithmetic explains the backoff expiry: "Attempt 3 failed at 12:00:10.7. Backoff: 4 s, until
// 12:00:14 (rounded down to a whole second)."
func (m *Moment) arithmetic(p *board.Pod) string {
	if latest, exact := m.expiry(p); !exact {
		return fmt.Sprintf("%s Backoff: until %s at the latest.", m.failed(p), m.Zone.Clock(latest))
	}
	d := m.Options.Backoff(failures(p))
	s := fmt.Sprintf("%s Backoff: %s, until %s", m.failed(p), words.Short(d), m.Zone.Clock(p.BackoffExpiry))
	switch {
	case !m.Options.PopFromBackoffQ || p.Timestamp.Add(d).Equal(p.BackoffExpiry):
	case p.BackoffExpiry.Nanosecond() == 0:
		s += " (rounded down to a whole second)"
	default:
		s += " (rounded down to a whole second of the scheduler's clock)"
	}
	return s + "."
}

// failures returns the number of failures that determines p's backoff.
func failures(p *board.Pod) int {
	if p.ConsecutiveErrorsCount > 0 {
		return p.ConsecutiveErrorsCount
	}
	return p.UnschedulableCount
}

// failed says in a sentence when p's last attempt failed, and how often it has.
func (m *Moment) failed(p *board.Pod) string {
	at := m.Zone.Clock(p.Timestamp)
	switch n := failures(p); {
	case !p.FailedBy.IsZero():
		return fmt.Sprintf("Last known failure at %s, after at least %s.", at, words.Plural(p.Attempts, "attempt"))
	case p.AttemptsAtLeast && p.ConsecutiveErrorsCount > 0:
		return fmt.Sprintf("Failed with an error at %s.", at)
	case p.AttemptsAtLeast:
		return fmt.Sprintf("Failed at %s, after at least %s.", at, words.Plural(p.Attempts, "attempt"))
	case p.ConsecutiveErrorsCount > 0:
		return fmt.Sprintf("Failed with an error at %s, the %s in a row.", at, words.Ordinal(n))
	case n == p.Attempts:
		return fmt.Sprintf("Attempt %d failed at %s.", n, at)
	default:
		return fmt.Sprintf("Failed at %s, for the %s time.", at, words.Ordinal(n))
	}
}

func (m *Moment) explainUnschedulable(p *board.Pod) []string {
	var lines []string
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		lines = append(lines, fmt.Sprintf("Rejected by %s at %s%s. %s", strings.Join(plugins, ", "), m.Zone.Clock(p.Timestamp), orLater(p), m.Hints.waitsFor(plugins)))
	} else {
		lines = append(lines, "The rejecting plugins are unknown: any event wakes it.")
	}
	if sentence := m.explainWoken(p); sentence != "" {
		lines = append(lines, sentence)
	}
	tick, exact := m.leftoverTick(p)
	if !p.GoneSince.IsZero() {
		return append(lines, fmt.Sprintf("Without an event, it was due by %s (%s timeout, checked every %s). Attempts of other pods follow, but none of it: it is probably gone.",
			m.Zone.Second(tick), words.Short(m.Options.PodMaxInUnschedulablePods), words.Short(queue.LeftoverFlushInterval)))
	}
	return append(lines, fmt.Sprintf("Without an event: retried %s %s (%s timeout, checked every %s).%s",
		atOrBy(exact), m.Zone.Second(tick), words.Short(m.Options.PodMaxInUnschedulablePods), words.Short(queue.LeftoverFlushInterval), m.overdue(tick)))
}

// Woken is where an event would move a pod.
type Woken struct {
	Tier queue.Tier
	// Until is when it would leave backoffQ at the latest; from then on an event would move it straight
	// to activeQ.
	Until time.Time
	// Pending are the plugins whose events move it to activeQ even though Tier is Backoff.
	Pending []string
}

// IfWoken returns where an event would move p now, and false if p does not wait for one.
func (m *Moment) IfWoken(p *board.Pod) (Woken, bool) {
	if p.Tier != queue.Unschedulable && p.Tier != queue.Gated {
		return Woken{}, false
	}
	if ends := m.backoffEnds(p); m.Now.Before(ends) {
		return Woken{Tier: queue.Backoff, Until: ends, Pending: p.PendingPlugins}, true
	}
	return Woken{Tier: queue.Active}, true
}

// backoffEnds returns when p's backoff is over for an event. Zero if it has no backoff.
func (m *Moment) backoffEnds(p *board.Pod) time.Time {
	expiry, _ := m.expiry(p)
	switch {
	case p.BackoffExpiry.IsZero():
		return time.Time{}
	case m.Options.PopFromBackoffQ:
		return expiry.Add(queue.BackoffFlushInterval)
	}
	return expiry
}

// explainWoken says where an event would move p, or nothing if its backoff is unknown.
func (m *Moment) explainWoken(p *board.Pod) string {
	w, waits := m.IfWoken(p)
	switch {
	case !waits || p.BackoffExpiry.IsZero():
		return ""
	case w.Tier == queue.Active:
		expiry, exact := m.expiry(p)
		return fmt.Sprintf("Its backoff ended %s %s: an event now moves it straight to activeQ.", atOrBy(exact), m.Zone.Clock(expiry))
	}
	if _, exact := m.expiry(p); !exact {
		return fmt.Sprintf("%s An event before %s may move it to backoffQ first.", m.failed(p), m.Zone.Clock(w.Until))
	}
	s := fmt.Sprintf("%s Backoff: %s, until %s. An event before then moves it to backoffQ", m.failed(p), words.Short(m.Options.Backoff(failures(p))), m.Zone.Clock(w.Until))
	if m.Options.PopFromBackoffQ {
		s += ", where it is tried early if activeQ is empty"
	}
	if len(w.Pending) > 0 {
		s += fmt.Sprintf("; an event for %s moves it straight to activeQ", strings.Join(w.Pending, ", "))
	}
	return s + "."
}

func (m *Moment) explainGated(p *board.Pod) []string {
	plugin := p.GatingPlugin
	if plugin == "" {
		plugin = "a PreEnqueue plugin"
	}
	tick, exact := m.leftoverTick(p)
	return []string{
		fmt.Sprintf("Kept out of activeQ by %s since %s: no attempts, no backoff.", plugin, m.Zone.Clock(p.Since)),
		fmt.Sprintf("Without an event: the gate is checked again %s %s (%s timeout, checked every %s).%s",
			atOrBy(exact), m.Zone.Second(tick), words.Short(m.Options.PodMaxInUnschedulablePods), words.Short(queue.LeftoverFlushInterval), m.overdue(tick)),
	}
}
