// Command schedq shows the queue inside kube-scheduler, pod by pod.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/command"
)

const (
	exitFailed = 1
	exitUsage  = 2 // a mistake in the command line
)

func main() {
	terminal := cli.CurrentTerminal()
	ctx := cli.SignalContext(func() {
		terminal.Restore()
		os.Exit(exitFailed)
	})
	// Discard the log of kube-scheduler's code, which would go to standard error.
	klog.SetLogger(klog.Logger{})
	os.Exit(run(ctx, pluginArgs(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = cli.SanitizingWriter{Writer: stderr}
	cmd := newRoot()
	if name := programName(os.Args[0]); name == pluginName || name == completeName {
		nameAsPlugin(cmd)
	}
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		args = []string{"version"} // cobra's version template would link text/template, 38 MB
	}
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	executed, err := cmd.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitFailed // interrupted: no message
	}
	for _, line := range cli.ErrorLines(err) {
		fmt.Fprintf(stderr, "schedq: %s\n", line)
	}
	var usage cli.UsageError
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "See %s --help.\n", executed.CommandPath())
		return exitUsage
	}
	return exitFailed
}

// newRoot returns the root command with all commands.
func newRoot() *cobra.Command {
	root := command.NewRoot()
	root.Version, root.SilenceErrors, root.SilenceUsage = version(), true, true
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(cli.Usage)
	root.AddCommand(
		command.NewReplay(), command.NewCompare(), command.NewAttach(), command.NewPlay(),
		command.NewWatch(), command.NewList(), command.NewExplain(), command.NewWait(), command.NewReport(), command.NewVerify(), command.NewRerun(),
		command.NewDoctor(), command.NewRecord(), command.NewSeed(), command.NewConvert(),
		command.NewLearn(), command.NewNotes(), command.NewServe(), command.NewKeys(),
		command.NewOptions(), newConfig(), newVersion(), newMan(),
	)
	return root
}

// flagError returns err as a usage error, with the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return cli.UsageError{Err: err}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return cli.Suggest(cli.UsageError{Err: err}, "--"+unknown.GetSpecifiedName(), known)
}

// Program names under which kubectl runs schedq as a plugin, and completes its command line.
const (
	pluginName   = "kubectl-schedq"
	completeName = "kubectl_complete-schedq"
)

// programName returns the name of the program at path.
func programName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// nameAsPlugin makes root's help show "kubectl schedq".
func nameAsPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl schedq"}
	name := regexp.MustCompile(`(?m)(^ *|\| )schedq `)
	for _, command := range append(root.Commands(), root) {
		command.Example = name.ReplaceAllString(command.Example, "${1}kubectl schedq ")
	}
}

// pluginArgs returns the arguments of a program that was run as path. As a kubectl plugin, and in its
// completion, schedq without a command is schedq attach.
func pluginArgs(path string, args []string) []string {
	switch programName(path) {
	case completeName:
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	case pluginName:
	default:
		return args
	}
	if len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return append(args[:1:1], pluginArgs(pluginName, args[1:])...)
	}
	if len(args) > 0 && (!strings.HasPrefix(args[0], "-") || slices.Contains([]string{"-h", "--help", "--version"}, args[0])) {
		return args
	}
	return append([]string{"attach"}, args...)
}
