package cli

import "github.com/spf13/cobra"

// Output is -o of the commands without a screen.
type Output struct{ format string }

// Register adds the flag to cmd.
func (f *Output) Register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "text or json")
	Completes(cmd, "output", "text", "json")
}

// JSON reports whether JSON is asked for.
func (f *Output) JSON() (bool, error) {
	switch f.format {
	case "json":
		return true, nil
	case "text":
		return false, nil
	}
	return false, Usagef("-o %s: the outputs are text and json", f.format)
}
