package browser

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
)

const code = "monday-room"

// url finds the address of the page in what schedq serve prints.
var url = regexp.MustCompile(`https?://(\S+)/`)

// serve starts schedq serve with a page on the loopback interface, and returns the page's host and port.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	program := os.Getenv("SCHEDQ_PROGRAM")
	if program == "" {
		t.Skip("SCHEDQ_PROGRAM names no program: make browser")
	}
	flags = append([]string{"serve", "--web=127.0.0.1:0", "--listen", "127.0.0.1:0", "--teacher-listen", "none", "--code", code}, flags...)
	cmd := exec.CommandContext(t.Context(), program, flags...)
	folder := t.TempDir()
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+folder, "XDG_CONFIG_HOME="+folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if found := url.FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, out)
			return found[1]
		}
	}
	t.Fatalf("schedq serve says no address: %v", lines.Err())
	return ""
}

// network is what a page is reached through, and can be cut.
type network struct {
	net.Listener
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// through returns a network before the page at address.
func through(t *testing.T, address string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	n := &network{Listener: l}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", address)
			if err != nil || !n.holds(from, to) {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	return n
}

// holds takes in connections, unless the network is cut.
func (n *network) holds(conns ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.cut {
		n.conns = append(n.conns, conns...)
	}
	return !n.cut
}

// set cuts the network, or mends it.
func (n *network) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut = cut; cut {
		for _, c := range n.conns {
			_ = c.Close()
		}
		n.conns = nil
	}
}
