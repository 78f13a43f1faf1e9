//go:build linux

package hostile

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlacesBehindAProxy: HTTPS_PROXY and NO_PROXY apply to the API server.
func TestPlacesBehindAProxy(t *testing.T) {
	path, config := program(t), filepath.Join(t.TempDir(), "config")
	text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}],\n" +
		"clusters: [{name: c, cluster: {server: 'https://api.schedq.invalid'}}]}"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for exempt, want := range map[string]bool{"": true, "elsewhere.invalid": true, ".schedq.invalid": false} {
		proxy, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		requests := make(chan string, 1)
		go func() { // closes every connection after the first line
			first := ""
			for {
				c, err := proxy.Accept()
				if err != nil {
					break
				}
				line, _ := bufio.NewReader(c).ReadString('\n')
				c.Close()
				if first == "" {
					first = strings.TrimSpace(line)
				}
			}
			requests <- first
		}()
		cmd := exec.CommandContext(t.Context(), path, "list", "--kubeconfig", config)
		cmd.Env = withVariables(cleanVariables(t), "HTTPS_PROXY=http://"+proxy.Addr().String(), "NO_PROXY="+exempt)
		out, err := cmd.CombinedOutput()
		proxy.Close()
		if cmd.ProcessState.ExitCode() != 1 || !strings.HasPrefix(string(out), "schedq: ") || strings.Contains(string(out), "goroutine ") {
			t.Errorf("NO_PROXY=%s: %v, %s", exempt, err, out)
		}
		if got := <-requests; got != "CONNECT api.schedq.invalid:443 HTTP/1.1" && want || got != "" && !want {
			t.Errorf("NO_PROXY=%s: the proxy received %q", exempt, got)
		}
	}
}
