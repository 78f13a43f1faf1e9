// Package controlplane runs a real Kubernetes control plane as processes on loopback: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, and kwok, which simulates the nodes.
package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// How long a component may take to become ready on a slow machine, and to exit.
const (
	readyWithin = 90 * time.Second
	endsWithin  = 15 * time.Second
)

// Options configure a control plane.
type Options struct {
	// Release is kube-scheduler's release, such as v1.33.0, built by AddScheduler. Default: that of the
	// other components.
	Release string
	// FeatureGates is the value of kube-scheduler's flag --feature-gates.
	FeatureGates string
	// SchedulerFlags are additional flags of kube-scheduler, which take precedence.
	SchedulerFlags []string
	// Users are additional users with all rights.
	Users []string
	// Bare starts only etcd and the API server, without an audit log.
	Bare bool
}

// ControlPlane is a running control plane. Its methods must not be called concurrently.
type ControlPlane struct {
	binaries   *Binaries
	dir        string
	apiAddress string // host:port
	etcdURL    string
	opts       Options
	scheduler  program
	other      string   // path of another scheduler, or empty
	flags      []string // additional flags of the scheduler
	processes  map[program]*process
}

// Start starts a control plane with its files in dir, and waits until it is ready.
func Start(ctx context.Context, b *Binaries, dir string, opts Options) (_ *ControlPlane, err error) {
	c := &ControlPlane{binaries: b, dir: dir, opts: opts, scheduler: schedulerOf(opts.Release), flags: opts.SchedulerFlags, processes: map[program]*process{}}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	if err := c.writeFiles(); err != nil {
		return nil, err
	}
	parts := []func(context.Context) error{c.startEtcd, c.StartAPIServer}
	if !opts.Bare {
		parts = append(parts, c.startControllerManager, c.startKwok, c.startScheduler)
	}
	for _, start := range parts {
		if err := start(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Stop stops all components, the last started first, and waits for them.
func (c *ControlPlane) Stop() {
	for _, p := range []program{c.second(), c.scheduler, kwok, controllerManager, apiserver, etcd} {
		c.end(p, 0)
	}
}

func (c *ControlPlane) end(p program, grace time.Duration) {
	if running := c.processes[p]; running != nil {
		running.stop(grace)
		delete(c.processes, p)
	}
}

// StopAPIServer stops the API server and waits for it, which takes some seconds.
func (c *ControlPlane) StopAPIServer() { c.end(apiserver, endsWithin) }

// KillAPIServer kills the API server.
func (c *ControlPlane) KillAPIServer() { c.end(apiserver, 0) }

// Check returns an error if a component has exited unexpectedly.
func (c *ControlPlane) Check() error {
	for p, running := range c.processes {
		select {
		case <-running.exited:
			return fmt.Errorf("%s has exited: %s\n%s", p.name, running.cmd.ProcessState, tail(running.log))
		default:
		}
	}
	return nil
}

// RestartScheduler stops the scheduler if it is running, and starts a new one, which becomes leader when
// the lease of the old one has expired.
func (c *ControlPlane) RestartScheduler(ctx context.Context) error {
	c.end(c.scheduler, endsWithin)
	return c.startScheduler(ctx)
}

// RunScheduler is RestartScheduler with the kube-scheduler at path, by default the control plane's, and
// additional flags, which take precedence. It works on a Bare control plane, too.
func (c *ControlPlane) RunScheduler(ctx context.Context, path string, flags ...string) error {
	c.other, c.flags = path, flags
	return c.RestartScheduler(ctx)
}

// RunSecondScheduler starts another process of the scheduler, which does not wait until it is the leader.
func (c *ControlPlane) RunSecondScheduler(ctx context.Context) error {
	c.binaries.paths[c.second()] = c.binaries.paths[c.scheduler]
	return c.startSchedulerAs(ctx, c.second(), "--leader-elect=false")
}

// second returns the program of RunSecondScheduler.
func (c *ControlPlane) second() program {
	p := c.scheduler
	p.name = "second-" + p.name
	return p
}

// StopScheduler stops the scheduler and waits for it.
func (c *ControlPlane) StopScheduler() { c.end(c.scheduler, endsWithin) }

// SchedulerPID returns the process id of the scheduler, or 0 if none is running.
func (c *ControlPlane) SchedulerPID() int {
	if running := c.processes[c.scheduler]; running != nil {
		return running.cmd.Process.Pid
	}
	return 0
}

// APIAddress returns the API server's host:port, which does not change on a restart.
func (c *ControlPlane) APIAddress() string { return c.apiAddress }

// EtcdURL returns etcd's client URL.
func (c *ControlPlane) EtcdURL() string { return c.etcdURL }

// SchedulerLog returns the file of kube-scheduler's log, at -v=6.
func (c *ControlPlane) SchedulerLog() string { return filepath.Join(c.dir, "kube-scheduler.log") }

// AuditLog returns the file of the API server's audit log.
func (c *ControlPlane) AuditLog() string { return filepath.Join(c.dir, "audit.log") }

// Config returns a client configuration for user, without client-side rate limits.
func (c *ControlPlane) Config(user string) (*rest.Config, error) {
	path, err := c.Kubeconfig(user, "")
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = "e2e"
	return config, nil
}

// Client returns a client for user.
func (c *ControlPlane) Client(user string) (kubernetes.Interface, error) {
	config, err := c.Config(user)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// writeFiles writes the API server's files.
func (c *ControlPlane) writeFiles() error {
	if err := os.WriteFile(filepath.Join(c.dir, "audit-policy.yaml"), auditPolicy, 0o600); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := os.WriteFile(filepath.Join(c.dir, "service-account.key"), pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	return writeTokens(filepath.Join(c.dir, "tokens.csv"), c.opts.Users)
}

// run starts p, which logs to a file in dir, and waits until it is ready.
func (c *ControlPlane) run(ctx context.Context, p program, ready func(context.Context) error, args ...string) error {
	path := c.binaries.paths[p]
	if p == c.scheduler && c.other != "" {
		path = c.other
	}
	started, err := start(p.name, path, filepath.Join(c.dir, p.name+".log"), args...)
	if err != nil {
		return err
	}
	c.processes[p] = started
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("not within %v", readyWithin))
	defer cancel()
	return started.waitReady(ctx, ready)
}

func (c *ControlPlane) startEtcd(ctx context.Context) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	c.etcdURL = "http://" + ports[0]
	peers := "http://" + ports[1]
	return c.run(ctx, etcd, healthy(c.etcdURL+"/health"),
		"--data-dir="+filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers,
		"--quota-backend-bytes=4294967296")
}

// StartAPIServer starts the API server and waits until it is ready and the namespace "default" exists.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if c.apiAddress == "" {
		ports, err := freePorts(1)
		if err != nil {
			return err
		}
		c.apiAddress = ports[0]
	}
	host, port, err := net.SplitHostPort(c.apiAddress)
	if err != nil {
		return err
	}
	key := filepath.Join(c.dir, "service-account.key")
	args := []string{
		"--etcd-servers=" + c.etcdURL, "--bind-address=" + host, "--secure-port=" + port,
		"--cert-dir=" + filepath.Join(c.dir, "certs"), "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
		"--token-auth-file=" + filepath.Join(c.dir, "tokens.csv"), "--authorization-mode=RBAC",
		"--service-account-issuer=https://e2e", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
	}
	// Without ServiceAccount admission, pods need no ServiceAccount, which a controller would create.
	disabled := "ServiceAccount"
	if c.opts.Bare {
		disabled += ",TaintNodesByCondition" // no controller would remove the taint
	} else {
		args = append(args, "--audit-policy-file="+filepath.Join(c.dir, "audit-policy.yaml"),
			"--audit-log-path="+c.AuditLog(), "--audit-log-maxsize=4096")
	}
	args = append(args, "--disable-admission-plugins="+disabled)
	return c.run(ctx, apiserver, func(ctx context.Context) error {
		client, err := c.Client(Admin) // the certificate may not have existed before
		if err != nil {
			return err
		}
		if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
			return err
		}
		_, err = client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err
	}, args...)
}

