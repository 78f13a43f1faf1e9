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
		err := Usagef("no embedded recording %q: use one of %s", name, strings.Join(EmbeddedNames(), ", "))
		return nil, Suggest(err, name, EmbeddedNames())
	}
	rec, err := embedded.OpenToPlay(cmd.Context(), name)
	if err != nil {
		return nil, err
	}
	return WithRelease(cmd, rec)
}

// EmbeddedNames returns the names of the embedded recordings, the default one first.
func EmbeddedNames() []string {
	var names []string
	for _, e := range embedded.All() {
		names = append(names, e.Name)
	}
	return names
}

// CompleteWith makes shells offer values for a flag.
func CompleteWith(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
