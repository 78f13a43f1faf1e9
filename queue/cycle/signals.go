//go:build !windows

package cycle

import (
	"os/signal"
	"syscall"
)

// unsubscribe ends the subscriptions to the signal of upstream's cache debugger. Each scheduler makes one and keeps
// it for the life of the process.
func unsubscribe() { signal.Ignore(syscall.SIGUSR2) }
