package command

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
	"rsc.io/qr"
)

// addresses are what visitors can call the machine by that listens at at, the best first: that address, where it is one,
// and otherwise those of own by which others reach the machine, with outward, by which it reaches others, first. Without any
// it is name, which others may or may not know.
func addresses(at net.Addr, own []net.Addr, outward net.IP, name string) []string {
	tcp, ok := at.(*net.TCPAddr)
	if ok && !tcp.IP.IsUnspecified() {
		return []string{sshHost(at)}
	}
	var all []string
	for _, a := range own {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() || n.IP.To4() == nil && !n.IP.Equal(outward) {
			continue
		}
		if n.IP.Equal(outward) {
			all = slices.Insert(all, 0, n.IP.String())
		} else {
			all = append(all, n.IP.String())
		}
	}
	if len(all) == 0 {
		return []string{name}
	}
	return all
}

// reachable are the addresses of this machine by which visitors reach a room that listens at at.
func reachable(at net.Addr) []string {
	name, err := os.Hostname()
	if err != nil {
		name = "HOST"
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		own = nil // the name is left
	}
	return addresses(at, own, outward(), name)
}

// outward is the address by which this machine reaches others, or nil: nothing is sent to find it out, the system only
// chooses a route.
func outward() net.IP {
	c, err := net.Dial("udp", "192.0.2.1:9") // of TEST-NET-1 (RFC 5737), which is nobody's
	if err != nil {
		return nil
	}
	defer c.Close()
	if at, ok := c.LocalAddr().(*net.UDPAddr); ok {
		return at.IP
	}
	return nil
}

// code is text as a QR code in half blocks, with the quiet zone that it needs around it, black on white whatever the terminal's
// colours are. It is empty if text is too long for one.
func serveCode(text string) string {
	c, err := qr.Encode(text, qr.M)
	if err != nil {
		return ""
	}
	const quiet = 2
	var b strings.Builder
	for y := -quiet; y < c.Size+quiet; y += 2 {
		b.WriteString("    \x1b[30;107m")
		for x := -quiet; x < c.Size+quiet; x++ {
			switch upper, lower := c.Black(x, y), c.Black(x, y+1); {
			case upper && lower:
				b.WriteRune('█')
			case upper:
				b.WriteRune('▀')
			case lower:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("\x1b[m\n")
	}
	return b.String()
}

// drawCode draws the room's address as a QR code, for a phone or a tablet, if out is a terminal.
func drawCode(out io.Writer, url string) {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return
	}
	fmt.Fprintln(f, serveCode(url))
}
