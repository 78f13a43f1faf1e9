package command

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// access returns who may enter the room. It generates the codes that are needed and not given.
func (f *serveFlags) access(ctx context.Context) (room.Access, error) {
	a := room.Access{Code: f.code, TeacherCode: f.teacherCode}
	var err error
	if f.codeFile != "" {
		if a.Code, err = readCode(ctx, f.codeFile); err != nil {
			return a, err
		}
	}
	if f.teacherCodeFile != "" {
		if a.TeacherCode, err = readCode(ctx, f.teacherCodeFile); err != nil {
			return a, err
		}
	}
	if f.keys != "" {
		if a.Keys, err = readKeys(ctx, f.keys); err != nil {
			return a, err
		}
	}
	if f.teacherKeys != "" {
		if a.TeacherKeys, err = readKeys(ctx, f.teacherKeys); err != nil {
			return a, err
		}
	}
	if a.Code == "" && f.keys == "" {
		a.Code = room.NewCode()
	}
	if a.TeacherCode == "" && f.teacherKeys == "" {
		a.TeacherCode = room.NewCode()
	}
	return a, nil
}

// Maximum sizes, in bytes, of a file with a code and of one with public keys. A key takes some hundred.
const (
	maxCodeFile = 4 << 10
	maxKeysFile = 4 << 20
)

// readCode reads a code from a file of one line.
func readCode(ctx context.Context, path string) (string, error) {
	text, err := disk.Read(ctx, path, maxCodeFile)
	code := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("can't read the code: %w", err)
	case strings.ContainsAny(code, "\r\n"):
		return "", fmt.Errorf("invalid code in %s: the file must have one line", sources.Sanitize(path))
	case code == "":
		return "", fmt.Errorf("no code in %s: the file is empty", sources.Sanitize(path))
	}
	return code, nil
}

func readKeys(ctx context.Context, path string) ([]ssh.PublicKey, error) {
	text, err := disk.Read(ctx, path, maxKeysFile)
	if err != nil {
		return nil, fmt.Errorf("can't read the public keys: %w", err)
	}
	return room.ParseKeys(path, text)
}
