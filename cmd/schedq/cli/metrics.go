package cli

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources"
)

// Metrics is --metrics-address: where the model's figures can be scraped, under the scheduler's own
// names, so that a dashboard made for kube-scheduler shows them.
type Metrics struct{ address string }

// Register adds the flag to cmd.
func (f *Metrics) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.address, "metrics-address", "", "serve the model's figures under kube-scheduler's names at `HOST:PORT`/metrics; without HOST, on the loopback interface")
}

// CheckLive returns an error if the flag was given: then there has to be a live cluster.
func (f *Metrics) CheckLive() error {
	if f.address != "" {
		return Usagef("--metrics-address is for a live cluster: a recording's figures are in report")
	}
	return nil
}

// Listen opens the address. The listener is nil if there is none.
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
