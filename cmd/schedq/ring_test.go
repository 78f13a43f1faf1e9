package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestRecordRing: every command reads the folder of a ring, even while it is recorded, and a part
// of it contains the objects that existed at its start.
func TestRecordRing(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"))
	kubeconfig := server.Kubeconfig(t)
	folder := filepath.Join(t.TempDir(), "ring")
	recorder := runLive(t, "record", "--ring", "24h", "--ring", "64MiB", "-o", folder, "--kubeconfig", kubeconfig)
	watcher := runLive(t, "watch", "-o", "json", "--kubeconfig", kubeconfig)
	big := pendingPod("big", "6")
	server.Put(big)
	watcher.until(moves("big", "active"))
	server.Put(rejected(big))
	watcher.until(moves("big", "unschedulable"))
	eventually(t, "the rejection in the ring", func() (string, bool) {
		_, out, stderr := schedq(t, "", "list", folder)
		return out + stderr, strings.Contains(out, "default/big") && strings.Contains(out, "less than 6 CPUs free")
	})
	if code, _, stderr := schedq(t, "", "record", "--ring", "1h", "-o", folder, "--kubeconfig", kubeconfig); code == 0 || !strings.Contains(stderr, "another schedq records into "+folder) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code := recorder.stop(); code != 0 || !strings.Contains(recorder.stderr.String(), "records to the ring in "+folder) {
		t.Fatalf("exit %d: %s", code, recorder.stderr.String())
	}

	again := runLive(t, "record", "--ring", "24h", "-o", folder, "--kubeconfig", kubeconfig)
	server.Put(pendingPod("later", "6"))
	eventually(t, "the other pod in the ring", func() (string, bool) {
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
		{[]string{"report", cut, "--from", "-1h"}, "a window needs the folder of a ring, and cut.jsonl is none"},
		{[]string{"record", "--ring", "soon", "-o", folder}, "--ring soon is neither a duration nor a size: 24h, 2GiB"},
		{[]string{"record", "--ring", "1h"}, "record needs -o FILE"},
	} {
		if code, _, stderr := schedq(t, "", c.args...); code == 0 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") > 2 {
			t.Errorf("%v: exit %d: %s", c.args, code, stderr)
		}
	}
}

// TestRecordingServed: with the token, commands read a part of the ring from the recorder's URL.
func TestRecordingServed(t *testing.T) {
	server := livetest.New(t)
	server.Put(readyNode("n-1", "4"), rejected(pendingPod("big", "6")))
	address := freeAddress(t)
	token := writer(t)("token", "0123456789abcdef0123456789abcdef\n")
	recorder := runLive(t, "record", "--ring", "1h", "-o", t.TempDir(), "--kubeconfig", server.Kubeconfig(t), "--metrics-address", address, "--token-file", token)
	url := "http://" + address + "/recording?from=-2h"
	eventually(t, "the pod at "+url, func() (string, bool) {
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
	eventuallyServed(t, address, `schedq_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"} 1`)
	if code := recorder.stop(); code != 0 {
		t.Fatalf("exit %d: %s", code, recorder.stderr.String())
	}
	if code, _, stderr := schedq(t, "", "list", url); code == 0 || !strings.Contains(stderr, url+": dial tcp "+address+": ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
