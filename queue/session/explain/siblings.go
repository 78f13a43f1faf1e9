package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Siblings are the other pods of a pod's owner at one moment.
type Siblings struct {
	Of types.NamespacedName
	At time.Time
	// Owner is what they share: "ReplicaSet web-5d4f", "PodGroup train" or, of pods without a known owner, "pods web-*".
	// It is empty if the pod can have no siblings.
	Owner sources.SafeText
	// Pods are the siblings, those that got furthest first. A pod that was bound before the source's observations has
	// no moves.
	Pods []*board.Pod
}

// kinship is what siblings have in common: an owner or a pod group, or the stem of their names if kind is empty.
type kinship struct{ kind, name string }

func kinshipOf(p *board.Pod) kinship {
	pod := p.Object()
	if kind, name := p.Owner(); name != "" {
		return kinship{kind, name}
	}
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return kinship{"PodGroup", *g.PodGroupName}
	}
	if i := strings.LastIndexByte(p.Key.Name, '-'); i > 0 {
		return kinship{name: p.Key.Name[:i]}
	}
	return kinship{}
}

func (k kinship) String() string {
	switch {
	case k.name == "":
		return ""
	case k.kind == "":
		return "pods " + k.name + "-*"
	}
	return k.kind + " " + k.name
}

// FindSiblings returns the siblings of p among the pods of b and the bound ones of objects. Its cost grows with the
// number of pods in p's namespace.
func FindSiblings(b *board.Board, objects cluster.Objects, p *board.Pod, now time.Time) *Siblings {
	kin := kinshipOf(p)
	s := &Siblings{Of: p.Key, At: now, Owner: sources.Sanitize(kin.String())}
	if kin.name == "" {
		return s
	}
	add := func(other *board.Pod) {
		if other.Key != p.Key && kinshipOf(other) == kin {
			s.Pods = append(s.Pods, other)
		}
	}
	for other := range b.InNamespace(p.Key.Namespace) {
		add(other)
	}
	objects.Each("Pod", func(obj runtime.Object) bool {
		pod := obj.(*v1.Pod)
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		if pod.Namespace == p.Key.Namespace && pod.Spec.NodeName != "" && b.Get(key) == nil {
			add(boundEarlier(key, pod))
		}
		return pod.Namespace <= p.Key.Namespace
	})
	slices.SortStableFunc(s.Pods, func(a, b *board.Pod) int {
		return cmp.Or(
			cmp.Compare(progress(b), progress(a)),
			cmp.Compare(difference(b, p), difference(a, p)),
			cmp.Compare(a.Arrived.Sub(p.Arrived).Abs(), b.Arrived.Sub(p.Arrived).Abs()),
		)
	})
	return s
}

// boundEarlier returns a pod that was bound before the source's observations.
func boundEarlier(key types.NamespacedName, pod *v1.Pod) *board.Pod {
	p := &board.Pod{Key: key, Arrived: pod.CreationTimestamp.Time, Observed: true}
	p.ReadObject(pod)
	p.Tier = queue.Scheduled
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			p.Since = c.LastTransitionTime.Time
		}
	}
	return p
}

// progress orders pods by how far they got: bound with known moves, bound, waiting, deleted.
func progress(p *board.Pod) int {
	switch {
	case p.Tier == queue.Scheduled && p.Last != nil:
		return 3
	case p.Tier == queue.Scheduled:
		return 2
	case p.Tier == queue.Deleted:
		return 0
	}
	return 1
}

// difference returns by how many attempts the history of a waiting pod differs from that of p. Of bound ones the one
// that was created next to p says most.
func difference(other, p *board.Pod) int {
	if !other.Tier.Queued() && other.Tier != queue.InFlight {
		return 0
	}
	return max(other.Attempts-p.Attempts, p.Attempts-other.Attempts)
}

// Parting compares two siblings: what differs in what scheduling reads, and at which move they parted. The pods are in
// the order in which they were passed.
type Parting struct {
	// Text says in sentences what both went through, and what each did when they parted.
	Text sources.SafeText
	// Differences are the fields that scheduling reads and that differ. Unknown says why there are none to compare.
	Differences []FieldDifference
	Unknown     sources.SafeText
	// Moves are the pods' moves, oldest first, and Common how many of each went alike. Common is zero if it is unknown
	// at which move they parted.
	Moves  [2][]*board.Transition
	Common [2]int
}

// partingMoves limits how many moves of each pod are compared.
const partingMoves = 500

