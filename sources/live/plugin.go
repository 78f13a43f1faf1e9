package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/pkg/apis/clientauthentication/install"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"

	"github.com/schedq/schedq/sources"
)

// plugin is the kubeconfig's credential plugin: a program that prints a token or a certificate, as
// client.authentication.k8s.io says. client-go runs such programs as well, but lets them write to the terminal
// whatever they like, keeps all that they print, and waits for them whatever happens meanwhile. It is safe for
// concurrent use.
type plugin struct {
	config  *clientcmdapi.ExecConfig
	name    sources.SafeText
	codecs  serializer.CodecFactory
	version schema.GroupVersion
	cluster *clientauthentication.Cluster
	dialer  *connrotation.Dialer
	// say is told each line that the plugin writes for a person, made safe. Set before the first run.
	say func(line sources.SafeText)

	mu       sync.Mutex
	terminal bool // whether it may talk to the person at the terminal
	held     *credentials
	run      *pluginRun // under way, or nil
	ended    time.Time  // when the last one did
	failed   error      // why, if it failed
}

// credentials are what a plugin printed. expires is zero if they don't.
type credentials struct {
	token   string
	cert    *tls.Certificate
	expires time.Time
}

// pluginRun is one run of the program, for as long as somebody waits for it.
type pluginRun struct {
	began   time.Time
	waiting int
	stop    context.CancelFunc
	done    chan struct{} // closed when made and err are set
	made    *credentials
	err     error
}

// Bounds on a plugin. A token has some KiB, and what is said for a person some lines.
const (
	maxPluginOutput = 1 << 20
	maxPluginLines  = 50  // of a run
	maxPluginLine   = 500 // bytes
)

// pluginAgain is after how long a plugin is run again that failed, or whose credentials are not taken: many
// requests would have it run each by itself.
const pluginAgain = 5 * time.Second

// waitedFor is after how long it is said that the plugin is waited for.
const waitedFor = 3 * time.Second

// newPlugin returns the plugin of config, which has one.
func newPlugin(config *rest.Config) (*plugin, error) {
	p := &plugin{config: config.ExecProvider, name: sources.Sanitize(filepath.Base(config.ExecProvider.Command)), say: func(sources.SafeText) {}}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	p.codecs = serializer.NewCodecFactory(scheme)
	version, err := schema.ParseGroupVersion(p.config.APIVersion)
	if err != nil || !scheme.IsVersionRegistered(version) || version.Version == runtime.APIVersionInternal {
		return nil, fmt.Errorf("the credential plugin %s of the kubeconfig has the apiVersion %q, which schedq does not know", p.name, sources.Sanitize(p.config.APIVersion))
	}
	if policy := p.config.PluginPolicy.PolicyType; policy != "" && policy != clientcmdapi.PluginPolicyAllowAll {
		return nil, fmt.Errorf("the credential plugin %s of the kubeconfig may not be run: its policy is %q", p.name, sources.Sanitize(string(policy)))
	}
	p.version = version
	if p.config.ProvideClusterInfo {
		if p.cluster, err = rest.ConfigToExecCluster(config); err != nil {
			return nil, err
		}
	}
	p.dialer = connrotation.NewDialer((&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext)
	return p, nil
}

// use has requests by way of c carry the plugin's credentials. It reports false if c has others.
func (p *plugin) use(c *transport.Config) bool {
	if c.HasTokenAuth() || c.HasBasicAuth() || c.HasCertAuth() {
		return false
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return withCredentials{p, next} })
	c.TLS.GetCertHolder = &transport.GetCertHolder{GetCert: p.cert}
	c.DialHolder = &transport.DialHolder{Dial: p.dialer.DialContext}
	return true
}

// withCredentials gives each request the plugin's credentials.
type withCredentials struct {
	plugin *plugin
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t withCredentials) RoundTrip(req *http.Request) (*http.Response, error) {
	held, err := t.plugin.credentials(req.Context())
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, fmt.Errorf("getting credentials: %w", err)
	}
	if held.token != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+held.token)
	}
	answer, err := t.next.RoundTrip(req)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		t.plugin.refused(held)
	}
	return answer, err
}

// WrappedRoundTripper implements k8s.io/apimachinery/pkg/util/net.RoundTripperWrapper.
func (t withCredentials) WrappedRoundTripper() http.RoundTripper { return t.next }

