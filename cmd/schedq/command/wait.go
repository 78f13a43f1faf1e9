package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// waitTimeout is the default of --timeout for a live cluster, the same as kubectl's.
const waitTimeout = 30 * time.Second

// NewWait returns schedq wait.
func NewWait() *cobra.Command {
	var names []string
	var text, when string
	var timeout time.Duration
	var until goal
	source := &sourceFlags{}
	cmd := headlessFrom(source, &cli.Output{}, &cobra.Command{
		Use:   "wait POD --for CONDITION [FILE...]",
		Short: "Wait until a pod is bound, tried or meets another condition",
		Long: `Wait until a pod meets a condition, and print what happened and when. CONDITION is bound, deleted, a tier
(active, backoff, unschedulable, gated, in-flight), tried for the end of its next attempt, or a filter as
for / on the screen, such as waiting>10m. In a recording, wait prints how long the pod took. POD is NAME,
NAMESPACE/NAME or pod/NAME.

Exit codes: 0 the condition is met, 1 timeout or it can't be met any more, 2 wrong flags or arguments.`,
		Example: "  schedq wait pod/train-0 -n training --for bound --timeout 10m\n  schedq wait train-0 --for 'attempts>=3' audit.log.gz sched.log.gz",
	}, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		key, err := cluster.FindPod(cmd.Context(), rec, names[0])
		if err != nil {
			return err
		}
		start, err := startOfWait(rec, when)
		if err != nil {
			return err
		}
		w := &podWait{until: until, key: key, start: start, timeout: -1}
		if cmd.Flags().Changed("timeout") {
			w.timeout = timeout
		}
		opts, stop := withProgress(cmd, rec, opts)
		err = w.replay(cmd.Context(), rec, opts)
		stop()
		if err != nil {
			return err
		}
		return w.result.write(cmd.OutOrStdout(), asJSON)
	}, func(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool) error {
		if when != "" {
			return cli.Usagef("--at is for recordings: in a live cluster, waiting starts now")
		}
		qualify(names, cluster.Namespace())
		stream, err := cluster.Open(cmd)
		if err != nil {
			return err
		}
		w := &podWait{until: until, timeout: timeout}
		if err := w.follow(cmd, stream, opts, names[0]); err != nil {
			return err
		}
		return w.result.write(cmd.OutOrStdout(), asJSON)
	})
	cmd.Flags().StringVar(&text, "for", "", "`CONDITION` to wait for: bound, tried, deleted, a tier, or a filter such as waiting>10m")
	cmd.Flags().DurationVar(&timeout, "timeout", waitTimeout, "give up after this time, such as 10m; 0 checks once (default in a recording: its end)")
	cmd.Flags().StringVar(&when, "at", "", "start waiting at this `TIME` of a recording: 12:03:10 (UTC), +1m30s from the start, or RFC 3339 (default the start)")
	_ = cmd.RegisterFlagCompletionFunc("for", func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		offers, directive := cobra.FixedCompletions(goalWords(), cobra.ShellCompDirectiveNoFileComp)(cmd, args, typed)
		fields, _ := cli.CompleteFilter(cmd, args, typed)
		return append(offers, fields...), directive
	})
	aboutPods(cmd, source, 1, &names)
	checkPods := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) {
		if err := checkPods(cmd, args); err != nil {
			return err
		}
		if timeout < 0 {
			return cli.Usagef("invalid --timeout %v: use 0 or more", timeout)
		}
		until, err = parseGoal(text)
		return err
	}
	return cmd
}

// startOfWait parses --at, whose default here is the start of the recording.
func startOfWait(rec *sources.Recording, when string) (time.Time, error) {
	if when == "" {
		start, _ := timeline.Span(rec)
		return start, nil
	}
	return cli.ParseTime(rec, "--at", when)
}

// goal is what to wait for: exactly one of tier, tried, deleted and filter.
type goal struct {
	text           sources.SafeText
	tier           queue.Tier
	tried, deleted bool
	filter         filter.Filter
}

