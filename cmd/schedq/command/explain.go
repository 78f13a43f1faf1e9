package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/format"
)

// atUsage is the help of --at of commands that print one moment.
const atUsage = "show this `TIME`: 12:03:10 (UTC), +1m30s from the start, or RFC 3339 (default the last moment observed)"

// NewExplain returns schedq explain.
func NewExplain() *cobra.Command {
	var names []string
	var when string
	var asCycle bool
	output := &cli.Output{Also: []string{"markdown", "issue"}}
	oneCycle := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, key types.NamespacedName, at time.Time, asJSON bool) error {
		if output.Is("markdown") || output.Is("issue") {
			return cli.Usagef("--cycle has no markdown: use -o json or text")
		}
		opts, stop := withProgress(cmd, rec, opts)
		c, err := session.InspectPod(cmd.Context(), rec, opts, key, at, session.InspectOptions{InspectOptions: cycle.InspectOptions{AllRejections: asJSON}})
		stop()
		switch {
		case err != nil:
			return err
		case asJSON:
			return cli.WriteJSON(cmd.OutOrStdout(), c)
		}
		return writeCycle(cmd.OutOrStdout(), c)
	}
	one := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, name string, asJSON bool) error {
		key, err := cluster.FindPod(cmd.Context(), rec, name)
		if err != nil {
			return err
		}
		at, err := cli.ParseTime(rec, "--at", when)
		if err != nil {
			return err
		}
		if asCycle {
			return oneCycle(cmd, rec, opts, key, at, asJSON)
		}
		opts, stop := withProgress(cmd, rec, opts)
		if output.Is("issue") {
			c, err := session.PodCase(cmd.Context(), rec, opts, key, at)
			stop()
			if err != nil {
				return err
			}
			names, err := namesOf(cmd.Context(), rec, key)
			if err != nil {
				return err
			}
			text, err := issue(c, cmd.Root().Version, names)
			if err != nil {
				return err
			}
			return cli.WriteText(cmd.OutOrStdout(), text)
		}
		x, err := session.ExplainPod(cmd.Context(), rec, opts, key, at)
		stop()
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			return cli.WriteJSON(cmd.OutOrStdout(), x)
		case output.Is("markdown"):
			return cli.WriteText(cmd.OutOrStdout(), markdown(x))
		}
		return writeExplanation(cmd.OutOrStdout(), x)
	}
	read := func(cmd *cobra.Command, rec *sources.Recording, opts timeline.Options, asJSON bool) error {
		for i, name := range names {
			if i > 0 && !asJSON {
				fmt.Fprintln(cmd.OutOrStdout()) // an error recurs below
			}
			if err := one(cmd, rec, opts, name, asJSON); err != nil {
				return err
			}
		}
		return nil
	}
	source := &sourceFlags{}
	cmd := headlessFrom(source, output, &cobra.Command{
		Use:   "explain POD... [FILE...] [--at TIME]",
		Short: "Explain why a pod is pending and what will move it",
		Long: `Explain pods at one moment: where each is and since when, the result of its last attempt, the latest
time of the next one, which events may wake it, and what it lacks on the nearest nodes. POD is NAME,
NAMESPACE/NAME or pod/NAME. Without a FILE, explain pods of a live cluster.

With --cycle, explain the scheduling cycle: why this node and not another. For a bound pod that is the
attempt that bound it, run again over the objects of its time; for a waiting pod an attempt at that time.`,
		Example: "  schedq explain train-0 audit.log.gz sched.log.gz --at 12:03:10\n  schedq explain train-0 -n training --context prod",
	}, read, func(cmd *cobra.Command, cluster *kubeFlags, opts timeline.Options, asJSON bool) error {
		if when != "" {
			return cli.Usagef("--at is for recordings: a live cluster is explained as it is now")
		}
		qualify(names, cluster.Namespace())
		rec, err := cluster.Collect(cmd, collectTime)
		if err != nil {
			return err
		}
		return read(cmd, rec, opts, asJSON)
	})
	cmd.Flags().StringVar(&when, "at", "", atUsage)
	cmd.Flags().BoolVar(&asCycle, "cycle", false, "explain the scheduling cycle: filters, scores, preemption and the chosen node")

	aboutPods(cmd, source, cli.Any, &names)
	return cmd
}

// collectTime is how long explain and list watch a live cluster, for running attempts to end and the
// model to settle.
const collectTime = time.Second

