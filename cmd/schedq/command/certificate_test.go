package command_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/cmd/schedq/command"
)

// A certificate is made once, for the names that are asked for, and only its owner reads it.
func TestACertificateIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room", "certificate")
	first, err := command.LoadCertificate(t.Context(), path, []string{"192.0.2.7", "class.example"})
	if err != nil {
		t.Fatal(err)
	}
	if first.Leaf.VerifyHostname("192.0.2.7") != nil || first.Leaf.VerifyHostname("class.example") != nil || first.Leaf.VerifyHostname("other.example") == nil {
		t.Errorf("it is for %v and %v", first.Leaf.IPAddresses, first.Leaf.DNSNames)
	}
	again, err := command.LoadCertificate(t.Context(), path, []string{"other.example"})
	if err != nil || !slices.Equal(first.Certificate[0], again.Certificate[0]) {
		t.Errorf("another one is made, %v", err)
	}
	if f := command.Fingerprint(first); len(f) != 32*3-1 || f != command.Fingerprint(again) {
		t.Errorf("the fingerprint is %q", f)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestACertificateThatCannotBeUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "certificate")
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command.LoadCertificate(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("nonsense: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := command.LoadCertificate(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others can read it: %v", err)
	}
}