// cert is the certificate for a connection. Whoever makes one has asked for credentials before.
func (p *plugin) cert() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		return nil, nil
	}
	return p.held.cert, nil
}

// refused notes that the API server does not take c: the next request asks for others.
func (p *plugin) refused(c *credentials) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == c && time.Since(p.ended) > pluginAgain {
		p.held = nil
	}
}

// credentials returns what is held, or else what a run of the plugin prints, which all who ask meanwhile wait
// for together. It ends when nobody waits any longer.
func (p *plugin) credentials(ctx context.Context) (*credentials, error) {
	p.mu.Lock()
	now := time.Now()
	switch {
	case p.held != nil && (p.held.expires.IsZero() || now.Before(p.held.expires)):
		defer p.mu.Unlock()
		return p.held, nil
	case p.run == nil && p.failed != nil && now.Sub(p.ended) < pluginAgain:
		defer p.mu.Unlock()
		return nil, p.failed
	case p.run == nil:
		running, stop := context.WithCancel(context.Background())
		p.run = &pluginRun{began: now, stop: stop, done: make(chan struct{})}
		go p.carryOut(running, p.run)
	}
	run := p.run
	run.waiting++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if run.waiting--; run.waiting == 0 {
			run.stop()
		}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-run.done:
		return run.made, run.err
	}
}

