package cli

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources"
)

// minMemory is the smallest value of --memory, in bytes.
const minMemory = 16 << 20

// RegisterMemory adds --memory to cmd unless cmd has it.
func RegisterMemory(cmd *cobra.Command) {
	if cmd.Flags().Lookup("memory") == nil {
		cmd.Flags().String("memory", "", "memory limit for the data read, such as 8Gi (default 4Gi; lower for small, highly compressed files)")
	}
}

// Memory returns the value of --memory in bytes, or 0 if it is not set.
func Memory(cmd *cobra.Command) (int64, error) {
	text, _ := cmd.Flags().GetString("memory")
	if text == "" {
		return 0, nil
	}
	memory, err := sources.ParseQuantity(text)
	if err != nil {
		return 0, Usagef("--memory %s is %w", sources.Sanitize(text), err)
	}
	if memory.Value() < minMemory {
		return 0, Usagef("--memory %s is too little: use 16Mi or more", sources.Sanitize(text))
	}
	return memory.Value(), nil
}

// Memory budgets for a long recording, in bytes: for a command that reads it once, for one that runs
// two schedulers at the same time, and for the screen, which keeps more.
const (
	ReadMemory   = 256 << 20
	RerunMemory  = 384 << 20
	ScreenMemory = 448 << 20
)

// LimitMemoryFor limits the memory to budget bytes while rec is long: reading it produces much garbage
// and keeps little.
func LimitMemoryFor(rec *sources.Recording, budget int64) {
	if rec.Reread != nil {
		LimitMemory(budget)
	}
}
