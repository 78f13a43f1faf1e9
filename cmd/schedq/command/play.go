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
	var look cli.Look
	var out, release string
	var force cli.Force
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Play with a cluster of your own: nodes and pods from a palette, and the clock",
		Long: `play begins with one small node and nothing else, and a local scheduler decides. n brings nodes and pods of
many kinds, space lets time pass. What you made is saved as a scenario when you leave, if you name a file.`,
		Example: "  schedq play\n  schedq play --release v1.24 -o mine.yaml",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if release != "" {
				if _, err := queue.ForRelease(release); err != nil {
					return cli.Usagef("--release: %w", err)
				}
			}
			if out != "" && !scenario.Named(out) {
				return cli.Usagef("--output names a scenario: it ends in .yaml")
			}
			if out != "" {
				if err := force.Check(cmd, out); err != nil {
					return err
				}
			}
			if err := look.Check(); err != nil {
				return err
			}
			plugins, err := cycle.InTree()
			if err != nil {
				return err
			}
			screen := look.Options(nil)
			screen.Memory, screen.Keeps = nil, out != ""
			opts := look.Session(timeline.Options{Plugins: plugins, Paused: true})
			made, err := tui.RunPlay(cmd.Context(), release, opts, screen)
			if errors.Is(err, tui.ErrNoTerminal) {
				return fmt.Errorf("%w; schedq watch plays a scenario without one", err)
			}
			if err != nil || out == "" {
				return err
			}
			if err := disk.Write(context.WithoutCancel(cmd.Context()), out, force.Options(), func(w io.Writer) error { return scenario.Write(w, made) }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "schedq: the scenario is %s; schedq replay plays it\n", sources.Sanitize(out))
			return nil
		},
	}
	look.Register(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the scenario to write when you leave, a `FILE` that ends in .yaml")
	force.Register(cmd)
	cmd.Flags().StringVar(&release, "release", "", "by the rules of this release: "+strings.Join(queue.Releases(), ", "))
	return cmd
}
