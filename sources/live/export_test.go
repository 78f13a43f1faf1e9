package live

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
)

// ReadOnlyClient returns the clients that a source of the cluster at host uses.
func ReadOnlyClient(t *testing.T, host string) clients {
	s, err := New(&rest.Config{Host: host}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.client
}

// Scrape reads m once.
func Scrape(m *Metrics) error { return m.scrape(context.Background()) }
