package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Serve serves what gather returns at GET /metrics on l, until ctx ends, and closes l then. It returns at once, and
// does nothing without l.
func Serve(ctx context.Context, l net.Listener, gather prometheus.GathererFunc) {
	ServeBeside(ctx, l, gather, nil)
}

// ServeBeside is Serve with more handlers, by their paths.
func ServeBeside(ctx context.Context, l net.Listener, gather prometheus.GathererFunc, beside map[string]http.Handler) {
	if l == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(gather, promhttp.HandlerOpts{}))
	for path, handler := range beside {
		mux.Handle(path, handler)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			l.Close()
		}
	}()
}