// carryOut runs the plugin and keeps what it comes to.
func (p *plugin) carryOut(ctx context.Context, run *pluginRun) {
	made, err := p.execute(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	run.made, run.err = made, err
	p.run, p.ended, p.failed = nil, time.Now(), err
	if ctx.Err() != nil {
		p.failed = nil // nobody wanted to know
	}
	if err == nil {
		if p.held != nil && !reflect.DeepEqual(p.held.cert, made.cert) {
			p.dialer.CloseAll() // connections are as their certificates said
		}
		p.held = made
	}
	run.stop()
	close(run.done)
}

// execute runs the program once.
func (p *plugin) execute(ctx context.Context) (*credentials, error) {
	interactive, err := p.interactive()
	if err != nil {
		return nil, err
	}
	asked := &clientauthentication.ExecCredential{Spec: clientauthentication.ExecCredentialSpec{Interactive: interactive, Cluster: p.cluster}}
	info, err := runtime.Encode(p.codecs.LegacyCodec(p.version), asked)
	if err != nil {
		return nil, fmt.Errorf("what %s is asked can't be written: %w", p.name, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, p.config.Command, p.config.Args...)
	cmd.WaitDelay = time.Second // what it has started may hold on to its output
	cmd.Env = os.Environ()
	for _, e := range p.config.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+string(info))
	printed := &boundedOutput{over: stop}
	said := &spokenLines{say: p.say, atOnce: interactive}
	cmd.Stdout, cmd.Stderr = printed, said
	if interactive {
		cmd.Stdin = os.Stdin
	}
	err = cmd.Run()
	said.end()
	var exit *exec.ExitError
	var missing *exec.Error
	switch {
	case printed.tooMuch:
		return nil, fmt.Errorf("%s printed more than %d KiB, and was ended", p.name, maxPluginOutput>>10)
	case errors.As(err, &missing):
		return nil, fmt.Errorf("%s can't be run: %w%s", p.name, missing.Err, p.hint())
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%s: %s", p.name, exit.ProcessState)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return p.read(printed.text.Bytes())
}

// hint is what the kubeconfig says of how the program is installed, as the end of a sentence. Empty if it says
// nothing.
func (p *plugin) hint() string {
	words := strings.Join(strings.Fields(p.config.InstallHint), " ")
	if words == "" {
		return ""
	}
	return fmt.Sprintf(" (%.*s)", maxPluginLine, sources.Sanitize(words))
}

// interactive reports whether the plugin may ask the person at the terminal, by what the kubeconfig says.
func (p *plugin) interactive() (bool, error) {
	p.mu.Lock()
	may := p.terminal && !p.config.StdinUnavailable && term.IsTerminal(int(os.Stdin.Fd()))
	p.mu.Unlock()
	switch p.config.InteractiveMode {
	case clientcmdapi.NeverExecInteractiveMode:
		return false, nil
	case clientcmdapi.AlwaysExecInteractiveMode:
		if !may {
			return false, fmt.Errorf("%s wants to ask at a terminal, which it may before a cluster is watched: log in and begin again", p.name)
		}
		return true, nil
	case clientcmdapi.IfAvailableExecInteractiveMode:
		return may, nil
	}
	return false, fmt.Errorf("%s has the interactiveMode %q, which schedq does not know", p.name, sources.Sanitize(string(p.config.InteractiveMode)))
}

// read reads what the program printed.
func (p *plugin) read(text []byte) (*credentials, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s printed nothing", p.name)
	}
	got := &clientauthentication.ExecCredential{}
	_, kind, err := p.codecs.UniversalDecoder(p.version).Decode(text, nil, got)
	switch {
	case err != nil:
		return nil, fmt.Errorf("what %s printed can't be read: %.200s", p.name, sources.Sanitize(err.Error()))
	case kind.Group != p.version.Group || kind.Version != p.version.Version:
		return nil, fmt.Errorf("%s printed %s, and the kubeconfig says %s", p.name, sources.Sanitize(kind.GroupVersion().String()), p.version)
	case got.Status == nil || got.Status.Token == "" && got.Status.ClientCertificateData == "" && got.Status.ClientKeyData == "":
		return nil, fmt.Errorf("%s printed neither a token nor a certificate", p.name)
	case (got.Status.ClientCertificateData == "") != (got.Status.ClientKeyData == ""):
		return nil, fmt.Errorf("%s printed only one of certificate and key", p.name)
	}
	made := &credentials{token: got.Status.Token}
	if t := got.Status.ExpirationTimestamp; t != nil {
		made.expires = t.Time
	}
	if got.Status.ClientKeyData == "" {
		return made, nil
	}
	cert, err := tls.X509KeyPair([]byte(got.Status.ClientCertificateData), []byte(got.Status.ClientKeyData))
	if err == nil {
		cert.Leaf, err = x509.ParseCertificate(cert.Certificate[0])
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate of %s can't be read: %w", p.name, err)
	}
	made.cert = &cert
	return made, nil
}

// waits says that the plugin is waited for, if it has been for long.
func (p *plugin) waits(now time.Time) sources.SafeText {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil || now.Sub(p.run.began) < waitedFor {
		return ""
	}
	return "waiting for the credential plugin " + p.name + " of the kubeconfig"
}

// login gets the first credentials, for as long as that takes. Until then the plugin may read from the terminal.
func (p *plugin) login(ctx context.Context, say func(sentence string)) error {
	p.mu.Lock()
	p.terminal = true
	p.mu.Unlock()
	long := time.AfterFunc(waitedFor, func() {
		say("waiting for the credential plugin " + string(p.name) + " of the kubeconfig; ctrl+c ends it")
	})
	defer long.Stop()
	_, err := p.credentials(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.terminal = false
	return err
}

// boundedOutput keeps what is written, up to maxPluginOutput, and calls over at the first byte too many.
type boundedOutput struct {
	text    bytes.Buffer
	tooMuch bool
	over    func()
}

func (b *boundedOutput) Write(text []byte) (int, error) {
	if b.text.Len()+len(text) > maxPluginOutput {
		b.tooMuch = true
		b.over()
		return 0, io.ErrShortWrite
	}
	return b.text.Write(text)
}

// spokenLines says what is written line by line, made safe, up to maxPluginLines. With atOnce, a line is said
// before it has ended: it may be a question.
type spokenLines struct {
	say    func(sources.SafeText)
	atOnce bool
	line   []byte
	said   int
}

func (l *spokenLines) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.line = append(l.line, line[:min(len(line), maxPluginLine-min(len(l.line), maxPluginLine))]...)
		if whole || l.atOnce {
			l.end()
		}
		rest = after
	}
	return len(text), nil
}

// end says what is left.
func (l *spokenLines) end() {
	line := bytes.TrimSpace(l.line)
	l.line = l.line[:0]
	if len(line) == 0 || l.said > maxPluginLines {
		return
	}
	if l.said++; l.said > maxPluginLines {
		l.say("(and more, which is not shown)")
		return
	}
	l.say(sources.Sanitize(string(line)))
}
