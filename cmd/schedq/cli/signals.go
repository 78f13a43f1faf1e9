package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is how long the program has, from the first signal on, to end in order. timeout(1), and a shell whose
// terminal is closed, send theirs twice at once: the second of such a pair must not cut short what is being written.
const grace = time.Second

// UntilSignal returns a context that ends with the first signal that asks the program to end (an interrupt, a request
// to terminate, a terminal that is gone), so that the screen is left and files are closed. With the second signal the
// program need not be able to hear of its context any more: it may wait for a pipe without a writer or for a stale
// mount. Then kill is called.
//
// Nobody else in the program may listen for these signals. A signal that was ignored when the program began stays so:
// by that, nohup and a script's background keep their programs.
func UntilSignal(kill func()) context.Context {
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		unstoppable()
		cancel()
		over := time.Now().Add(grace)
		<-signals
		time.Sleep(time.Until(over))
		kill()
	}()
	return ctx
}
