package flags

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

// OpenFiles reads files of one run, by the flags of RegisterFiles. It says on standard error what a person should know of them.
func OpenFiles(cmd *cobra.Command, paths []string) (*sources.Recording, error) {
	opts, err := FileOptions(cmd)
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
	if rec, err = WithRelease(cmd, rec); err != nil {
		return nil, err
	}
	for _, n := range session.Notices(rec) {
		fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", n)
	}
	return rec, nil
}

// RegisterFiles adds to cmd the flags of every command that reads files.
func RegisterFiles(cmd *cobra.Command) {
	cmd.Flags().StringArray("seed", nil, "a `FILE`, folder or archive with the objects near the begin of the logs: schedq seed, kubectl get -o json, a must-gather; may be given again")
	cmd.Flags().Bool("strict", false, "refuse a file of which anything can't be read, and say where")
	RegisterMemory(cmd)
	RegisterRelease(cmd)
}

// FileOptions are how cmd reads files.
func FileOptions(cmd *cobra.Command) (files.Options, error) {
	strict, _ := cmd.Flags().GetBool("strict")
	seeds, _ := cmd.Flags().GetStringArray("seed")
	opts := files.Options{Stdin: cmd.InOrStdin(), Strict: strict, Seeds: seeds}
	var err error
	opts.Memory, err = Memory(cmd)
	return opts, err
}
