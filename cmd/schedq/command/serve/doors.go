package serve

import (
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

// announce says how to come in.
func (f *serveFlags) announce(out io.Writer, at net.Addr, teachers net.Listener, c room.Config) {
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
	if len(names) > 1 {
		fmt.Fprintf(out, "Who can't reach that tries %s.\n", strings.Join(names[1:], ", "))
	}
	fmt.Fprintf(out, "Visitors have %s.\nThe teacher has %s.\n", how(c.Access.Code, c.Access.Keys), how(c.Access.TeacherCode, c.Access.TeacherKeys))
	if teachers != nil {
		fmt.Fprintf(out, "The teacher has a door that no crowd is before, too: ssh -p %s NAME@%s\n", portOf(teachers.Addr()), host(teachers.Addr()))
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

func host(at net.Addr) string {
	name, _, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return name
}
