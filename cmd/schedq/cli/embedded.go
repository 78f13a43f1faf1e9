package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
)

// OpenEmbedded opens the embedded recording of that name.
func OpenEmbedded(cmd *cobra.Command, name string) (*sources.Recording, error) {
	if !slices.Contains(EmbeddedNames(), name) {
		return nil, Usagef("there is no embedded recording %q; there are %s", name, strings.Join(EmbeddedNames(), ", "))
	}
	rec, err := embedded.OpenToPlay(cmd.Context(), name)
	if err != nil {
		return nil, err
	}
	return WithRelease(cmd, rec)
}

// EmbeddedNames are the names of the embedded recordings, the first of which is the one that is played unasked.
func EmbeddedNames() []string {
	var names []string
	for _, e := range embedded.All() {
		names = append(names, e.Name)
	}
	return names
}

// Completes has the shell offer values for a flag.
func Completes(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
