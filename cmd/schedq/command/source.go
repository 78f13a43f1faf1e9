package command

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/sources"
)

// sourceFlags select what a command without a screen reads: files, an embedded recording, or else a
// live cluster.
type sourceFlags struct {
	recording string
	live      *kubeFlags // nil if the command reads only recordings
	memory    int64      // budget for a long recording; 0 is cli.ReadMemory
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	cli.Group(cmd, cli.GroupInput, func() {
		cmd.Flags().StringVar(&f.recording, "recording", "", "read an embedded recording instead of files: "+strings.Join(cli.EmbeddedNames(), ", "))
	})
	cli.CompleteWith(cmd, "recording", cli.EmbeddedNames()...)
	cli.RegisterFiles(cmd)
	if f.live != nil {
		f.live.Register(cmd)
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		flag, live := f.live.Changed(cmd)
		switch {
		case f.live == nil && f.recording == "" && len(args) == 0:
			return cli.Usagef("%s needs a file, - for standard input, or --recording NAME", cmd.Name())
		case f.recording != "" && len(args) > 0:
			return cli.Usagef("%s reads files or an embedded recording, not both", cmd.Name())
		case len(args) == 0 && cmd.Flags().Changed("seed"):
			return cli.Usagef("--seed needs log files to apply to")
		case live && !f.isLive(args):
			return cli.Usagef("%s reads a recording or a live cluster, not both: --%s is for a cluster", cmd.Name(), flag)
		}
		return nil
	}
}

// isLive reports whether the source is a live cluster.
func (f *sourceFlags) isLive(args []string) bool {
	return f.live != nil && f.recording == "" && len(args) == 0
}

func (f *sourceFlags) open(cmd *cobra.Command, args []string) (*sources.Recording, error) {
	if f.recording != "" {
		return cli.OpenEmbedded(cmd, f.recording)
	}
	return cli.OpenFiles(cmd, args, cmp.Or(f.memory, cli.ReadMemory))
}
