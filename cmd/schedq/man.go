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
		Short:  "Write the man pages to a folder",
		Hidden: true, // for packaging
		Args:   cli.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("can't create folder %s: %w", sources.Sanitize(dir), err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // reproducible
			opts := force.Options()
			opts.Mode = 0o644 // man pages are public
			return writePages(cmd, root, dir, opts)
		},
	}
	force.Register(cmd)
	return cmd
}

// writePages writes the pages of a command and its subcommands.
func writePages(cmd, of *cobra.Command, dir string, opts disk.Options) error {
	for _, sub := range of.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writePages(cmd, sub, dir, opts); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, strings.ReplaceAll(of.CommandPath(), " ", "-")+".1")
	return disk.Write(cmd.Context(), path, opts, func(w io.Writer) error {
		return doc.GenMan(of, &doc.GenManHeader{Section: "1", Source: "schedq " + of.Root().Version, Manual: "schedq"}, w)
	})
}
