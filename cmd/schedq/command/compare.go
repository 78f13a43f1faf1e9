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
		Short: "Play two recordings side by side",
		Long: `Play two recordings on one screen at the same moment: the same time of day if the recordings overlap,
and otherwise the same distance from their starts. FIRST and SECOND are each a file, a folder or an
archive with the files of one run, as for replay. Press tab to switch sides, ~ to change the
alignment, and \ to show the first recording alone; on any other screen \ opens a second recording.`,
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
