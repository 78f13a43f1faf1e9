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

// webFlags are the flags of the room's web page.
type webFlags struct {
	address   string // no page if empty
	cert, key string // files
	kiosk     bool
	notes     func(ctx context.Context, shown string) (string, error) // see web.Config
}

// defaultWebAddress is the address of --web without a value.
const defaultWebAddress = ":8443"

func (f *webFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.address, "web", "", "serve visitors in browsers too, at --web=`ADDRESS`; default address "+defaultWebAddress)
	set.Lookup("web").NoOptDefVal = defaultWebAddress
	set.StringVar(&f.cert, "tls-cert", "", "`FILE` with the page's certificate chain (PEM); default self-signed")
	set.StringVar(&f.key, "tls-key", "", "`FILE` with the certificate's private key")
	set.BoolVar(&f.kiosk, "kiosk", false, "open the page to everybody: no code, no names, no teacher, no SSH")
}

// page is a room's web page with its listener.
type page struct {
	net.Listener
	site        *web.Site
	scheme      string
	fingerprint string // of a self-signed certificate, or empty
}

// open listens for the page, or returns nil if there is none. Only on the loopback interface the page
// is served without TLS.
func (f *webFlags) open(ctx context.Context) (*page, error) {
	switch {
	case f.address == "" && (f.kiosk || f.cert != "" || f.key != ""):
		return nil, cli.Usagef("--kiosk, --tls-cert and --tls-key need --web")
	case (f.cert == "") != (f.key == ""):
		return nil, cli.Usagef("use --tls-cert and --tls-key together")
	case f.address == "":
		return nil, nil
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	p := &page{Listener: l, scheme: "https"}
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

// certificate returns p's certificate: the given one, or a self-signed one from the state directory. It
// sets p's scheme and fingerprint.
func (f *webFlags) certificate(ctx context.Context, p *page) (c tls.Certificate, err error) {
	if f.cert != "" {
		return readCertificate(ctx, f.cert, f.key)
	}
	if at, ok := p.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		p.scheme = "http"
		return c, nil
	}
	state, err := disk.StateFolder()
	if err != nil {
		return c, fmt.Errorf("no state directory for a self-signed certificate: use --tls-cert: %w", err)
	}
	names := append(slices.Clone(visitorHosts(p.Addr())), "localhost", "127.0.0.1")
	if own, err := os.Hostname(); err == nil && !slices.Contains(names, own) {
		names = append(names, own)
	}
	if c, err = loadCertificate(ctx, filepath.Join(state, "room", "certificate"), names); err == nil {
		p.fingerprint = fingerprint(c)
	}
	return c, err
}

// maxCertificate limits the size of the file of a certificate or its key, in bytes.
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
		return c, fmt.Errorf("can't use --tls-cert %s with --tls-key %s: %w", sources.Sanitize(cert), sources.Sanitize(key), err)
	}
	return c, nil
}

// url returns the page's URL for visitors.
func (p *page) url() string {
	return p.scheme + "://" + net.JoinHostPort(visitorHosts(p.Addr())[0], portOf(p.Addr())) + "/"
}

// announce prints the page's URL.
func (p *page) announce(out io.Writer) {
	fmt.Fprintf(out, "    %s\n\n", p.url())
	if p.fingerprint != "" {
		fmt.Fprintf(out, "Browsers warn once about the self-signed certificate. Its SHA-256 fingerprint:\n%s\n", p.fingerprint)
	}
}

// listener returns the page as a listener of the room.
func (p *page) listener() room.Listener {
	return room.Listener{Listener: p.Listener, Handler: p.site.ServeConn}
}
