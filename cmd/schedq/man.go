package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/schedq/schedq/sources"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages, one for each command, into a folder",
		Hidden: true, // for who packages schedq
		Args:   usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("the folder %s can't be made: %w", sources.Sanitize(dir), err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same pages of the same program
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "schedq " + root.Version, Manual: "schedq"}, dir); err != nil {
				return fmt.Errorf("the man pages can't be written: %w", err)
			}
			return nil
		},
	}
}
