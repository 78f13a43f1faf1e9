package live

import (
	"context"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
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

// CoreV1 returns client-go's client of pods.
func (c clients) CoreV1() core.CoreV1Interface { return core.New(c.core()) }

// AuthorizationV1 returns client-go's client of access reviews.
func (c clients) AuthorizationV1() authorization.AuthorizationV1Interface {
	return authorization.New(c[authorizationv1.SchemeGroupVersion])
}

// Scrape reads m once.
func Scrape(m *Metrics) error { return m.scrape(context.Background()) }
