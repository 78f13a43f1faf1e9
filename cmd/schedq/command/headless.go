package command

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// A reader prints what it makes of a recording, a follower of a live cluster, as it goes on.
type (
	reader   func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error
	follower func(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options, asJSON bool) error
)

// headless makes cmd a command without a screen: it reads a recording and has read print it. Without a FILE it has
// follow print what happens in a live cluster, unless follow is nil.
func headless(cmd *cobra.Command, read reader, follow follower) *cobra.Command {
	return headlessOf(&sourceFlags{}, cmd, read, follow)
}

// headlessOf is headless for who needs the flags of its source, too.
func headlessOf(source *sourceFlags, cmd *cobra.Command, read reader, follow follower) *cobra.Command {
	if follow != nil {
		source.live = &KubeFlags{}
	}
	var model cli.Model
	var output cli.Output
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
		if rec, err = model.Again(rec); err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	}
	source.register(cmd)
	model.Register(cmd)
	output.Register(cmd)
	return cmd
}

// playing tells a person at a terminal how much of rec is played, until end is called.
func playing(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options) (_ timeline.Options, end func()) {
	line := cli.BeginProgress(cmd.ErrOrStderr(), "playing", string(rec.Name))
	opts.Progress = line.Report
	return opts, line.End
}

// writeJSON writes what a person may read, too.
func writeJSON(w io.Writer, what any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(what)
}
