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

// A made certificate is good for so long, which is what browsers take, and made anew when little of it is left.
const (
	certified = 800 * 24 * time.Hour
	leftOver  = 30 * 24 * time.Hour
)

// Certificate returns the certificate with its key in the file at path, and makes one for names, which are hosts' names and
// addresses, if there is no file or what is there runs out. Only its owner can read it. The error is one sentence with
// the path.
func LoadCertificate(ctx context.Context, path string, names []string) (tls.Certificate, error) {
	var none tls.Certificate
	if err := checkKeyFolder(path); err != nil {
		return none, err
	}
	text, err := disk.Read(ctx, path, maxKeyFile, func(info fs.FileInfo) error { return checkKeyFile(path, info) })
	switch {
	case err == nil:
		c, err := tls.X509KeyPair(text, text)
		if err != nil {
			return none, fmt.Errorf("the certificate %s can't be used: %w", sources.Sanitize(path), err)
		}
		if time.Until(c.Leaf.NotAfter) > leftOver {
			return c, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return none, fmt.Errorf("the certificate can't be read: %w", err)
	}
	made, err := certify(names, time.Now())
	if err != nil {
		return none, fmt.Errorf("no certificate can be made: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return none, fmt.Errorf("the certificate can't be kept: %w", err)
	}
	if err := disk.WriteBytes(ctx, path, disk.Options{Replace: true}, made); err != nil {
		return none, fmt.Errorf("the certificate can't be kept: %w", err)
	}
	return tls.X509KeyPair(made, made)
}

// certify makes a certificate that is signed by its own key, and returns both as PEM.
func certify(names []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // browsers take no Ed25519
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	c := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "schedq room"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certified),
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

// Fingerprint is a certificate's, as browsers show it: SHA-256 in pairs of digits.
func Fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	pairs := make([]string, len(sum))
	for i, b := range sum {
		pairs[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(pairs, ":")
}
