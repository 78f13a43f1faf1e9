package flags

import (
	"fmt"

	"github.com/spf13/cobra"
)

// UsageError is a mistake in the command line: something was asked for in the wrong way.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Usagef returns a UsageError with that text, as fmt.Errorf makes it.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Args makes what check finds wrong a mistake in the command line.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return UsageError{Err: err}
		}
		return nil
	}
}
