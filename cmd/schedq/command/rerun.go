package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewRerun returns schedq rerun.
func NewRerun() *cobra.Command {
	var against string
	var with []string
	var maxPods int
	cmd := &cobra.Command{
		Use:   "rerun FILE... [--release RELEASE] [--with SETTING=VALUE] [--scheduler-config CONFIG]",
		Short: "Rerun a recording under another release or other settings and compare the results",
		Long: `Let a local scheduler decide over a recording's pods and nodes twice and compare the results: once as
the recorded scheduler was, and once with what --release, --with and --scheduler-config change. The
recorded scheduler's moves, bindings and preemptions are dropped. Both runs use the plugins of the
newest release, and --feature-gates applies to both.`,
		Example: `  schedq rerun audit.log.gz --release v1.24
  schedq rerun audit.log.gz --with podMaxBackoffSeconds=2
  schedq rerun audit.log.gz --scheduler-config proposed.yaml`,
	}
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if set := cmd.Flags().Changed; !set("release") && !set("with") && !set("scheduler-config") {
			return cli.Usagef("rerun needs a difference: use --release with one of %s, --with SETTING=VALUE, or --scheduler-config", strings.Join(queue.Releases(), ", "))
		}
		if _, err := queue.ForRelease(against); against != "" && err != nil {
			return cli.Usagef("--against: %w", err)
		}
		if err := applySettings(with, new(queue.Defaults())); err != nil {
			return err
		}
		if maxPods < 0 {
			return cli.Usagef("invalid --pods %d: use 0 or more", maxPods)
		}
		return nil
	}
	cmd = headlessFrom(&sourceFlags{memory: cli.RerunMemory}, &cli.Output{}, cmd, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		from, to := opts, opts
		from.Release = ""
		from.Release = cmp.Or(against, from.ReleaseFor(rec))
		to.Release = cmp.Or(to.Release, from.Release)
		changed := slices.Clone(with)
		if config := cmd.Flags().Lookup("scheduler-config"); config.Changed {
			from.Scheduler = nil
			changed = append(changed, filepath.Base(config.Value.String()))
		}
		if len(changed) == 0 && to.Release == from.Release {
			return cli.Usagef("both runs would be of %s: use another --release, or --with SETTING=VALUE", from.Release)
		}
		if err := withSettings(rec, &to, with); err != nil {
			return err
		}
		to, stop := withProgress(cmd, rec, to)
		c, err := report.Compare(cmd.Context(), rec, from, to)
		stop()
		if err != nil {
			return err
		}
		name := sources.Sanitize(strings.TrimSuffix(string(rec.Name), " under "+opts.Release))
		c.From.Source, c.To.Source = name, name
		c.Runs = [2]string{from.Release, to.Release}
		if len(changed) > 0 {
			c.Runs[1] += " with " + strings.Join(changed, ", ")
		}
		if asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), c)
		}
		return writeComparison(cmd.OutOrStdout(), c, maxPods)
	}, nil)
	cmd.Flags().StringVar(&against, "against", "", "release to compare with; default the recorded scheduler's")
	cmd.Flags().StringSliceVar(&with, "with", nil, "change a `SETTING=VALUE` of the rerun: "+strings.Join(settingNames(), ", "))
	cmd.Flags().IntVar(&maxPods, "pods", 10, "how many of the pods that differ to print")
	return cmd
}

// settings are what --with can change, as kube-scheduler spells it: fields of KubeSchedulerConfiguration, a
// flag, and a feature gate.
var settings = []struct {
	name string
	set  func(o *queue.Options, value string) error
}{
	{"podInitialBackoffSeconds", seconds(func(o *queue.Options) *time.Duration { return &o.PodInitialBackoff })},
	{"podMaxBackoffSeconds", seconds(func(o *queue.Options) *time.Duration { return &o.PodMaxBackoff })},
	{"podMaxInUnschedulablePodsDuration", func(o *queue.Options, value string) (err error) {
		if o.PodMaxInUnschedulablePods, err = time.ParseDuration(value); err == nil && o.PodMaxInUnschedulablePods <= 0 {
			err = errors.New("use a duration above 0, such as 1m")
		}
		return err
	}},
	{"SchedulerPopFromBackoffQ", func(o *queue.Options, value string) (err error) {
		if o.PopFromBackoffQ, err = strconv.ParseBool(value); err != nil {
			err = errors.New("use true or false")
		}
		return err
	}},
}

// seconds returns a function that sets a duration to a whole number of seconds.
func seconds(of func(*queue.Options) *time.Duration) func(*queue.Options, string) error {
	return func(o *queue.Options, value string) error {
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return errors.New("use a whole number of seconds")
		}
		*of(o) = time.Duration(n) * time.Second
		return nil
	}
}

