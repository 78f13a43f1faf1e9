package room

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// Access says who may come in. Whoever has the teacher's code or key is a teacher, whatever name they give.
type Access struct {
	// Code is what visitors type, TeacherCode what the teacher does. Case, blanks and dashes do not count. Empty:
	// there is none.
	Code, TeacherCode string
	// Keys and TeacherKeys are public keys that come in without a code.
	Keys, TeacherKeys []ssh.PublicKey
}

// A code has shortestCode letters and digits at least, and leastSteps of them do not merely repeat or go on from the
// one before, as those of aaaaaa and 123456 do.
const (
	shortestCode = 6
	leastSteps   = 4
)

// check finds out whether the access makes sense. The error is one sentence.
func (a Access) check() error {
	if a.Code == "" && len(a.Keys) == 0 {
		return errors.New("nobody could come in: the room needs a code or authorized keys")
	}
	for _, code := range []string{a.Code, a.TeacherCode} {
		if err := strong(code); code != "" && err != nil {
			return err
		}
	}
	if a.Code != "" && plainCode(a.Code) == plainCode(a.TeacherCode) {
		return errors.New("the teacher's code must be another one than the room's")
	}
	return nil
}

// strong reports as an error that a code is guessed too easily.
func strong(code string) error {
	letters, steps := 0, 0
	last := rune(-1)
	for _, r := range plainCode(code) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		letters++
		if r < last-1 || r > last+1 || letters == 1 {
			steps++
		}
		last = r
	}
	switch {
	case letters < shortestCode:
		return fmt.Errorf("a room code needs %d letters and digits or more: a shorter one is guessed", shortestCode)
	case steps < leastSteps:
		return errors.New("a room code needs more than a letter that is repeated or a row such as 123456: that is guessed")
	}
	return nil
}

// NewCode returns a code of eight letters and digits, without l, o, 0 and 1, which look alike: 40 bits by chance.
func NewCode() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	for i, b := range random {
		random[i] = letters[int(b)%len(letters)]
	}
	return string(random[:4]) + "-" + string(random[4:])
}

// plainCode is what counts of a code.
func plainCode(code string) string {
	return strings.ToLower(strings.NewReplacer("-", "", " ", "", "\t", "").Replace(code))
}

// sameCode compares codes in a time that tells nothing. No code is the same as any.
func sameCode(typed, code string) bool {
	a, b := sha256.Sum256([]byte(plainCode(typed))), sha256.Sum256([]byte(plainCode(code)))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && code != ""
}

func containsKey(keys []ssh.PublicKey, key ssh.PublicKey) bool {
	for _, k := range keys {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return true
		}
	}
	return false
}

// ParseKeys reads public keys as in an authorized_keys file, whose name is for the error. Options such as
// command="..." are refused, since they would not hold here.
func ParseKeys(name string, text []byte) ([]ssh.PublicKey, error) {
	var keys []ssh.PublicKey
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: this is no public key: %w", name, i+1, err)
		case len(options) > 0:
			return nil, fmt.Errorf("%s:%d: the room knows no options of keys: leave them out", name, i+1)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s holds no public key", name)
	}
	return keys, nil
}
