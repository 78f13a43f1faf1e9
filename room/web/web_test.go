package web_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/web"
)

func TestBrowserSession(t *testing.T) {
	s := open(t, web.Config{}, nil)
	ada := s.visitor("ada")
	ada.sees("notebook of ada").pastes("hello").sees("hello")
	ada.sends(object{"columns": 61, "rows": 31})
	ada.sees("61×30") // without the bar
	s.logs(`msg=joined name=ada from=127.0.0.1 teacher=false`)
	teacher := s.join(object{"name": "tina", "code": teacherCode})
	teacher.sees("ctrl+t room page")
	if ada.types("Q"); ada.waitEnd() != websocket.StatusNormalClosure {
		t.Error("quitting does not close the WebSocket normally")
	}
}

// TestToken: after a lost connection the token restores the name. It works once, and not after
// quitting.
func TestToken(t *testing.T) {
	s := open(t, web.Config{}, nil)
	s.visitor("ada").sees("notebook of ada.")
	second := s.visitor("ada")
	second.sees("notebook of ada-2.")
	_ = second.ws.CloseNow()
	back := s.join(object{"token": second.login["token"]})
	if back.login["name"] != "ada-2" {
		t.Errorf("the name is %v", back.login["name"])
	}
	back.sees("notebook of ada-2.").pastes("here").sees("here")
	stranger := &visitor{t: t, ws: s.dial()}
	for _, token := range []any{second.login["token"], "made-up"} {
		if stranger.sends(object{"token": token}); stranger.reply()["is"] != "unknown" {
			t.Errorf("the token %v is accepted", token)
		}
	}
	back.types("Q").waitEnd()
	again := &visitor{t: t, ws: s.dial()}
	if again.sends(object{"token": back.login["token"]}); again.reply()["is"] != "unknown" {
		t.Error("the token is accepted after quitting")
	}
}

// TestTokensEndWithCodeAndPerson: a token ends when the code changes or its owner is removed.
// People in the room stay, and can return.
func TestTokensEndWithCodeAndPerson(t *testing.T) {
	s := open(t, web.Config{}, nil)
	lost := func(name string) any {
		v := s.visitor(name).sees("notebook of " + name)
		_ = v.ws.CloseNow()
		s.logs("msg=left name=" + name)
		return v.login["token"]
	}
	ada, eve := s.visitor("ada").sees("notebook of ada"), s.visitor("eve").sees("notebook of eve")
	stocked := lost("mallory")
	teacher := s.join(object{"name": "tina", "code": teacherCode, "columns": 100, "rows": 30}).sees("2 visitors")
	teacher.types("\x14").sees("Predictions").types("w").sees("▸   ada").types("j").sees("▸   eve")
	teacher.types("x").sees("Press x again to remove eve.").types("x").sees("eve is removed")
	_ = eve.ws.CloseNow() // as if the connection was lost at that moment
	s.logs("msg=left name=eve")
	teacher.types("c").sees("Press c again").types("c").sees("New visitors' code: ")
	_ = ada.ws.CloseNow()
	s.logs("msg=left name=ada")
	stranger := &visitor{t: t, ws: s.dial()}
	for name, token := range map[string]any{"eve, who is removed": eve.login["token"], "mallory, who was not in the room": stocked} {
		if stranger.sends(object{"token": token}); stranger.reply()["is"] != "unknown" {
			t.Errorf("the token of %s is accepted", name)
		}
	}
	s.join(object{"token": ada.login["token"]}).sees("notebook of ada")
	_ = teacher.ws.CloseNow()
	s.logs("msg=left name=tina")
	s.join(object{"token": teacher.login["token"]}).sees("room page")
}

