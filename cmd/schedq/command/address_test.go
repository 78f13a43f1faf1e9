package command

import (
	"net"
	"slices"
	"strings"
	"testing"

	"rsc.io/qr"
)

// TestHostsFor: a listener at all addresses has the hosts that are reachable from outside, with
// that of outgoing connections first.
func TestHostsFor(t *testing.T) {
	interfaces := []net.Addr{ipNet("127.0.0.1/8"), ipNet("172.17.0.1/16"), ipNet("192.168.1.5/24"), ipNet("::1/128"), ipNet("fe80::1/64"), ipNet("2001:db8::5/64"), ipNet("2001:db8::6/64")}
	for _, c := range []struct {
		name, at, outbound string
		interfaces         []net.Addr
		want               []string
	}{
		{"loopback", "127.0.0.1", "192.168.1.5", interfaces, []string{"127.0.0.1"}},
		{"one address", "192.0.2.7", "192.168.1.5", interfaces, []string{"192.0.2.7"}},
		{"one IPv6 address", "::1", "192.168.1.5", interfaces, []string{"::1"}},
		{"all", "::", "192.168.1.5", interfaces, []string{"192.168.1.5", "172.17.0.1"}},
		{"all IPv4", "0.0.0.0", "192.168.1.5", interfaces, []string{"192.168.1.5", "172.17.0.1"}},
		{"outbound IPv6", "::", "2001:db8::5", interfaces, []string{"2001:db8::5", "172.17.0.1", "192.168.1.5"}},
		{"no route", "::", "", interfaces, []string{"172.17.0.1", "192.168.1.5"}},
		{"no interface", "::", "", interfaces[:1], []string{"laptop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := hostsFor(&net.TCPAddr{IP: net.ParseIP(c.at), Port: 2299}, c.interfaces, net.ParseIP(c.outbound), "laptop"); !slices.Equal(got, c.want) {
				t.Errorf("hosts %v, want %v", got, c.want)
			}
		})
	}
}

func ipNet(text string) *net.IPNet {
	ip, n, _ := net.ParseCIDR(text)
	return &net.IPNet{IP: ip, Mask: n.Mask}
}

// TestVisitorHosts: a listener at all addresses is reachable at each of its hosts.
func TestVisitorHosts(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for _, address := range visitorHosts(l.Addr()) {
		if net.ParseIP(address) == nil {
			continue // the host name of a machine without a network
		}
		c, err := net.Dial("tcp", net.JoinHostPort(address, portOf(l.Addr())))
		if err != nil {
			t.Errorf("%s is not reachable: %v", address, err)
			continue
		}
		_ = c.Close()
	}
}

// TestQRCode reads the modules back from the half blocks.
func TestQRCode(t *testing.T) {
	const text = "ssh://192.168.1.5:2222"
	want, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(qrCode(text), "\n"), "\n")
	if len(rows) != (want.Size+5)/2 {
		t.Fatalf("%d rows for %d modules", len(rows), want.Size)
	}
	for y, row := range rows {
		cells := []rune(strings.TrimSuffix(strings.TrimPrefix(row, "    \x1b[30;107m"), "\x1b[m"))
		if len(cells) != want.Size+4 {
			t.Fatalf("row %d has %d cells", y, len(cells))
		}
		for x, cell := range cells {
			upper, lower := cell == '█' || cell == '▀', cell == '█' || cell == '▄'
			if upper != want.Black(x-2, 2*y-2) || lower != want.Black(x-2, 2*y-1) {
				t.Fatalf("module %d, %d is drawn as %c", x-2, 2*y-2, cell)
			}
		}
	}
	if qrCode(strings.Repeat("x", 5000)) != "" {
		t.Error("a QR code of 5000 characters")
	}
}
