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

// noDoor is the --teacher-listen of a room with one door.
const noDoor = "none"

// teachersDoor listens where only teachers come in, or returns nil if there is no such place. Unless it is asked for,
// that is this machine's own address at the port after the visitors', or at any other if that one is taken.
func (f *serveFlags) teachersDoor(visitors net.Addr) (net.Listener, error) {
	switch f.teachers {
	case noDoor:
		return nil, nil
	case "":
	default:
		return net.Listen("tcp", f.teachers)
	}
	if at, ok := visitors.(*net.TCPAddr); ok && at.Port < math.MaxUint16 {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port+1))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// doors are those for who comes by SSH: the visitors', and the teacher's if there is one.
func (f *serveFlags) doors() ([]room.Listener, error) {
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	teachers, err := f.teachersDoor(l.Addr())
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("--teacher-listen: %w", err), l.Close())
	case teachers == nil:
		return []room.Listener{{Listener: l}}, nil
	}
	return []room.Listener{{Listener: l}, {Listener: teachers, TeachersOnly: true}}, nil
}

// announce says how to come in: by the doors, of which the second is the teacher's, and by the page unless it is nil.
func (f *serveFlags) announce(out io.Writer, doors []room.Listener, p *doorPage, c room.Config) {
	at := doors[0].Addr()
	names := reachable(at)
	how := func(code string, keys []ssh.PublicKey) string {
		var ways []string
		if code != "" {
			ways = append(ways, "the code "+code)
		}
		if len(keys) > 0 {
			ways = append(ways, "an authorized key")
		}
		return strings.Join(ways, ", or ")
	}
	fmt.Fprintf(out, "The room is open. Everybody gives a name of their own:\n\n    ssh -p %s NAME@%s\n\n", portOf(at), names[0])
	if p != nil {
		fmt.Fprint(out, "or in a browser:\n\n")
		p.announce(out)
	}
	if len(names) > 1 {
		fmt.Fprintf(out, "Who can't reach that tries %s.\n", strings.Join(names[1:], ", "))
	}
	fmt.Fprintf(out, "Visitors have %s.\nThe teacher has %s.\n", how(c.Access.Code, c.Access.Keys), how(c.Access.TeacherCode, c.Access.TeacherKeys))
	if len(doors) > 1 {
		teachers := doors[1].Addr()
		fmt.Fprintf(out, "The teacher has a door that no crowd is before, too: ssh -p %s NAME@%s\n", portOf(teachers), sshHost(teachers))
	}
	if p != nil && f.web.notes != nil {
		fmt.Fprintf(out, "The teacher's notes, for a second screen and by the teacher's code: %snotes\n", p.url())
	}
	fmt.Fprintf(out, "ssh asks once whether this is the right key: %s\nctrl+c closes the room.\n", ssh.FingerprintSHA256(c.HostKey.PublicKey()))
}

// portOf and host are the two parts of an address.
func portOf(at net.Addr) string {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return port
}

func sshHost(at net.Addr) string {
	name, _, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return name
}