// writeExplanation writes x for people: the conclusion first, then the evidence.
func writeExplanation(w io.Writer, x *explain.Explanation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s UTC\n", x.Pod, x.Time.Format("2006-01-02 15:04:05.000"))
	if c := x.Conclusion; c != nil {
		fmt.Fprintf(&b, "%s\n\n", c.Summary)
		for _, line := range c.Lines() {
			fmt.Fprintln(&b, line)
		}
	}
	writeVerdict(&b, x.Opinion())
	fmt.Fprintf(&b, "\n%s\n", strings.Join(podFacts(x), " · "))
	for _, sentence := range x.Why {
		fmt.Fprintf(&b, "  %s\n", sentence)
	}
	if a := x.LastAttempt; a != nil {
		fmt.Fprintf(&b, "\nlast attempt, failed at %s, %s\n", x.LastAttempt.Time.Format("15:04:05.000"), a.Provenance)
		var rows [][]string
		for _, r := range a.Reasons {
			plugin := r.Plugin
			if plugin == "" {
				plugin = "(unknown plugin)"
			}
			rows = append(rows, []string{fmt.Sprintf("%d of %s", r.Nodes, format.Plural(a.Nodes, "node")), plugin, string(r.Reason)})
		}
		cli.WriteColumns(&b, rows)
		switch {
		case a.PostFilter != "":
			fmt.Fprintf(&b, "  %s\n", a.PostFilter)
		case len(a.Reasons) == 0:
			fmt.Fprintf(&b, "  %s\n", a.Message)
		}
	}
	if len(x.WokenBy) > 0 {
		fmt.Fprintln(&b, "\nevents that can wake it, subject to each plugin's queueing hint")
		var rows [][]string
		for _, p := range x.WokenBy {
			events := strings.Join(p.Events, ", ")
			switch {
			case events == "" && len(x.WokenBy) > 1:
				events = "others that are unknown: any event may wake it"
			case events == "":
				events = "any event may wake it: those of the plugin are unknown"
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
	return cli.WriteText(w, b.String())
}

// writeVerdict writes the second opinion, if there is one: the evidence and what helps.
func writeVerdict(b *strings.Builder, v *opinion.Shown) {
	if v == nil {
		return
	}
	fmt.Fprintf(b, "\nverdict: %s\n", v.Sentence)
	for _, seen := range v.Evidence {
		fmt.Fprintf(b, "  %s\n", seen.Line(words.Zone{}))
	}
	fmt.Fprintf(b, "  %s\n", v.Helps)
	for _, command := range v.Commands {
		fmt.Fprintf(b, "    %s\n", command)
	}
}

// podFacts returns the pod's tier, attempts, priority and nominated node.
func podFacts(x *explain.Explanation) []string {
	orLater := ""
	if x.SinceAtEarliest {
		orLater = " or later"
	}
	facts := []string{
		fmt.Sprintf("%s since %s%s, %s", words.TierNamed(x.Tier), x.Since.Format("15:04:05.000"), orLater, x.Provenance),
		words.AttemptCount{N: x.Attempts, AtLeast: x.AttemptsAtLeast}.Attempts(),
		"priority unknown",
	}
	if x.Priority != nil {
		facts[2] = "priority " + strconv.Itoa(int(*x.Priority))
	}
	if x.NominatedNode != "" {
		facts = append(facts, "nominated to "+string(x.NominatedNode))
	}
	if x.LastWoken != nil {
		facts = append(facts, fmt.Sprintf("last woken by %s at %s", x.LastWoken.Event, x.LastWoken.Time.Format("15:04:05.000")))
	}
	return facts
}

// writeNeeds writes where the pod fits, and what it lacks on the nearest other nodes.
func writeNeeds(b *strings.Builder, n *explain.Needs) {
	fmt.Fprintln(b, "\nneeds")
	for _, sentence := range n.Sentences() {
		fmt.Fprintf(b, "  %s\n", sentence)
	}
	var rows [][]string
	for _, node := range n.Nearest {
		name := string(node.Node)
		if node.Never {
			name += " (never)"
		}
		for _, l := range node.Lacks {
			rows = append(rows, []string{name, l.Plugin, l.String()})
			name = "" // only in the node's first row
		}
		if len(node.Lacks) == 0 {
			rows = append(rows, []string{name, "–", "would fit otherwise"})
		}
	}
	cli.WriteColumns(b, rows)
}
