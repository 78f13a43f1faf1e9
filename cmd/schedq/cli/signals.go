package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// gracePeriod is how long the program has to end in order after the first signal. timeout(1), and a
// shell whose terminal closes, send their signal twice at once: the second must not interrupt a write.
const gracePeriod = time.Second

// SignalContext returns a context that ends with the first SIGINT, SIGTERM or SIGHUP, for the program
// to leave the screen and close files. The second signal calls kill, because the program may be stuck
// outside the context's reach: at a pipe without a writer, or a stale mount.
//
// Nothing else in the program may listen for these signals. Signals that were ignored at start stay
// ignored, as nohup and background jobs of scripts need.
func SignalContext(kill func()) context.Context {
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		ignoreTTYStop()
		cancel()
		over := time.Now().Add(gracePeriod)
		<-signals
		time.Sleep(time.Until(over))
		kill()
	}()
	return ctx
}
