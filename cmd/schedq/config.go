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
		Short: "Check the configuration file and print its path",
		Long: `Print the path of the configuration file and check it. The file is $SCHEDQ_CONFIG, or
schedq/config.yaml in $XDG_CONFIG_HOME (default ~/.config).`,
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
			if _, err := os.Stat(path); err != nil {
				return cli.WriteText(cmd.OutOrStdout(), fmt.Sprintf("no configuration file at %s: using defaults\n", sources.Sanitize(path)))
			}
			return cli.WriteText(cmd.OutOrStdout(), fmt.Sprintf("%s is valid\n", sources.Sanitize(path)))
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of the file")
	cmd.Flags().BoolVar(&example, "example", false, "print the default configuration")
	cmd.MarkFlagsMutuallyExclusive("schema", "example")
	return cmd
}
