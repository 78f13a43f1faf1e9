package main

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources"
)

// metricsFlag is --metrics-address: where the model's figures can be scraped, under the scheduler's own
// names, so that a dashboard made for kube-scheduler shows them.
type metricsFlag struct{ address string }

func (f *metricsFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.address, "metrics-address", "", "serve the model's figures under kube-scheduler's names at `HOST:PORT`/metrics; without HOST, on the loopback interface")
}

// listen opens the address, if there is one. What is served comes later, by serve.
func (f *metricsFlag) listen() (net.Listener, error) {
	if f.address == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil, usageError{fmt.Errorf("--metrics-address %s is not a HOST:PORT", sources.Sanitize(f.address))}
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
