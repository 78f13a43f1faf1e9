package command

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
)

// NewCompare returns schedq compare.
func NewCompare() *cobra.Command {
	var screen screenFlags
	cmd := &cobra.Command{
		Use:   "compare FIRST SECOND",
		Short: "Play two recordings beside each other",
		Long: `compare plays two recordings on one screen, the same moment of both: by the time of day, if they have some
in common, and otherwise as long after the start of each. FIRST and SECOND are each a file, a folder or an archive
with the files of one run, as replay takes them. tab goes to the other side, ~ aligns the two otherwise, and \ shows the
first alone; on the screen of any recording or cluster it opens another beside it.`,
		Example: "  schedq compare monday.trace.zst tuesday.trace.zst\n  schedq compare before/ after/",
		Args:    cli.Args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			screen.second = args[1:]
			return screen.showFiles(cmd, args[:1])
		},
	}
	screen.register(cmd)
	cli.RegisterFiles(cmd)
	return cmd
}