// Part compares two siblings.
func (m *Moment) Part(pods [2]*board.Pod) *Parting {
	c := &Parting{}
	whole := [2]bool{}
	for i, p := range pods {
		c.Moves[i], whole[i] = movesSinceAdded(p)
	}
	text := ""
	if whole[0] && whole[1] {
		text = m.partedAt(pods, c)
	} else {
		text = m.partedUnknown(pods, whole)
	}
	c.Text = sources.Sanitize(text)
	for _, p := range pods {
		if len(p.Object().Spec.Containers) == 0 {
			c.Unknown = sources.Sanitize(fmt.Sprintf("The source does not contain the object of %s, so what they require can't be compared.", p.Key.Name))
			return c
		}
	}
	c.Differences = fieldDifferences(pods)
	return c
}

// movesSinceAdded returns the moves of p since it was added, oldest first, and whether these are all.
func movesSinceAdded(p *board.Pod) (moves []*board.Transition, whole bool) {
	for t := p.Last; t != nil && len(moves) < partingMoves; t = t.Prev() {
		if !t.Restated() {
			moves = append(moves, t)
		}
		added := t.From == queue.None || t.From == queue.Scheduled || t.From == queue.Deleted
		whole = added && !t.Pod.AttemptsAtLeast
		if added {
			break
		}
	}
	slices.Reverse(moves)
	return moves, whole
}

// endsAttempt reports whether t is the result of an attempt.
func endsAttempt(t *board.Transition) bool {
	return t.Event == queue.ScheduleAttemptFailure || t.To == queue.Scheduled
}

// failedAlike reports whether a and b are failures of the same attempt by the same plugins.
func failedAlike(a, b *board.Transition) bool {
	return a.Event == queue.ScheduleAttemptFailure && b.Event == queue.ScheduleAttemptFailure && a.Attempts == b.Attempts &&
		slices.Equal(a.Pod.RejectorPlugins(), b.Pod.RejectorPlugins())
}

// nextAttempt returns the index of the first result of an attempt from i on, or -1.
func nextAttempt(moves []*board.Transition, i int) int {
	if n := slices.IndexFunc(moves[i:], endsAttempt); n >= 0 {
		return i + n
	}
	return -1
}

