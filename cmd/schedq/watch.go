package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/metrics"
	"github.com/schedq/schedq/cmd/schedq/teller"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
)

// outputFlag is -o of the commands without a screen.
type outputFlag struct{ format string }

func (f *outputFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "text or json")
	completes(cmd, "output", "text", "json")
}

// json reports whether JSON is asked for.
func (f *outputFlag) json() (bool, error) {
	switch f.format {
	case "json":
		return true, nil
	case "text":
		return false, nil
	}
	return false, usageError{fmt.Errorf("-o %s: the outputs are text and json", f.format)}
}

// A reader prints what it makes of a recording, a follower of a live cluster, as it goes on.
type (
	reader   func(cmd *cobra.Command, rec *sources.Recording, opts session.Options, asJSON bool) error
	follower func(cmd *cobra.Command, cluster *liveFlags, opts session.Options, asJSON bool) error
)

// headless makes cmd a command without a screen: it reads a recording and has read print it.
func headless(cmd *cobra.Command, read reader) *cobra.Command {
	return headlessOf(cmd, &sourceFlags{}, read, nil)
}

// headlessLive is headless for a command that, without a FILE, has follow print what happens in a live
// cluster.
func headlessLive(cmd *cobra.Command, read reader, follow follower) *cobra.Command {
	return headlessOf(cmd, &sourceFlags{live: &liveFlags{}}, read, follow)
}

func headlessOf(cmd *cobra.Command, source *sourceFlags, read reader, follow follower) *cobra.Command {
	var model modelFlags
	var output outputFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asJSON, err := output.json()
		if err != nil {
			return err
		}
		opts, err := model.options(cmd.Context())
		if err != nil {
			return err
		}
		if source.isLive(args) {
			if opts, err = source.live.options(opts); err != nil {
				return err
			}
			return follow(cmd, source.live, opts, asJSON)
		}
		rec, err := source.open(cmd, args)
		if err != nil {
			return err
		}
		if rec, err = model.again(cmd, rec); err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	}
	source.register(cmd)
	model.register(cmd)
	output.register(cmd)
	return cmd
}

func newWatch() *cobra.Command {
	var address metricsFlag
	var only filterFlag
	cmd := headlessLive(&cobra.Command{
		Use:     "watch [FILE...]",
		Short:   "Print one line for every move of a pod",
		Long:    "watch prints the moves of a recording; without a FILE, those of a live cluster, as they happen.",
		Example: "  schedq watch audit.log.gz sched.log.gz -o json | jq -r 'select(.to==\"backoff\") | .pod'\n  schedq watch --context prod -n training",
	}, func(cmd *cobra.Command, rec *sources.Recording, opts session.Options, asJSON bool) error {
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		opts.Filter = only.filter
		err := session.Replay(cmd.Context(), rec, opts, func(t *session.Transition) error {
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
	}, func(cmd *cobra.Command, cluster *liveFlags, opts session.Options, asJSON bool) error {
		opts.Filter = only.filter
		return watchLive(cmd, cluster, opts, asJSON, &address)
	})
	address.register(cmd)
	only.register(cmd, "tell only moves after which the pod is one of those")
	return cmd
}

// watchLive prints the moves in a live cluster until the person stops it.
func watchLive(cmd *cobra.Command, cluster *liveFlags, opts session.Options, asJSON bool, address *metricsFlag) error {
	listener, err := address.listen()
	if err != nil {
		return err
	}
	source, err := cluster.open(cmd)
	if err != nil {
		return err
	}
	figures := metrics.New()
	metrics.Serve(cmd.Context(), listener, figures.Gather)
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return session.Follow(cmd.Context(), source, opts, session.Watching{
		Move: func(t *session.Transition) error {
			figures.Add(t)
			if !cluster.shows(t.Pod.Key.Namespace) || !opts.Tells(t) {
				return nil
			}
			if asJSON {
				return encoder.Encode(t)
			}
			_, err := fmt.Fprintln(out, t)
			return err
		},
		Status: teller.New(cmd.ErrOrStderr()).Tell,
		Idle: func(board *session.Board, _ time.Time) error {
			if listener != nil {
				figures.Stand(board)
			}
			if err := out.Flush(); err != nil {
				return fmt.Errorf("can't write to standard output: %w", err)
			}
			return nil
		},
	})
}
