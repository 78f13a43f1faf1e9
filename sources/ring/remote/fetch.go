package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Is reports whether a recording's name is a URL.
func Is(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Fetch fetches the recording at an http or https URL, with the token if there is one. A redirect is an error. The error
// is one sentence with the URL.
func Fetch(ctx context.Context, address string, token Token) (io.ReadCloser, error) {
	name := sources.Sanitize(address)
	u, err := url.Parse(address)
	switch {
	case err != nil || !Is(address) || u.Host == "":
		return nil, fmt.Errorf("%s is not the URL of a recording: http://localhost:9090/recording?from=-2h", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s has a password in it: a recorder has a token, --token-file", sources.Sanitize(u.Redacted()))
	case token.text != "" && u.Scheme != "https" && !isThisMachine(u.Hostname()):
		return nil, fmt.Errorf("%s: a token is sent in clear text to this machine only: use https, or kubectl port-forward", name)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s can't be asked for: %w", name, err)
	}
	if token.text != "" {
		req.Header.Set("Authorization", "Bearer "+token.text)
	}
	client := &http.Client{
		Transport: &http.Transport{ // without a proxy
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			ResponseHeaderTimeout: 2 * time.Minute, // a ring's span is read first
			DisableCompression:    true,
			DisableKeepAlives:     true,
		},
		CheckRedirect: func(to *http.Request, _ []*http.Request) error {
			return fmt.Errorf("it redirects to %s, which schedq does not follow", sources.Sanitize(to.URL.Redacted()))
		},
	}
	answer, err := client.Do(req)
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the URL, which the message contains already
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		said := strings.Join(strings.Fields(string(why)), " ")
		return nil, fmt.Errorf("%s: it answers %d: %s", name, answer.StatusCode, sources.Sanitize(said))
	}
	return answer.Body, nil
}

// isThisMachine reports whether a host is this machine by its name alone.
func isThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
