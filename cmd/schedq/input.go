package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// openFiles reads files of one run. It says on standard error what a person should know of them.
func openFiles(cmd *cobra.Command, paths []string) (*sources.Recording, error) {
	opts, err := fileOptions(cmd)
	if err != nil {
		return nil, err
	}
	rec, err := files.Open(cmd.Context(), paths, opts)
	if err != nil {
		return nil, err
	}
	if rec.Release != "" {
		if _, err := queue.ForRelease(rec.Release); err != nil {
			return nil, fmt.Errorf("%s: release: %w", rec.Name, err)
		}
	}
	for _, n := range session.Notices(rec) {
		fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", n)
	}
	return rec, nil
}

// fileFlags registers the flags of every command that reads files.
func fileFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("strict", false, "refuse a file of which anything can't be read, and say where")
	memoryFlag(cmd)
}

// fileOptions are how cmd reads files.
func fileOptions(cmd *cobra.Command) (files.Options, error) {
	strict, _ := cmd.Flags().GetBool("strict")
	opts := files.Options{Stdin: cmd.InOrStdin(), Strict: strict}
	var err error
	opts.Memory, err = memoryOf(cmd)
	return opts, err
}

// openEmbedded opens the embedded recording of that name.
func openEmbedded(cmd *cobra.Command, name string) (*sources.Recording, error) {
	if !slices.Contains(embeddedNames(), name) {
		return nil, usageError{fmt.Errorf("there is no embedded recording %q; there are %s", name, strings.Join(embeddedNames(), ", "))}
	}
	return embedded.Open(cmd.Context(), name)
}

func embeddedNames() []string {
	var names []string
	for _, e := range embedded.All() {
		names = append(names, e.Name)
	}
	return names
}

// completes has the shell offer values for a flag.
func completes(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// sourceFlags name a source for the commands without a screen: files, an embedded recording, or without
// either a live cluster.
type sourceFlags struct {
	recording string
	live      *liveFlags // nil if the command reads recordings only
}

func (f *sourceFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.recording, "recording", "", "an embedded recording instead of files: "+strings.Join(embeddedNames(), ", "))
	completes(cmd, "recording", embeddedNames()...)
	fileFlags(cmd)
	if f.live != nil {
		f.live.register(cmd)
	}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		flag, live := f.live.given(cmd)
		switch {
		case f.live == nil && f.recording == "" && len(args) == 0:
			return usageError{fmt.Errorf("%s needs a file to read, or - for standard input, or --recording NAME", cmd.Name())}
		case f.recording != "" && len(args) > 0:
			return usageError{fmt.Errorf("%s reads files or an embedded recording, not both", cmd.Name())}
		case live && !f.isLive(args):
			return usageError{fmt.Errorf("%s reads a recording or a live cluster, not both: --%s is for a cluster", cmd.Name(), flag)}
		}
		return nil
	}
}

// isLive reports whether it is a live cluster.
func (f *sourceFlags) isLive(args []string) bool {
	return f.live != nil && f.recording == "" && len(args) == 0
}

func (f *sourceFlags) open(cmd *cobra.Command, args []string) (*sources.Recording, error) {
	if f.recording != "" {
		return openEmbedded(cmd, f.recording)
	}
	return openFiles(cmd, args)
}
