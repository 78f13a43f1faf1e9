package room

import (
	"errors"
	"time"

	"golang.org/x/crypto/ssh"
)

// roleKey is where a connection's permissions say who it is, and teacherRole what they say of the teacher.
const (
	roleKey     = "role"
	teacherRole = "teacher"
	visitorRole = "visitor"
)

// keyTries are those that one connection has with keys: a client offers every key that it has before it asks for a code.
const keyTries = 20

// keyKey is where they say by which key it came, if by one.
const keyKey = "key"

func permitted(role string) *ssh.Permissions {
	return &ssh.Permissions{Extensions: map[string]string{roleKey: role}}
}

// serverFor returns the settings under which a caller is let in, who has until then to say a code.
func (r *Room) serverFor(c *Caller, until time.Time) *ssh.ServerConfig {
	a := r.access()
	config := &ssh.ServerConfig{
		Config: modern(), PublicKeyAuthAlgorithms: ssh.SupportedAlgorithms().PublicKeyAuths,
		ServerVersion: "SSH-2.0-schedq", MaxAuthTries: codeTries,
		PreAuthConnCallback: func(ssh.ServerPreAuthConn) {
			c.Greeted()
			_ = c.conn.SetReadDeadline(until)
		},
	}
	config.AddHostKey(r.hostKey)
	if a.TeacherCode != "" || a.Code != "" && !c.crowd.teachers {
		config.KeyboardInteractiveCallback = func(conn ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			return c.askCode(conn.User(), ask)
		}
	}
	if len(a.Keys)+len(a.TeacherKeys) > 0 {
		config.MaxAuthTries = keyTries
		config.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			role := ""
			switch {
			case containsKey(a.TeacherKeys, key):
				role = teacherRole
			case containsKey(a.Keys, key) && !c.crowd.teachers:
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

// askCode asks for a code once.
func (c *Caller) askCode(user string, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
	if err := c.Try(); err != nil {
		return nil, err
	}
	answers, err := ask("", "", []string{"Room code: "}, []bool{false}) // the teacher types on the projector
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 {
		return nil, ErrWrongCode
	}
	switch teacher, err := c.Judge(user, answers[0]); {
	case errors.Is(err, ErrUnheard):
		_ = c.conn.SetReadDeadline(time.Now()) // nothing more is read
		return nil, &ssh.BannerError{Err: err, Message: "Too many wrong codes came from where you are: yours was not looked at. Try again in some minutes.\n"}
	case err != nil:
		return nil, err
	case teacher:
		return permitted(teacherRole), nil
	}
	return permitted(visitorRole), nil
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
