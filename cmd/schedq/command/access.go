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

// access is who may come in. Codes that are needed and not given are made up.
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

// maxCode is how large a file with a code may be, and maxKeys one of keys, in bytes. A key takes some hundred.
const (
	maxCode = 4 << 10
	maxKeys = 4 << 20
)

// readCode returns the code in a file, which is its one line.
func readCode(ctx context.Context, path string) (string, error) {
	text, err := disk.Read(ctx, path, maxCode)
	code := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("the code can't be read: %w", err)
	case strings.ContainsAny(code, "\r\n"):
		return "", fmt.Errorf("%s holds more than a code: it is one line", sources.Sanitize(path))
	case code == "":
		return "", fmt.Errorf("%s holds no code", sources.Sanitize(path))
	}
	return code, nil
}

func readKeys(ctx context.Context, path string) ([]ssh.PublicKey, error) {
	text, err := disk.Read(ctx, path, maxKeys)
	if err != nil {
		return nil, fmt.Errorf("the keys can't be read: %w", err)
	}
	return room.ParseKeys(path, text)
}