// goalWords returns the conditions that are words.
func goalWords() []string {
	all := []string{"bound", "tried", "deleted"}
	for t := queue.Active; t <= queue.InFlight; t++ {
		all = append(all, words.TierWord(t))
	}
	return all
}

// parseGoal parses the value of --for.
func parseGoal(text string) (goal, error) {
	g := goal{text: sources.Sanitize(strings.TrimSpace(text))}
	switch word := strings.ToLower(string(g.text)); word {
	case "":
		return g, cli.Usagef("wait needs --for CONDITION: %s, or a filter such as waiting>10m", strings.Join(goalWords(), ", "))
	case "tried":
		g.tried = true
		return g, nil
	case "deleted":
		g.deleted = true
		return g, nil
	default:
		for t := queue.Active; t <= queue.Scheduled; t++ {
			if word == words.TierWord(t) || word == t.String() || word == t.String()+"q" {
				g.tier = t
				return g, nil
			}
		}
	}
	if !strings.ContainsAny(text, ":=<>") { // a word would match names
		err := cli.Usagef("unknown condition --for %q: use %s, or a filter such as waiting>10m", g.text, strings.Join(goalWords(), ", "))
		return g, cli.Suggest(err, string(g.text), goalWords())
	}
	var err error
	if g.filter, err = filter.Parse(text); err != nil {
		return g, cli.Usagef("--for: %w", err)
	}
	return g, nil
}

// podWait waits for one pod.
type podWait struct {
	until   goal
	key     types.NamespacedName
	start   time.Time     // when waiting starts
	timeout time.Duration // negative for none
	checked time.Time     // up to which the condition is not met
	pod     *board.Pod    // after its last move; nil before the first
	deleted time.Time     // when its object is deleted; zero if that is unknown
	result  *waitResult   // nil while waiting
}

// Outcomes of a wait.
const (
	waitMet        = "met"
	waitTimedOut   = "timeout"
	waitImpossible = "impossible"
	waitEnded      = "end"
)

// waitResult is the output of schedq wait.
type waitResult struct {
	Pod        sources.SafeText `json:"pod"`
	For        sources.SafeText `json:"for"`
	Outcome    string           `json:"outcome"`
	Time       time.Time        `json:"time"`
	Waited     report.Seconds   `json:"waitedSeconds"`
	Tier       string           `json:"tier,omitempty"`
	Attempts   int              `json:"attempts"`
	AtLeast    bool             `json:"attemptsAtLeast,omitempty"`
	Node       string           `json:"node,omitempty"`
	Provenance string           `json:"provenance,omitempty"`
}

// errWaitOver ends a replay.
var errWaitOver = errors.New("the wait is over")

// replay waits in a recording.
func (w *podWait) replay(ctx context.Context, rec *sources.Recording, opts timeline.Options) error {
	if w.until.deleted {
		for ev, err := range rec.All(ctx) {
			if err != nil {
				return err
			}
			if !ev.Time.Before(w.start) && deletes(ev, w.key) {
				w.deleted = ev.Time
				break
			}
		}
	}
	begin := w.start
	err := timeline.Replay(ctx, rec, opts, func(m *board.Transition) error {
		if m.Time.After(begin) {
			w.advance(m.Time)
		}
		if w.result == nil && m.Pod.Key == w.key {
			w.move(m)
		}
		if w.result != nil {
			return errWaitOver
		}
		return nil
	})
	if err != nil && !errors.Is(err, errWaitOver) {
		return err
	}
	_, end := timeline.Span(rec)
	w.advance(end)
	if w.result == nil {
		w.finish(end, waitEnded)
	}
	return nil
}

// deletes reports whether an event deletes the pod's object.
func deletes(ev sources.Event, key types.NamespacedName) bool {
	c, is := ev.Fact.(*sources.ObjectChange)
	if !is || c.Verb != sources.Deleted {
		return false
	}
	of, is := cluster.PodOf(ev)
	return is && of == key
}

