package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCertificateCreatedOnce: a certificate is created once for the requested names, with mode
// 0600.
func TestCertificateCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room", "certificate")
	first, err := loadCertificate(t.Context(), path, []string{"192.0.2.7", "class.example"})
	if err != nil {
		t.Fatal(err)
	}
	if first.Leaf.VerifyHostname("192.0.2.7") != nil || first.Leaf.VerifyHostname("class.example") != nil || first.Leaf.VerifyHostname("other.example") == nil {
		t.Errorf("valid for %v and %v", first.Leaf.IPAddresses, first.Leaf.DNSNames)
	}
	again, err := loadCertificate(t.Context(), path, []string{"other.example"})
	if err != nil || !slices.Equal(first.Certificate[0], again.Certificate[0]) {
		t.Errorf("the certificate changed, %v", err)
	}
	if f := fingerprint(first); len(f) != 32*3-1 || f != fingerprint(again) {
		t.Errorf("fingerprint %q", f)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestCertificateInvalid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "certificate")
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o600: "can't use certificate " + path, 0o644: "chmod 600"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := loadCertificate(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mode, err, want)
		}
	}
}
