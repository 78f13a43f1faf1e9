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

// TestPlacesReachNobody: the program connects to nothing but the API server, and only for a live
// cluster. Each case runs in its own network namespace, where the kernel counts every attempt.
func TestPlacesReachNobody(t *testing.T) {
	path := program(t)
	screen := func(args ...string) func(testing.TB, *livetest.Server) {
		return func(t testing.TB, server *livetest.Server) {
			s := startAt(t, environment{append(cleanVariables(t), "KUBECONFIG="+server.Kubeconfig(t)), 30, 100}, path, args...)
			s.waitFor("activeQ")
			s.signal(syscall.SIGINT) // q asks for confirmation while a cluster is watched
			s.wait()
		}
	}
	command := func(args ...string) func(testing.TB, *livetest.Server) {
		return func(t testing.TB, server *livetest.Server) {
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(cleanVariables(t), "KUBECONFIG="+server.Kubeconfig(t))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v, %s", err, out)
			}
		}
	}
	for name, c := range map[string]struct {
		act      func(testing.TB, *livetest.Server)
		connects bool // to the API server
	}{
		"screen":           {screen(), false},
		"lesson":           {screen("learn", "1"), false},
		"report":           {command("report", "--recording", "workshop"), false},
		"version":          {command("version"), false},
		"complete offline": {command("__complete", "wat"), false},
		"attach":           {screen("attach"), true},
		"list":             {command("list"), true},
		"complete pods":    {command("__complete", "explain", ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			isolateNetwork(t)
			server := livetest.New(t)
			before := networkCounters(t)
			c.act(t, server)
			server.CloseClientConnections()
			sent := networkCounters(t)
			if asked := server.Requests(); len(asked) > 0 && !c.connects {
				t.Errorf("requests to the API server: %q", asked)
			}
			for what, n := range sent {
				sent[what] = n - before[what]
			}
			// Connections that the API server did not accept went elsewhere.
			sent["connections to others"] = sent["Tcp ActiveOpens"] - sent["Tcp PassiveOpens"]
			delete(sent, "Tcp ActiveOpens")
			delete(sent, "Tcp PassiveOpens")
			maps.DeleteFunc(sent, func(_ string, n int) bool { return n == 0 })
			if len(sent) > 0 {
				t.Errorf("unexpected traffic: %v", sent)
			}
		})
	}
}

// TestPlacesReachSomebody: the counters that TestPlacesReachNobody reads count each kind of
// attempt.
func TestPlacesReachSomebody(t *testing.T) {
	isolateNetwork(t)
	for address, want := range map[string]string{
		"udp 192.0.2.1:53": "Ip OutNoRoutes", "tcp 192.0.2.1:443": "Ip OutNoRoutes", "udp [2001:db8::1]:53": "Ip6OutNoRoutes",
		"tcp [2001:db8::1]:443": "Ip6OutNoRoutes", "tcp 127.0.0.1:9": "Tcp ActiveOpens",
	} {
		before := networkCounters(t)
		network, host, _ := strings.Cut(address, " ")
		if c, err := net.Dial(network, host); err == nil {
			c.Close()
		}
		if now := networkCounters(t); now[want] == before[want] {
			t.Errorf("%s: %s does not count it: %v, then %v", address, want, before, now)
		}
	}
}

// isolateNetwork moves the test and its child processes to a network namespace without a route.
func isolateNetwork(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); errors.Is(err, unix.EPERM) {
		t.Skip("network namespaces need root")
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

// networkCounters returns the kernel's counters of attempts in the thread's network namespace.
func networkCounters(t testing.TB) map[string]int {
	t.Helper()
	counted := map[string]int{}
	text, err := os.ReadFile("/proc/thread-self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range bytes.Lines(text) { // alternating lines of names and numbers
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

// count records the counters of connection attempts.
func count(counted map[string]int, name, number string) {
	switch name {
	case "Tcp ActiveOpens", "Tcp PassiveOpens", "Udp OutDatagrams", "Udp6OutDatagrams", "Ip OutNoRoutes", "Ip6OutNoRoutes":
		n, err := strconv.Atoi(number)
		if err == nil {
			counted[name] = n
		}
	}
}
