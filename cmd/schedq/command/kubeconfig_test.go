package command

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// TestKubeconfigFlags: kubectl's flags have the same effect on the client configuration.
func TestKubeconfigFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: dev, contexts: [
  {name: dev, context: {cluster: dev, user: me, namespace: mine}}, {name: prod, context: {cluster: prod, user: me}}],
  clusters: [{name: dev, cluster: {server: "https://dev"}}, {name: prod, cluster: {server: "https://prod"}}],
  users: [{name: me, user: {token: own}}, {name: other, user: {token: others}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		got  func(*rest.Config) any
		want any
	}{
		{nil, func(c *rest.Config) any { return c.Host }, "https://dev"},
		{nil, func(c *rest.Config) any { return c.BearerToken }, "own"},
		{[]string{"--context", "prod"}, func(c *rest.Config) any { return c.Host }, "https://prod"},
		{[]string{"--cluster", "prod"}, func(c *rest.Config) any { return c.Host }, "https://prod"},
		{[]string{"--user", "other"}, func(c *rest.Config) any { return c.BearerToken }, "others"},
		{[]string{"-s", "https://elsewhere"}, func(c *rest.Config) any { return c.Host }, "https://elsewhere"},
		{[]string{"--token", "new"}, func(c *rest.Config) any { return c.BearerToken }, "new"},
		{[]string{"--as", "a", "--as-uid", "u"}, func(c *rest.Config) any { return c.Impersonate.UserName + c.Impersonate.UID }, "au"},
		{[]string{"--as", "a", "--as-group", "g", "--as-group", "h"}, func(c *rest.Config) any { return c.Impersonate.Groups }, []string{"g", "h"}},
		{[]string{"--as", "a", "--as-user-extra", "k=v", "--as-user-extra", "k=w"}, func(c *rest.Config) any { return c.Impersonate.Extra }, map[string][]string{"k": {"v", "w"}}},
		{[]string{"--insecure-skip-tls-verify", "--tls-server-name", "n"}, func(c *rest.Config) any { return c.TLSClientConfig }, rest.TLSClientConfig{Insecure: true, ServerName: "n"}},
		{[]string{"--request-timeout", "3s"}, func(c *rest.Config) any { return c.Timeout }, 3 * time.Second},
		{[]string{"--disable-compression"}, func(c *rest.Config) any { return c.DisableCompression }, true},
	} {
		var flags kubeconfigFlags
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.register(set)
		if err := set.Parse(append([]string{"--kubeconfig", path}, c.args...)); err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		config, err := flags.loader().ClientConfig()
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
		} else if got := c.got(config); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}