func settingNames() (names []string) {
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

// applySettings applies the values of --with to o.
func applySettings(with []string, o *queue.Options) error {
	for _, each := range with {
		name, value, _ := strings.Cut(each, "=")
		i := slices.Index(settingNames(), name)
		if i < 0 {
			return cli.Usagef("--with: unknown setting %q: use one of %s", name, strings.Join(settingNames(), ", "))
		}
		if err := settings[i].set(o, value); err != nil {
			return cli.Usagef("invalid --with %s: %w", each, err)
		}
	}
	if o.PodMaxBackoff < o.PodInitialBackoff || o.PodInitialBackoff == 0 { // as upstream's validation
		return cli.Usagef("--with: podInitialBackoffSeconds must be above 0 and at most podMaxBackoffSeconds, and they would be %g and %g",
			o.PodInitialBackoff.Seconds(), o.PodMaxBackoff.Seconds())
	}
	return nil
}

// withSettings applies the values of --with to the settings that opts has for rec.
func withSettings(rec *sources.Recording, opts *timeline.Options, with []string) error {
	if len(with) == 0 {
		return nil
	}
	if opts.Scheduler != nil {
		changed := *opts.Scheduler
		opts.Scheduler = &changed
		return applySettings(with, &changed.Queue)
	}
	o := timeline.RecordedOptions(timeline.RecordedScheduler(rec))
	opts.Queue = &o
	return applySettings(with, &o)
}

// maxNodes limits how many nodes are printed.
const maxNodes = 5

// writePlacement writes on which nodes the runs of c bind pods.
func writePlacement(text *strings.Builder, c *report.Comparison) {
	p := c.Placement
	if p == nil {
		return
	}
	from, to := c.Runs[0], c.Runs[1]
	write := func(heading string, counts []report.BoundCount) {
		rows := [][]string{{heading, from, to}}
		for _, b := range counts {
			rows = append(rows, []string{string(b.Name), strconv.Itoa(b.From), strconv.Itoa(b.To)})
		}
		cli.WriteNumbers(text, rows)
	}
	if len(p.Zones) > 0 {
		write("bound in zone", p.Zones)
	}
	write("bound to node", p.Nodes[:min(maxNodes, len(p.Nodes))])
	if left := len(p.Nodes) - maxNodes; left > 0 {
		fmt.Fprintf(text, "and %s with smaller differences\n", words.Plural(left, "node"))
	}
	fmt.Fprintf(text, "%d of %s bound in both runs are on another node.\n", len(p.Moved), words.Plural(p.BoundInBoth, "pod"))
	f := p.Fullest
	if f == nil {
		return
	}
	full := [][]string{{"nodes when fullest", from, to}}
	for _, row := range f.Rows() {
		full = append(full, []string{row.Text, row.From, row.To})
	}
	cli.WriteNumbers(text, full)
	fmt.Fprintf(text, "At %s UTC, when pods on the nodes requested most CPU.", f.Time.Format(time.DateTime))
	if median := f.Median(); median != "" {
		fmt.Fprintf(text, " The median pod requests %s.", median)
	}
	text.WriteByte('\n')
}

// writeComparison writes c for people, with the maxPods pods that differ most.
func writeComparison(w io.Writer, c *report.Comparison, maxPods int) error {
	from, to := c.Runs[0], c.Runs[1]
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s UTC: %d moves under %s, %d under %s, %d in both\n", c.From.Source, words.Zone{}.Range(c.From.Start, c.From.End), c.From.Moves, from, c.To.Moves, to, c.Same)
	a, b := c.From.Attempts, c.To.Attempts
	attempts := [][]string{
		{"", from, to},
		{"attempts", strconv.Itoa(a.Total), strconv.Itoa(b.Total)},
		{"rejected", strconv.Itoa(a.Rejected), strconv.Itoa(b.Rejected)},
		{"pods bound", strconv.Itoa(a.Bound), strconv.Itoa(b.Bound)},
	}
	tiers := [][]string{{"time in", from, to}}
	for _, t := range c.Tiers() {
		tiers = append(tiers, []string{words.TierNamed(t.Tier), brief(t.From.Total), brief(t.To.Total)})
	}
	wakes := [][]string{{"woken by", from, to}}
	for _, p := range c.Wakes() {
		wakes = append(wakes, []string{p.Event, strconv.Itoa(p.From), strconv.Itoa(p.To)})
	}
	cli.WriteNumbers(&text, attempts, tiers, wakes)
	writePlacement(&text, c)
	shown := c.Pods[:min(maxPods, len(c.Pods))]
	if len(shown) > 0 {
		outcome := func(o report.Outcome) string {
			return words.TierNamed(o.Tier) + " after " + brief(o.Waited) + ", " + o.AttemptCount().Attempts()
		}
		pods := [][]string{{"pods that differ", from, to}}
		for _, p := range shown {
			pods = append(pods, []string{p.Pod, outcome(p.From), outcome(p.To)})
		}
		text.WriteByte('\n')
		cli.WriteColumns(&text, pods)
	}
	if left := len(c.Pods) - len(shown); left > 0 {
		fmt.Fprintf(&text, "and %d more\n", left)
	}
	if d := c.First; d != nil {
		only := map[string]string{"missed": from, "extra": to}[d.Kind]
		fmt.Fprintf(&text, "\nFirst move only under %s: %s UTC  %s  → %s\n", only, d.Time.UTC().Format(time.DateTime+".000"), d.Pod, formatMove(d.To, d.Event))
	}
	return cli.WriteText(w, text.String())
}
