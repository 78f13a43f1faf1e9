package command

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewList returns schedq list.
func NewList() *cobra.Command {
	var when, namespace, by string
	var noHeaders bool
	var only cli.Filter
	read := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		at, err := cli.ParseTime(rec, "--at", when)
		if err != nil {
			return err
		}
		opts.Filter = only.Filter
		opts, stop := withProgress(cmd, rec, opts)
		listed, err := session.ListPods(cmd.Context(), rec, opts, at)
		stop()
		if err != nil {
			return err
		}
		if namespace != "" {
			listed.Pods = slices.DeleteFunc(listed.Pods, func(p report.Waiting) bool { return !strings.HasPrefix(string(p.Pod), namespace+"/") })
		}
		slices.SortStableFunc(listed.Pods, listOrders[by])
		if asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), listed)
		}
		return writePending(cmd.OutOrStdout(), listed, !noHeaders)
	}
	cmd := headless(&cobra.Command{
		Use:   "list [FILE...] [--at TIME]",
		Short: "List pending pods, the longest waiting first",
		Long: `List the pods without a node at one moment: where each is, how long it has waited, its attempts, the
plugins that rejected it, and the latest time of its next attempt. Without a FILE, list the pods of a
live cluster.`,
		Example: "  schedq list audit.log.gz sched.log.gz --at 12:03:10\n  schedq list --context prod --filter 'waiting>5m'",
	}, read, func(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool) error {
		if when != "" {
			return cli.Usagef("--at is for recordings: a live cluster is listed as it is now")
		}
		namespace = cluster.Namespace()
		rec, err := cluster.Collect(cmd, collectTime)
		if err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	})
	cmd.Flags().StringVar(&when, "at", "", atUsage)
	cmd.Flags().StringVar(&by, "sort", "pending", "order: "+strings.Join(listOrderNames(), ", "))
	cli.CompleteWith(cmd, "sort", listOrderNames()...)
	cmd.Flags().BoolVar(&noHeaders, "no-headers", false, "omit the header line")
	only.Register(cmd, "only list pods")
	checkSource := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if listOrders[by] == nil {
			err := cli.Usagef("unknown order --sort %q: use %s", by, strings.Join(listOrderNames(), ", "))
			return cli.Suggest(err, by, listOrderNames())
		}
		return checkSource(cmd, args)
	}
	return cmd
}

// listOrders compare pods for --sort, which keeps the longest waiting first among equals.
var listOrders = map[string]func(a, b report.Waiting) int{
	"pending":  func(report.Waiting, report.Waiting) int { return 0 }, // as they come
	"for":      func(a, b report.Waiting) int { return cmp.Compare(b.InTier, a.InTier) },
	"pod":      func(a, b report.Waiting) int { return cmp.Compare(a.Pod, b.Pod) },
	"attempts": func(a, b report.Waiting) int { return cmp.Compare(b.Attempts, a.Attempts) },
	"priority": func(a, b report.Waiting) int { return cmp.Compare(b.Priority, a.Priority) },
	"next":     func(a, b report.Waiting) int { return compareTries(a.NextTry, b.NextTry) },
}

func listOrderNames() []string { return slices.Sorted(maps.Keys(listOrders)) }

// withVerdict adds a verdict before the last cell of a row, if any pod has one.
func withVerdict(judged bool, row []string, verdict string) []string {
	if !judged {
		return row
	}
	return slices.Insert(row, len(row)-1, verdict)
}

// compareTries orders times, the unknown ones last.
func compareTries(a, b *time.Time) int {
	switch {
	case a != nil && b != nil:
		return a.Compare(*b)
	case a != nil:
		return -1
	case b != nil:
		return 1
	}
	return 0
}

// writePending writes pods for people, with or without headers.
func writePending(w io.Writer, l *session.Listing, headers bool) error {
	var b strings.Builder
	var rows [][]string
	estimated := false // a tier is
	judged := slices.ContainsFunc(l.Pods, func(p report.Waiting) bool { return p.Verdict != nil })
	if headers {
		fmt.Fprintf(&b, "%s at %s: %s pending\n", l.Source, words.Zone{}.Full(l.Time), words.Plural(len(l.Pods), "pod"))
		if l.Silence != "" {
			fmt.Fprintln(&b, l.Silence)
		}
		if len(l.Pods) > 0 {
			b.WriteByte('\n')
			rows = append(rows, withVerdict(judged, []string{"pod", "pending", "tier", "for", "attempts", "next try", "why"}, "verdict"))
		}
	}
	for _, p := range l.Pods {
		next, stay := "–", brief(p.InTier)
		if p.InTierAtMost {
			stay = "≤" + stay
		}
		if p.NextTry != nil {
			next = p.NextTry.Format("15:04:05")
		}
		age, tier := brief(p.Age), words.TierNamed(p.Tier)
		if p.AgeAtLeast {
			age = "≥" + age
		}
		if p.Provenance == "estimated" {
			tier, estimated = tier+"?", true
		}
		verdict := "–"
		if p.Verdict != nil {
			verdict = p.Verdict.Name
		}
		rows = append(rows, withVerdict(judged, []string{string(p.Pod), age, tier, stay, words.AttemptCount{N: p.Attempts, AtLeast: p.AttemptsAtLeast}.String(),
			next, string(p.Cause)}, verdict))
	}
	cli.WriteColumns(&b, rows)
	if estimated && headers {
		b.WriteString("\n? is estimated from the pod's condition and the scheduler's Events, until the pod's next attempt\n")
	}
	return cli.WriteText(w, b.String())
}
