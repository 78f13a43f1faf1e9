package cli

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources"
)

// Metrics is the flag --metrics-address, the address that serves the model's metrics.
type Metrics struct{ address string }

// Register adds the flag to cmd.
func (f *Metrics) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.address, "metrics-address", "", "serve the model's metrics under kube-scheduler's names at `HOST:PORT`/metrics (default host 127.0.0.1)")
}

// CheckUnset returns an error if the flag is set: a recording has no metrics to scrape.
func (f *Metrics) CheckUnset() error {
	if f.address != "" {
		return Usagef("--metrics-address is for a live cluster: use schedq report for a recording's figures")
	}
	return nil
}

// Listen listens at the address. It returns nil if the flag is not set.
func (f *Metrics) Listen() (net.Listener, error) {
	if f.address == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil, Usagef("--metrics-address %s is not a HOST:PORT", sources.Sanitize(f.address))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--metrics-address: %w", err)
	}
	return l, nil
}
