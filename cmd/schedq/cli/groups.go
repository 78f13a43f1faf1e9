package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups of flags in the help, in this order after a command's own flags.
const (
	GroupInput     = "Recordings"
	GroupScheduler = "Scheduler configuration"
	GroupCluster   = "Live cluster"
	GroupDisplay   = "Display"
	// GroupKubectl holds the flags that schedq options lists, and no other help.
	GroupKubectl = "Cluster and user, as in kubectl"
)

// groupAnnotation is the annotation of a flag with its group.
const groupAnnotation = "schedq_group"

// Group puts the flags that register adds to cmd, and that have no group yet, into a group of the help.
func Group(cmd *cobra.Command, group string, register func()) {
	before := map[string]bool{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	register()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] && f.Annotations[groupAnnotation] == nil {
			SetGroup(f, group)
		}
	})
}

// SetGroup puts a flag into a group of the help.
func SetGroup(f *pflag.Flag, group string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[groupAnnotation] = []string{group}
}

// usageWidth is the width of the flags' descriptions in the help.
const usageWidth = 100

// Usage prints a command's usage: as cobra does, with the flags in groups.
func Usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(w, "\n  %s", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n  %s [command]", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\n\nExamples:\n%s", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n\nAvailable Commands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(w, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	writeFlagGroups(w, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n\nUse \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	fmt.Fprintln(w)
	return nil
}

// writeFlagGroups writes a command's flags, and where to find kubectl's.
func writeFlagGroups(w io.Writer, cmd *cobra.Command) {
	groups := map[string]*pflag.FlagSet{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		group := "" // the command's own
		if of := f.Annotations[groupAnnotation]; len(of) > 0 {
			group = of[0]
		}
		if groups[group] == nil {
			groups[group] = pflag.NewFlagSet("", pflag.ContinueOnError)
		}
		groups[group].AddFlag(f)
	})
	for _, group := range []string{"", GroupInput, GroupCluster, GroupScheduler, GroupDisplay} {
		if flags := groups[group]; flags != nil && flags.HasAvailableFlags() {
			title := "Flags"
			if group != "" {
				title = group
			}
			fmt.Fprintf(w, "\n\n%s:\n%s", title, strings.TrimRight(flags.FlagUsagesWrapped(usageWidth), "\n"))
		}
	}
	if groups[GroupKubectl] != nil {
		fmt.Fprintf(w, "\n\nUse \"%s options\" for kubectl's other flags for the cluster and the user.", cmd.Root().CommandPath())
	}
}
