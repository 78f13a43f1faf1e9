package live

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// withPlugin returns a source of the cluster at host whose credentials the shell script prints.
func withPlugin(t *testing.T, host, script string) *Source {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no shell to be the plugin")
	}
	path := filepath.Join(t.TempDir(), "get-token")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := New(&rest.Config{Host: host, TLSClientConfig: rest.TLSClientConfig{Insecure: strings.HasPrefix(host, "https")}, ExecProvider: &clientcmdapi.ExecConfig{
		Command: path, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode,
		Env: []clientcmdapi.ExecEnvVar{{Name: "COUNT", Value: path + ".count"}},
	}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runs is how often the plugin of withPlugin has run, if it counts.
func runs(t *testing.T, s *Source) int {
	text, err := os.ReadFile(s.plugin.config.Command + ".count")
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

const printToken = `printf x >> "$COUNT"
case "$KUBERNETES_EXEC_INFO" in *'"kind":"ExecCredential"'*) ;; *) exit 9 ;; esac
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t-1"}}'
`

// TestPluginsToken: all requests share one run of the plugin, and another follows when its token is no longer taken.
func TestPluginsToken(t *testing.T) {
	taken := "Bearer t-1"
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if req.Header.Get("Authorization") != taken {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(server.Close)
	s := withPlugin(t, server.URL, printToken)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := s.ask(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := runs(t, s); n != 1 {
		t.Errorf("the plugin ran %d times for requests at once", n)
	}
	mu.Lock()
	taken = "another"
	mu.Unlock()
	for range 5 {
		_ = s.ask(t.Context())
	}
	if n := runs(t, s); n != 1 {
		t.Errorf("the plugin ran %d times within %s", n, pluginAgain)
	}
	s.plugin.mu.Lock()
	s.plugin.ended = s.plugin.ended.Add(-pluginAgain)
	s.plugin.mu.Unlock()
	_, _ = s.ask(t.Context()), s.ask(t.Context())
	if n := runs(t, s); n != 2 {
		t.Errorf("the plugin ran %d times after its token was refused", n)
	}
}

// TestPluginsWords: what the plugin says is made safe and bounded, whether it logs in or renews.
func TestPluginsWords(t *testing.T) {
	s := withPlugin(t, "http://127.0.0.1:1", `printf 'open \033]0;x\007https://example.com/device\n' >&2
i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "line $i" >&2; done
printf '\302\233%05000d' 0 >&2
`+printToken)
	var said []string
	if err := s.Login(t.Context(), func(sentence string) { said = append(said, sentence) }); err != nil {
		t.Fatal(err)
	}
	if want := "the credential plugin get-token says: open ␛]0;x␇https://example.com/device"; len(said) != maxPluginLines+1 || said[0] != want {
		t.Errorf("%d lines, the first %q, want %q", len(said), said[0], want)
	}
	s.plugin.mu.Lock()
	s.plugin.held = nil
	s.plugin.mu.Unlock()
	if _, err := s.plugin.credentials(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, status := s.Take(); len(said) != maxPluginLines+1 || len(status.Notices) != maxSpoken || strings.ContainsAny(strings.Join(status.Notices, ""), "\x1b\x07\n") {
		t.Errorf("renewing: %d lines, %d notices", len(said)-maxPluginLines-1, len(status.Notices))
	}
}

// TestPluginHangs: a notice reports a plugin that does not end, and each request waits for it until its own deadline.
func TestPluginHangs(t *testing.T) {
	s := withPlugin(t, "http://127.0.0.1:1", "printf x >> \"$COUNT\"; echo ready >&2; exec sleep 60\n")
	ready := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Login(ctx, func(sentence string) { ready <- sentence }) }()
	<-ready
	if got, want := s.plugin.waits(time.Now().Add(waitedFor)), "waiting for the credential plugin get-token of the kubeconfig"; string(got) != want {
		t.Errorf("it says %q", got)
	}
	if got := s.plugin.waits(time.Now()); got != "" {
		t.Errorf("at once it says %q", got)
	}
	s.plugin.mu.Lock()
	run := s.plugin.run
	s.plugin.mu.Unlock()
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("it ended with %v", err)
	}
	<-run.done // killed, because nobody waits
}

// TestPluginFails: what is wrong with a plugin is a sentence, and it is not run again at once.
func TestPluginFails(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"without end": {"printf x >> \"$COUNT\"; exec yes\n", "get-token printed more than 1024 KiB, and was ended"},
		"exit":        {"printf x >> \"$COUNT\"; exit 3\n", "get-token: exit status 3"},
		"nothing":     {"printf x >> \"$COUNT\"\n", "get-token printed nothing"},
		"no token":    {"printf x >> \"$COUNT\"; echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"}'\n", "neither a token nor a certificate"},
		"version":     {"printf x >> \"$COUNT\"; echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"status\":{\"token\":\"t\"}}'\n", "client.authentication.k8s.io/v1beta1"},
	} {
		s := withPlugin(t, "http://127.0.0.1:1", c.script)
		err := s.Login(t.Context(), func(string) {})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "the credential plugin of the kubeconfig failed: ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.ask(t.Context()); err == nil || runs(t, s) != 1 {
			t.Errorf("%s: %v, after %d runs", name, err, runs(t, s))
		}
	}
}

// TestPluginsCertificate: a certificate that a plugin prints is what the API server sees.
func TestPluginsCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyText, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": map[string]string{
		"clientCertificateData": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"clientKeyData":         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyText})),
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan int64, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen <- req.TLS.PeerCertificates[0].SerialNumber.Int64()
		fmt.Fprint(w, "{}")
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	s := withPlugin(t, server.URL, "cat <<'END'\n"+string(text)+"\nEND\n")
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != 7 {
		t.Errorf("the certificate's number is %d", got)
	}
}
