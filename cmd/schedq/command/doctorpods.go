package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// podsDoctor is schedq doctor --pods.
type podsDoctor struct {
	on    bool
	lasts time.Duration
	only  cli.Filter
	model cli.Model
	flags []string // that need --pods
}

// verdictsTake is how long it takes until each verdict can be given: the leftover flush retries a pod after five minutes, it is
// checked twice in a minute, and the pod may wait for another minute in activeQ.
const verdictsTake = 7 * time.Minute

// register adds --pods to cmd, and all flags that need it: those of cluster that doctor does not have without.
func (d *podsDoctor) register(cmd *cobra.Command, cluster *kubeFlags) {
	set := cmd.Flags()
	set.BoolVar(&d.on, "pods", false, "watch the waiting pods, and report those that the scheduler lost, forgot, holds or starves; the exit code is 1 if there are any")
	without := &cobra.Command{}
	(&kubeFlags{}).RegisterCluster(without)
	set.VisitAll(func(f *pflag.Flag) { without.Flags().AddFlag(f) })
	cluster.Register(cmd)
	set.DurationVar(&d.lasts, "for", verdictsTake, "with --pods, watch for this long after attaching; some verdicts take 7m")
	d.only.Register(cmd, "with --pods, only report pods")
	d.model.Register(cmd)
	set.VisitAll(func(f *pflag.Flag) {
		if without.Flags().Lookup(f.Name) == nil {
			d.flags = append(d.flags, f.Name)
		}
	})
}

