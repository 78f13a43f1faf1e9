//go:build linux

package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestPlacesReachNobody: without a cluster, nothing is sent to anybody; with one, nothing to anybody but its API server. Each
// case runs in a network of its own, whose kernel counts what is tried there, so that no attempt is missed, however short.
func TestPlacesReachNobody(t *testing.T) {
	path := program(t)
	screen := func(args ...string) func(testing.TB, *livetest.Server) {
		return func(t testing.TB, server *livetest.Server) {
			s := sitAt(t, place{append(surroundings(t), "KUBECONFIG="+server.Kubeconfig(t)), 30, 100}, path, args...)
			s.until("activeQ")
			s.sends(syscall.SIGINT) // q asks first where a cluster is watched
			s.ends()
		}
	}
	command := func(args ...string) func(testing.TB, *livetest.Server) {
		return func(t testing.TB, server *livetest.Server) {
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(surroundings(t), "KUBECONFIG="+server.Kubeconfig(t))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v, %s", err, out)
			}
		}
	}
	for name, c := range map[string]struct {
		act func(testing.TB, *livetest.Server)
		may bool // ask the API server
	}{
		"the screen":   {screen(), false},
		"a lesson":     {screen("learn", "1"), false},
		"a report":     {command("report", "--recording", "workshop"), false},
		"the version":  {command("version"), false},
		"a command":    {command("__complete", "wat"), false},
		"a cluster":    {screen("attach"), true},
		"its pods":     {command("list"), true},
		"a completion": {command("__complete", "explain", ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			server := livetest.New(t)
			before := traffic(t)
			c.act(t, server)
			server.CloseClientConnections()
			sent := traffic(t)
			if asked := server.Requests(); len(asked) > 0 && !c.may {
				t.Errorf("the API server was asked %q", asked)
			}
			for what, n := range sent {
				sent[what] = n - before[what]
			}
			// Whoever opens a connection in this network without being taken in by the API server asked somebody else.
			sent["connections to others"] = sent["Tcp ActiveOpens"] - sent["Tcp PassiveOpens"]
			delete(sent, "Tcp ActiveOpens")
			delete(sent, "Tcp PassiveOpens")
			maps.DeleteFunc(sent, func(_ string, n int) bool { return n == 0 })
			if len(sent) > 0 {
				t.Errorf("it tried %v", sent)
			}
		})
	}
}

// TestPlacesReachSomebody: what TestPlacesReachNobody looks at shows whoever is asked.
func TestPlacesReachSomebody(t *testing.T) {
	alone(t)
	for address, want := range map[string]string{
		"udp 192.0.2.1:53": "Ip OutNoRoutes", "tcp 192.0.2.1:443": "Ip OutNoRoutes", "udp [2001:db8::1]:53": "Ip6OutNoRoutes",
		"tcp [2001:db8::1]:443": "Ip6OutNoRoutes", "tcp 127.0.0.1:9": "Tcp ActiveOpens",
	} {
		before := traffic(t)
		network, host, _ := strings.Cut(address, " ")
		if c, err := net.Dial(network, host); err == nil {
			c.Close()
		}
		if now := traffic(t); now[want] == before[want] {
			t.Errorf("%s: %s does not count it: %v, then %v", address, want, before, now)
		}
	}
}

// alone gives the test, and the programs that it begins, a network without a way out.
func alone(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); errors.Is(err, unix.EPERM) {
		t.Skip("nobody but root may have a network of his own")
	} else if err != nil {
		t.Fatal(err)
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	up.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, up); err != nil {
		t.Fatal(err)
	}
}

// traffic is what was tried in the thread's network so far, by the kernel's names.
func traffic(t testing.TB) map[string]int {
	t.Helper()
	counted := map[string]int{}
	text, err := os.ReadFile("/proc/thread-self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range bytes.Lines(text) { // a line of names, then one of numbers
		fields := strings.Fields(string(line))
		if len(names) == 0 || names[0] != fields[0] {
			names = fields
			continue
		}
		for i, name := range names {
			count(counted, strings.TrimSuffix(fields[0], ":")+" "+name, fields[i])
		}
		names = nil
	}
	text, err = os.ReadFile("/proc/thread-self/net/snmp6")
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var name, n string
		if _, err := fmt.Sscan(string(line), &name, &n); err != nil {
			t.Fatal(err)
		}
		count(counted, name, n)
	}
	return counted
}

// count notes the numbers that tell of somebody who was asked.
func count(counted map[string]int, name, number string) {
	switch name {
	case "Tcp ActiveOpens", "Tcp PassiveOpens", "Udp OutDatagrams", "Udp6OutDatagrams", "Ip OutNoRoutes", "Ip6OutNoRoutes":
		n, err := strconv.Atoi(number)
		if err == nil {
			counted[name] = n
		}
	}
}
