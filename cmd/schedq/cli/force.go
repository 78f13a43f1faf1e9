package cli

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources/disk"
)

// Force is --force, of the commands that write a file: without it nothing that is there is touched.
type Force bool

// Register adds the flag to cmd.
func (f *Force) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(f), "force", false, "replace the file if it exists; of a symbolic link, the link itself")
}

// Options are how a file is written: nobody else reads it.
func (f Force) Options() disk.Options { return disk.Options{Replace: bool(f)} }

// Check finds what is in the way of the file out, before there is anything to write. There is none for standard
// output.
func (f Force) Check(cmd *cobra.Command, out string) error {
	if out == "-" {
		return nil
	}
	return disk.Check(cmd.Context(), out, f.Options())
}
