package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/room"
)

// noTeacherPort is the value of --teacher-listen for a room without a teacher-only port.
const noTeacherPort = "none"

// listenTeacher opens the teacher-only listener, or returns nil if it is disabled. By default it listens
// on the loopback interface, at the port after the visitors' or at any port if that is taken.
func (f *serveFlags) listenTeacher(visitors net.Addr) (net.Listener, error) {
	switch f.teacherAddress {
	case noTeacherPort:
		return nil, nil
	case "":
	default:
		return net.Listen("tcp", f.teacherAddress)
	}
	if at, ok := visitors.(*net.TCPAddr); ok && at.Port < math.MaxUint16 {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port+1))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// listen opens the SSH listeners: the visitors', then the teacher's if there is one.
func (f *serveFlags) listen() ([]room.Listener, error) {
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	teacher, err := f.listenTeacher(l.Addr())
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("--teacher-listen: %w", err), l.Close())
	case teacher == nil:
		return []room.Listener{{Listener: l}}, nil
	}
	return []room.Listener{{Listener: l}, {Listener: teacher, TeachersOnly: true}}, nil
}

// announce prints how to enter the room: over SSH, where the second listener is the teacher's, and on
// the page unless it is nil.
func (f *serveFlags) announce(out io.Writer, listeners []room.Listener, p *page, c room.Config) {
	at := listeners[0].Addr()
	hosts := visitorHosts(at)
	credentials := func(code string, keys []ssh.PublicKey) string {
		var ways []string
		if code != "" {
			ways = append(ways, "code "+code)
		}
		if len(keys) > 0 {
			ways = append(ways, "an authorized key")
		}
		return strings.Join(ways, ", or ")
	}
	fmt.Fprintf(out, "The room is open. Visitors choose a NAME:\n\n    ssh -p %s NAME@%s\n\n", portOf(at), hosts[0])
	if p != nil {
		fmt.Fprint(out, "or in a browser:\n\n")
		p.announce(out)
	}
	if len(hosts) > 1 {
		fmt.Fprintf(out, "Other addresses to try: %s\n", strings.Join(hosts[1:], ", "))
	}
	fmt.Fprintf(out, "Visitors: %s\nTeacher:  %s\n", credentials(c.Access.Code, c.Access.Keys), credentials(c.Access.TeacherCode, c.Access.TeacherKeys))
	if len(listeners) > 1 {
		teacher := listeners[1].Addr()
		fmt.Fprintf(out, "Teacher-only port: ssh -p %s NAME@%s\n", portOf(teacher), hostOf(teacher))
	}
	if p != nil && f.web.notes != nil {
		fmt.Fprintf(out, "Speaker notes for a second screen (teacher's code): %snotes\n", p.url())
	}
	fmt.Fprintf(out, "Host key that ssh asks about once: %s\nPress ctrl+c to close the room.\n", ssh.FingerprintSHA256(c.HostKey.PublicKey()))
}
