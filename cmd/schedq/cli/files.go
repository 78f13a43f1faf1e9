package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/files"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
)

// OpenFiles reads files of one run, by the flags of RegisterFiles. A long recording is not kept: it is read again whenever it is
// played, and has that room (see SpareMemory). It says on standard error what a person should know of them.
func OpenFiles(cmd *cobra.Command, paths []string, room int64) (*sources.Recording, error) {
	open, err := Opener(cmd, paths, Meanwhile{})
	if err != nil {
		return nil, err
	}
	rec, err := read(cmd, paths, open)
	if err != nil {
		return nil, err
	}
	SpareMemory(rec, room)
	Tell(cmd, rec)
	return rec, nil
}

// Tell says on standard error what a person should know of rec.
func Tell(cmd *cobra.Command, rec *sources.Recording) {
	for _, n := range report.Notices(rec) {
		fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", n)
	}
}

// read opens files, and tells a person at a terminal how far it is.
func read(cmd *cobra.Command, paths []string, open func(context.Context) (*sources.Recording, error)) (*sources.Recording, error) {
	line := BeginProgress(cmd.ErrOrStderr(), "reading", filepath.Base(paths[0]))
	defer line.End()
	return open(disk.Measured(cmd.Context(), line.Report))
}

// Meanwhile is what is done with a long recording while it is read. The zero value is nothing.
type Meanwhile struct {
	// Begun is shown it when its beginning is read: see files.Options.AtFirst.
	Begun func(*sources.Recording)
	// Reached is told of moments up to which it is read.
	Reached func(time.Time)
}

// Opener returns what opens files as OpenFiles does, and says nothing.
func Opener(cmd *cobra.Command, paths []string, m Meanwhile) (open func(context.Context) (*sources.Recording, error), err error) {
	opts, err := windowOptions(cmd, paths)
	if err != nil {
		return nil, err
	}
	if _, err := SchedulerRelease(cmd); err != nil {
		return nil, err
	}
	if begun := m.Begun; begun != nil {
		m.Begun = func(rec *sources.Recording) {
			if rec, err := WithRelease(cmd, rec); err == nil { // else it is said of the whole
				begun(rec)
			}
		}
	}
	return func(ctx context.Context) (*sources.Recording, error) {
		rec, err := OpenLong(ctx, paths, opts, m)
		if err != nil {
			return nil, err
		}
		if rec.Release != "" {
			if _, err := queue.ForRelease(rec.Release); err != nil {
				return nil, fmt.Errorf("%s: release: %w", rec.Name, err)
			}
		}
		return WithRelease(cmd, rec)
	}, nil
}

// OpenLong is files.Open, and does not keep a long recording.
func OpenLong(ctx context.Context, paths []string, opts files.Options, m Meanwhile) (*sources.Recording, error) {
	gist := cluster.NewSummary()
	opts.Gist = func() func(sources.Event) {
		gist = cluster.NewSummary()
		if m.Reached == nil {
			return gist.Add
		}
		return func(ev sources.Event) {
			gist.Add(ev)
			m.Reached(ev.Time)
		}
	}
	if m.Begun != nil {
		opts.AtFirst = func(rec *sources.Recording) {
			if rec.Gist = gist.Events(); len(rec.Gist) > 0 {
				m.Begun(rec)
			}
		}
	}
	rec, err := files.Open(ctx, paths, opts)
	if err == nil && rec.Again != nil {
		rec.Gist = gist.Events()
	}
	return rec, err
}

// OpenTruth reads the file that rec, which is of the same run, is compared with. A long scheduler's log is not kept, as by OpenFiles.
func OpenTruth(cmd *cobra.Command, path string, rec *sources.Recording) (*sources.Recording, error) {
	opts, err := FileOptions(cmd)
	if err != nil {
		return nil, err
	}
	opts.Beside, opts.Seeds = rec, nil
	truth, err := OpenLong(cmd.Context(), []string{path}, opts, Meanwhile{})
	if err != nil {
		return nil, err
	}
	return WithRelease(cmd, truth)
}

// RegisterFiles adds to cmd the flags of every command that reads files.
func RegisterFiles(cmd *cobra.Command) {
	cmd.Flags().StringArray("seed", nil, "a `FILE`, folder or archive with the objects near the begin of the logs: schedq seed, kubectl get -o json, a must-gather; may be given again")
	cmd.Flags().Bool("strict", false, "refuse a file of which anything can't be read, and say where")
	RegisterMemory(cmd)
	RegisterRelease(cmd)
	RegisterToken(cmd, "a `FILE` with the token for a recorder's URL, which "+tokenVariable+" may have in its place: docs/use/recorder.md")
	if cmd.Flags().Lookup("from") == nil { // convert cuts whatever it reads
		cmd.Flags().String("from", "", "of a ring's folder, only from this `TIME` on: -2h from its end, 12:03:10, RFC 3339")
		cmd.Flags().String("to", "", "... and up to this `TIME`: +5m is that long after --from")
	}
}

// windowOptions are FileOptions with what is to be cut out of the ring among paths, or fetched from a recorder, if there is one.
func windowOptions(cmd *cobra.Command, paths []string) (files.Options, error) {
	opts, err := FileOptions(cmd)
	if IsRing(paths) || cmd.Name() != "convert" {
		opts.Window.From, _ = cmd.Flags().GetString("from")
		opts.Window.To, _ = cmd.Flags().GetString("to")
	}
	if err == nil && slices.ContainsFunc(paths, remote.Is) {
		opts.Token, err = Token(cmd)
	}
	return opts, err
}

// IsRing reports whether paths name a ring's folder and nothing else.
func IsRing(paths []string) bool { return len(paths) == 1 && ring.Is(paths[0]) }

// FileOptions are how cmd reads files.
func FileOptions(cmd *cobra.Command) (files.Options, error) {
	strict, _ := cmd.Flags().GetBool("strict")
	seeds, _ := cmd.Flags().GetStringArray("seed")
	opts := files.Options{Stdin: cmd.InOrStdin(), Strict: strict, Seeds: seeds}
	var err error
	opts.Memory, err = Memory(cmd)
	return opts, err
}
