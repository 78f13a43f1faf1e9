package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is a mistake in the command line.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Usagef returns a UsageError with a text formatted as by fmt.Errorf.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Any is the maximum of Args for any number of arguments.
const Any = math.MaxInt

// Args requires from least to most arguments. Any other number is a UsageError.
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, synopsis, _ := strings.Cut(cmd.Use, " ")
		name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		switch {
		case len(args) < least:
			return Usagef("%s needs %s", name, synopsis)
		case len(args) <= most:
			return nil
		case most == 0:
			return Usagef("%s takes no arguments: unexpected %q", name, args[0])
		default:
			return Usagef("%s takes only %s: unexpected %q", name, synopsis, args[most])
		}
	}
}
