package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live/doctor"
)

// NewDoctor returns schedq doctor.
func NewDoctor() *cobra.Command {
	var cluster kubeFlags
	var output cli.Output
	var pods podsDoctor
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check which data sources a cluster offers",
		Long: `Report what you may read in a cluster, its release and platform, what is visible of its scheduler, and
which scheduler logs and metrics are available, with the commands to use and what each adds. doctor
reads a few objects and your permissions, and changes nothing. The exit code is 1 if schedq attach would
not work.

With --pods, watch the waiting pods instead, and report those that the scheduler lost, forgot, holds or
starves, with the evidence and what helps. That takes 7 minutes. The exit code is 1 if there is such a pod,
and 0 if all wait as they should.`,
		Example: "  schedq doctor\n  schedq doctor --context prod -o json\n  schedq doctor --pods --scheduler-log pod:kube-system/kube-scheduler-a",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := output.JSON()
			if err != nil {
				return err
			}
			if pods.on {
				return pods.run(cmd, &cluster, asJSON)
			}
			if name := pods.changed(cmd); name != "" {
				return cli.Usagef("--%s needs --pods", name)
			}
			found, err := cluster.Examine(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), found)
			} else {
				err = cli.WriteText(cmd.OutOrStdout(), formatFindings(found))
			}
			if attach := found.Channels[0]; err == nil && attach.State == doctor.No {
				err = fmt.Errorf("schedq attach does not work here: %s", attach.Why)
			}
			return err
		},
	}
	pods.register(cmd, &cluster)
	cmd.Flags().Lookup("namespace").Usage = "check only what you may read in this namespace"
	output.Register(cmd)
	return cmd
}

// formatFindings formats findings for people.
func formatFindings(f *doctor.Findings) string {
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%-10s %s\n", label, text) }
	line("cluster", fmt.Sprintf("%s, %s", f.Cluster, f.Server))
	if f.Trouble != "" {
		line("", f.Trouble)
	} else {
		line("release", formatRelease(f.Version))
	}
	line("platform", formatPlatform(f.Platform))
	if f.Trouble == "" {
		for _, text := range formatScheduler(f.Scheduler) {
			line("scheduler", text)
		}
		b.WriteString("\naccess\n")
		for _, text := range formatAccess(f.Kinds) {
			b.WriteString("  " + text + "\n")
		}
	}
	b.WriteString("\ndata sources\n")
	for _, c := range f.Channels {
		state := c.State
		if c.Why != "" {
			state += ": " + c.Why
		}
		fmt.Fprintf(&b, "  %s – %s\n", c.Name, state)
		for _, how := range c.How {
			b.WriteString("      " + how + "\n")
		}
		b.WriteString("    " + c.Adds + "\n")
	}
	return b.String()
}

func formatRelease(version sources.SafeText) string {
	release, exact := queue.ReleaseFor(string(version))
	switch {
	case release == "":
		return "unknown: /version does not contain it"
	case !exact:
		return fmt.Sprintf("%s, which schedq does not know: using the queue rules of %s", version, release)
	}
	return fmt.Sprintf("%s: using the queue rules of %s", version, release)
}

func formatPlatform(p doctor.Platform) string {
	if p.Name == "" {
		return "unknown: docs/use/platforms.md lists the known ones"
	}
	return fmt.Sprintf("%s: %s", p.Name, p.Reason)
}

// formatScheduler describes what is visible of the scheduler, in lines.
func formatScheduler(s doctor.Scheduler) []string {
	var lines []string
	if s.Lease == "" {
		lines = append(lines, "no lease found in kube-system or openshift-kube-scheduler")
	} else {
		since := ""
		if s.Since != nil {
			since = " since " + s.Since.Format("2006-01-02 15:04:05")
		}
		lines = append(lines, fmt.Sprintf("%s leads%s, according to lease %s", s.Holder, since, s.Lease))
	}
	for _, pod := range s.Pods {
		text := fmt.Sprintf("pod %s/%s", pod.Namespace, pod.Name)
		if pod.Version != "" {
			text += " " + string(pod.Version)
		}
		text += fmt.Sprintf(", logs at -v=%d", pod.Verbosity)
		if len(pod.Configured) > 0 {
			text += "; configured with " + strings.Join(pod.Configured, " and ") + ": pass the same to schedq (--scheduler-config, --feature-gates)"
		}
		lines = append(lines, text)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Pending)) {
		text := fmt.Sprintf("%d pending pods for %s", s.Pending[name], name)
		if s.Pending[name] == 1 {
			text = fmt.Sprintf("1 pending pod for %s", name)
		}
		if name != "default-scheduler" {
			text += fmt.Sprintf(": use --scheduler-name %s to show its queue", name)
		}
		lines = append(lines, text)
	}
	return lines
}

// formatAccess describes which kinds are readable and, grouped by reason, which are not.
func formatAccess(kinds []doctor.Access) []string {
	readable := 0
	for _, k := range kinds {
		if k.State == doctor.Readable {
			readable++
		}
	}
	lines := []string{fmt.Sprintf("%d of the %d kinds that schedq watches are readable", readable, len(kinds))}
	if readable == len(kinds) {
		lines[0] = fmt.Sprintf("all %d kinds that schedq watches are readable", readable)
	}
	index := map[string]int{}
	var names [][]string
	var reasons []string
	for _, k := range kinds {
		if k.State == doctor.Readable {
			continue
		}
		reason := k.State
		if k.Trouble != "" {
			reason += " (" + string(k.Trouble) + ")"
		}
		reason += ": " + k.Without
		i, seen := index[reason]
		if !seen {
			i = len(names)
			index[reason] = i
			names, reasons = append(names, nil), append(reasons, reason)
		}
		names[i] = append(names[i], k.Kind)
	}
	for i, reason := range reasons {
		lines = append(lines, strings.Join(names[i], ", ")+" – "+reason)
	}
	return lines
}
