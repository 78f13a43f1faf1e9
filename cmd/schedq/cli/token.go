package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources/ring/remote"
)

// tokenVariable is the environment variable with the token for a recorder's URL.
const tokenVariable = "SCHEDQ_TOKEN"

// RegisterToken adds --token-file to cmd.
func RegisterToken(cmd *cobra.Command, usage string) { cmd.Flags().String("token-file", "", usage) }

// Token returns the token from --token-file or else from the environment. It is zero if there is none.
func Token(cmd *cobra.Command) (remote.Token, error) {
	if path, _ := cmd.Flags().GetString("token-file"); path != "" {
		token, err := remote.ReadToken(cmd.Context(), path)
		if err != nil {
			err = fmt.Errorf("--token-file: %w", err)
		}
		return token, err
	}
	text := os.Getenv(tokenVariable)
	if text == "" {
		return remote.Token{}, nil
	}
	token, err := remote.NewToken(text)
	if err != nil {
		err = fmt.Errorf("%s %w", tokenVariable, err)
	}
	return token, err
}
