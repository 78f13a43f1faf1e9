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

// hostsFor returns the hosts under which visitors reach a listener at at, the best first. A listener at
// one address has that address. A listener at all addresses has those of interfaces that are reachable
// from outside, with outbound, the address of outgoing connections, first. If there is none, it has
// hostname.
func hostsFor(at net.Addr, interfaces []net.Addr, outbound net.IP, hostname string) []string {
	tcp, ok := at.(*net.TCPAddr)
	if ok && !tcp.IP.IsUnspecified() {
		return []string{hostOf(at)}
	}
	var all []string
	for _, a := range interfaces {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() || n.IP.To4() == nil && !n.IP.Equal(outbound) {
			continue
		}
		if n.IP.Equal(outbound) {
			all = slices.Insert(all, 0, n.IP.String())
		} else {
			all = append(all, n.IP.String())
		}
	}
	if len(all) == 0 {
		return []string{hostname}
	}
	return all
}

// visitorHosts returns the hosts of this machine under which visitors reach a listener at at.
func visitorHosts(at net.Addr) []string {
	name, err := os.Hostname()
	if err != nil {
		name = "HOST"
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		interfaces = nil // fall back to the name
	}
	return hostsFor(at, interfaces, outboundIP(), name)
}

// outboundIP returns the local address of outgoing connections, or nil. It sends nothing: the system
// only chooses a route.
func outboundIP() net.IP {
	c, err := net.Dial("udp", "192.0.2.1:9") // in TEST-NET-1 (RFC 5737), which has no hosts
	if err != nil {
		return nil
	}
	defer c.Close()
	if at, ok := c.LocalAddr().(*net.UDPAddr); ok {
		return at.IP
	}
	return nil
}

// qrCode returns text as a QR code in half blocks, with its quiet zone, black on white in any colour
// theme. It returns "" if text is too long.
func qrCode(text string) string {
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

// printQRCode prints url as a QR code if out is a terminal.
func printQRCode(out io.Writer, url string) {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return
	}
	fmt.Fprintln(f, qrCode(url))
}

// portOf returns the port of an address.
func portOf(at net.Addr) string {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return port
}

// hostOf returns the host of an address.
func hostOf(at net.Addr) string {
	host, _, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	return host
}
