package command

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// Browsers accept certificates that are valid for up to 825 days. One that expires within renewBefore
// is replaced.
const (
	certificateValidity = 800 * 24 * time.Hour
	renewBefore         = 30 * 24 * time.Hour
)

// loadCertificate reads the certificate and its key from the file at path. If the file does not exist
// or the certificate is about to expire, it writes a new one for names, which are host names and IP
// addresses. Only the owner can read the file. Errors name the path.
func loadCertificate(ctx context.Context, path string, names []string) (tls.Certificate, error) {
	var none tls.Certificate
	if err := checkKeyFolder(path); err != nil {
		return none, err
	}
	text, err := disk.Read(ctx, path, maxKeyFile, func(info fs.FileInfo) error { return checkKeyFile(path, info) })
	switch {
	case err == nil:
		c, err := tls.X509KeyPair(text, text)
		if err != nil {
			return none, fmt.Errorf("can't use certificate %s: %w", sources.Sanitize(path), err)
		}
		if time.Until(c.Leaf.NotAfter) > renewBefore {
			return c, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return none, fmt.Errorf("can't read the certificate: %w", err)
	}
	created, err := newCertificate(names, time.Now())
	if err != nil {
		return none, fmt.Errorf("can't create a certificate: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return none, fmt.Errorf("can't save the certificate: %w", err)
	}
	if err := disk.WriteBytes(ctx, path, disk.Options{Replace: true}, created); err != nil {
		return none, fmt.Errorf("can't save the certificate: %w", err)
	}
	return tls.X509KeyPair(created, created)
}

// newCertificate creates a self-signed certificate and returns it and its key as PEM.
func newCertificate(names []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // browsers do not support Ed25519
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	c := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "schedq room"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateValidity),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	signed, err := x509.CreateCertificate(rand.Reader, &c, &c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}

// fingerprint returns a certificate's SHA-256 in the form that browsers show.
func fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	pairs := make([]string, len(sum))
	for i, b := range sum {
		pairs[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(pairs, ":")
}
