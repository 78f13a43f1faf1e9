package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/room"
	"github.com/schedq/schedq/room/web"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// webFlags are those of the room's page.
type webFlags struct {
	address   string // empty is no page
	cert, key string // files
	kiosk     bool
	notes     func(ctx context.Context, shown string) (string, error) // the speaker's: see web.Config
}

func (f *webFlags) add(set *pflag.FlagSet) {
	set.StringVar(&f.address, "web", "", "let visitors in by a browser, too, at --web=`ADDRESS`; --web alone is "+webAddress)
	set.Lookup("web").NoOptDefVal = webAddress
	set.StringVar(&f.cert, "tls-cert", "", "a `FILE` with the certificate of the page (PEM, with those of who signed it); one is made if there is none")
	set.StringVar(&f.key, "tls-key", "", "the `FILE` of the certificate's private key")
	set.BoolVar(&f.kiosk, "kiosk", false, "the page is open to all: no code, no names, no teacher, and nothing over SSH")
}

// webAddress is where a page is if nothing else is said.
const webAddress = ":8443"

// page is a room's page: where it is, and how it is known.
type doorPage struct {
	net.Listener
	site        *web.Site
	scheme      string
	fingerprint string // of a certificate that was made, or empty
}

// open listens, or returns nil if there is to be no page. It is served without TLS on the loopback interface alone.
func (f *webFlags) open(ctx context.Context) (*doorPage, error) {
	switch {
	case f.address == "" && (f.kiosk || f.cert != "" || f.key != ""):
		return nil, cli.Usagef("--kiosk, --tls-cert and --tls-key are about the page of --web")
	case (f.cert == "") != (f.key == ""):
		return nil, cli.Usagef("--tls-cert and --tls-key go together")
	case f.address == "":
		return nil, nil
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	p := &doorPage{Listener: l, scheme: "https"}
	certificate, err := f.certificate(ctx, p)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	config := web.Config{Kiosk: f.kiosk, Notes: f.notes}
	if p.scheme == "https" {
		config.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	if p.site, err = web.New(config); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return p, nil
}

// certificate is what p is served by: the one that is given, or one that is made and kept.
func (f *webFlags) certificate(ctx context.Context, p *doorPage) (c tls.Certificate, err error) {
	if f.cert != "" {
		return readCertificate(ctx, f.cert, f.key)
	}
	if at, ok := p.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		p.scheme = "http"
		return c, nil
	}
	state, err := disk.StateFolder()
	if err != nil {
		return c, fmt.Errorf("--tls-cert is not given, and there is no state directory for one that is made: %w", err)
	}
	names := append(slices.Clone(reachable(p.Addr())), "localhost", "127.0.0.1")
	if own, err := os.Hostname(); err == nil && !slices.Contains(names, own) {
		names = append(names, own)
	}
	if c, err = LoadCertificate(ctx, filepath.Join(state, "room", "certificate"), names); err == nil {
		p.fingerprint = Fingerprint(c)
	}
	return c, err
}

// maxCertificate is how large the file of a certificate or its key may be, in bytes.
const maxCertificate = 1 << 20

func readCertificate(ctx context.Context, cert, key string) (c tls.Certificate, err error) {
	public, err := disk.Read(ctx, cert, maxCertificate)
	if err != nil {
		return c, fmt.Errorf("--tls-cert: %w", err)
	}
	private, err := disk.Read(ctx, key, maxCertificate)
	if err != nil {
		return c, fmt.Errorf("--tls-key: %w", err)
	}
	if c, err = tls.X509KeyPair(public, private); err != nil {
		return c, fmt.Errorf("--tls-cert %s and --tls-key %s can't be used: %w", sources.Sanitize(cert), sources.Sanitize(key), err)
	}
	return c, nil
}

// url is where visitors find the page.
func (p *doorPage) url() string {
	return p.scheme + "://" + net.JoinHostPort(reachable(p.Addr())[0], portOf(p.Addr())) + "/"
}

// announce says where the page is.
func (p *doorPage) announce(out io.Writer) {
	fmt.Fprintf(out, "    %s\n\n", p.url())
	if p.fingerprint != "" {
		fmt.Fprintf(out, "The browser warns once, since nobody has signed the certificate, whose SHA-256 is\n%s\n", p.fingerprint)
	}
}

// door is where visitors come in by a browser.
func (p *doorPage) door() room.Listener { return room.Listener{Listener: p.Listener, Handler: p.site.ServeConn} }
