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

// plugin is the kubeconfig's credential plugin: a program that prints a token or a certificate, as defined by
// client.authentication.k8s.io. client-go also runs such programs, but does not sanitise or limit their output, and
// can't be cancelled. plugin is safe for concurrent use.
type plugin struct {
	config  *clientcmdapi.ExecConfig
	name    sources.SafeText
	codecs  serializer.CodecFactory
	version schema.GroupVersion
	cluster *clientauthentication.Cluster
	dialer  *connrotation.Dialer
	// say receives each line that the plugin writes to standard error, sanitised. Set before the first run.
	say func(line sources.SafeText)

	mu       sync.Mutex
	terminal bool // whether it may use the terminal
	held     *credentials
	run      *pluginRun // in progress, or nil
	ended    time.Time  // end of the last run
	failed   error      // why the last run failed
}

// credentials are the output of a plugin. expires is zero if they don't expire.
type credentials struct {
	token   string
	cert    *tls.Certificate
	expires time.Time
}

// pluginRun is one run of the program. It is cancelled when no caller waits for it.
type pluginRun struct {
	began   time.Time
	waiting int
	stop    context.CancelFunc
	done    chan struct{} // closed when made and err are set
	made    *credentials
	err     error
}

// Limits of a plugin's output. A token has some KiB, and messages have some lines.
const (
	maxPluginOutput = 1 << 20
	maxPluginLines  = 50  // of a run
	maxPluginLine   = 500 // bytes
)

// pluginAgain is the delay before a plugin runs again that failed or whose credentials were refused. Otherwise each
// of many requests would run it.
const pluginAgain = 5 * time.Second

// waitedFor is the time after which a notice reports that schedq waits for the plugin.
const waitedFor = 3 * time.Second

// newPlugin returns the plugin of config, which has one.
func newPlugin(config *rest.Config) (*plugin, error) {
	p := &plugin{config: config.ExecProvider, name: sources.Sanitize(filepath.Base(config.ExecProvider.Command)), say: func(sources.SafeText) {}}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	p.codecs = serializer.NewCodecFactory(scheme)
	version, err := schema.ParseGroupVersion(p.config.APIVersion)
	if err != nil || !scheme.IsVersionRegistered(version) || version.Version == runtime.APIVersionInternal {
		return nil, fmt.Errorf("the credential plugin %s of the kubeconfig has the unsupported apiVersion %q", p.name, sources.Sanitize(p.config.APIVersion))
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

// use adds the plugin's credentials to requests that use c. It returns false if c has others.
func (p *plugin) use(c *transport.Config) bool {
	if c.HasTokenAuth() || c.HasBasicAuth() || c.HasCertAuth() {
		return false
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return withCredentials{p, next} })
	c.TLS.GetCertHolder = &transport.GetCertHolder{GetCert: p.cert}
	c.DialHolder = &transport.DialHolder{Dial: p.dialer.DialContext}
	return true
}

// withCredentials adds the plugin's credentials to each request.
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

// cert returns the certificate for a connection. The request has obtained credentials before.
func (p *plugin) cert() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		return nil, nil
	}
	return p.held.cert, nil
}

// refused records that the API server refused c. The next request obtains new credentials.
func (p *plugin) refused(c *credentials) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == c && time.Since(p.ended) > pluginAgain {
		p.held = nil
	}
}

// credentials returns the current credentials, or runs the plugin. Concurrent callers share one run, which is
// cancelled when no caller waits for it.
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
		go p.runOnce(running, p.run)
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

// runOnce runs the plugin and stores the result.
func (p *plugin) runOnce(ctx context.Context, run *pluginRun) {
	made, err := p.execute(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	run.made, run.err = made, err
	p.run, p.ended, p.failed = nil, time.Now(), err
	if ctx.Err() != nil {
		p.failed = nil // cancelled
	}
	if err == nil {
		if p.held != nil && !reflect.DeepEqual(p.held.cert, made.cert) {
			p.dialer.CloseAll() // open connections use the old certificate
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
		return nil, fmt.Errorf("encode the request to %s: %w", p.name, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, p.config.Command, p.config.Args...)
	cmd.WaitDelay = time.Second // its child processes may keep the output open
	cmd.Env = os.Environ()
	for _, e := range p.config.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Env = append(cmd.Env, "KUBERNETES_EXEC_INFO="+string(info))
	printed := &boundedOutput{over: stop}
	said := &lineOutput{say: p.say, atOnce: interactive}
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

// hint returns the kubeconfig's install hint, as the end of a sentence, or "".
func (p *plugin) hint() string {
	words := strings.Join(strings.Fields(p.config.InstallHint), " ")
	if words == "" {
		return ""
	}
	return fmt.Sprintf(" (%.*s)", maxPluginLine, sources.Sanitize(words))
}

// interactive reports whether the kubeconfig lets the plugin use the terminal.
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
	return false, fmt.Errorf("%s has the unsupported interactiveMode %q", p.name, sources.Sanitize(string(p.config.InteractiveMode)))
}

// read parses the program's output.
func (p *plugin) read(text []byte) (*credentials, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s printed nothing", p.name)
	}
	got := &clientauthentication.ExecCredential{}
	_, kind, err := p.codecs.UniversalDecoder(p.version).Decode(text, nil, got)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the output of %s can't be parsed: %.200s", p.name, sources.Sanitize(err.Error()))
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

// waits returns a notice if the plugin takes long.
func (p *plugin) waits(now time.Time) sources.SafeText {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil || now.Sub(p.run.began) < waitedFor {
		return ""
	}
	return "waiting for the credential plugin " + p.name + " of the kubeconfig"
}

// login obtains the first credentials, without a time limit. Until it returns, the plugin may read from the terminal.
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

// boundedOutput stores up to maxPluginOutput bytes, and calls over beyond that.
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

// lineOutput passes on up to maxPluginLines lines, sanitised. With atOnce, it passes on an incomplete line too, which
// may be a prompt.
type lineOutput struct {
	say    func(sources.SafeText)
	atOnce bool
	line   []byte
	said   int
}

func (l *lineOutput) Write(text []byte) (int, error) {
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

// end passes on the rest.
func (l *lineOutput) end() {
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
