package room

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// sparingLog logs what anybody can cause without a code: some of it each second, and how much was left out. So a crowd
// before the door fills no disk.
type sparingLog struct {
	log   *slog.Logger
	limit *rate.Limiter
	left  atomic.Int64 // out
}

func newSparingLog(log *slog.Logger) *sparingLog {
	return &sparingLog{log: log, limit: rate.NewLimiter(5, 100)}
}

func (l *sparingLog) warn(what string, args ...any) { l.say(slog.LevelWarn, what, args) }
func (l *sparingLog) info(what string, args ...any) { l.say(slog.LevelInfo, what, args) }

func (l *sparingLog) say(level slog.Level, what string, args []any) {
	if !l.limit.Allow() {
		l.left.Add(1)
		return
	}
	if n := l.left.Swap(0); n > 0 {
		args = append(args, "left out before", n)
	}
	l.log.Log(context.Background(), level, what, args...)
}
