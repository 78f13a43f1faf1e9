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

// Who comes by a browser has a screen of their own, types on it, and has it in the size of the page.
func TestAVisitorComesInByABrowser(t *testing.T) {
	s := open(t, web.Config{}, nil)
	ada := s.visitor("ada")
	ada.sees("notebook of ada").pastes("hello").sees("hello")
	ada.says(words{"columns": 61, "rows": 31})
	ada.sees("61×30") // one row is the room's bar
	s.says(`msg="came in" name=ada from=127.0.0.1 teacher=false`)
	teacher := s.comes(words{"name": "tina", "code": teacherCode})
	teacher.sees("ctrl+t the room")
	if ada.types("Q"); ada.ends() != websocket.StatusNormalClosure {
		t.Error("who quits is not told that all is over")
	}
}

// A name is letters and digits, also if it comes by a browser.
func TestNamesAreCleaned(t *testing.T) {
	s := open(t, web.Config{}, nil)
	if v := s.visitor("\x1b[31mad\x00a\r\n <b>"); v.in["name"] != "31madab" {
		t.Errorf("the name is %q", v.in["name"])
	}
	if v := s.visitor("  "); v.in["name"] != "somebody" {
		t.Errorf("the name is %q", v.in["name"])
	}
	if v := s.visitor(strings.Repeat("x", 200)); v.in["name"] != strings.Repeat("x", 16) {
		t.Errorf("the name is %q", v.in["name"])
	}
}

// Whose connection was lost has the name again by the token, without a code; once, and not after a goodbye.
func TestWhoLosesTheConnectionComesBackByTheToken(t *testing.T) {
	s := open(t, web.Config{}, nil)
	s.visitor("ada").sees("notebook of ada.")
	second := s.visitor("ada")
	second.sees("notebook of ada-2.")
	_ = second.ws.CloseNow()
	back := s.comes(words{"token": second.in["token"]})
	if back.in["name"] != "ada-2" {
		t.Errorf("the name is %v", back.in["name"])
	}
	back.sees("notebook of ada-2.").pastes("here").sees("here")
	stranger := &visitor{t: t, ws: s.dial()}
	for _, token := range []any{second.in["token"], "made-up"} {
		if stranger.says(words{"token": token}); stranger.answered()["is"] != "unknown" {
			t.Errorf("the token %v lets somebody in", token)
		}
	}
	back.types("Q").ends()
	again := &visitor{t: t, ws: s.dial()}
	if again.says(words{"token": back.in["token"]}); again.answered()["is"] != "unknown" {
		t.Error("who has quit comes in without a code")
	}
}

// With a certificate the page and what is on it are encrypted; who speaks plainly there is told, and does not come in.
func TestAPageByTLS(t *testing.T) {
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate, of 127.0.0.1
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
	if ada.says(words{"name": "ada", "code": code}); ada.answered()["is"] != "in" {
		t.Error("who knows the code is not let in")
	}
	plain := http.Header{"Origin": {"http://" + s.address}}
	if other, _, err := websocket.Dial(t.Context(), "wss://"+s.address+"/room", &websocket.DialOptions{HTTPClient: client, HTTPHeader: plain}); err == nil {
		t.Error("a page that anybody could have altered comes in")
		_ = other.CloseNow()
	}
	if status, _, text := s.get("/"); status != http.StatusBadRequest {
		t.Errorf("without TLS: %d %q", status, text)
	}
	if r, err := client.Get("https://" + s.address + "/"); err != nil || r.StatusCode != http.StatusOK || r.Body.Close() != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// A page in a kiosk asks for nothing, and each visitor has a name that nobody had.
func TestAKioskLetsEverybodyIn(t *testing.T) {
	s := open(t, web.Config{Kiosk: true}, func(c *room.Config) { c.Alone = true })
	one, other := s.comes(words{"columns": 80, "rows": 24}), s.comes(words{})
	if one.in["name"] == other.in["name"] {
		t.Errorf("both are %v", one.in["name"])
	}
	one.sees("80×24") // no row is the room's
	if name := s.comes(words{"name": "tina", "code": teacherCode}).in["name"]; name == "tina" {
		t.Error("a kiosk has a teacher")
	}
}

// The page loads nothing from elsewhere, keeps nothing, and is held by no other page.
func TestThePageIsByItself(t *testing.T) {
	for _, kiosk := range []bool{false, true} {
		s := open(t, web.Config{Kiosk: kiosk}, nil)
		for at, says := range map[string]string{"/": "<!DOCTYPE html>", "/page.mjs": "WebSocket", "/xterm.mjs": "Terminal", "/page.css": "#keys", "/LICENSE.xterm": "Permission is hereby granted"} {
			status, header, text := s.get(at)
			if status != http.StatusOK || !strings.Contains(text, says) {
				t.Errorf("%s is %d, %.60q", at, status, text)
			}
			policy := header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "frame-ancestors 'none'") == kiosk ||
				header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Set-Cookie") != "" {
				t.Errorf("%s has %v", at, header)
			}
			if strings.Contains(text, "{{") && at == "/" {
				t.Errorf("%s has a gap: %q", at, text)
			}
		}
		_, one, _ := s.get("/")
		_, other, _ := s.get("/")
		if one.Get("Content-Security-Policy") == other.Get("Content-Security-Policy") {
			t.Error("two pages have one nonce")
		}
		for _, at := range []string{"/static", "/../web.go", "/favicon.ico", "/static/page.html", "//"} {
			if status, _, _ := s.get(at); status != http.StatusNotFound {
				t.Errorf("%s is %d", at, status)
			}
		}
	}
}

func (s *school) get(at string) (status int, header http.Header, text string) {
	s.t.Helper()
	r, err := http.Get("http://" + s.address + at)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	if !r.Close {
		s.t.Errorf("%s holds the connection", at)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(body)
}

// What is kept of xterm.js is what VERSIONS says.
func TestTheTerminalIsAsItWasMade(t *testing.T) {
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
			t.Errorf("%s is another one: make terminal", name)
		}
		files++
	}
	if files != 4 {
		t.Errorf("%d files have a checksum", files)
	}
}
