package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelp: the help of each command shows all its flags, except for kubectl's, which schedq
// options lists.
func TestHelp(t *testing.T) {
	_, options, _ := schedq(t, "", "options")
	for _, flag := range []string{"--as string", "--token string", "--kubeconfig string", "--server string"} {
		if !strings.Contains(options, flag) {
			t.Errorf("options does not list %s:\n%s", flag, options)
		}
	}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		_, help, _ := schedq(t, "", append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := " --" + f.Name
			switch {
			case f.Hidden || strings.Contains(help, name+" ") || strings.Contains(help, name+"[") || strings.Contains(help, name+"\n"):
			case !strings.Contains(options, name+" ") || !strings.Contains(help, `Use "schedq options" for kubectl's`):
				t.Errorf("%s: neither the help nor schedq options shows --%s", cmd.CommandPath(), f.Name)
			}
		})
		if help := strings.Split(help, "\n"); slices.ContainsFunc(help, func(line string) bool { return strings.Contains(line, "--as-user-extra") }) && cmd.Name() != "options" {
			t.Errorf("%s: the help lists kubectl's flags", cmd.CommandPath())
		}
	}
	check(newRoot())
}

// TestListOrder: --sort orders pods, --no-headers omits the header, and wrong orders are refused.
func TestListOrder(t *testing.T) {
	list := []string{"list", "--recording", "workshop", "--at", "10:58:00"}
	for order, want := range map[string]string{
		"pending":  "batch-1 train-0 quorum-2 quorum-3",
		"pod":      "batch-1 quorum-2 quorum-3 train-0",
		"attempts": "batch-1 quorum-2 quorum-3 train-0",
		"next":     "train-0 batch-1 quorum-2 quorum-3",
		"for":      "train-0 quorum-3 quorum-2 batch-1",
		"priority": "batch-1 train-0 quorum-2 quorum-3",
	} {
		_, out, stderr := schedq(t, "", append(list, "--sort", order, "-o", "json")...)
		var listed struct{ Pods []struct{ Pod string } }
		if err := json.Unmarshal([]byte(out), &listed); err != nil {
			t.Fatalf("%s: %v %s", order, err, stderr)
		}
		var got []string
		for _, p := range listed.Pods {
			got = append(got, strings.TrimPrefix(p.Pod, "default/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", order, got, want)
		}
	}
	if _, out, _ := schedq(t, "", append(list, "--no-headers")...); strings.Contains(out, "attempts") || strings.Count(out, "\n") != 4 {
		t.Errorf("without headers:\n%s", out)
	}
	failure{append(list, "--sort", "attempt"), 2, `did you mean "attempts"?`}.check(t)
}
