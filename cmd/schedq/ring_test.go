package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/live/livetest"
)

// until waits until what holds.
func until(t *testing.T, what string, holds func() (seen string, ok bool)) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		seen, ok := holds()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come; there is\n%s", what, seen)
		}
	}
}

// TestRecordRing: the flight recorder's folder is a recording to every command, meanwhile and afterwards, and what is cut out
// of it begins with what was there.
func TestRecordRing(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	kubeconfig := server.Kubeconfig(t)
	folder := filepath.Join(t.TempDir(), "ring")
	recorder := runLive(t, "record", "--ring", "24h", "--ring", "64MiB", "-o", folder, "--kubeconfig", kubeconfig)
	watcher := runLive(t, "watch", "-o", "json", "--kubeconfig", kubeconfig)
	big := pendingPod("big", "6")
	server.Put(big)
	watcher.until("its coming", goes("big", "active"))
	server.Put(rejected(big))
	watcher.until("the rejection", goes("big", "unschedulable"))
	until(t, "the rejection in the ring", func() (string, bool) {
		_, out, stderr := schedq(t, "", "list", folder)
		return out + stderr, strings.Contains(out, "default/big") && strings.Contains(out, "NodeResourcesFit")
	})
	if code, _, stderr := schedq(t, "", "record", "--ring", "1h", "-o", folder, "--kubeconfig", kubeconfig); code == 0 || !strings.Contains(stderr, "another schedq records into "+folder) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code := recorder.stop(); code != 0 || !strings.Contains(recorder.stderr.String(), "went into the ring in "+folder) {
		t.Fatalf("exit %d: %s", code, recorder.stderr.String())
	}

	again := runLive(t, "record", "--ring", "24h", "-o", folder, "--kubeconfig", kubeconfig)
	server.Put(pendingPod("later", "6"))
	until(t, "the other pod in the ring", func() (string, bool) {
		_, out, stderr := schedq(t, "", "list", folder)
		return out + stderr, strings.Contains(out, "default/later") && strings.Contains(out, "default/big")
	})
	if code := again.stop(); code != 0 {
		t.Fatalf("exit %d: %s", code, again.stderr.String())
	}
	cut := filepath.Join(t.TempDir(), "cut.jsonl")
	for _, args := range [][]string{{"report", folder}, {"watch", folder, "--from", "-1h"}, {"list", folder, "--from", "-0s"},
		{"explain", "big", folder}, {"convert", folder, "--from", "-1h", "--to", "+1h", "-o", cut}, {"convert", folder, "--from", "-1h", "-o", cut + ".yaml"},
		{"convert", folder, "--from", "-1h", "-o", cut + ".parquet"}} {
		if code, out, stderr := schedq(t, "", args...); code != 0 || !strings.Contains(out+stderr, "big") && args[0] != "convert" {
			t.Errorf("%v: exit %d: %s%s", args, code, out, stderr)
		}
	}
	if code, out, stderr := schedq(t, "", "list", cut); code != 0 || !strings.Contains(out, "default/later") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report", folder, "--from", "2020-01-01 00:00:00", "--to", "2020-01-02 00:00:00"}, "--to 2020-01-02 00:00:00 is not within the ring: it is from 2"},
		{[]string{"report", cut, "--from", "-1h"}, "a window is cut out of the folder of a ring, and cut.jsonl is none"},
		{[]string{"record", "--ring", "soon", "-o", folder}, "--ring soon is neither a duration nor a size: 24h, 2GiB"},
		{[]string{"record", "--ring", "1h"}, "record needs -o FILE"},
	} {
		if code, _, stderr := schedq(t, "", c.args...); code == 0 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") > 2 {
			t.Errorf("%v: exit %d: %s", c.args, code, stderr)
		}
	}
}

// TestRecordingServed: a stretch of the ring is opened from a recorder's URL, by who has its token.
func TestRecordingServed(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"), rejected(pendingPod("big", "6")))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	recorder := runLive(t, "record", "--ring", "1h", "-o", t.TempDir(), "--kubeconfig", server.Kubeconfig(t), "--metrics-address", address, "--token-file", token)
	url := "http://" + address + "/recording?from=-2h"
	until(t, "the pod at "+url, func() (string, bool) {
		_, out, stderr := schedq(t, "", "list", url, "--token-file", token)
		return out + stderr, strings.Contains(out, "default/big")
	})
	if code, _, stderr := schedq(t, "", "list", url); code == 0 || !strings.Contains(stderr, url+": it answers 401: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	t.Setenv("SCHEDQ_TOKEN", "0123456789abcdef0123456789abcdef")
	if code, out, stderr := schedq(t, "", "list", url); code != 0 || !strings.Contains(out, "default/big") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	until(t, "the model's figures", func() (string, bool) {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return err.Error(), false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return string(text), err == nil && strings.Contains(string(text), `scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1`)
	})
	if code := recorder.stop(); code != 0 {
		t.Fatalf("exit %d: %s", code, recorder.stderr.String())
	}
	if code, _, stderr := schedq(t, "", "list", url); code == 0 || !strings.Contains(stderr, url+": dial tcp "+address+": ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
