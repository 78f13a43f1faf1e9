// Package hostkey keeps the key by which an SSH server is recognised.
package hostkey

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// maxFile bounds the file.
const maxFile = 64 << 10

// Load returns the private key in the file at path, and makes a new one there if there is no file: only its owner
// can read it. The error is one sentence with the path.
func Load(path string) (ssh.Signer, error) {
	for {
		key, err := read(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := create(path); err != nil && !errors.Is(err, fs.ErrExist) { // another room was faster
			return nil, fmt.Errorf("the host key can't be kept: %w", err)
		}
	}
}

func read(path string) (ssh.Signer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the host key can't be read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the host key can't be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the host key %s is no plain file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the host key %s can be read by others: chmod 600 it, or remove it and a new one is made", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("the host key can't be read: %w", err)
	}
	key, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("the host key %s is no private key without a passphrase: %w", path, err)
	}
	return key, nil
}

// create writes a new key, whole or not at all, and never over another.
func create(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "schedq")
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(folder, ".hostkey-*") // of mode 600
	if err != nil {
		return err
	}
	_, err = part.Write(pem.EncodeToMemory(block))
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Link(part.Name(), path)
	}
	return errors.Join(err, os.Remove(part.Name()))
}
