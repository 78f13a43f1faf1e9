package command

import (
	"fmt"
	"io"
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
	var cluster KubeFlags
	var output cli.Output
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what of this cluster can be had, and how",
		Long: `doctor asks the cluster what of it you may read, which release and platform it is, and what shows of its scheduler.
Then it says what schedq can hear of that scheduler here, by which commands, and what each adds. It reads a few
objects, asks what you may do, and changes nothing.`,
		Example: "  schedq doctor\n  schedq doctor --context prod -o json",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := output.JSON()
			if err != nil {
				return err
			}
			found, err := cluster.Examine(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), found)
			}
			if _, err := io.WriteString(cmd.OutOrStdout(), tellFindings(found)); err != nil {
				return fmt.Errorf("can't write to standard output: %w", err)
			}
			return nil
		},
	}
	cluster.RegisterCluster(cmd)
	cmd.Flags().Lookup("namespace").Usage = "ask what of this namespace may be read, instead of all"
	output.Register(cmd)
	return cmd
}

// tellFindings is findings for a person.
func tellFindings(f *doctor.Findings) string {
	var b strings.Builder
	line := func(what, said string) { fmt.Fprintf(&b, "%-10s %s\n", what, said) }
	line("cluster", fmt.Sprintf("%s, %s", f.Cluster, f.Server))
	if f.Trouble != "" {
		line("", f.Trouble)
	} else {
		line("release", releaseSaid(f.Version))
	}
	line("platform", platformSaid(f.Platform))
	if f.Trouble == "" {
		for _, said := range schedulerSaid(f.Scheduler) {
			line("scheduler", said)
		}
		b.WriteString("\nwhat may be read\n")
		for _, said := range accessSaid(f.Kinds) {
			b.WriteString("  " + said + "\n")
		}
	}
	b.WriteString("\nwhat can be had, and what it adds\n")
	for _, c := range f.Channels {
		said := c.State
		if c.Why != "" {
			said += ": " + c.Why
		}
		fmt.Fprintf(&b, "  %s – %s\n", c.Name, said)
		for _, how := range c.How {
			b.WriteString("      " + how + "\n")
		}
		b.WriteString("    " + c.Adds + "\n")
	}
	return b.String()
}

func releaseSaid(version sources.SafeText) string {
	release, exact := queue.ReleaseFor(string(version))
	switch {
	case release == "":
		return "not known: /version does not say"
	case !exact:
		return fmt.Sprintf("%s, which schedq does not know: the queue follows %s", version, release)
	}
	return fmt.Sprintf("%s: the queue has the rules of %s", version, release)
}

func platformSaid(p doctor.Platform) string {
	if p.Name == "" {
		return "not known: docs/use/platforms.md has those that are"
	}
	return fmt.Sprintf("%s: %s", p.Name, p.Reason)
}

// schedulerSaid says what shows of the scheduler, a line each.
func schedulerSaid(s doctor.Scheduler) []string {
	var said []string
	if s.Lease == "" {
		said = append(said, "no lease of it is seen, in kube-system or openshift-kube-scheduler")
	} else {
		since := ""
		if s.Since != nil {
			since = " since " + s.Since.Format("2006-01-02 15:04:05")
		}
		said = append(said, fmt.Sprintf("%s leads%s, by the lease %s", s.Holder, since, s.Lease))
	}
	for _, pod := range s.Pods {
		text := fmt.Sprintf("pod %s/%s", pod.Namespace, pod.Name)
		if pod.Version != "" {
			text += " " + string(pod.Version)
		}
		text += fmt.Sprintf(", logs at -v=%d", pod.Verbosity)
		if len(pod.Configured) > 0 {
			text += "; it has " + strings.Join(pod.Configured, " and ") + ", and schedq should be given the same (--scheduler-config, --feature-gates)"
		}
		said = append(said, text)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Pending)) {
		text := fmt.Sprintf("%d pending pods ask for %s", s.Pending[name], name)
		if s.Pending[name] == 1 {
			text = fmt.Sprintf("1 pending pod asks for %s", name)
		}
		if name != "default-scheduler" {
			text += fmt.Sprintf(": --scheduler-name %s shows its queue", name)
		}
		said = append(said, text)
	}
	return said
}

// accessSaid says what may be read, and what can't, a line for each reason.
func accessSaid(kinds []doctor.Access) []string {
	readable := 0
	for _, k := range kinds {
		if k.State == doctor.Readable {
			readable++
		}
	}
	said := []string{fmt.Sprintf("%d of the %d kinds that schedq watches", readable, len(kinds))}
	if readable == len(kinds) {
		said[0] = fmt.Sprintf("all %d kinds that schedq watches", readable)
	}
	named := map[string]int{}
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
		at, there := named[reason]
		if !there {
			at = len(names)
			named[reason] = at
			names, reasons = append(names, nil), append(reasons, reason)
		}
		names[at] = append(names[at], k.Kind)
	}
	for i, reason := range reasons {
		said = append(said, strings.Join(names[i], ", ")+" – "+reason)
	}
	return said
}
