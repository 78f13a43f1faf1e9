package command

import (
	"net"
	"slices"
	"strings"
	"testing"

	"rsc.io/qr"
)

// The command that visitors are told connects to where the room listens: by the address if it is one, and otherwise by
// those of this machine that others can reach, the one by which it reaches them first.
func TestAddresses(t *testing.T) {
	own := []net.Addr{ipNet("127.0.0.1/8"), ipNet("172.17.0.1/16"), ipNet("192.168.1.5/24"), ipNet("::1/128"), ipNet("fe80::1/64"), ipNet("2001:db8::5/64"), ipNet("2001:db8::6/64")}
	for _, c := range []struct {
		name, at, outward string
		own               []net.Addr
		want              []string
	}{
		{"loopback", "127.0.0.1", "192.168.1.5", own, []string{"127.0.0.1"}},
		{"one address", "192.0.2.7", "192.168.1.5", own, []string{"192.0.2.7"}},
		{"one of IPv6", "::1", "192.168.1.5", own, []string{"::1"}},
		{"all", "::", "192.168.1.5", own, []string{"192.168.1.5", "172.17.0.1"}},
		{"all of IPv4", "0.0.0.0", "192.168.1.5", own, []string{"192.168.1.5", "172.17.0.1"}},
		{"out by IPv6", "::", "2001:db8::5", own, []string{"2001:db8::5", "172.17.0.1", "192.168.1.5"}},
		{"no way out", "::", "", own, []string{"172.17.0.1", "192.168.1.5"}},
		{"alone", "::", "", own[:1], []string{"laptop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := addresses(&net.TCPAddr{IP: net.ParseIP(c.at), Port: 2299}, c.own, net.ParseIP(c.outward), "laptop"); !slices.Equal(got, c.want) {
				t.Errorf("the room is at %v, want %v", got, c.want)
			}
		})
	}
}

func ipNet(text string) *net.IPNet {
	ip, n, _ := net.ParseCIDR(text)
	return &net.IPNet{IP: ip, Mask: n.Mask}
}

// A room that listens at all addresses is reached by each that it is said to have.
func TestTheRoomIsReached(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for _, address := range reachable(l.Addr()) {
		if net.ParseIP(address) == nil {
			continue // a machine without a network: who knows its name?
		}
		c, err := net.Dial("tcp", net.JoinHostPort(address, portOf(l.Addr())))
		if err != nil {
			t.Errorf("nobody reaches %s: %v", address, err)
			continue
		}
		_ = c.Close()
	}
}

// What is drawn is the code: read back from the half blocks, each module is as black as it should be.
func TestCode(t *testing.T) {
	const text = "ssh://192.168.1.5:2222"
	want, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(serveCode(text), "\n"), "\n")
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
	if serveCode(strings.Repeat("x", 5000)) != "" {
		t.Error("what is too long is drawn")
	}
}
