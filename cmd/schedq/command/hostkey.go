package command

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// maxKeyFile limits the size of a file with a private key, in bytes.
const maxKeyFile = 64 << 10

// loadHostKey reads the private key from the file at path, or creates the file with a new key. Only the
// owner can read it. Errors name the path, unless ctx ended.
func loadHostKey(ctx context.Context, path string) (ssh.Signer, error) {
	if err := checkKeyFolder(path); err != nil {
		return nil, err
	}
	for {
		key, err := readKeyFile(ctx, path)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := createKeyFile(ctx, path); err != nil && !errors.Is(err, fs.ErrExist) { // another schedq created it
			return nil, fmt.Errorf("can't save the host key: %w", err)
		}
	}
}

func readKeyFile(ctx context.Context, path string) (ssh.Signer, error) {
	text, err := disk.Read(ctx, path, maxKeyFile, func(info fs.FileInfo) error { return checkKeyFile(path, info) })
	if err != nil {
		return nil, fmt.Errorf("can't read the host key: %w", err)
	}
	key, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("invalid host key %s: use a private key without a passphrase: %w", sources.Sanitize(path), err)
	}
	return key, nil
}

func checkKeyFile(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", sources.Sanitize(path))
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is readable by others: run chmod 600, or remove it to create a new one", sources.Sanitize(path))
	}
	return nil
}

// createKeyFile writes a new key atomically and never replaces a file.
func createKeyFile(ctx context.Context, path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "schedq")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return disk.WriteBytes(ctx, path, disk.Options{}, pem.EncodeToMemory(block))
}

// checkKeyFolder reports whether other users could replace the key at path.
func checkKeyFolder(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if err != nil {
		return nil // reading or creating the key reports it
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("host key %s is in a world-writable folder: run chmod o-w %s, or choose another folder", path, folder)
	}
	return nil
}
