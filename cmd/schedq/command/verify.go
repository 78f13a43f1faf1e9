package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewVerify returns schedq verify.
func NewVerify() *cobra.Command {
	var truthPath string
	var maxDifferences int
	var least float64
	cmd := headless(&cobra.Command{
		Use:   "verify FILE... --truth LOG",
		Short: "Compare schedq's model with the scheduler's own log",
		Long: `Measure how well schedq's model agrees with the scheduler. verify plays FILE, usually only an audit
log, and LOG, the scheduler's own log of the same run. It compares what schedq shows of each waiting
pod, second by second, then each move and the time that pods spend in each tier.`,
		Example: "  schedq verify audit.log.gz --truth sched.log.gz",
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case truthPath == "":
				return cli.Usagef("verify needs --truth LOG, the scheduler's own log of the same run")
			case maxDifferences < 0:
				return cli.Usagef("invalid --differences %d: use 0 or more", maxDifferences)
			case !(least >= 0 && least <= 100): // also rejects NaN
				return cli.Usagef("invalid --least %g: use 0 to 100 percent", least)
			}
			return nil
		},
	}, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		truth, err := cli.OpenTruth(cmd, truthPath, rec)
		if err != nil {
			return err
		}
		opts, stop := withProgress(cmd, rec, opts)
		v, err := report.Verify(cmd.Context(), rec, truth, opts, maxDifferences)
		stop()
		if err != nil {
			return err
		}
		// The recording's notices are printed already, and LOG may be the same file.
		notices := slices.DeleteFunc(slices.Clone(truth.Notices), func(n string) bool { return slices.Contains(rec.Notices, n) })
		if slices.ContainsFunc(rec.Events, func(e sources.Event) bool { _, is := e.Fact.(*sources.Move); return is }) {
			notices = append(notices, fmt.Sprintf("%s contains the scheduler's own moves: this compares those, not the model's", rec.Name))
		}
		for _, n := range notices {
			fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", n)
		}
		if asJSON {
			err = cli.WriteJSON(cmd.OutOrStdout(), v)
		} else {
			err = writeVerification(cmd.OutOrStdout(), v)
		}
		return cmp.Or(err, checkLeast(v, least))
	}, nil)
	cmd.Flags().StringVar(&truthPath, "truth", "", "the scheduler's own log, or a trace with its moves")
	cmd.Flags().IntVar(&maxDifferences, "differences", 10, "how many differences to print")
	cmd.Flags().Float64Var(&least, "least", 0, "exit with code 1 if recall, precision or the share of the time is below this `PERCENT`")
	return cmd
}

// checkLeast returns an error that names the first of v's shares below least percent.
func checkLeast(v *report.Verification, least float64) error {
	for _, s := range []struct {
		name  string
		share float64
	}{
		{"recall", v.Transitions.Recall}, {"precision", v.Transitions.Precision}, {"share of the time", v.PodSeconds.Share},
	} {
		if 100*s.share < least {
			return fmt.Errorf("%s is %s, below --least %g %%", s.name, percent(s.share), least)
		}
	}
	return nil
}

// writeVerification writes v for people.
func writeVerification(w io.Writer, v *report.Verification) error {
	var b strings.Builder
	a, m, p := v.Answers, v.Transitions, v.PodSeconds
	fmt.Fprintf(&b, "%s compared with %s, %s UTC\n", v.Source, v.Truth, words.Zone{}.Range(v.Start, v.End))
	fmt.Fprintf(&b, "waiting pods, each second: tier right %s, plugins %s, end of backoff %s, attempts %s", answered(a.Tier), answered(a.Plugins), answered(a.Return), answered(a.Attempts))
	if a.LongestWrong > 0 {
		fmt.Fprintf(&b, "; no tier wrong for more than %d s (%s)", a.LongestWrong, a.Of)
	}
	fmt.Fprintln(&b)
	fmt.Fprintf(&b, "moves: %d in truth, %d in the model, %d in both: recall %s, precision %s\n",
		m.Truth, m.Model, m.Matched, percent(m.Recall), percent(m.Precision))
	fmt.Fprintf(&b, "time in the queue: %s in truth, %s of it right in the model\n", brief(p.Total), percent(p.Share))

	tiers := [][]string{{"time in", "truth", "right", "share"}}
	for _, t := range p.Tiers {
		share := "–"
		if t.Truth > 0 {
			share = percent(t.Share)
		}
		tiers = append(tiers, []string{words.TierNamed(t.Tier), brief(t.Truth), brief(t.Right), share})
	}
	kinds := [][]string{{"moves to", "truth", "model", "both"}}
	for _, k := range m.ByKind {
		kinds = append(kinds, []string{formatMove(k.To, k.Event), strconv.Itoa(k.Truth), strconv.Itoa(k.Model), strconv.Itoa(k.Matched)})
	}
	cli.WriteNumbers(&b, tiers, kinds)
	if len(v.Differences) > 0 {
		fmt.Fprintln(&b)
	}
	for _, d := range v.Differences {
		fmt.Fprintf(&b, "%s  %-6s  %s  → %s", d.Time.Format("2006-01-02 15:04:05.000"), d.Kind, d.Pod, formatMove(d.To, d.Event))
		switch {
		case d.Because != "":
			fmt.Fprintf(&b, "  (%s)", strings.TrimSuffix(d.Because, "."))
		case d.Kind != "missed":
		case d.ModelTier == "":
			fmt.Fprint(&b, "  (not in the model)")
		default:
			fmt.Fprintf(&b, "  (%s in the model)", words.TierNamed(d.ModelTier))
		}
		fmt.Fprintln(&b)
	}
	if v.More > 0 && len(v.Differences) > 0 {
		fmt.Fprintf(&b, "and %d more\n", v.More)
	}
	return cli.WriteText(w, b.String())
}

// answered returns the share of right answers, or a dash if the question was never asked.
func answered(a report.Answer) string {
	if a.Asked == 0 {
		return "–"
	}
	return percent(a.Share())
}

// formatMove returns a tier and the event that led to it.
func formatMove(to, event string) string {
	switch tier, err := queue.ParseTier(to); {
	case event != "":
		return words.TierNamed(to) + "  " + event
	case err == nil && tier.Queued():
		return words.TierNamed(to) + "  (cause unknown)"
	}
	return words.TierNamed(to)
}

// percent rounds down, so that only a full share is 100.0 %.
func percent(share float64) string {
	return fmt.Sprintf("%.1f %%", math.Floor(1000*share+1e-9)/10)
}