// move applies a move of the pod.
func (w *podWait) move(m *board.Transition) {
	if w.pod == nil && m.Time.After(w.start) {
		w.start = m.Time // waiting starts when the pod exists
	}
	w.pod = m.Pod
	if m.Time.Before(w.start) {
		return
	}
	if w.until.tried && m.From == queue.InFlight && m.To != queue.InFlight && m.To != queue.Deleted {
		w.finish(m.Time, waitMet)
		return
	}
	w.advance(m.Time)
}

// advance checks the condition from the last check up to a time.
func (w *podWait) advance(to time.Time) {
	if w.result != nil || to.Before(w.start) {
		return
	}
	over := w.timeout >= 0 && to.Sub(w.start) >= w.timeout
	if over {
		to = w.start.Add(w.timeout)
	}
	for _, at := range w.instants(to) {
		if w.holds(at) {
			w.finish(at, waitMet)
			return
		}
	}
	w.checked = to
	switch {
	case w.pod != nil && (w.pod.Tier == queue.Deleted || w.pod.Tier == queue.Scheduled && !w.until.deleted):
		w.finish(to, waitImpossible)
	case over:
		w.finish(to, waitTimedOut)
	}
}

// instants returns the times up to to at which the condition may start to hold, in order.
func (w *podWait) instants(to time.Time) []time.Time {
	from := w.start
	if w.checked.After(from) {
		from = w.checked
	}
	all := []time.Time{from, to}
	if w.pod != nil {
		for _, d := range w.until.filter.Waits() {
			at := w.pod.Arrived.Add(d)
			all = append(all, at, at.Add(1)) // for >= and for >
		}
	}
	all = append(all, w.deleted)
	all = slices.DeleteFunc(all, func(at time.Time) bool { return at.Before(from) || at.After(to) })
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// holds reports whether the condition is met at a time since the pod's last move.
func (w *podWait) holds(at time.Time) bool {
	switch {
	case w.until.deleted:
		return w.pod != nil && w.pod.Tier == queue.Deleted || !w.deleted.IsZero() && !at.Before(w.deleted)
	case w.pod == nil || w.until.tried:
		return false
	case w.until.tier != queue.None:
		return w.pod.Facts(at).Tier == w.until.tier
	default:
		return w.until.filter.Match(w.pod.Facts(at))
	}
}

// finish ends the wait.
func (w *podWait) finish(at time.Time, outcome string) {
	r := &waitResult{Pod: sources.Sanitize(w.key.String()), For: w.until.text, Outcome: outcome, Time: at.UTC(), Waited: report.Seconds(max(0, at.Sub(w.start)))}
	if p := w.pod; p != nil {
		r.Tier, r.Attempts, r.AtLeast = p.Facts(at).Tier.String(), p.Attempts, p.AttemptsAtLeast
		r.Node, r.Provenance = p.Node, p.Provenance()
	}
	w.result = r
}

// write prints r. The error is nil if the condition is met.
func (r *waitResult) write(out io.Writer, asJSON bool) error {
	var err error
	if asJSON {
		err = cli.WriteJSON(out, r)
	} else {
		err = cli.WriteText(out, r.String()+"\n")
	}
	if err != nil {
		return err
	}
	switch r.Outcome {
	case waitTimedOut:
		return fmt.Errorf("timed out waiting for the condition %q on %s", r.For, r.Pod)
	case waitImpossible:
		return fmt.Errorf("the condition %q on %s can't be met any more", r.For, r.Pod)
	case waitEnded:
		return fmt.Errorf("the recording ends before the condition %q on %s is met", r.For, r.Pod)
	}
	return nil
}

// String returns r for people.
func (r *waitResult) String() string {
	is := string(r.For)
	if r.Outcome != waitMet {
		is = "not " + is
	}
	s := fmt.Sprintf("%s: %s after %s, at %s UTC", r.Pod, is, brief(r.Waited), r.Time.Format("2006-01-02 15:04:05.000"))
	facts := []string{"not in the queue"}
	if r.Tier != "" {
		facts = []string{words.TierNamed(r.Tier), words.AttemptCount{N: r.Attempts, AtLeast: r.AtLeast}.Attempts(), r.Provenance}
		if r.Node != "" {
			facts[0] += " to " + string(sources.Sanitize(r.Node))
		}
	}
	return s + " (" + strings.Join(facts, ", ") + ")"
}

// follow waits in a live cluster for the pod of that name.
func (w *podWait) follow(cmd *cobra.Command, stream sources.Stream, opts timeline.Options, name string) error {
	begun := time.Now()
	tap := &podTap{Stream: stream, pods: map[types.NamespacedName]*v1.Pod{}}
	status := cli.NewStatusPrinter(cmd.ErrOrStderr())
	var attached time.Time
	err := timeline.Follow(cmd.Context(), tap, opts, timeline.Handlers{
		Status: func(s sources.Status) {
			status.Print(s)
			attached = s.Attached
		},
		Move: func(m *board.Transition) error {
			if m.Pod.Key == w.key && w.result == nil {
				w.move(m)
			}
			return nil
		},
		Idle: func(b *board.Board, now time.Time) (err error) {
			switch {
			case w.result != nil:
				return errWaitOver
			case attached.IsZero():
				if time.Since(begun) > cmp.Or(w.timeout, waitTimeout) {
					return fmt.Errorf("timed out waiting for the cluster's objects: see schedq doctor")
				}
				return nil
			case w.key.Name == "":
				if w.key, err = tap.find(name); err != nil {
					return err
				}
				w.start = now
			}
			w.look(b, tap, now)
			if w.result != nil {
				return errWaitOver
			}
			return nil
		},
	})
	switch {
	case errors.Is(err, errWaitOver):
		return nil
	case err == nil:
		return context.Canceled
	}
	return err
}

// look checks the condition now.
func (w *podWait) look(b *board.Board, tap *podTap, now time.Time) {
	object := tap.pods[w.key]
	switch p := b.Get(w.key); {
	case p != nil:
		w.pod = p
	case w.pod == nil && object != nil && object.Spec.NodeName != "": // bound before
		w.pod = &board.Pod{Key: w.key, Node: object.Spec.NodeName, Observed: true}
		w.pod.Tier = queue.Scheduled
		w.pod.PodInfo.Pod = object
	}
	if object == nil && w.deleted.IsZero() {
		w.deleted = now
	}
	if w.pod == nil && object != nil && now.Sub(w.start) < collectTime {
		return // the model is not there yet
	}
	w.advance(now)
}

// podTap is a stream that records which pods exist.
type podTap struct {
	sources.Stream
	pods map[types.NamespacedName]*v1.Pod
}

// Take implements sources.Stream.
func (t *podTap) Take() ([]sources.Event, sources.Status) {
	events, status := t.Stream.Take()
	for _, ev := range events {
		c, is := ev.Fact.(*sources.ObjectChange)
		if !is {
			continue
		}
		pod, is := c.Object.(*v1.Pod)
		if !is {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		if c.Verb == sources.Deleted {
			delete(t.pods, key)
		} else {
			t.pods[key] = pod
		}
	}
	return events, status
}

// find returns the pod of that name: NAMESPACE/NAME, or NAME if only one namespace has it.
func (t *podTap) find(name string) (types.NamespacedName, error) {
	var found []string
	var key types.NamespacedName
	for k := range t.pods {
		if k.Name == name || k.String() == name {
			found, key = append(found, k.String()), k
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return key, fmt.Errorf("pod %s not found", sources.Sanitize(name))
	case 1:
		return key, nil
	}
	return key, fmt.Errorf("%d pods match %s: %s", len(found), sources.Sanitize(name), sources.Sanitize(strings.Join(found, ", ")))
}
