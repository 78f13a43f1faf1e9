package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page is plain on the loopback interface alone, and elsewhere by a certificate that is made once or given.
func TestThePageIsPlainOnThisMachineAlone(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	said := func(f webFlags) string {
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
	if text := said(webFlags{address: "127.0.0.1:0"}); !strings.Contains(text, "http://127.0.0.1:") {
		t.Errorf("on this machine: %s", text)
	}
	url, first, ok := strings.Cut(said(webFlags{address: ":0"}), "SHA-256")
	if _, again, _ := strings.Cut(said(webFlags{address: ":0"}), "SHA-256"); !ok || !strings.Contains(url, "https://") || first != again {
		t.Errorf("elsewhere: %s%s, and then %s", url, first, again)
	}
	given := filepath.Join(state, "given.pem")
	if _, err := LoadCertificate(t.Context(), given, []string{"class.example"}); err != nil {
		t.Fatal(err)
	}
	if text := said(webFlags{address: "127.0.0.1:0", cert: given, key: given}); !strings.Contains(text, "https://127.0.0.1:") || strings.Contains(text, "SHA-256") {
		t.Errorf("given: %s", text)
	}
}

func TestFlagsOfThePageThatMakeNoSense(t *testing.T) {
	nonsense := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(nonsense, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, f := range map[string]webFlags{
		"are about the page of --web":      {kiosk: true},
		"--tls-cert and --tls-key go":      {address: "127.0.0.1:0", cert: nonsense},
		"can't be used":                    {address: "127.0.0.1:0", cert: nonsense, key: nonsense},
		"--tls-cert: ":                     {address: "127.0.0.1:0", cert: nonsense + "x", key: nonsense},
		"--web: listen tcp: address 99999": {address: "127.0.0.1:99999"},
	} {
		if p, err := f.open(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, not %q", f, err, says)
			if p != nil {
				_ = p.Close()
			}
		}
	}
}
