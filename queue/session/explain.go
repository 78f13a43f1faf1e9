package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
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

// Left returns what is left of the wait at now, not below 0.
func (w Wait) Left(now time.Time) time.Duration { return max(0, w.Until.Sub(now)) }

// Share returns the part of the wait that is left at now, from 1 to 0.
func (w Wait) Share(now time.Time) float64 {
	total := w.Until.Sub(w.From)
	if total <= 0 {
		return 0
	}
	return min(1, float64(w.Left(now))/float64(total))
}

// Wait returns how long p waits: in backoffQ until the flush that takes it, as an unschedulable or gated
// pod until the leftover flush. Elsewhere there is no bound.
func (f *Frame) Wait(p *Pod) Wait {
	switch p.Tier {
	case queue.Backoff:
		if p.BackoffExpiry.IsZero() {
			return Wait{}
		}
		return Wait{From: p.Since, Until: f.backoffTick(p), Early: f.Options.PopFromBackoffQ && !p.afterError() && p.Group == ""}
	case queue.Unschedulable, queue.Gated:
		return Wait{From: p.lastTimestamp(), Until: f.leftoverTick(p), Early: true}
	}
	return Wait{}
}

// backoffTick returns the flush that takes p out of backoffQ: the first one in a later window than the
// expiry's, or without windows the first one after it.
func (f *Frame) backoffTick(p *Pod) time.Time {
	return after(f.ticks.backoff, queue.BackoffFlushInterval, p.BackoffExpiry)
}

// leftoverTick returns the leftover flush that takes p if nothing else does.
func (f *Frame) leftoverTick(p *Pod) time.Time {
	return after(f.ticks.leftover, queue.LeftoverFlushInterval, p.lastTimestamp().Add(f.Options.PodMaxInUnschedulablePods))
}

// lastTimestamp is what the leftover flush counts from.
func (p *Pod) lastTimestamp() time.Time {
	if p.FlushTimestamp.After(p.Timestamp) {
		return p.FlushTimestamp
	}
	return p.Timestamp
}

// afterError reports whether p's last attempt failed without a rejector plugin.
func (p *Pod) afterError() bool {
	return len(p.UnschedulablePlugins) == 0 && len(p.PendingPlugins) == 0 && p.ConsecutiveErrorsCount > 0
}

// Explain says in sentences where p is, why, and when it moves next, with the arithmetic.
func (f *Frame) Explain(p *Pod) []string {
	if p.Group != "" {
		if said, own := f.explainMember(p); own {
			return said
		}
	}
	switch p.Tier {
	case queue.Active:
		return f.explainActive(p)
	case queue.Backoff:
		return f.explainBackoff(p)
	case queue.Unschedulable:
		return f.explainUnschedulable(p)
	case queue.Gated:
		return f.explainGated(p)
	case queue.InFlight:
		return f.explainInFlight(p)
	case queue.Scheduled:
		if p.Node != "" {
			return []string{fmt.Sprintf("Bound to %s at %s after %s.", p.Node, clock(p.Since), times(p.Attempts, "attempt"))}
		}
		return []string{fmt.Sprintf("Bound at %s after %s.", clock(p.Since), times(p.Attempts, "attempt"))}
	case queue.Deleted:
		return []string{fmt.Sprintf("Taken out of the queue at %s: the pod was bound or deleted.", clock(p.Since))}
	}
	return []string{"The queue does not know this pod."}
}

func (f *Frame) explainInFlight(p *Pod) []string {
	lines := []string{fmt.Sprintf("Popped at %s: attempt %d is under way. Events that come now are replayed if it fails.", clock(p.Since), p.Attempts)}
	for _, s := range f.Stages {
		if s.Pod != p.Key {
			continue
		}
		said := fmt.Sprintf("Stage %s since %s, for %s in the model.", s.Name, precise(s.Since), s.Until.Sub(s.Since).Round(10*time.Microsecond))
		if s.Node != "" {
			said += " Placed on " + s.Node + "."
		}
		lines = append(lines, said)
	}
	return lines
}

// precise writes a time of day with milliseconds.
func precise(t time.Time) string { return t.UTC().Format("15:04:05.000") }

func (f *Frame) explainActive(p *Pod) []string {
	ahead := f.Board.Unfiltered().Index(p)
	if ahead == 0 {
		return []string{fmt.Sprintf("Next to be popped: the first of %s by priority (%d), then by time.", times(f.Board.Total(queue.Active), "pod"), p.Priority)}
	}
	return []string{fmt.Sprintf("Ready since %s. %s ahead of it: a higher priority than %d, or the same and an earlier time (%s).",
		clock(p.Since), standing(ahead), p.Priority, clock(p.Timestamp))}
}

