package cli

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources/disk"
)

// Force is the flag --force of the commands that write a file. Without it, they never replace one.
type Force bool

// Register adds the flag to cmd.
func (f *Force) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(f), "force", false, "replace an existing file; of a symbolic link, replace the link")
}

// Options returns how to write the file. Only its owner can read it.
func (f Force) Options() disk.Options { return disk.Options{Replace: bool(f)} }

// Check reports whether out can be written, before there is anything to write. Standard output always
// can.
func (f Force) Check(cmd *cobra.Command, out string) error {
	if out == "-" {
		return nil
	}
	return disk.Check(cmd.Context(), out, f.Options())
}
