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

// Access says who may join. The teacher's code or key makes anyone a teacher, under any name.
type Access struct {
	// Code is the visitors' code, TeacherCode the teacher's. Case, spaces and dashes are ignored.
	// Empty disables that code.
	Code, TeacherCode string
	// Keys and TeacherKeys are public keys that need no code.
	Keys, TeacherKeys []ssh.PublicKey
}

// A code needs minCodeLength letters and digits, and minCodeSteps of them that do not merely repeat
// or continue the previous one, as in aaaaaa, 123456 or qwerty.
const (
	minCodeLength = 6
	minCodeSteps  = 4
	keyboardRows  = "qwertyuiop asdfghjkl zxcvbnm"
)

// continues reports whether b repeats a or is next to it in the alphabet, among the digits or on a keyboard.
func continues(a, b rune) bool {
	near := func(a, b rune) bool { return strings.Contains(keyboardRows, string([]rune{a, b})) }
	return b >= a-1 && b <= a+1 || near(a, b) || near(b, a)
}

// validate returns an error of one sentence if nobody could join or a code is weak.
func (a Access) validate() error {
	if a.Code == "" && len(a.Keys) == 0 {
		return errors.New("nobody can join: set a room code or authorized keys")
	}
	for _, code := range []string{a.Code, a.TeacherCode} {
		if err := validateCode(code); code != "" && err != nil {
			return err
		}
	}
	if a.Code != "" && normalizeCode(a.Code) == normalizeCode(a.TeacherCode) {
		return errors.New("the teacher's code must differ from the room's code")
	}
	return nil
}

// validateCode returns an error if a code is easy to guess.
func validateCode(code string) error {
	letters, steps := 0, 0
	last := rune(-1)
	for _, r := range normalizeCode(code) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		letters++
		if letters == 1 || !continues(last, r) {
			steps++
		}
		last = r
	}
	switch {
	case letters < minCodeLength:
		return fmt.Errorf("invalid room code: use %d letters and digits or more", minCodeLength)
	case steps < minCodeSteps:
		return errors.New("invalid room code: repeated letters and sequences such as 123456 are easy to guess")
	}
	return nil
}

// NewCode returns a random code of eight letters and digits (40 bits), without the look-alikes l, o,
// 0 and 1.
func NewCode() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789"
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	for i, b := range random {
		random[i] = letters[int(b)%len(letters)]
	}
	return string(random[:4]) + "-" + string(random[4:])
}

// normalizeCode removes case, spaces and dashes.
func normalizeCode(code string) string {
	return strings.ToLower(strings.NewReplacer("-", "", " ", "", "\t", "").Replace(code))
}

// sameCode compares codes in constant time. An empty code never matches.
func sameCode(typed, code string) bool {
	a, b := sha256.Sum256([]byte(normalizeCode(typed))), sha256.Sum256([]byte(normalizeCode(code)))
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

// ParseKeys parses public keys in authorized_keys format. Errors name the file. It rejects options
// such as command="...", since the room would not enforce them.
func ParseKeys(name string, text []byte) ([]ssh.PublicKey, error) {
	var keys []ssh.PublicKey
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: invalid public key: %w", name, i+1, err)
		case len(options) > 0:
			return nil, fmt.Errorf("%s:%d: key options are not supported: remove them", name, i+1)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s contains no public key", name)
	}
	return keys, nil
}
