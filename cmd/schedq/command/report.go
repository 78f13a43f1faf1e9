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
	var duration time.Duration
	var only cli.Filter
	read := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		opts.Filter = only.Filter
		opts, stop := withProgress(cmd, rec, opts)
		report, err := report.Summarize(cmd.Context(), rec, opts)
		stop()
		if err != nil {
			return err
		}
		if asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), report)
		}
		return writeReport(cmd.OutOrStdout(), report)
	}
	cmd := headless(&cobra.Command{
		Use:   "report [FILE...]",
		Short: "Summarize a recording: dwell times, attempts, wake events, plugins",
		Long: `Summarize a recording. Without a FILE, watch a live cluster until interrupted, or for the duration of
--for, and summarize that.`,
		Example: "  schedq report audit.log.gz sched.log.gz\n  schedq report --context prod --for 10m -o json",
	}, read, func(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool) error {
		if cluster.Namespace() != "" {
			return cli.Usagef("-n does not apply to reports, which cover the whole queue: use --filter ns:NAME")
		}
		if duration < 0 {
			return cli.Usagef("invalid --for %s: use a positive duration", duration)
		}
		defer withTimeout(cmd, duration)()
		rec, err := cluster.Collect(cmd, 0)
		if err != nil {
			return err
		}
		cmd.SetContext(context.WithoutCancel(cmd.Context())) // the interrupt ends the watch, not the report
		return read(cmd, rec, opts, asJSON)
	})
	only.Register(cmd, "only report on pods at some time")
	cmd.Flags().DurationVar(&duration, "for", 0, "watch a live cluster for this long; 0 is until interrupted")
	return cmd
}

// verdictsShown limits how many verdicts are printed for people.
const verdictsShown = 20

// writeReport writes r for people.
func writeReport(w io.Writer, r *report.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s UTC (%s)\n", r.Source, words.Zone{}.Range(r.Start, r.End), r.End.Sub(r.Start).Round(time.Second))
	fmt.Fprintf(&b, "%d pods, %d moves, %d of them modelled\n", r.Pods, r.Moves, r.Modelled)
	if s := r.Scheduler; s != nil && s.From != "" {
		fmt.Fprintf(&b, "kube-scheduler %s (%s)\n", s.Release, s.From.Words())
	}
	if r.Assumed != "" {
		fmt.Fprintln(&b, r.Assumed)
	}
	if r.Ended != "" {
		fmt.Fprintln(&b, r.Ended)
	}
	if r.LeftOut != "" {
		fmt.Fprintln(&b, r.LeftOut)
	}
	a := r.Attempts
	most := "at most " + strconv.Itoa(a.Max)
	if a.AtLeast {
		most = "maximum " + words.AttemptCount{N: a.Max, AtLeast: true}.String()
	}
	fmt.Fprintf(&b, "%d attempts: %d rejected, %d failed with an error, %d pods bound (median %s, %s)\n",
		a.Total, a.Rejected, a.Errors, a.Bound, words.AttemptCount{N: a.Median, AtLeast: a.AtLeast}.Attempts(), most)
	for _, q := range r.Silences {
		fmt.Fprintln(&b, q.Sentence)
	}

	for _, v := range r.Verdicts[:min(len(r.Verdicts), verdictsShown)] {
		fmt.Fprintf(&b, "%s: %s\n", v.Pod, v.Sentence)
	}
	if more := len(r.Verdicts) - verdictsShown; more > 0 {
		fmt.Fprintf(&b, "%s more: see -o json\n", words.Plural(more, "verdict"))
	}

	tiers := [][]string{{"time in", "stays", "median", "90 %", "longest", "total", "still there"}}
	for _, t := range r.Tiers {
		tiers = append(tiers, []string{words.TierNamed(t.Tier), strconv.Itoa(t.Stays), brief(t.Median), brief(t.P90), brief(t.Max), brief(t.Total), strconv.Itoa(t.Left)})
	}
	wakes := [][]string{{"woken by", "moves", "to active", "to backoff", "to gated", "then bound"}}
	for _, e := range r.Wakes {
		wakes = append(wakes, []string{e.Event, strconv.Itoa(e.Total()), strconv.Itoa(e.ToActive), strconv.Itoa(e.ToBackoff), strconv.Itoa(e.ToGated), strconv.Itoa(e.Helped)})
	}
	plugins := [][]string{{"rejected by", "attempts", "pods", "total wait"}}
	for _, p := range r.Plugins {
		plugins = append(plugins, []string{p.Plugin, strconv.Itoa(p.Attempts), strconv.Itoa(p.Pods), brief(p.Waited)})
	}
	cli.WriteNumbers(&b, tiers, wakes, plugins)
	if len(r.Longest) > 0 {
		longest := [][]string{{"waited longest", "for", "at end", "attempts", "rejected by"}}
		for _, p := range r.Longest {
			waited, tier := brief(p.Waited), words.TierNamed(p.Tier)
			if p.WaitedAtLeast {
				waited = "≥" + waited
			}
			if p.GoneSince != nil {
				tier = "probably gone since " + p.GoneSince.UTC().Format("15:04")
			}
			longest = append(longest, []string{string(p.Pod), waited, tier, words.AttemptCount{N: p.Attempts, AtLeast: p.AttemptsAtLeast}.String(), strings.Join(p.Plugins, ", ")})
		}
		b.WriteByte('\n')
		cli.WriteColumns(&b, longest)
	}
	return cli.WriteText(w, b.String())
}

// brief formats a duration with about three significant digits.
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
