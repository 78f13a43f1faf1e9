package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is a mistake in the command line: something was asked for in the wrong way.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Usagef returns a UsageError with that text, as fmt.Errorf makes it.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Any is as many arguments as one likes.
const Any = math.MaxInt

// Args has a command take from least to most arguments. What it is told otherwise is a mistake in the command line.
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, takes, _ := strings.Cut(cmd.Use, " ")
		name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		switch {
		case len(args) < least:
			return Usagef("%s needs %s", name, takes)
		case len(args) <= most:
			return nil
		case most == 0:
			return Usagef("%s takes flags alone, and %q is none", name, args[0])
		default:
			return Usagef("%s takes %s, and %q is one too many", name, takes, args[most])
		}
	}
}
