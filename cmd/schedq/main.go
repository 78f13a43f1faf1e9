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
	"k8s.io/klog/v2"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/cmd/schedq/command"
)

// Exit codes: what was asked for failed, or it was asked for in the wrong way.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	begunAt := cli.BegunAt()
	ctx := cli.UntilSignal(func() {
		begunAt.Restore()
		os.Exit(exitFailed)
	})
	// Upstream's code would note on standard error what it makes of gates, plugins and failures.
	klog.SetLogger(klog.Logger{})
	os.Exit(run(ctx, pluginArgs(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = cli.PlainWriter{Writer: stderr}
	cmd := newRoot()
	if name := calledAs(os.Args[0]); name == pluginName || name == completeName {
		nameAsPlugin(cmd)
	}
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
	for _, sentence := range cli.Sentences(err) {
		fmt.Fprintf(stderr, "schedq: %s\n", sentence)
	}
	var usage cli.UsageError
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "See %s --help.\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailed
}

// newRoot returns the command line.
func newRoot() *cobra.Command {
	root := command.NewRoot()
	root.Version, root.SilenceErrors, root.SilenceUsage = version(), true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.UsageError{Err: err} })
	root.AddCommand(command.NewReplay(), command.NewCompare(), command.NewAttach(), command.NewPlay(),
		command.NewWatch(), command.NewList(), command.NewExplain(), command.NewReport(), command.NewVerify(), command.NewRerun(), command.NewDoctor(),
		command.NewRecord(), command.NewSeed(), command.NewConvert(), command.NewLearn(), command.NewNotes(), command.NewServe(), newConfig(), newVersion(), newMan())
	return root
}

// The names by which kubectl calls its plugin schedq, and has it complete a command line.
const (
	pluginName   = "kubectl-schedq"
	completeName = "kubectl_complete-schedq"
)

// calledAs is the name by which the program at path was called.
func calledAs(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// nameAsPlugin has root's help say what one types to have kubectl call it.
func nameAsPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl schedq"}
	called := regexp.MustCompile(`(?m)(^ *|\| )schedq `)
	for _, command := range append(root.Commands(), root) {
		command.Example = called.ReplaceAllString(command.Example, "${1}kubectl schedq ")
	}
}

// pluginArgs are the arguments of a program that was called as path: a plugin of kubectl is about the cluster that kubectl is
// about, and so is what a shell asks to complete its command line.
func pluginArgs(path string, args []string) []string {
	switch calledAs(path) {
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
