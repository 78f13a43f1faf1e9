package command

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// A reader prints something about a recording, a follower something about a live cluster.
type (
	reader   func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error
	follower func(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool) error
)

// headless turns cmd into a command without a screen. It opens a recording and calls read. Without a
// FILE it calls follow for a live cluster, unless follow is nil.
func headless(cmd *cobra.Command, read reader, follow follower) *cobra.Command {
	return headlessFrom(&sourceFlags{}, &cli.Output{}, cmd, read, follow)
}

// headlessFrom is headless for a caller that needs the flags of the source and the output.
func headlessFrom(source *sourceFlags, output *cli.Output, cmd *cobra.Command, read reader, follow follower) *cobra.Command {
	if follow != nil {
		source.live = &kubeFlags{}
	}
	var model cli.Model
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asJSON, err := output.JSON()
		if err != nil {
			return err
		}
		opts, err := model.Options(cmd.Context())
		if err != nil {
			return err
		}
		if source.isLive(args) {
			if err := model.CheckLive(); err != nil {
				return err
			}
			if opts, err = source.live.Options(opts); err != nil {
				return err
			}
			return follow(cmd, source.live, opts, asJSON)
		}
		rec, err := source.open(cmd, args)
		if err != nil {
			return err
		}
		if rec, err = model.Rerun(rec); err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	}
	source.register(cmd)
	model.Register(cmd)
	output.Register(cmd)
	return cmd
}

// withProgress returns opts that show the progress of playing rec, until stop is called.
func withProgress(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options) (_ timeline.Options, stop func()) {
	line := cli.StartProgress(cmd.ErrOrStderr(), "playing", string(rec.Name))
	opts.Progress = line.Report
	return opts, line.Stop
}
