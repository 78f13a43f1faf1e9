package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
	"github.com/schedq/schedq/sources/trace"
)

const secret = "0123456789abcdef-token"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// anHour returns the folder of a ring of an hour in which a mark comes each second.
func anHour(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	out, err := ring.Create(t.Context(), folder, ring.Bound{Age: 10 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(noon, []sources.Event{{Time: noon, Fact: &sources.Attached{}}})
	for i := 1; i <= 3600; i++ {
		at := noon.Add(time.Duration(i) * time.Second)
		out.Write(at, []sources.Event{{Time: at, Fact: &sources.Mark{Text: sources.SafeText(fmt.Sprint("mark ", i))}}})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}

func token(t *testing.T, text string) remote.Token {
	t.Helper()
	tok, err := remote.NewToken(text)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestIs: an URL's scheme has no case.
func TestIs(t *testing.T) {
	for name, want := range map[string]bool{"http://a": true, "HTTPS://a": true, "Http://": true, "http:/a": false, "ftp://a": false, "a.jsonl": false, "": false} {
		if got := remote.Is(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestFetch: a valid query returns that part of the ring. Any other is refused in one sentence.
func TestFetch(t *testing.T) {
	server := httptest.NewServer(remote.Handler(anHour(t), token(t, secret)))
	defer server.Close()
	span := "it is from 2026-11-21 12:00:00 to 2026-11-21 13:00:00 UTC"
	for _, c := range []struct {
		query, token string
		marks        int
		err          string
	}{
		{"", secret, 3601, ""}, // and one at the end
		{"?from=-10m", secret, 602, ""},
		{"?from=12:30&to=+5m", secret, 301, ""},
		{"?from=12:30&to=%2B5m", secret, 301, ""},
		{"", "", 0, "it answers 401: the recorder requires its token: use --token-file"},
		{"", "0123456789abcdef-other", 0, "it answers 401: "},
		{"?from=14:00", secret, 0, "it answers 404: from 14:00 is not within the ring: " + span},
		{"?from=then", secret, 0, "it answers 400: from then is not a time"},
		{"?from=-1h&from=-2h", secret, 0, "it answers 400: from is there twice"},
		{"?folder=/", secret, 0, "it answers 400: invalid query: use only from and to"},
		{"?from=" + strings.Repeat("9", 300), secret, 0, "it answers 400: the query is longer than 256 bytes"},
	} {
		var tok remote.Token
		if c.token != "" {
			tok = token(t, c.token)
		}
		body, err := remote.Fetch(t.Context(), server.URL+"/recording"+c.query, tok)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), "/recording"+c.query+": "+c.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %s", c.query, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		r, err := lines.New(t.Context(), "fetched", time.Time{}, body)
		if err != nil {
			t.Fatal(err)
		}
		part, err := trace.Read(r)
		if err != nil || len(part.Notices) > 0 {
			t.Fatal(err, part.Notices)
		}
		marks := 0
		for _, ev := range part.Events {
			if _, is := ev.Fact.(*sources.Mark); is {
				marks++
			}
		}
		if marks != c.marks {
			t.Errorf("%s: %d marks, want %d", c.query, marks, c.marks)
		}
	}
}

// TestNothingElse: it is read-only, and nobody from elsewhere is answered.
func TestNothingElse(t *testing.T) {
	handler := remote.Handler(anHour(t), token(t, secret))
	server := httptest.NewServer(handler)
	defer server.Close()
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead} {
		req, _ := http.NewRequest(method, server.URL+"/recording", nil)
		req.Header.Set("Authorization", "Bearer "+secret)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, answer.Status)
		}
	}
	req := httptest.NewRequest(http.MethodGet, "/recording", nil) // to no address of this machine
	req.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	if handler.ServeHTTP(w, req); w.Code != http.StatusForbidden {
		t.Errorf("from %s: %d", req.RemoteAddr, w.Code)
	}
	none := httptest.NewServer(remote.Handler(anHour(t), remote.Token{}))
	defer none.Close()
	req, _ = http.NewRequest(http.MethodGet, none.URL, nil)
	req.Header.Set("Authorization", "Bearer ")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without any token: %s", answer.Status)
	}
}

// TestNowhereElse: the token goes to whom the person named alone.
func TestNowhereElse(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	for _, c := range []struct{ url, want string }{
		{server.URL, server.URL + ": it redirects to " + other.URL + ", which schedq does not follow"},
		{"http://example.com/recording", "http://example.com/recording: a token is sent in clear text to this machine only: use https, or kubectl port-forward"},
		{"http://me:pass@localhost/", "http://me:xxxxx@localhost/ has a password in it: a recorder has a token, --token-file"},
		{"http://", "http:// is not the URL of a recording: http://localhost:9090/recording?from=-2h"},
		{"ftp://localhost/", "ftp://localhost/ is not the URL of a recording: http://localhost:9090/recording?from=-2h"},
	} {
		body, err := remote.Fetch(t.Context(), c.url, token(t, secret))
		if err == nil {
			_, _ = io.Copy(io.Discard, body)
			body.Close()
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if asked {
		t.Error("a redirect was followed")
	}
}

// TestToken: a token is a line in a file that others can't read.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{secret + "\n", 0o600, ""},
		{secret, 0o440, ""},
		{secret, 0o644, "everybody can read the token in " + path + ": chmod 600 it"},
		{"short", 0o600, path + " contains no token: write one line of at least 16 bytes, such as the output of openssl rand -hex 32"},
		{secret + "\n" + secret, 0o600, path + " contains no token: write one line of printable ASCII characters without spaces"},
	} {
		os.Remove(path)
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.ReadToken(t.Context(), path); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}
