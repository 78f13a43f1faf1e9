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
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewVerify returns schedq verify.
func NewVerify() *cobra.Command {
	var truthPath string
	var most int
	var least float64
	cmd := headless(&cobra.Command{
		Use:   "verify FILE... --truth LOG",
		Short: "Compare what schedq makes of a recording with the scheduler's own log",
		Long: `verify says how well schedq's model agrees with the scheduler: it replays FILE, usually an audit log
alone, and LOG, the scheduler's own log of the same run, and compares each move and the time that pods
spent in each tier.`,
		Example: "  schedq verify audit.log.gz --truth sched.log.gz",
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case truthPath == "":
				return cli.Usagef("verify needs --truth LOG, the scheduler's own log of the same run")
			case most < 0:
				return cli.Usagef("--differences %d is less than 0", most)
			case !(least >= 0 && least <= 100): // NaN neither
				return cli.Usagef("--least %g is not within 0 and 100 percent", least)
			}
			return nil
		},
	}, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		truth, err := cli.OpenTruth(cmd, truthPath, rec)
		if err != nil {
			return err
		}
		opts, end := playing(cmd, rec, opts)
		v, err := report.Verify(cmd.Context(), rec, truth, opts, most)
		end()
		if err != nil {
			return err
		}
		// What was said of the recording is not said again of a truth that is in the same file.
		notices := slices.DeleteFunc(slices.Clone(truth.Notices), func(n string) bool { return slices.Contains(rec.Notices, n) })
		if slices.ContainsFunc(rec.Tells(), func(e sources.Event) bool { _, is := e.Fact.(*sources.Move); return is }) {
			notices = append(notices, fmt.Sprintf("%s holds the scheduler's own moves: they are compared, and the model makes none", rec.Name))
		}
		for _, n := range notices {
			fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", n)
		}
		if asJSON {
			err = writeJSON(cmd.OutOrStdout(), v)
		} else {
			err = writeVerification(cmd.OutOrStdout(), v)
		}
		return cmp.Or(err, reaches(v, least))
	}, nil)
	cmd.Flags().StringVar(&truthPath, "truth", "", "the scheduler's own log, or a trace that holds its moves")
	cmd.Flags().IntVar(&most, "differences", 10, "how many of the differences to print, from the first on")
	cmd.Flags().Float64Var(&least, "least", 0, "fail, with exit code 1, where recall, precision or the share of the time is below so many `PERCENT`")
	return cmd
}

// reaches returns an error that says which of v's three shares is below least, in percent, if one is.
func reaches(v *report.Verification, least float64) error {
	for _, of := range []struct {
		name  string
		share float64
	}{
		{"recall", v.Transitions.Recall}, {"precision", v.Transitions.Precision}, {"the share of the time", v.PodSeconds.Share},
	} {
		if 100*of.share < least {
			return fmt.Errorf("%s is %s, and --least asks for %g %%", of.name, percent(of.share), least)
		}
	}
	return nil
}

// writeVerification writes v for a person.
func writeVerification(w io.Writer, v *report.Verification) error {
	m, p := v.Transitions, v.PodSeconds
	fmt.Fprintf(w, "moves: %d in truth, %d of the model, %d the same: recall %s, precision %s\n",
		m.Truth, m.Model, m.Matched, percent(m.Recall), percent(m.Precision))
	fmt.Fprintf(w, "time in the queue: %s in truth, the model is right for %s of it\n", brief(p.Total), percent(p.Share))

	tiers := [][]string{{"time in", "truth", "right", "share"}}
	for _, t := range p.Tiers {
		of := "–"
		if t.Truth > 0 {
			of = percent(t.Share)
		}
		tiers = append(tiers, []string{words.TierNamed(t.Tier), brief(t.Truth), brief(t.Right), of})
	}
	kinds := [][]string{{"moves to", "truth", "model", "the same"}}
	for _, k := range m.ByKind {
		kinds = append(kinds, []string{move(k.To, k.Event), strconv.Itoa(k.Truth), strconv.Itoa(k.Model), strconv.Itoa(k.Matched)})
	}
	if err := cli.WriteNumbers(w, tiers, kinds); err != nil {
		return err
	}
	if len(v.Differences) > 0 {
		fmt.Fprintln(w)
	}
	for _, d := range v.Differences {
		fmt.Fprintf(w, "%s  %-6s  %s  → %s", d.Time.Format("2006-01-02 15:04:05.000"), d.Kind, d.Pod, move(d.To, d.Event))
		switch {
		case d.Because != "":
			fmt.Fprintf(w, "  (%s)", strings.TrimSuffix(d.Because, "."))
		case d.Kind != "missed":
		case d.ModelTier == "":
			fmt.Fprint(w, "  (the model does not know the pod)")
		default:
			fmt.Fprintf(w, "  (in the model it is %s)", words.TierNamed(d.ModelTier))
		}
		fmt.Fprintln(w)
	}
	if v.More > 0 && len(v.Differences) > 0 {
		fmt.Fprintf(w, "and %d more\n", v.More)
	}
	return nil
}

// move is a tier and the event that leads to it.
func move(to, event string) string {
	to = words.TierNamed(to)
	if event == "" {
		return to
	}
	return to + "  " + event
}

// percent rounds down: 100.0 % is all.
func percent(share float64) string {
	return fmt.Sprintf("%.1f %%", math.Floor(1000*share+1e-9)/10)
}
