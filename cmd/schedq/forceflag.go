package main

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources/disk"
)

// forceFlag is --force, of the commands that write a file: without it nothing that is there is touched.
type forceFlag bool

func (f *forceFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(f), "force", false, "replace the file if it exists; of a symbolic link, the link itself")
}

// options are how a file is written: nobody else reads it.
func (f forceFlag) options() disk.Options { return disk.Options{Replace: bool(f)} }

// check finds what is in the way of the file out, before there is anything to write. There is none for standard
// output.
func (f forceFlag) check(cmd *cobra.Command, out string) error {
	if out == "-" {
		return nil
	}
	return disk.Check(cmd.Context(), out, f.options())
}
