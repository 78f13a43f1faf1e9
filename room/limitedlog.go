package room

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// limitedLog logs events that unauthenticated clients can cause. It is rate-limited so that a flood
// of connections can't fill the disk, and reports how many records it dropped.
type limitedLog struct {
	log     *slog.Logger
	limit   *rate.Limiter
	dropped atomic.Int64
}

func newLimitedLog(log *slog.Logger) *limitedLog {
	return &limitedLog{log: log, limit: rate.NewLimiter(5, 100)}
}

func (l *limitedLog) warn(msg string, args ...any) { l.write(slog.LevelWarn, msg, args) }
func (l *limitedLog) info(msg string, args ...any) { l.write(slog.LevelInfo, msg, args) }

func (l *limitedLog) write(level slog.Level, msg string, args []any) {
	if !l.limit.Allow() {
		l.dropped.Add(1)
		return
	}
	if n := l.dropped.Swap(0); n > 0 {
		args = append(args, "dropped", n)
	}
	l.log.Log(context.Background(), level, msg, args...)
}
