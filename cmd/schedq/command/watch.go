package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// NewWatch returns schedq watch.
func NewWatch() *cobra.Command {
	var address cli.Metrics
	var only cli.Filter
	cmd := headless(&cobra.Command{
		Use:     "watch [FILE...]",
		Short:   "Print one line for every move of a pod",
		Long:    "watch prints the moves of a recording; without a FILE, those of a live cluster, as they happen.",
		Example: "  schedq watch audit.log.gz sched.log.gz -o json | jq -r 'select(.to==\"backoff\") | .pod'\n  schedq watch --context prod -n training",
	}, func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		if err := address.CheckLive(); err != nil {
			return err
		}
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		opts.Filter = only.Filter
		err := timeline.Replay(cmd.Context(), rec, opts, func(t *board.Transition) error {
			if asJSON {
				return encoder.Encode(t)
			}
			_, err := fmt.Fprintln(out, t)
			return err
		})
		if err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("can't write to standard output: %w", err)
		}
		return nil
	}, func(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options, asJSON bool) error {
		opts.Filter = only.Filter
		return watchLive(cmd, cluster, opts, asJSON, &address)
	})
	address.Register(cmd)
	only.Register(cmd, "tell only moves after which the pod is one of those")
	return cmd
}

// watchLive prints the moves in a live cluster until the person stops it.
func watchLive(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options, asJSON bool, address *cli.Metrics) error {
	listener, err := address.Listen()
	if err != nil {
		return err
	}
	source, err := cluster.Open(cmd)
	if err != nil {
		return err
	}
	figures := metrics.New()
	metrics.Serve(cmd.Context(), listener, figures.Gather)
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return timeline.Follow(cmd.Context(), figures.Hear(source), opts, timeline.Watching{
		Move: func(t *board.Transition) error {
			figures.Add(t)
			if !cluster.Shows(t.Pod.Key.Namespace) || !opts.Selects(t) {
				return nil
			}
			if asJSON {
				return encoder.Encode(t)
			}
			_, err := fmt.Fprintln(out, t)
			return err
		},
		Status: cli.NewTeller(cmd.ErrOrStderr()).Tell,
		Idle: func(board *board.Board, now time.Time) error {
			if listener != nil {
				figures.Stand(board, now)
			}
			if err := out.Flush(); err != nil {
				return fmt.Errorf("can't write to standard output: %w", err)
			}
			return nil
		},
	})
}
