package command

// Package hostkey keeps the keys by which a room is recognised: over SSH, and by browsers.

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

// maxFile bounds the file.
const maxKeyFile = 64 << 10

// Load returns the private key in the file at path, and makes a new one there if there is no file: only its owner
// can read it. The error is one sentence with the path, or the context's if that ends while the file is waited for.
func LoadHostKey(ctx context.Context, path string) (ssh.Signer, error) {
	if err := checkKeyFolder(path); err != nil {
		return nil, err
	}
	for {
		key, err := readKeyFile(ctx, path)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := createKeyFile(ctx, path); err != nil && !errors.Is(err, fs.ErrExist) { // another room was faster
			return nil, fmt.Errorf("the host key can't be kept: %w", err)
		}
	}
}

func readKeyFile(ctx context.Context, path string) (ssh.Signer, error) {
	text, err := disk.Read(ctx, path, maxKeyFile, func(info fs.FileInfo) error { return checkKeyFile(path, info) })
	if err != nil {
		return nil, fmt.Errorf("the host key can't be read: %w", err)
	}
	key, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("the host key %s is no private key without a passphrase: %w", sources.Sanitize(path), err)
	}
	return key, nil
}

func checkKeyFile(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no plain file", sources.Sanitize(path))
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s can be read by others: chmod 600 it, or remove it and a new one is made", sources.Sanitize(path))
	}
	return nil
}

// create writes a new key, whole or not at all, and never over another.
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
