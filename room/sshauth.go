package room

import (
	"errors"
	"time"

	"golang.org/x/crypto/ssh"
)

// The extensions of ssh.Permissions that carry the result of the authentication.
const (
	roleKey     = "role"
	teacherRole = "teacher"
	visitorRole = "visitor"
	keyKey      = "key" // the fingerprint, if a key was used
)

// maxKeyAttempts is how many authentication attempts a connection has where keys are accepted: a
// client offers all its keys before it asks for a code.
const maxKeyAttempts = 20

func permissions(role string) *ssh.Permissions {
	return &ssh.Permissions{Extensions: map[string]string{roleKey: role}}
}

// serverConfig returns the SSH server configuration for a connection, which has until deadline to
// authenticate.
func (r *Room) serverConfig(c *Conn, deadline time.Time) *ssh.ServerConfig {
	a := r.access()
	config := &ssh.ServerConfig{
		Config: algorithms(), PublicKeyAuthAlgorithms: ssh.SupportedAlgorithms().PublicKeyAuths,
		ServerVersion: "SSH-2.0-schedq", MaxAuthTries: maxAttempts,
		PreAuthConnCallback: func(ssh.ServerPreAuthConn) {
			c.HandshakeDone()
			_ = c.conn.SetReadDeadline(deadline)
		},
	}
	config.AddHostKey(r.hostKey)
	if a.TeacherCode != "" || a.Code != "" && !c.pending.teachersOnly {
		config.KeyboardInteractiveCallback = func(conn ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			return c.promptCode(conn.User(), ask)
		}
	}
	if len(a.Keys)+len(a.TeacherKeys) > 0 {
		config.MaxAuthTries = maxKeyAttempts
		config.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			role := ""
			switch {
			case containsKey(a.TeacherKeys, key):
				role = teacherRole
			case containsKey(a.Keys, key) && !c.pending.teachersOnly:
				role = visitorRole
			default:
				return nil, errors.New("this key is not authorized")
			}
			p := permissions(role)
			p.Extensions[keyKey] = ssh.FingerprintSHA256(key)
			return p, nil
		}
	}
	return config
}

// promptCode prompts for a code once.
func (c *Conn) promptCode(user string, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
	if err := c.CountAttempt(); err != nil {
		return nil, err
	}
	answers, err := ask("", "", []string{"Room code: "}, []bool{false}) // no echo: the teacher's screen is projected
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 {
		return nil, ErrWrongCode
	}
	switch teacher, err := c.CheckCode(user, answers[0]); {
	case errors.Is(err, ErrThrottled):
		_ = c.conn.SetReadDeadline(time.Now()) // read nothing more
		return nil, &ssh.BannerError{Err: err, Message: "Too many wrong codes from your address: yours was not checked. Try again in a few minutes.\n"}
	case err != nil:
		return nil, err
	case teacher:
		return permissions(teacherRole), nil
	}
	return permissions(visitorRole), nil
}

// algorithms returns the accepted key exchanges and MACs: none uses SHA-1.
func algorithms() ssh.Config {
	return ssh.Config{
		KeyExchanges: []string{
			ssh.KeyExchangeMLKEM768X25519, ssh.KeyExchangeCurve25519, ssh.KeyExchangeECDHP256, ssh.KeyExchangeECDHP384,
			ssh.KeyExchangeECDHP521, ssh.KeyExchangeDH14SHA256,
		},
		MACs: []string{ssh.HMACSHA256ETM, ssh.HMACSHA512ETM, ssh.HMACSHA256, ssh.HMACSHA512},
	}
}

// withoutSHA1 restricts an RSA host key to signatures with SHA-2.
func withoutSHA1(key ssh.Signer) (ssh.Signer, error) {
	signer, ok := key.(ssh.AlgorithmSigner)
	if !ok || key.PublicKey().Type() != ssh.KeyAlgoRSA {
		return key, nil
	}
	return ssh.NewSignerWithAlgorithms(signer, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
}
