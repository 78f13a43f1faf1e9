package room

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"

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

// shortestCode is how many letters and digits a code has at least.
const shortestCode = 6

// check finds out whether the access makes sense. The error is one sentence.
func (a Access) check() error {
	if a.Code == "" && len(a.Keys) == 0 {
		return errors.New("nobody could come in: the room needs a code or authorized keys")
	}
	for _, code := range []string{a.Code, a.TeacherCode} {
		if code != "" && len(plainCode(code)) < shortestCode {
			return fmt.Errorf("a room code needs %d letters and digits or more: a shorter one is guessed", shortestCode)
		}
	}
	if a.Code != "" && plainCode(a.Code) == plainCode(a.TeacherCode) {
		return errors.New("the teacher's code must be another one than the room's")
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

// same compares codes in a time that tells nothing. No code is the same as any.
func same(typed, code string) bool {
	a, b := sha256.Sum256([]byte(plainCode(typed))), sha256.Sum256([]byte(plainCode(code)))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && code != ""
}

// roleKey is where a connection's permissions say who it is, and teacherRole what they say of the teacher.
const (
	roleKey     = "role"
	teacherRole = "teacher"
	visitorRole = "visitor"
)

func permitted(role string) *ssh.Permissions {
	return &ssh.Permissions{Extensions: map[string]string{roleKey: role}}
}

// The tries that one connection has. A client offers every key that it has before it asks for a code.
const (
	codeTries = 3
	keyTries  = 20
)

var errWrongCode = errors.New("the room code is wrong")

// server returns the settings under which r lets clients in.
func (a Access) server(r *Room) *ssh.ServerConfig {
	c := &ssh.ServerConfig{ServerVersion: "SSH-2.0-schedq", MaxAuthTries: codeTries}
	if a.Code != "" || a.TeacherCode != "" {
		c.KeyboardInteractiveCallback = func(conn ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", []string{"Room code: "}, []bool{false}) // the teacher types on the projector
			if err != nil {
				return nil, err
			}
			if len(answers) == 1 {
				teacher, visitor := same(answers[0], a.TeacherCode), same(answers[0], a.Code)
				switch {
				case teacher:
					return permitted(teacherRole), nil
				case visitor:
					return permitted(visitorRole), nil
				}
			}
			r.log.Warn("wrong room code", "from", host(conn.RemoteAddr()), "name", nameOf(conn.User()))
			r.slowDown()
			return nil, errWrongCode
		}
	}
	if len(a.Keys)+len(a.TeacherKeys) > 0 {
		c.MaxAuthTries = keyTries
		c.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			switch {
			case among(a.TeacherKeys, key):
				return permitted(teacherRole), nil
			case among(a.Keys, key):
				return permitted(visitorRole), nil
			}
			return nil, errors.New("this key is not authorized")
		}
	}
	return c
}

func among(keys []ssh.PublicKey, key ssh.PublicKey) bool {
	for _, k := range keys {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return true
		}
	}
	return false
}

// slowest is how long the answer to a wrong code takes at the most.
const slowest = 10 * time.Second

// slowDown delays the answer to a wrong code. All wrong ones share one rate, since a whole room may come from one
// address; who types the right one does not wait.
func (r *Room) slowDown() {
	turn := r.wrong.Reserve()
	delay := turn.Delay()
	if delay > slowest {
		turn.Cancel()
		delay = slowest
	}
	wait(context.Background(), delay)
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
