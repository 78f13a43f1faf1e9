package command

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
	"github.com/schedq/schedq/sources/ring/remote"
)

// podForms describes the forms of a pod argument.
const podForms = "NAME, NAMESPACE/NAME or pod/NAME"

// podPrefixes are kubectl's names of the resource in TYPE/NAME.
var podPrefixes = []string{"pod/", "pods/", "po/"}

// aboutPods makes cmd, a headless command that reads source, take pods besides the files, in any order and at most that
// many. It stores them in pods before the command runs.
func aboutPods(cmd *cobra.Command, source *sourceFlags, most int, pods *[]string) {
	checkFiles, run := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		named, paths := splitPods(args)
		switch {
		case len(named) == 0:
			return cli.Usagef("%s needs a pod, as %s", cmd.Name(), podForms)
		case len(named) > most:
			return cli.Usagef("%s takes one pod: %q is another, and not a file", cmd.Name(), named[most])
		case slices.Contains(named, ""):
			return cli.Usagef("empty pod name: use %s", podForms)
		}
		return checkFiles(cmd, paths)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var paths []string
		*pods, paths = splitPods(args)
		return run(cmd, paths)
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		named, paths := splitPods(args)
		if len(named) >= most {
			return nil, cobra.ShellCompDirectiveDefault // files
		}
		prefix := podPrefix(typed)
		typed = typed[len(prefix):]
		var offers []cobra.Completion
		directive := cobra.ShellCompDirectiveNoFileComp
		switch {
		case source.isLive(paths) && len(named) > 0:
			return nil, cobra.ShellCompDirectiveDefault
		case source.isLive(paths):
			offers, directive = source.live.completePod(cmd, typed)
		default:
			offers = completeRecordedPod(cmd, source, paths, typed)
		}
		for i := range offers {
			offers[i] = prefix + offers[i]
		}
		return offers, directive
	}
}

// splitPods separates pods, without kubectl's pod/, from files. An argument is a file if it looks like a path or exists; the
// first one is a pod even if it exists, unless another one is.
func splitPods(args []string) (pods, paths []string) {
	for _, arg := range args {
		if prefix := podPrefix(arg); prefix != "" {
			pods = append(pods, arg[len(prefix):])
		} else if looksLikePath(arg) || exists(arg) {
			paths = append(paths, arg)
		} else {
			pods = append(pods, arg)
		}
	}
	if len(pods) == 0 && len(args) > 0 && !looksLikePath(args[0]) {
		return args[:1], args[1:]
	}
	return pods, paths
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// qualify adds a namespace, unless it is "", to the pods that have none.
func qualify(pods []string, namespace string) {
	for i, name := range pods {
		if namespace != "" && !strings.Contains(name, "/") {
			pods[i] = namespace + "/" + name
		}
	}
}

// podPrefix returns the resource name that arg starts with, such as pod/, or "".
func podPrefix(arg string) string {
	for _, prefix := range podPrefixes {
		if strings.HasPrefix(arg, prefix) {
			return prefix
		}
	}
	return ""
}

// fileSuffixes are endings of recordings' names, so that a missing file is not taken for a pod.
var fileSuffixes = []string{".log", ".gz", ".zst", ".json", ".jsonl", ".trace", ".yaml", ".yml", ".tar", ".tgz", ".zip", ".csv"}

// looksLikePath reports whether an argument is written like a file, a folder, a recorder's URL or standard input.
func looksLikePath(arg string) bool {
	if arg == "-" || remote.Is(arg) {
		return true
	}
	if strings.LastIndexByte(arg, '/') == 0 && strings.ContainsAny(arg, "[<*") {
		return false // a pod whose names were redacted, as the log has them: "/[REDACTED]"
	}
	for _, start := range []string{"/", "./", "../"} {
		if strings.HasPrefix(arg, start) {
			return true
		}
	}
	return slices.ContainsFunc(fileSuffixes, func(suffix string) bool { return strings.HasSuffix(arg, suffix) })
}

// recordedCompletionTimeout limits the reading of a recording for a completion.
const recordedCompletionTimeout = time.Second

// completeRecordedPod offers the pods of the source's recording, as NAME, or as NAMESPACE/NAME if that is typed or the name
// is not unique. A recording that takes too long to read, or can't be read, offers none.
func completeRecordedPod(cmd *cobra.Command, source *sourceFlags, paths []string, typed string) []cobra.Completion {
	ctx, cancel := context.WithTimeout(cmd.Context(), recordedCompletionTimeout)
	defer cancel()
	var rec *sources.Recording
	var err error
	if source.recording != "" {
		rec, err = cli.OpenEmbedded(cmd, source.recording)
	} else {
		var opts files.Options
		if opts, err = cli.FileOptions(cmd); err == nil && !slices.Contains(paths, "-") {
			rec, err = cli.ReadFiles(ctx, paths, opts, cli.LoadCallbacks{})
		}
	}
	if err != nil || rec == nil {
		return nil
	}
	keys, err := cluster.AllPods(ctx, rec)
	if err != nil {
		return nil
	}
	return podCompletions(keys, typed)
}
