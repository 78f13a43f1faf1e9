package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// NewExplain returns schedq explain.
func NewExplain() *cobra.Command {
	var name, when string
	read := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		key, err := cluster.FindPod(cmd.Context(), rec, name)
		if err != nil {
			return err
		}
		at, err := cli.Moment(rec, "--at", when)
		if err != nil {
			return err
		}
		opts, end := playing(cmd, rec, opts)
		x, err := session.ExplainPod(cmd.Context(), rec, opts, key, at)
		end()
		if err != nil {
			return err
		}
		if asJSON {
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			return encoder.Encode(x)
		}
		return writeExplanation(cmd.OutOrStdout(), x)
	}
	source := &sourceFlags{}
	cmd := headlessOf(source, &cobra.Command{
		Use:   "explain POD [FILE...] [--at TIME]",
		Short: "Explain a pod: where it is and why, when it is tried next, what wakes it, what it needs",
		Long: `explain says all about one pod at one moment: its tier and since when, what its last attempt came
to, when it is tried next at the latest, which events may wake it, and what it lacks on the nearest
nodes. POD is NAME, or NAMESPACE/NAME. Without a FILE it is about a live cluster, now.`,
		Example: "  schedq explain train-0 audit.log.gz sched.log.gz --at 12:03:10\n  schedq explain train-0 -n training --context prod",
	}, read, func(cmd *cobra.Command, cluster *KubeFlags, opts timeline.Options, asJSON bool) error {
		if when != "" {
			return cli.Usagef("--at is for recordings: a live cluster is explained as it is now")
		}
		if only := cluster.Namespace(); only != "" && !strings.Contains(name, "/") {
			name = only + "/" + name
		}
		rec, err := cluster.Collect(cmd, explainAfter)
		if err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	})
	cmd.Flags().StringVar(&when, "at", "", "the moment: 12:03:10 (UTC), +1m30s from the start, or RFC 3339; the end if there is none")

	// The first argument is the pod, the others are the source's.
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case len(args) > 0:
			return nil, cobra.ShellCompDirectiveDefault // files
		case source.recording != "":
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return source.live.CompletePod(cmd, typed)
	}
	files, explain := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cli.Usagef("explain needs a pod, NAME or NAMESPACE/NAME, and a file to read unless it is about a live cluster")
		}
		return files(cmd, args[1:])
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name = args[0]
		return explain(cmd, args[1:])
	}
	return cmd
}

// explainAfter is for how long a live cluster is watched before a pod in it is explained: the attempts that
// are under way end, and the model has its say.
const explainAfter = time.Second

// writeExplanation writes x for a person.
func writeExplanation(w io.Writer, x *explain.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s UTC\n\n", x.Pod, x.Time.Format("2006-01-02 15:04:05.000"))
	fmt.Fprintln(&b, strings.Join(facts(x), " · "))
	for _, sentence := range x.Why {
		fmt.Fprintf(&b, "  %s\n", sentence)
	}
	if a := x.LastAttempt; a != nil {
		fmt.Fprintf(&b, "\nlast attempt, failed %s, %s\n", x.LastAttempt.Time.Format("15:04:05.000"), a.Provenance)
		var rows [][]string
		for _, r := range a.Reasons {
			plugin := r.Plugin
			if plugin == "" {
				plugin = "(plugin not told)"
			}
			rows = append(rows, []string{fmt.Sprintf("%d of %s", r.Nodes, plural(a.Nodes, "node")), plugin, string(r.Reason)})
		}
		cli.WriteColumns(&b, rows)
		rest := a.Rest
		if len(a.Reasons) > 0 && rest != "" && !strings.HasPrefix(rest, "preemption:") {
			rest = "PostFilter: " + rest
		}
		if rest != "" {
			fmt.Fprintf(&b, "  %s\n", rest)
		}
	}
	if len(x.WokenBy) > 0 {
		fmt.Fprintln(&b, "\nmay be woken by, if the plugin's queueing hint agrees")
		var rows [][]string
		for _, p := range x.WokenBy {
			events := "any event: what it registered for is not known"
			if len(p.Events) > 0 {
				events = strings.Join(p.Events, ", ")
			}
			rows = append(rows, []string{p.Plugin, events})
		}
		cli.WriteColumns(&b, rows)
	}
	if x.Needs != nil {
		writeNeeds(&b, x.Needs)
	}
	if len(x.Notes) > 0 {
		fmt.Fprintln(&b)
	}
	for _, n := range x.Notes {
		fmt.Fprintf(&b, "Note: %s\n", n)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("can't write to standard output: %w", err)
	}
	return nil
}

// facts are where the pod is, and its numbers.
func facts(x *explain.Explanation) []string {
	all := []string{
		fmt.Sprintf("%s since %s, %s", words.TierNamed(x.Tier), x.Since.Format("15:04:05.000"), x.Provenance),
		plural(x.Attempts, "attempt"),
		"priority unknown",
	}
	if x.Priority != nil {
		all[2] = "priority " + strconv.Itoa(int(*x.Priority))
	}
	if x.NominatedNode != "" {
		all = append(all, "nominated to "+string(x.NominatedNode))
	}
	return all
}

// writeNeeds writes where the pod fits, and what it lacks on the nearest of the other nodes.
func writeNeeds(b *strings.Builder, n *explain.Needs) {
	fmt.Fprintln(b, "\nneeds")
	for _, sentence := range n.Sentences() {
		fmt.Fprintf(b, "  %s\n", sentence)
	}
	var rows [][]string
	for _, node := range n.Nearest {
		name := string(node.Node)
		for _, l := range node.Lacks {
			rows = append(rows, []string{name, l.Plugin, l.String()})
			name = "" // told once
		}
		if len(node.Lacks) == 0 {
			rows = append(rows, []string{name, "would fit otherwise", ""})
		}
	}
	cli.WriteColumns(b, rows)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
