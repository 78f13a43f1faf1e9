package remote

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// Token authorises a client to fetch recordings. The zero value is none.
type Token struct{ text string }

const (
	leastToken = 16      // bytes
	mostToken  = 4 << 10 // of a file with one
)

// ReadToken reads the token in a file of one line. It refuses a file that other users can read. A group may, as for the
// secrets of a pod.
func ReadToken(ctx context.Context, path string) (Token, error) {
	text, err := disk.Read(ctx, path, mostToken, func(info fs.FileInfo) error {
		if info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 && runtime.GOOS != "windows" {
			return fmt.Errorf("everybody can read the token in %s: chmod 600 it", sources.Sanitize(path))
		}
		return nil
	})
	if err != nil {
		return Token{}, err
	}
	t, err := NewToken(string(text))
	if err != nil {
		err = fmt.Errorf("%s %w", sources.Sanitize(path), err)
	}
	return t, err
}

// NewToken returns the token in text.
func NewToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	switch {
	case len(text) < leastToken || len(text) > mostToken:
		return Token{}, fmt.Errorf("contains no token: write one line of at least %d bytes, such as the output of openssl rand -hex 32", leastToken)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Token{}, fmt.Errorf("contains no token: write one line of printable ASCII characters without spaces")
	}
	return Token{text}, nil
}

// isIn reports whether an Authorization header contains the token, in constant time.
func (t Token) isIn(header string) bool {
	said, isBearer := strings.CutPrefix(header, "Bearer ")
	a, b := sha256.Sum256([]byte(said)), sha256.Sum256([]byte(t.text))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && isBearer && t.text != ""
}
