package command

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewReport returns schedq report.
func NewReport() *cobra.Command {
	var lasts time.Duration
	var only cli.Filter
	read := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		opts.Filter = only.Filter
		opts, end := playing(cmd, rec, opts)
		report, err := report.Summarize(cmd.Context(), rec, opts)
		end()
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), report)
		}
		return writeReport(cmd.OutOrStdout(), report)
	}
	cmd := headless(&cobra.Command{
		Use:   "report [FILE...]",
		Short: "Sum a recording up: dwell times, attempts, wake events, plugins",
		Long: `report sums a recording up. Without a FILE it watches a live cluster until it is stopped, or for as long as
--for says, and sums that up.`,
	}, read, func(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options, asJSON bool) error {
		if cluster.Namespace() != "" {
			return cli.Usagef("a report is about the queue as a whole: leave -n out")
		}
		if lasts < 0 {
			return cli.Usagef("--for %s is less than no time", lasts)
		}
		defer Within(cmd, lasts)()
		rec, err := cluster.Collect(cmd, 0)
		if err != nil {
			return err
		}
		cmd.SetContext(context.WithoutCancel(cmd.Context())) // being stopped is what it waited for
		return read(cmd, rec, opts, asJSON)
	})
	only.Register(cmd, "report only on pods that at some time were one of those")
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long to watch a live cluster; until it is stopped if 0")
	return cmd
}

func writeReport(w io.Writer, r *report.Report) error {
	fmt.Fprintf(w, "%s: %s to %s (%s)\n", r.Source, r.Start.UTC().Format(time.DateTime), r.End.UTC().Format(time.TimeOnly), r.End.Sub(r.Start).Round(time.Second))
	fmt.Fprintf(w, "%d pods, %d moves, %d of them modelled\n", r.Pods, r.Moves, r.Modelled)
	if s := r.Scheduler; s != nil && s.From != "" {
		fmt.Fprintf(w, "kube-scheduler %s (%s)\n", s.Release, s.From.Words())
	}
	if r.LeftOut != "" {
		fmt.Fprintln(w, r.LeftOut)
	}
	a := r.Attempts
	fmt.Fprintf(w, "%d attempts: %d rejected, %d failed by an error, %d pods bound (median %d attempts, at most %d)\n",
		a.Total, a.Rejected, a.Errors, a.Bound, a.Median, a.Max)
	for _, q := range r.Silences {
		fmt.Fprintln(w, q.Sentence)
	}

	tiers := [][]string{{"time in", "stays", "median", "90 %", "longest", "total", "still there"}}
	for _, t := range r.Tiers {
		tiers = append(tiers, []string{words.TierNamed(t.Tier), strconv.Itoa(t.Stays), brief(t.Median), brief(t.P90), brief(t.Max), brief(t.Total), strconv.Itoa(t.Left)})
	}
	wakes := [][]string{{"woken by", "moves", "to active", "to backoff", "to gated", "then bound"}}
	for _, e := range r.Wakes {
		wakes = append(wakes, []string{e.Event, strconv.Itoa(e.Total()), strconv.Itoa(e.ToActive), strconv.Itoa(e.ToBackoff), strconv.Itoa(e.ToGated), strconv.Itoa(e.Helped)})
	}
	plugins := [][]string{{"rejected by", "attempts", "pods", "waited in all"}}
	for _, p := range r.Plugins {
		plugins = append(plugins, []string{p.Plugin, strconv.Itoa(p.Attempts), strconv.Itoa(p.Pods), brief(p.Waited)})
	}
	if err := cli.WriteNumbers(w, tiers, wakes, plugins); err != nil {
		return err
	}
	return writeLongest(w, r.Longest)
}

// writeLongest writes which pods were in the queue for longest.
func writeLongest(w io.Writer, pods []report.LongestReport) error {
	if len(pods) == 0 {
		return nil
	}
	rows := [][]string{{"waited longest", "for", "at last", "attempts", "rejected by"}}
	for _, p := range pods {
		rows = append(rows, []string{string(p.Pod), brief(p.Waited), words.TierNamed(p.Tier), strconv.Itoa(p.Attempts), strings.Join(p.Plugins, ", ")})
	}
	b := strings.Builder{}
	b.WriteByte('\n')
	cli.WriteColumns(&b, rows)
	_, err := io.WriteString(w, b.String())
	return err
}

// brief writes a duration with three figures or so.
func brief(s report.Seconds) string {
	d := time.Duration(s)
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
