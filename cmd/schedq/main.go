// Command schedq shows the queue inside kube-scheduler, pod by pod.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/schedq/schedq/cmd/schedq/plain"
	"github.com/schedq/schedq/cmd/schedq/process"
	"github.com/schedq/schedq/sources/embedded"
)

// Exit codes: what was asked for failed, or it was asked for in the wrong way.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func main() {
	begunAt := process.BegunAt()
	ctx := process.UntilSignal(func() {
		begunAt.Restore()
		os.Exit(exitFailed)
	})
	// Upstream's code would note on standard error what it makes of gates, plugins and failures.
	klog.SetLogger(klog.Logger{})
	os.Exit(run(ctx, pluginArgs(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = plain.Writer{Writer: stderr}
	cmd := newRoot()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitFailed // the person stopped it and knows
	}
	for _, sentence := range plain.Sentences(err) {
		fmt.Fprintf(stderr, "schedq: %s\n", sentence)
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(stderr, "See schedq --help.")
		return exitUsage
	}
	return exitFailed
}

// newRoot returns the command line. Without a subcommand it plays an embedded recording.
func newRoot() *cobra.Command {
	var screen screenFlags
	var name string
	root := &cobra.Command{
		Use:   "schedq",
		Short: "Show the queue inside kube-scheduler, pod by pod",
		Long: `schedq shows the queue inside kube-scheduler: activeQ, backoffQ and unschedulable pods, with a
countdown on every pod. Without a command it plays an embedded recording of a real cluster.
Press ? in it for the keys.`,
		Args:          noFiles,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return screen.showEmbedded(cmd, name)
		},
	}
	screen.register(root)
	root.Flags().StringVar(&name, "recording", embedded.All()[0].Name, "the embedded recording to play: "+strings.Join(embeddedNames(), ", "))
	completes(root, "recording", embeddedNames()...)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newAttach(), newReplay(), newRecord(), newWatch(), newExplain(), newReport(), newVerify(), newRerun(), newConvert(), newConfig(), newMan(), newLearn(), newNotes(), newPlay(), newServe())
	return root
}

// version is the module's version as Go built it in: a release, or a commit's.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// noFiles finds that no argument is left, and what a person may have meant by one.
func noFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		return usageError{fmt.Errorf("to play a file: schedq replay %s", args[0])}
	}
	return usageError{fmt.Errorf("there is no command %q", args[0])}
}

// usageArgs makes what check finds wrong a mistake in the command line.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
