package live

import (
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// ReadOnlyClient returns the client that a source of the cluster at host uses.
func ReadOnlyClient(t *testing.T, host string) kubernetes.Interface {
	s, err := New(&rest.Config{Host: host}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.client
}
