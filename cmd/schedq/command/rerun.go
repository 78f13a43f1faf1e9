package command

import (
	"cmp"
	"fmt"
	"io"
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
	var maxPods int
	cmd := &cobra.Command{
		Use:   "rerun FILE... --release RELEASE",
		Short: "Rerun a recording under another release and compare the results",
		Long: `Let a local scheduler decide over a recording's pods and nodes twice and compare the results: under
the queue rules of --against, by default the recorded scheduler's own release, and under those of
--release. The recorded scheduler's moves, bindings and preemptions are dropped. Both runs use the
plugins of the newest release.`,
		Example: "  schedq rerun audit.log.gz --release v1.24",
	}
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("release") {
			return cli.Usagef("rerun needs --release: use one of %s", strings.Join(queue.Releases(), ", "))
		}
		if _, err := queue.ForRelease(against); against != "" && err != nil {
			return cli.Usagef("--against: %w", err)
		}
		if maxPods < 0 {
			return cli.Usagef("invalid --pods %d: use 0 or more", maxPods)
		}
		return nil
	}
	cmd = headlessFrom(&sourceFlags{memory: cli.RerunMemory}, cmd, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		from := opts
		from.Release = ""
		from.Release = cmp.Or(against, from.ReleaseFor(rec))
		to, stop := withProgress(cmd, rec, opts)
		c, err := report.Compare(cmd.Context(), rec, from, to)
		stop()
		if err != nil {
			return err
		}
		if asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), c)
		}
		return writeComparison(cmd.OutOrStdout(), c, from.Release, opts.Release, maxPods)
	}, nil)
	cmd.Flags().StringVar(&against, "against", "", "release to compare with; default the recorded scheduler's")
	cmd.Flags().IntVar(&maxPods, "pods", 10, "how many of the pods that differ to print")
	return cmd
}

// writeComparison writes c for people, with the maxPods pods that differ most.
func writeComparison(w io.Writer, c *report.Comparison, from, to string, maxPods int) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, rerun under %s and %s: %d and %d moves, %d in both\n",
		c.From.Source, from, to, c.From.Moves, c.To.Moves, c.Same)
	a, b := c.From.Attempts, c.To.Attempts
	attempts := [][]string{
		{"", from, to},
		{"attempts", strconv.Itoa(a.Total), strconv.Itoa(b.Total)},
		{"rejected", strconv.Itoa(a.Rejected), strconv.Itoa(b.Rejected)},
		{"pods bound", strconv.Itoa(a.Bound), strconv.Itoa(b.Bound)},
	}
	for _, t := range c.Tiers() {
		attempts = append(attempts, []string{"time in " + words.TierNamed(t.Tier), brief(t.From.Total), brief(t.To.Total)})
	}
	wakes := [][]string{{"woken by", from, to}}
	for _, p := range c.Wakes() {
		wakes = append(wakes, []string{p.Event, strconv.Itoa(p.From), strconv.Itoa(p.To)})
	}
	cli.WriteNumbers(&text, attempts, wakes)
	shown := c.Pods[:min(maxPods, len(c.Pods))]
	if len(shown) > 0 {
		pods := [][]string{{"pods that differ", "attempts", "waited", "", "attempts", "waited", ""}}
		for _, p := range shown {
			pods = append(pods, []string{p.Pod,
				strconv.Itoa(p.From.Attempts), brief(p.From.Waited), words.TierNamed(p.From.Tier),
				strconv.Itoa(p.To.Attempts), brief(p.To.Waited), words.TierNamed(p.To.Tier)})
		}
		cli.WriteNumbers(&text, pods)
	}
	if left := len(c.Pods) - len(shown); left > 0 {
		fmt.Fprintf(&text, "and %d more\n", left)
	}
	if d := c.First; d != nil {
		only := map[string]string{"missed": from, "extra": to}[d.Kind]
		fmt.Fprintf(&text, "\nFirst move that only %s makes: %s  %s  → %s\n", only, d.Time.Format(time.DateTime+".000"), d.Pod, formatMove(d.To, d.Event))
	}
	return cli.WriteText(w, text.String())
}