// partedAt says at which move the pods parted, and sets c.Common. They went alike through the attempts that the same
// plugins rejected, however each pod was woken in between; after the last one, through equal moves.
func (m *Moment) partedAt(pods [2]*board.Pod, c *Parting) string {
	var last [2]*board.Transition
	attempts := 0
	for {
		i, j := nextAttempt(c.Moves[0], c.Common[0]), nextAttempt(c.Moves[1], c.Common[1])
		if i < 0 || j < 0 || !failedAlike(c.Moves[0][i], c.Moves[1][j]) {
			break
		}
		last = [2]*board.Transition{c.Moves[0][i], c.Moves[1][j]}
		c.Common = [2]int{i + 1, j + 1}
		attempts++
	}
	text := ""
	if attempts > 0 {
		text = m.failedAlikeText(attempts, last)
	}
	rest := [2][]*board.Transition{c.Moves[0][c.Common[0]:], c.Moves[1][c.Common[1]:]}
	same := 0
	for same < min(len(rest[0]), len(rest[1])) {
		a, b := rest[0][same], rest[1][same]
		if a.From != b.From || a.To != b.To || a.Event != b.Event || a.GatingPlugin != b.GatingPlugin || endsAttempt(a) {
			break
		}
		same++
	}
	c.Common[0] += same
	c.Common[1] += same
	if same == len(rest[0]) && same == len(rest[1]) {
		return strings.TrimSpace(text + " They have not parted so far.")
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s; %s.", text, m.course(pods[0], rest[0], same), m.course(pods[1], rest[1], same)))
}

// failedAlikeText says which attempts of both pods failed alike, and when the last of them did.
func (m *Moment) failedAlikeText(attempts int, last [2]*board.Transition) string {
	at := [2]string{m.Zone.Second(last[0].Time), m.Zone.Second(last[1].Time)}
	when := "at " + at[0]
	if at[0] != at[1] {
		when = fmt.Sprintf("at %s and %s", at[0], at[1])
	}
	which, sep := fmt.Sprintf("Both failed attempt %d", last[0].Attempts), " "
	if first := last[0].Attempts - attempts + 1; attempts > 1 {
		to := "to"
		if attempts == 2 {
			to = "and"
		}
		which, sep = fmt.Sprintf("Both failed attempts %d %s %d alike", first, to, last[0].Attempts), ", the last "
	}
	return which + sep + when + rejectedBy(last[0]) + "."
}

// rejectedBy says which plugins rejected a failed attempt.
func rejectedBy(t *board.Transition) string {
	if plugins := t.Pod.RejectorPlugins(); len(plugins) > 0 {
		return ", rejected by " + words.And(plugins)
	}
	return ", with an error"
}

// course says what p did after the attempts that it has in common with its sibling: up to the result of the next
// attempt, and how it left the queue. Of the first same moves, which the sibling made too, only the wakes are named.
func (m *Moment) course(p *board.Pod, moves []*board.Transition, same int) string {
	var did []string
	end := nextAttempt(moves, 0)
	for i, t := range moves {
		if said := m.did(t); said != "" && (i >= same || i == end || t.From == queue.Unschedulable || t.From == queue.Gated) {
			did = append(did, said)
		}
		if i == end {
			break
		}
	}
	switch left := board.HasLeft(p); {
	case end < 0 && !left:
		did = append(did, m.still(p))
	case end >= 0 && left && end < len(moves)-1:
		did = append(did, m.did(moves[len(moves)-1]))
	}
	return p.Key.Name + " " + words.And(did)
}

// did says in a predicate what t was for its pod. It is empty for the pops, which the results of the attempts follow.
func (m *Moment) did(t *board.Transition) string {
	at := m.Zone.Second(t.Time)
	switch {
	case t.Event == queue.ScheduleAttemptFailure:
		return fmt.Sprintf("failed attempt %s at %s%s", t.AttemptCount(), at, rejectedBy(t))
	case t.To == queue.Scheduled && t.Pod.Node != "":
		return fmt.Sprintf("was bound to %s at %s", t.Pod.Node, at)
	case t.To == queue.Scheduled:
		return "was bound at " + at
	case t.To == queue.Deleted:
		return "was deleted at " + at
	case t.To == queue.InFlight, t.TakenBack():
		return ""
	case t.From == queue.None || t.From == queue.Scheduled || t.From == queue.Deleted:
		return "entered the queue at " + at
	case t.To == queue.Gated:
		return fmt.Sprintf("was gated by %s at %s", cmp.Or(t.GatingPlugin, "a PreEnqueue plugin"), at)
	case t.From == queue.Backoff:
		return "was in backoffQ until " + at
	case t.Event == queue.UnschedulableTimeout:
		return fmt.Sprintf("was retried at %s (%s timeout)", at, words.Short(m.Options.PodMaxInUnschedulablePods))
	case t.To == queue.Backoff:
		return fmt.Sprintf("was moved to backoffQ by %s at %s", cmp.Or(t.Event, "an event"), at)
	}
	return fmt.Sprintf("was woken by %s at %s", cmp.Or(t.Event, "an event"), at)
}

// still says in a predicate where p is.
func (m *Moment) still(p *board.Pod) string {
	since := m.Zone.Second(p.Since)
	switch p.Tier {
	case queue.Active:
		return "has been in activeQ since " + since
	case queue.Backoff:
		if w := m.Wait(p); w.Until.After(m.Now) {
			return "is in backoffQ until " + m.Zone.Second(w.Until)
		}
		return "has been in backoffQ since " + since
	case queue.InFlight:
		return fmt.Sprintf("has been in attempt %s since %s", p.AttemptCount(), since)
	case queue.Scheduled:
		said := "was bound"
		if p.Node != "" {
			said += " to " + p.Node
		}
		if !p.Since.IsZero() {
			said += " at " + since
		}
		return said
	case queue.Deleted:
		return "was deleted at " + since
	}
	said := "has been " + words.TierWord(p.Tier) + " since " + since
	if p.SinceIsEarliest() {
		said += " or later"
	}
	return said
}

// partedUnknown says where two pods are whose first moves are not all known.
func (m *Moment) partedUnknown(pods [2]*board.Pod, whole [2]bool) string {
	var said []string
	for i, p := range pods {
		if !whole[i] {
			said = append(said, p.Key.Name)
		}
	}
	return fmt.Sprintf("%s %s; %s %s. The first moves of %s are not known, so neither is the move at which they parted.",
		pods[0].Key.Name, m.still(pods[0]), pods[1].Key.Name, m.still(pods[1]), words.And(said))
}
