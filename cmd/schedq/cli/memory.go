package cli

import (
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources"
)

// leastMemoryOfSource is how many bytes of memory any source may take.
const leastMemoryOfSource = 16 << 20

// RegisterMemory adds --memory to cmd, unless it has it: how much memory what is read may take.
func RegisterMemory(cmd *cobra.Command) {
	if cmd.Flags().Lookup("memory") == nil {
		cmd.Flags().String("memory", "", "how much memory what is read may take, such as 8Gi (default 4Gi, and less of a small file that is packed too well)")
	}
}

// Memory is what --memory says, in bytes. 0 is that it says nothing.
func Memory(cmd *cobra.Command) (int64, error) {
	text, _ := cmd.Flags().GetString("memory")
	if text == "" {
		return 0, nil
	}
	memory, err := sources.ParseQuantity(text)
	if err != nil {
		return 0, Usagef("--memory %s is %w", sources.Sanitize(text), err)
	}
	if memory.Value() < leastMemoryOfSource {
		return 0, Usagef("--memory %s is too little: what is read may take 16Mi or more", sources.Sanitize(text))
	}
	return memory.Value(), nil
}

// The room that a long recording has in memory, in bytes, before what it leaves behind is collected as soon as one can: of a command
// that only reads it, of one that has two schedulers work at the same time, and of the screen, which keeps more.
const (
	RoomToRead  = 256 << 20
	RoomToRerun = 384 << 20
	RoomToShow  = 448 << 20
)

// SpareMemory has garbage collected sooner than Go does if rec is long and needs more than room: what one leaves behind is much, and
// what stays of it is little.
func SpareMemory(rec *sources.Recording, room int64) {
	if rec.Again != nil {
		LimitMemory(room)
	}
}
