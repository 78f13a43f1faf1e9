package command

import (
	"io"
	"slices"
	"strings"

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
	var when, namespace string
	var only cli.Filter
	read := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		at, err := cli.ParseTime(rec, "--at", when)
		if err != nil {
			return err
		}
		opts.Filter = only.Filter
		opts, stop := withProgress(cmd, rec, opts)
		pods, err := session.ListPods(cmd.Context(), rec, opts, at)
		stop()
		if err != nil {
			return err
		}
		if namespace != "" {
			pods = slices.DeleteFunc(pods, func(p report.Waiting) bool { return !strings.HasPrefix(string(p.Pod), namespace+"/") })
		}
		if asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), pods)
		}
		return writePending(cmd.OutOrStdout(), pods)
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
	only.Register(cmd, "only list pods")
	return cmd
}

// writePending writes pods for people.
func writePending(w io.Writer, pods []report.Waiting) error {
	if len(pods) == 0 {
		return cli.WriteText(w, "no pending pods\n")
	}
	rows := [][]string{{"pod", "waits", "place", "for", "attempts", "latest try", "rejected by"}}
	for _, p := range pods {
		next, stay := "–", brief(p.InTier)
		if p.InTierAtMost {
			stay = "≤" + stay
		}
		if p.NextTry != nil {
			next = p.NextTry.Format("15:04:05")
		}
		rows = append(rows, []string{string(p.Pod), brief(p.Age), words.TierNamed(p.Tier), stay, words.AttemptCount(p.Attempts, p.AttemptsAtLeast),
			next, strings.Join(p.Plugins, ", ")})
	}
	var b strings.Builder
	cli.WriteColumns(&b, rows)
	return cli.WriteText(w, b.String())
}