func (c *ControlPlane) startControllerManager(ctx context.Context) error {
	kubeconfig, err := c.Kubeconfig(controllerUser, "")
	if err != nil {
		return err
	}
	return c.runSecure(ctx, controllerManager, kubeconfig,
		"--kubeconfig="+kubeconfig, "--leader-elect=false",
		"--service-account-private-key-file="+filepath.Join(c.dir, "service-account.key"),
		// These would delete nodes without a kubelet, and their pods.
		"--controllers=*,-node-lifecycle-controller,-taint-eviction-controller")
}

func (c *ControlPlane) startScheduler(ctx context.Context) error {
	return c.startSchedulerAs(ctx, c.scheduler, c.flags...)
}

func (c *ControlPlane) startSchedulerAs(ctx context.Context, p program, flags ...string) error {
	kubeconfig, err := c.Kubeconfig(SchedulerUser, "")
	if err != nil {
		return err
	}
	delegate, err := c.Kubeconfig(Admin, "")
	if err != nil {
		return err
	}
	args := []string{"--kubeconfig=" + kubeconfig, "-v=6"}
	if c.opts.FeatureGates != "" {
		args = append(args, "--feature-gates="+c.opts.FeatureGates)
	}
	return c.runSecure(ctx, p, delegate, append(args, flags...)...)
}

// runSecure starts a program with a secure port that delegates authentication and authorization to the
// API server with the kubeconfig delegate.
func (c *ControlPlane) runSecure(ctx context.Context, p program, delegate string, args ...string) error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(ports[0])
	if err != nil {
		return err
	}
	return c.run(ctx, p, healthy("https://"+ports[0]+"/healthz"), append(args,
		"--bind-address="+host, "--secure-port="+port, "--cert-dir="+filepath.Join(c.dir, p.name+"-certs"),
		"--authentication-kubeconfig="+delegate, "--authorization-kubeconfig="+delegate)...)
}

func (c *ControlPlane) startKwok(ctx context.Context) error {
	kubeconfig, err := c.Kubeconfig(kwokUser, "")
	if err != nil {
		return err
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	args := []string{"--kubeconfig=" + kubeconfig, "--manage-all-nodes=true", "--server-address=" + ports[0]}
	for _, stage := range c.binaries.stages {
		args = append(args, "--config="+stage)
	}
	return c.run(ctx, kwok, healthy("http://"+ports[0]+"/healthz"), args...)
}

// freePorts returns n free addresses on loopback.
func freePorts(n int) ([]string, error) {
	var addresses []string
	var errs []error
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		defer l.Close() // not earlier, or a port could be returned twice
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, errors.Join(errs...)
}

// healthy returns a check that url responds with 200.
func healthy(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		config := &rest.Config{Host: url}
		if strings.HasPrefix(url, "https://") {
			config.Insecure = true // self-signed
		}
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		response, err := client.Get(url)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != 200 {
			return fmt.Errorf("%s responds with %s", url, response.Status)
		}
		return nil
	}
}
