package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/keymap"
)

// NewKeys returns the command that prints the screen's keys, with those of the configuration file.
func NewKeys() *cobra.Command {
	var output cli.Output
	cmd := &cobra.Command{
		Use:     "keys",
		Short:   "Print the keys of the screen, yours included",
		Example: "  schedq keys | lpr",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := output.JSON()
			if err != nil {
				return err
			}
			c, err := config.Load(cmd.Context())
			if err != nil {
				return err
			}
			return writeKeys(cmd, keymap.New(c.Bindings), asJSON)
		},
	}
	output.Register(cmd)
	return cmd
}

func writeKeys(cmd *cobra.Command, keys *keymap.Map, asJSON bool) error {
	type action struct {
		ID          keymap.ID `json:"id"`
		Name        string    `json:"name"`
		Keys        []string  `json:"keys"`
		Description string    `json:"description"`
	}
	var all []action
	var text strings.Builder
	for _, group := range keymap.Groups() {
		rows := [][]string{{strings.ToUpper(string(group)), ""}}
		for _, b := range keys.In(group) {
			shown := []string{}
			for _, key := range b.Keys {
				shown = append(shown, keymap.Display(key))
			}
			all = append(all, action{b.ID, b.Name, shown, b.Description})
			rows = append(rows, []string{strings.Join(shown, " "), b.Name})
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		cli.WriteColumns(&text, rows)
	}
	if asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), all)
	}
	return cli.WriteText(cmd.OutOrStdout(), text.String())
}
