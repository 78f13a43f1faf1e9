package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui"
)

// NewPlay returns schedq play.
func NewPlay() *cobra.Command {
	var display cli.Display
	var out, release string
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Experiment with a simulated cluster",
		Long: `Start with one small node and a local scheduler. Press e, then n to add nodes and pods from a list,
and space to let time pass. With -o, your cluster is saved as a scenario when you quit.`,
		Example: "  schedq play\n  schedq play --release v1.24 -o mine.yaml",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if release != "" {
				if _, err := queue.ForRelease(release); err != nil {
					return cli.Usagef("--release: %w", err)
				}
			}
			if out != "" && !scenario.Named(out) {
				return cli.Usagef("--output must end in .yaml: it is a scenario")
			}
			if out != "" {
				if err := force.Check(cmd, out); err != nil {
					return err
				}
			}
			if err := display.Check(); err != nil {
				return err
			}
			plugins, err := cycle.InTree()
			if err != nil {
				return err
			}
			screen := display.Options(nil)
			screen.Memory, screen.Keeps = nil, out != ""
			opts := display.Session(timeline.Options{Plugins: plugins, Paused: true})
			played, err := tui.RunPlay(cmd.Context(), release, opts, screen)
			if errors.Is(err, tui.ErrNoTerminal) {
				return fmt.Errorf("%w; schedq watch plays a scenario without one", err)
			}
			if err != nil || out == "" {
				return err
			}
			if err := disk.Write(context.WithoutCancel(cmd.Context()), out, force.Options(), func(w io.Writer) error { return scenario.Write(w, played) }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "schedq: saved the scenario to %s; play it with schedq replay\n", sources.Sanitize(out))
			return nil
		},
	}
	display.Register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "save the scenario to this `FILE`, which ends in .yaml, when you quit")
	force.Register(cmd)
	cmd.Flags().StringVar(&release, "release", "", "use the queue rules of this release: "+strings.Join(queue.Releases(), ", "))
	return cmd
}
