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

// OpenFiles reads the files of one run as the flags of RegisterFiles say, and prints the recording's
// notices on standard error. A long recording is not kept in memory but read again each time it is
// played, within that many bytes of memory (see LimitMemoryFor).
func OpenFiles(cmd *cobra.Command, paths []string, memory int64) (*sources.Recording, error) {
	open, err := FileOpener(cmd, paths, LoadCallbacks{})
	if err != nil {
		return nil, err
	}
	line := StartProgress(cmd.ErrOrStderr(), "reading", filepath.Base(paths[0]))
	rec, err := open(disk.Measured(cmd.Context(), line.Report))
	line.Stop()
	if err != nil {
		return nil, err
	}
	LimitMemoryFor(rec, memory)
	PrintNotices(cmd, rec)
	return rec, nil
}

// PrintNotices prints rec's notices on standard error.
func PrintNotices(cmd *cobra.Command, rec *sources.Recording) {
	for _, n := range report.Notices(rec) {
		fmt.Fprintf(cmd.ErrOrStderr(), "schedq: %s\n", n)
	}
}

// LoadCallbacks are called while a long recording is read. Each may be nil.
type LoadCallbacks struct {
	// Partial receives the recording once its beginning is read: see files.Options.AtFirst.
	Partial func(*sources.Recording)
	// Reached receives the times up to which the recording is read.
	Reached func(time.Time)
}

// FileOpener checks the flags and returns a function that opens files as OpenFiles does, without
// printing anything.
func FileOpener(cmd *cobra.Command, paths []string, callbacks LoadCallbacks) (open func(context.Context) (*sources.Recording, error), err error) {
	opts, err := windowOptions(cmd, paths)
	if err != nil {
		return nil, err
	}
	if _, err := SchedulerRelease(cmd); err != nil {
		return nil, err
	}
	if partial := callbacks.Partial; partial != nil {
		callbacks.Partial = func(rec *sources.Recording) {
			if rec, err := WithRelease(cmd, rec); err == nil { // the error is returned for the whole recording
				partial(rec)
			}
		}
	}
	return func(ctx context.Context) (*sources.Recording, error) {
		rec, err := ReadFiles(ctx, paths, opts, callbacks)
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

// ReadFiles calls files.Open, and does not keep a long recording in memory.
func ReadFiles(ctx context.Context, paths []string, opts files.Options, callbacks LoadCallbacks) (*sources.Recording, error) {
	opts.Summary = func() files.Summary { return reached{cluster.NewSummary(), callbacks.Reached} }
	opts.AtFirst = callbacks.Partial
	return files.Open(ctx, paths, opts)
}

// reached is a summary that reports the times up to which the recording is read.
type reached struct {
	*cluster.Summary
	report func(time.Time) // may be nil
}

// Add implements files.Summary.
func (r reached) Add(ev sources.Event) {
	if r.Summary.Add(ev); r.report != nil {
		r.report(ev.Time)
	}
}

// OpenTruth reads the file to compare rec with, which is of the same run. Like OpenFiles it does not
// keep a long log in memory.
func OpenTruth(cmd *cobra.Command, path string, rec *sources.Recording) (*sources.Recording, error) {
	opts, err := FileOptions(cmd)
	if err != nil {
		return nil, err
	}
	opts.Beside, opts.Seeds = rec, nil
	truth, err := ReadFiles(cmd.Context(), []string{path}, opts, LoadCallbacks{})
	if err != nil {
		return nil, err
	}
	return WithRelease(cmd, truth)
}

// RegisterFiles adds the flags of every command that reads files.
func RegisterFiles(cmd *cobra.Command) { Group(cmd, GroupInput, func() { registerFiles(cmd) }) }

func registerFiles(cmd *cobra.Command) {
	cmd.Flags().StringArray("seed", nil, "`FILE`, folder or archive with the objects that existed when the logs start: from schedq seed, kubectl get -o json or a must-gather; can be repeated")
	cmd.Flags().String("zone", "", "time `ZONE` of a scheduler log whose lines do not show it: +05:30 or Europe/Berlin (default: UTC, or the zone in which its bindings match the audit log)")
	cmd.Flags().Bool("strict", false, "fail on the first unreadable record")
	RegisterMemory(cmd)
	RegisterRelease(cmd)
	RegisterToken(cmd, "`FILE` with the token for a recorder's URL; default: the token in "+tokenVariable)
	if cmd.Flags().Lookup("from") == nil { // convert has its own
		cmd.Flags().String("from", "", "read a ring's folder from this `TIME` on: -2h from its end, 12:03:10, or RFC 3339")
		cmd.Flags().String("to", "", "read a ring's folder up to this `TIME`; +5m is five minutes after --from")
	}
}

// windowOptions returns FileOptions with the window of a ring's folder, and the token for a recorder's
// URL, if paths name one.
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

// FileOptions returns the options for reading files that cmd's flags set.
func FileOptions(cmd *cobra.Command) (files.Options, error) {
	strict, _ := cmd.Flags().GetBool("strict")
	seeds, _ := cmd.Flags().GetStringArray("seed")
	opts := files.Options{Stdin: cmd.InOrStdin(), Strict: strict, Seeds: seeds}
	var err error
	if opts.Memory, err = Memory(cmd); err != nil {
		return opts, err
	}
	zone, _ := cmd.Flags().GetString("zone")
	opts.Zone, err = parseZone(zone)
	return opts, err
}

// parseZone parses an offset from UTC or the name of a time zone. It returns nil for "".
func parseZone(text string) (*time.Location, error) {
	if text == "" {
		return nil, nil
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Location(), nil
		}
	}
	zone, err := time.LoadLocation(text)
	if err != nil || text == "Local" {
		return nil, fmt.Errorf("invalid --zone %q: use an offset such as +05:30, or a name such as Europe/Berlin", text)
	}
	return zone, nil
}
