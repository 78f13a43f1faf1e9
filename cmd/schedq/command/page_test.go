package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPageTLS: the page uses http only on the loopback interface, and elsewhere a self-signed or
// given certificate.
func TestPageTLS(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	announced := func(f webFlags) string {
		t.Helper()
		p, err := f.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var out bytes.Buffer
		p.announce(&out)
		return out.String()
	}
	if text := announced(webFlags{address: "127.0.0.1:0"}); !strings.Contains(text, "http://127.0.0.1:") {
		t.Errorf("loopback: %s", text)
	}
	url, first, ok := strings.Cut(announced(webFlags{address: ":0"}), "SHA-256")
	if _, again, _ := strings.Cut(announced(webFlags{address: ":0"}), "SHA-256"); !ok || !strings.Contains(url, "https://") || first != again {
		t.Errorf("all interfaces: %s%s, then %s", url, first, again)
	}
	given := filepath.Join(state, "given.pem")
	if _, err := loadCertificate(t.Context(), given, []string{"class.example"}); err != nil {
		t.Fatal(err)
	}
	if text := announced(webFlags{address: "127.0.0.1:0", cert: given, key: given}); !strings.Contains(text, "https://127.0.0.1:") || strings.Contains(text, "SHA-256") {
		t.Errorf("given certificate: %s", text)
	}
}

func TestPageFlagErrors(t *testing.T) {
	nonsense := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(nonsense, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]webFlags{
		"need --web":                       {kiosk: true},
		"use --tls-cert and --tls-key":     {address: "127.0.0.1:0", cert: nonsense},
		"can't use --tls-cert":             {address: "127.0.0.1:0", cert: nonsense, key: nonsense},
		"--tls-cert: ":                     {address: "127.0.0.1:0", cert: nonsense + "x", key: nonsense},
		"--web: listen tcp: address 99999": {address: "127.0.0.1:99999"},
	} {
		if p, err := f.open(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
			if p != nil {
				_ = p.Close()
			}
		}
	}
}
