package room

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"
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

// roleKey is where a connection's permissions say who it is, and teacherRole what they say of the teacher.
const (
	roleKey     = "role"
	teacherRole = "teacher"
	visitorRole = "visitor"
)

// keyKey is where they say by which key it came, if by one.
const keyKey = "key"

func permitted(role string) *ssh.Permissions {
	return &ssh.Permissions{Extensions: map[string]string{roleKey: role}}
}

// The tries that one connection has. A client offers every key that it has before it asks for a code.
const (
	codeTries = 3
	keyTries  = 20
)

var (
	errWrongCode = errors.New("the room code is wrong")
	errTries     = fmt.Errorf("%d wrong room codes are enough", codeTries)
	errUnheard   = errors.New("too many wrong codes wait for an answer")
)

// serverFor returns the settings under which a caller is let in by a door.
func (r *Room) serverFor(d *door, c *caller) *ssh.ServerConfig {
	a := r.access()
	config := &ssh.ServerConfig{
		Config: modern(), PublicKeyAuthAlgorithms: ssh.SupportedAlgorithms().PublicKeyAuths,
		ServerVersion: "SSH-2.0-schedq", MaxAuthTries: codeTries,
		PreAuthConnCallback: func(ssh.ServerPreAuthConn) {
			d.noteGreeted(c)
			_ = c.conn.SetReadDeadline(c.came.Add(r.config.Limits.Grace))
		},
	}
	config.AddHostKey(r.hostKey)
	if a.TeacherCode != "" || a.Code != "" && !d.teachers {
		config.KeyboardInteractiveCallback = func(conn ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			if c.tries++; c.tries > codeTries {
				_ = c.conn.Close()
				return nil, errTries
			}
			answers, err := ask("", "", []string{"Room code: "}, []bool{false}) // the teacher types on the projector
			if err != nil {
				return nil, err
			}
			if len(answers) != 1 {
				return nil, errWrongCode
			}
			if !r.guesses.mayCompare(d.place(c), d.teachers) {
				return nil, r.unheard(c, nameOf(conn.User()))
			}
			if role := r.roleOf(d, answers[0]); role != "" {
				return permitted(role), nil
			}
			return nil, r.refuse(d, c, nameOf(conn.User()))
		}
	}
	if len(a.Keys)+len(a.TeacherKeys) > 0 {
		config.MaxAuthTries = keyTries
		config.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			role := ""
			switch {
			case containsKey(a.TeacherKeys, key):
				role = teacherRole
			case containsKey(a.Keys, key) && !d.teachers:
				role = visitorRole
			default:
				return nil, errors.New("this key is not authorized")
			}
			p := permitted(role)
			p.Extensions[keyKey] = ssh.FingerprintSHA256(key)
			return p, nil
		}
	}
	return config
}

// roleOf is who somebody is at a door who says that code, or nothing.
func (r *Room) roleOf(d *door, code string) string {
	a := r.access() // which may be another since the question
	switch teacher, visitor := sameCode(code, a.TeacherCode), sameCode(code, a.Code); {
	case teacher:
		return teacherRole
	case visitor && !d.teachers:
		return visitorRole
	}
	return ""
}

// unheard answers a code that was not compared, since too many wrong ones wait, and hangs up.
func (r *Room) unheard(c *caller, name string) error {
	r.doorLog.warn("not heard: too many wrong codes wait", "from", c.source, "name", name)
	c.tries = codeTries
	_ = c.conn.SetReadDeadline(time.Now()) // nothing more is read
	return &ssh.BannerError{Err: errUnheard, Message: "Too many wrong codes came from where you are: yours was not looked at. Try again in some minutes.\n"}
}

// refuse answers a wrong code when its turn comes. All wrong ones share one rate, since a whole room may come from one
// address; who says the right one does not wait.
func (r *Room) refuse(d *door, c *caller, name string) error {
	r.log.Warn("wrong room code", "from", c.source, "name", name)
	turn := r.guesses.takeTurn(d.place(c))
	r.turnAway(d.setWaiting(c, true))
	defer func() { r.turnAway(d.setWaiting(c, false)) }()
	late := c.came.Add(r.config.Limits.Grace)
	if turn.After(late) {
		turn = late // hung up on, and the turn stays taken
	}
	answer := time.NewTimer(time.Until(turn))
	defer answer.Stop()
	select {
	case <-answer.C:
	case <-c.gone:
	}
	return errWrongCode
}

// place is what a caller's wrong codes are counted by: those at the teacher's door are not taken for visitors'.
func (d *door) place(c *caller) string {
	if d.teachers {
		return "the teacher's door, " + c.source
	}
	return c.source
}

// modern are the algorithms that are spoken: none with SHA-1.
func modern() ssh.Config {
	return ssh.Config{
		KeyExchanges: []string{
			ssh.KeyExchangeMLKEM768X25519, ssh.KeyExchangeCurve25519, ssh.KeyExchangeECDHP256, ssh.KeyExchangeECDHP384,
			ssh.KeyExchangeECDHP521, ssh.KeyExchangeDH14SHA256,
		},
		MACs: []string{ssh.HMACSHA256ETM, ssh.HMACSHA512ETM, ssh.HMACSHA256, ssh.HMACSHA512},
	}
}

// modernKey has a host key sign without SHA-1, which an RSA key can do, too.
func modernKey(key ssh.Signer) (ssh.Signer, error) {
	able, ok := key.(ssh.AlgorithmSigner)
	if !ok || key.PublicKey().Type() != ssh.KeyAlgoRSA {
		return key, nil
	}
	return ssh.NewSignerWithAlgorithms(able, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
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