// changed returns the name of a flag that the command line sets and that needs --pods, or "".
func (d *podsDoctor) changed(cmd *cobra.Command) string {
	for _, name := range d.flags {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// podsDiagnosis is the result of doctor --pods.
type podsDiagnosis struct {
	Cluster sources.SafeText `json:"cluster"`
	// Start and End are when the watch was attached and when it ended.
	Start   time.Time      `json:"start"`
	End     time.Time      `json:"end"`
	Watched report.Seconds `json:"watchedSeconds"`
	Pending int            `json:"pending"`
	Pods    []judgedPod    `json:"pods"`
}

// judgedPod is a pod with a verdict.
type judgedPod struct {
	Pod     sources.SafeText `json:"pod"`
	Verdict *opinion.Shown   `json:"verdict"`
	// name and lines are the verdict for people.
	name  string
	lines []string
}

// judged returns p for output.
func judged(key types.NamespacedName, v *opinion.Verdict) judgedPod {
	j := judgedPod{Pod: sources.Sanitize(key.String()), Verdict: v.Of(key, words.Zone{}), name: v.Name()}
	for _, e := range v.Evidence {
		j.lines = append(j.lines, e.Line(words.Zone{}))
	}
	return j
}

// errWatched ends the watch.
var errWatched = errors.New("watched for long enough")

// run watches the cluster and prints the verdicts.
func (d *podsDoctor) run(cmd *cobra.Command, cluster *kubeFlags, asJSON bool) error {
	if d.lasts <= 0 {
		return cli.Usagef("invalid --for %s: use a positive duration", d.lasts)
	}
	if err := d.model.CheckLive(); err != nil {
		return err
	}
	opts, err := d.model.Options(cmd.Context())
	if err != nil {
		return err
	}
	if opts, err = cluster.Options(opts); err != nil {
		return err
	}
	stream, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	if d.lasts >= time.Minute {
		fmt.Fprintf(cmd.ErrOrStderr(), "schedq: watching for %s; an interrupt ends it earlier\n", words.Short(d.lasts))
	}
	result, err := d.watch(cmd, cluster, stream, opts)
	if err != nil {
		return err
	}
	if asJSON {
		err = cli.WriteJSON(cmd.OutOrStdout(), result)
	} else {
		err = cli.WriteText(cmd.OutOrStdout(), result.String())
	}
	if n := len(result.Pods); err == nil && n > 0 {
		err = fmt.Errorf("%s with a verdict", words.Plural(n, "pod"))
	}
	return err
}

// watch follows stream and returns the verdicts at the end, and those on pods that were bound meanwhile.
func (d *podsDoctor) watch(cmd *cobra.Command, cluster *kubeFlags, stream sources.Stream, opts timeline.Options) (*podsDiagnosis, error) {
	result := &podsDiagnosis{Cluster: stream.Name(), Pods: []judgedPod{}}
	status := cli.NewStatusPrinter(cmd.ErrOrStderr())
	begun := time.Now()
	var last *board.Board
	var unserved []*board.Pod
	shows := func(p *board.Pod, now time.Time) bool {
		return cluster.Shows(p.Key.Namespace) && d.only.Filter.Match(p.Facts(now))
	}
	err := timeline.Follow(cmd.Context(), stream, opts, timeline.Handlers{
		Status: func(s sources.Status) {
			status.Print(s)
			result.Start = s.Attached
		},
		Verdict: func(at time.Time, p *board.Pod) {
			if p.Opinion != nil && p.Opinion.Code == opinion.MissedWakeUp && shows(p, at) { // it is being bound
				result.Pods = append(result.Pods, judged(p.Key, p.Opinion))
			}
		},
		Unserved: func(pods []*board.Pod) { unserved = pods },
		Idle: func(b *board.Board, now time.Time) error {
			last, result.End = b, now
			switch {
			case result.Start.IsZero() && time.Since(begun) > waitTimeout: // as schedq wait does
				return errors.New("timed out waiting for the cluster's objects: see schedq doctor")
			case !result.Start.IsZero() && now.Sub(result.Start) >= d.lasts:
				return errWatched
			}
			return nil
		},
	})
	switch {
	case err != nil && !errors.Is(err, errWatched):
		return nil, err
	case result.Start.IsZero():
		return nil, context.Canceled
	}
	add := func(p *board.Pod) {
		if cluster.Shows(p.Key.Namespace) {
			result.Pending++
		}
		if p.Opinion != nil && p.Opinion.Code != opinion.MissedWakeUp && shows(p, result.End) {
			result.Pods = append(result.Pods, judged(p.Key, p.Opinion))
		}
	}
	for _, tier := range board.Tiers {
		for i := range last.Len(tier) {
			add(last.At(tier, i))
		}
	}
	for _, p := range unserved {
		add(p)
	}
	result.Watched = report.Seconds(max(0, result.End.Sub(result.Start)))
	slices.SortFunc(result.Pods, func(a, b judgedPod) int {
		return cmp.Or(cmp.Compare(rank(a.Verdict.Code), rank(b.Verdict.Code)), cmp.Compare(a.name, b.name), a.Verdict.Since.Compare(b.Verdict.Since), cmp.Compare(a.Pod, b.Pod))
	})
	return result, nil
}

// rank orders verdicts: the scheduler's faults first, and last the pods for which it does what it should.
func rank(code opinion.Code) int {
	if code == opinion.Held {
		return len(opinion.Codes())
	}
	return slices.Index(opinion.Codes(), code)
}

// summary counts the verdicts: "1 lost, 2 starved?".
func (d *podsDiagnosis) summary() string {
	var parts []string
	for i := 0; i < len(d.Pods); {
		n := 0
		for _, p := range d.Pods[i:] {
			if p.name == d.Pods[i].name {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, d.Pods[i].name))
		i += n
	}
	return strings.Join(parts, ", ")
}

// String returns d for people.
func (d *podsDiagnosis) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: watched for %s, %s pending\n", d.Cluster, words.Short(time.Duration(d.Watched).Round(time.Second)), words.Plural(d.Pending, "pod"))
	if len(d.Pods) == 0 {
		b.WriteString("No pod has a verdict: they wait as they should, as far as is known.\n")
	} else {
		fmt.Fprintf(&b, "%s\n", d.summary())
	}
	if time.Duration(d.Watched) < verdictsTake-time.Second {
		fmt.Fprintf(&b, "Some verdicts take %s.\n", words.Short(verdictsTake))
	}
	for _, p := range d.Pods {
		fmt.Fprintf(&b, "\n%s: %s\n  %s\n", p.Pod, p.name, p.Verdict.Sentence)
		for _, line := range p.lines {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		fmt.Fprintf(&b, "  %s\n", p.Verdict.Helps)
		for _, command := range p.Verdict.Commands {
			fmt.Fprintf(&b, "    %s\n", command)
		}
	}
	return b.String()
}
