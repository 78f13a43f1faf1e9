package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
)

// outputFlag is -o of the commands without a screen.
type outputFlag struct{ format string }

func (f *outputFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "text or json")
}

// json reports whether JSON is asked for.
func (f *outputFlag) json() (bool, error) {
	switch f.format {
	case "json":
		return true, nil
	case "text":
		return false, nil
	}
	return false, usageError{fmt.Errorf("-o %s: the outputs are text and json", f.format)}
}

// headless makes cmd a command without a screen: it reads a source and has write print it.
func headless(cmd *cobra.Command, write func(cmd *cobra.Command, rec *sources.Recording, opts session.Options, asJSON bool) error) *cobra.Command {
	var source sourceFlags
	var model modelFlags
	var output outputFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asJSON, err := output.json()
		if err != nil {
			return err
		}
		opts, err := model.options()
		if err != nil {
			return err
		}
		rec, err := source.open(cmd, args)
		if err != nil {
			return err
		}
		return write(cmd, rec, opts, asJSON)
	}
	source.register(cmd)
	model.register(cmd)
	output.register(cmd)
	return cmd
}

func newWatch() *cobra.Command {
	return headless(&cobra.Command{
		Use:     "watch FILE...",
		Short:   "Print one line for every move of a pod",
		Example: "  schedq watch audit.log.gz sched.log.gz -o json | jq -r 'select(.to==\"backoff\") | .pod'",
	}, func(cmd *cobra.Command, rec *sources.Recording, opts session.Options, asJSON bool) error {
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		err := session.Replay(cmd.Context(), rec, opts, func(t *session.Transition) error {
			if asJSON {
				return encoder.Encode(t)
			}
			_, err := fmt.Fprintln(out, t)
			return err
		})
		if err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("can't write to standard output: %w", err)
		}
		return nil
	})
}
