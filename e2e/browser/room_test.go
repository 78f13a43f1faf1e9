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

// url matches the address of the page in the output of schedq serve.
var url = regexp.MustCompile(`https?://(\S+)/`)

// serve starts schedq serve with a page on loopback, and returns its host:port.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	program := os.Getenv("SCHEDQ_PROGRAM")
	if program == "" {
		t.Skip("SCHEDQ_PROGRAM is not set: use make browser")
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
	t.Fatalf("schedq serve printed no address: %v", lines.Err())
	return ""
}

// network is a proxy that can be cut.
type network struct {
	net.Listener
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// through returns a network in front of address.
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
			if err != nil || !n.keep(from, to) {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	return n
}

// keep registers connections, unless the network is cut.
func (n *network) keep(conns ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.cut {
		n.conns = append(n.conns, conns...)
	}
	return !n.cut
}

// set cuts or restores the network.
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
