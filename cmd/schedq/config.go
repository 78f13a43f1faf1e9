package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/sources"
)

func newConfig() *cobra.Command {
	var schema, example bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check the configuration file and say where it is",
		Long: `config says where the configuration file is, whether it is there and what is wrong with it. The file is
$SCHEDQ_CONFIG, or schedq/config.yaml in $XDG_CONFIG_HOME, which is ~/.config if it is not set.`,
		Example: "  schedq config --example > ~/.config/schedq/config.yaml\n  schedq config --schema > schedq.schema.json",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case schema:
				text, err := config.Schema()
				if err == nil {
					_, err = cmd.OutOrStdout().Write(text)
				}
				return err
			case example:
				_, err := fmt.Fprint(cmd.OutOrStdout(), config.Example())
				return err
			}
			path, err := config.File()
			if err != nil {
				return err
			}
			if _, err := config.Load(cmd.Context()); err != nil {
				return err
			}
			state := "is fine"
			if _, err := os.Stat(path); err != nil {
				state = "is not there: all is as it is without one"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", sources.Sanitize(path), state)
			return err
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "print the file's JSON schema")
	cmd.Flags().BoolVar(&example, "example", false, "print a file in which everything is as it is without one")
	cmd.MarkFlagsMutuallyExclusive("schema", "example")
	return cmd
}