func (f *Frame) explainBackoff(p *Pod) []string {
	if p.BackoffExpiry.IsZero() {
		return []string{"Backs off, but its failure was not seen: the expiry is not known."}
	}
	lines := []string{f.arithmetic(p)}
	leaves := fmt.Sprintf("Leaves for activeQ at the %s tick", clock(f.backoffTick(p)))
	switch {
	case p.afterError():
		leaves += "; never earlier, because it failed by an error."
	case f.Options.PopFromBackoffQ:
		leaves += ", or earlier if activeQ is empty (PopFromBackoffQ)."
	default:
		leaves += "; not earlier, because PopFromBackoffQ is off."
	}
	leaves += f.overdue(f.backoffTick(p))
	return append(lines, leaves)
}

// arithmetic is how the backoff expiry came about: "failed 12:00:10.7, 3rd time → 4 s → expiry 12:00:14".
func (f *Frame) arithmetic(p *Pod) string {
	count, kind := p.UnschedulableCount, "time"
	if p.ConsecutiveErrorsCount > 0 {
		count, kind = p.ConsecutiveErrorsCount, "error in a row"
	}
	d := f.Options.Backoff(count)
	s := fmt.Sprintf("Failed %s, %s %s → %s → expiry %s", clock(p.Timestamp), ordinal(count), kind, short(d), clock(p.BackoffExpiry))
	if f.Options.PopFromBackoffQ && !p.Timestamp.Add(d).Equal(p.BackoffExpiry) {
		s += " (cut to the whole second)"
	}
	return s + "."
}

func (f *Frame) explainUnschedulable(p *Pod) []string {
	var lines []string
	if plugins := p.RejectorPlugins(); len(plugins) > 0 {
		lines = append(lines, fmt.Sprintf("Rejected by %s at %s. %s", strings.Join(plugins, ", "), clock(p.Timestamp), f.wakes.of(plugins)))
	} else {
		lines = append(lines, "No rejector plugin is known: any event wakes it.")
	}
	if sentence := f.explainWoken(p); sentence != "" {
		lines = append(lines, sentence)
	}
	return append(lines, fmt.Sprintf("Without any event: the leftover flush tries it after %s, at the %s sweep.%s",
		short(f.Options.PodMaxInUnschedulablePods), clock(f.leftoverTick(p)), f.overdue(f.leftoverTick(p))))
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
func (f *Frame) IfWoken(p *Pod) (Woken, bool) {
	if p.Tier != queue.Unschedulable && p.Tier != queue.Gated {
		return Woken{}, false
	}
	if ends := f.backoffEnds(p); f.Now.Before(ends) {
		return Woken{Tier: queue.Backoff, Until: ends, Pending: p.PendingPlugins}, true
	}
	return Woken{Tier: queue.Active}, true
}

// backoffEnds is from when on p does not back off any more. Zero if it has no backoff.
func (f *Frame) backoffEnds(p *Pod) time.Time {
	switch {
	case p.BackoffExpiry.IsZero():
		return time.Time{}
	case f.Options.PopFromBackoffQ:
		return p.BackoffExpiry.Add(queue.BackoffFlushInterval)
	}
	return p.BackoffExpiry
}

// explainWoken says where p would go if an event woke it, or nothing if its backoff is not known.
func (f *Frame) explainWoken(p *Pod) string {
	w, waits := f.IfWoken(p)
	switch {
	case !waits || p.BackoffExpiry.IsZero():
		return ""
	case w.Tier == queue.Active:
		return fmt.Sprintf("Its backoff ended at %s: woken now, it goes straight to activeQ.", clock(p.BackoffExpiry))
	}
	s := f.arithmetic(p) + fmt.Sprintf(" Woken before %s, it goes to backoffQ first", clock(w.Until))
	if len(w.Pending) > 0 {
		s += fmt.Sprintf(", unless by an event for %s: then straight to activeQ", strings.Join(w.Pending, ", "))
	}
	return s + "."
}

func (f *Frame) explainGated(p *Pod) []string {
	plugin := p.GatingPlugin
	if plugin == "" {
		plugin = "a PreEnqueue plugin"
	}
	return []string{
		fmt.Sprintf("Kept out of activeQ by %s since %s: it takes no attempt and no backoff.", plugin, clock(p.Since)),
		fmt.Sprintf("Without any event: the leftover flush has the gate asked again after %s, at the %s sweep; while it holds, the pod stays.%s",
			short(f.Options.PodMaxInUnschedulablePods), clock(f.leftoverTick(p)), f.overdue(f.leftoverTick(p))),
	}
}

// overdue adds to a sentence that what it foretells should have happened by now.
func (f *Frame) overdue(at time.Time) string {
	if f.Now.Sub(at) > time.Second {
		return " That is past, and was not seen."
	}
	return ""
}

// clock writes a time of day: 12:00:10.7, and 12:00:14 if it is a whole second.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.9") }

// short writes a duration as 4 s, 250 ms or 5 min.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= time.Second || d == 0:
		return fmt.Sprintf("%g s", d.Seconds())
	default:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func standing(n int) string {
	if n == 1 {
		return "1 pod stands"
	}
	return fmt.Sprintf("%d pods stand", n)
}
