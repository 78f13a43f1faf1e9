package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
)

// NewNotes returns schedq notes.
func NewNotes() *cobra.Command {
	return &cobra.Command{
		Use:   "notes",
		Short: "Show the speaker's notes of the lesson that runs in another terminal",
		Long: `notes follows the lesson that schedq learn shows in another terminal on this machine: the speaker's notes of
its step, every answer with what is behind it, and what comes next.`,
		Args: cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			kept, err := OpenProgress(cmd.Context())
			if err != nil {
				return err
			}
			all, err := lessons.All()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "schedq: waiting for schedq learn; ctrl+c leaves")
			return followNotes(cmd.Context(), cmd.OutOrStdout(), kept, all)
		},
	}
}
