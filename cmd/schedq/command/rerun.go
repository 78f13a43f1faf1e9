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
	var most int
	cmd := &cobra.Command{
		Use:   "rerun FILE... --release RELEASE",
		Short: "Run a recording again under another release, and say what came out differently",
		Long: `rerun lets a local scheduler decide over a recording's pods and nodes, once under the queue's rules of
--against, which is the recorded scheduler's own release if it is left out, and once under those of --release, and
compares what came of it. The recorded scheduler's own
moves, bindings and preemptions are left out. The plugins are those of the newest release in both.`,
		Example: "  schedq rerun audit.log.gz --release v1.24",
	}
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("release") {
			return cli.Usagef("rerun needs --release, one of %s", strings.Join(queue.Releases(), ", "))
		}
		if _, err := queue.ForRelease(against); against != "" && err != nil {
			return cli.Usagef("--against: %w", err)
		}
		if most < 0 {
			return cli.Usagef("--pods %d is less than 0", most)
		}
		return nil
	}
	cmd = headlessOf(&sourceFlags{room: cli.RoomToRerun}, cmd, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		from := opts
		from.Release = ""
		from.Release = cmp.Or(against, from.ReleaseFor(rec))
		to, end := playing(cmd, rec, opts)
		c, err := report.Compare(cmd.Context(), rec, from, to)
		end()
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), c)
		}
		return writeComparison(cmd.OutOrStdout(), c, from.Release, opts.Release, most)
	}, nil)
	cmd.Flags().StringVar(&against, "against", "", "the release to compare with, if not the recorded scheduler's own")
	cmd.Flags().IntVar(&most, "pods", 10, "how many of the pods that came out differently to print")
	return cmd
}

// writeComparison writes c for a person, with the most different of its pods.
func writeComparison(w io.Writer, c *report.Comparison, from, to string, most int) error {
	fmt.Fprintf(w, "%s, run again under %s and under %s: %d and %d moves, %d of them the same\n",
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
	tables := [][][]string{attempts, wakes}
	shown := c.Pods[:min(most, len(c.Pods))]
	if len(shown) > 0 {
		pods := [][]string{{"pods that came out differently", "attempts", "waited", "", "attempts", "waited", ""}}
		for _, p := range shown {
			pods = append(pods, []string{p.Pod,
				strconv.Itoa(p.From.Attempts), brief(p.From.Waited), words.TierNamed(p.From.Tier),
				strconv.Itoa(p.To.Attempts), brief(p.To.Waited), words.TierNamed(p.To.Tier)})
		}
		tables = append(tables, pods)
	}
	if err := cli.WriteNumbers(w, tables...); err != nil {
		return err
	}
	if left := len(c.Pods) - len(shown); left > 0 {
		fmt.Fprintf(w, "and %d more\n", left)
	}
	if d := c.First; d != nil {
		only := map[string]string{"missed": from, "extra": to}[d.Kind]
		fmt.Fprintf(w, "\nThe first move that only %s makes: %s  %s  → %s\n", only, d.Time.Format(time.DateTime+".000"), d.Pod, move(d.To, d.Event))
	}
	return nil
}
