package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

func newMan() *cobra.Command {
	var force cli.Force
	cmd := &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages, one for each command, into a folder",
		Hidden: true, // for who packages schedq
		Args:   cli.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("the folder %s can't be made: %w", sources.Sanitize(dir), err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same pages of the same program
			opts := force.Options()
			opts.Mode = 0o644 // they are everybody's to read
			return writePages(cmd, root, dir, opts)
		},
	}
	force.Register(cmd)
	return cmd
}

// writePages writes the page of a command and those of the commands under it.
func writePages(cmd, of *cobra.Command, dir string, opts disk.Options) error {
	for _, under := range of.Commands() {
		if !under.IsAvailableCommand() || under.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writePages(cmd, under, dir, opts); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, strings.ReplaceAll(of.CommandPath(), " ", "-")+".1")
	return disk.Write(cmd.Context(), path, opts, func(w io.Writer) error {
		return doc.GenMan(of, &doc.GenManHeader{Section: "1", Source: "schedq " + of.Root().Version, Manual: "schedq"}, w)
	})
}
