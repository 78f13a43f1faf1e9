package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
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
		at, err := cli.Moment(rec, "--at", when)
		if err != nil {
			return err
		}
		opts.Filter = only.Filter
		opts, end := playing(cmd, rec, opts)
		pods, err := session.ListPods(cmd.Context(), rec, opts, at)
		end()
		if err != nil {
			return err
		}
		if namespace != "" {
			pods = slices.DeleteFunc(pods, func(p report.Waiting) bool { return !strings.HasPrefix(string(p.Pod), namespace+"/") })
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), pods)
		}
		return writeWaiting(cmd.OutOrStdout(), pods)
	}
	cmd := headless(&cobra.Command{
		Use:   "list [FILE...] [--at TIME]",
		Short: "List the pods that wait, the longest waiting first, and why",
		Long: `list prints the pods that have no node at one moment: where each is and for how long it has waited, how often it was
tried, what rejected it, and when it is tried again at the latest. Without a FILE it is about a live
cluster, now.`,
		Example: "  schedq list audit.log.gz sched.log.gz --at 12:03:10\n  schedq list --context prod --filter 'waiting>5m'",
	}, read, func(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options, asJSON bool) error {
		if when != "" {
			return cli.Usagef("--at is for recordings: the pods of a live cluster are listed as they are now")
		}
		namespace = cluster.Namespace()
		rec, err := cluster.Collect(cmd, explainAfter)
		if err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	})
	cmd.Flags().StringVar(&when, "at", "", "the moment: 12:03:10 (UTC), +1m30s from the start, or RFC 3339; the end if there is none")
	only.Register(cmd, "list only pods that are one of those")
	return cmd
}

// writeWaiting writes pods for a person.
func writeWaiting(w io.Writer, pods []report.Waiting) error {
	if len(pods) == 0 {
		_, err := fmt.Fprintln(w, "no pod waits")
		return err
	}
	var b strings.Builder
	rows := [][]string{{"pod", "waits", "place", "for", "attempts", "latest try", "rejected by"}}
	for _, p := range pods {
		next := "–"
		if p.NextTry != nil {
			next = p.NextTry.Format("15:04:05")
		}
		rows = append(rows, []string{string(p.Pod), brief(p.Age), words.TierNamed(p.Tier), brief(p.InTier), strconv.Itoa(p.Attempts),
			next, strings.Join(p.Plugins, ", ")})
	}
	cli.WriteColumns(&b, rows)
	_, err := io.WriteString(w, b.String())
	if err != nil {
		return fmt.Errorf("can't write to standard output: %w", err)
	}
	return nil
}