// TestTLS: with a certificate the page needs HTTPS, and a page of plain HTTP can't connect.
func TestTLS(t *testing.T) {
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // has a certificate for 127.0.0.1
	defer certified.Close()
	s := open(t, web.Config{TLS: &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"http/1.1"}}}, nil)
	known := x509.NewCertPool()
	known.AddCert(certified.Certificate())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}}
	defer client.CloseIdleConnections()
	ws, _, err := websocket.Dial(t.Context(), "wss://"+s.address+"/room", &websocket.DialOptions{HTTPClient: client, HTTPHeader: http.Header{"Origin": {"https://" + s.address}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ada := &visitor{t: t, ws: ws}
	if ada.sends(object{"name": "ada", "code": code}); ada.reply()["is"] != "in" {
		t.Error("the right code is rejected")
	}
	plain := http.Header{"Origin": {"http://" + s.address}}
	if other, _, err := websocket.Dial(t.Context(), "wss://"+s.address+"/room", &websocket.DialOptions{HTTPClient: client, HTTPHeader: plain}); err == nil {
		t.Error("an http origin is accepted")
		_ = other.CloseNow()
	}
	if status, _, text := s.get("/"); status != http.StatusBadRequest {
		t.Errorf("without TLS: %d %q", status, text)
	}
	if r, err := client.Get("https://" + s.address + "/"); err != nil || r.StatusCode != http.StatusOK || r.Body.Close() != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// TestKiosk: a kiosk needs no login, and every visitor gets a new name.
func TestKiosk(t *testing.T) {
	s := open(t, web.Config{Kiosk: true}, func(c *room.Config) { c.NoTeacher = true })
	one, other := s.join(object{"columns": 80, "rows": 24}), s.join(object{})
	if one.login["name"] == other.login["name"] {
		t.Errorf("both are %v", one.login["name"])
	}
	one.sees("80×24") // no bar
	if name := s.join(object{"name": "tina", "code": teacherCode}).login["name"]; name == "tina" {
		t.Error("a kiosk has a teacher")
	}
}

// TestPageHeaders: the page loads nothing from other hosts, sets no cookies, and can't be framed
// except in a kiosk.
func TestPageHeaders(t *testing.T) {
	for _, kiosk := range []bool{false, true} {
		s := open(t, web.Config{Kiosk: kiosk}, nil)
		for at, want := range map[string]string{"/": "<!DOCTYPE html>", "/page.mjs": "WebSocket", "/xterm.mjs": "Terminal", "/page.css": "#keys", "/LICENSE.xterm": "Permission is hereby granted"} {
			status, header, text := s.get(at)
			if status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: status %d, %.60q", at, status, text)
			}
			policy := header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "frame-ancestors 'none'") == kiosk ||
				header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Set-Cookie") != "" {
				t.Errorf("%s: headers %v", at, header)
			}
			if strings.Contains(text, "{{") && at == "/" {
				t.Errorf("%s has an unfilled placeholder: %q", at, text)
			}
		}
		_, one, _ := s.get("/")
		_, other, _ := s.get("/")
		if one.Get("Content-Security-Policy") == other.Get("Content-Security-Policy") {
			t.Error("two responses have the same nonce")
		}
		for _, at := range []string{"/static", "/../web.go", "/favicon.ico", "/static/page.html", "//"} {
			if status, _, _ := s.get(at); status != http.StatusNotFound {
				t.Errorf("%s: status %d", at, status)
			}
		}
	}
}

func (s *testRoom) get(at string) (status int, header http.Header, text string) {
	s.t.Helper()
	r, err := http.Get("http://" + s.address + at)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	if !r.Close {
		s.t.Errorf("%s does not close the connection", at)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(body)
}

// TestVendoredFiles: the files of xterm.js match the checksums in VERSIONS.
func TestVendoredFiles(t *testing.T) {
	versions, err := os.ReadFile("static/VERSIONS")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for line := range strings.Lines(string(versions)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join("static", name))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%x", sha256.Sum256(text)) != sum {
			t.Errorf("%s does not match its checksum: run make terminal", name)
		}
		files++
	}
	if files != 4 {
		t.Errorf("VERSIONS has %d checksums, want 4", files)
	}
}
