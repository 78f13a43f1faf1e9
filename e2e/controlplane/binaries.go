package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// program is a Go main package of the control plane, built from the module proxy.
type program struct {
	name, pkg, module string
	// dir is the directory of the go.mod that requires it, relative to the nested module.
	dir string
	// made reports whether that go.mod is generated. Its go.sum may then be incomplete.
	made bool
}

var (
	etcd              = program{"etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", ".", false}
	apiserver         = program{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes", ".", false}
	controllerManager = program{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", "k8s.io/kubernetes", ".", false}
	scheduler         = program{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "k8s.io/kubernetes", ".", false}
	kwok              = program{"kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok", "kwok", false}
)

// Binaries are the built programs of a control plane, and kwok's stages.
type Binaries struct {
	root   string // the folder of the nested module
	paths  map[program]string
	stages []string // files
	logf   func(format string, args ...any)
}

// Build builds the programs that are missing in root/bin, where root is the nested module. The first time
// takes ten minutes or more on two cores. logf, which may be nil, reports progress.
func Build(ctx context.Context, root string, logf func(format string, args ...any)) (*Binaries, error) {
	if logf == nil {
		logf = func(string, ...any) {}
	}
	b := &Binaries{root: root, paths: map[program]string{}, logf: logf}
	for _, p := range []program{etcd, scheduler, apiserver, controllerManager, kwok} {
		version, err := goTool(ctx, filepath.Join(root, p.dir), "list", "-m", "-f", "{{.Version}}", p.module)
		if err != nil {
			return nil, err
		}
		if err := b.add(ctx, p, version); err != nil {
			return nil, err
		}
	}
	dir, err := goTool(ctx, filepath.Join(root, kwok.dir), "list", "-m", "-f", "{{.Dir}}", kwok.module)
	if err != nil {
		return nil, err
	}
	for _, stage := range []string{"node/fast/node-initialize.yaml", "pod/fast/pod-ready.yaml", "pod/general/pod-complete.yaml", "pod/fast/pod-delete.yaml"} {
		b.stages = append(b.stages, filepath.Join(dir, "kustomize", "stage", stage))
	}
	return b, nil
}

// add builds p at a version if it is missing.
func (b *Binaries) add(ctx context.Context, p program, version string) error {
	path := filepath.Join(b.root, "bin", version, p.name) // the file name becomes the user agent
	b.paths[p] = path
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	b.logf("building %s %s", p.name, version)
	start := time.Now()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := p.build(ctx, b.root, path, version); err != nil {
		return err
	}
	b.logf("built %s %s in %v", p.name, version, time.Since(start).Round(time.Second))
	return nil
}

// build builds p. It creates the module of a program that has made set.
func (p program) build(ctx context.Context, root, path, version string) error {
	if p.made {
		if err := writeModule(ctx, filepath.Join(root, p.dir), version); err != nil {
			return fmt.Errorf("create a module for %s %s: %w", p.name, version, err)
		}
	}
	return p.compile(ctx, root, path, version)
}

// compile builds p with the Makefile's flags, so that schedq and kube-scheduler share compiled packages.
// Without the version flag, Kubernetes programs report v0.0.0-master.
func (p program) compile(ctx context.Context, root, path, version string) error {
	out, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	ldflags := "-w"
	if p.module == "k8s.io/kubernetes" {
		numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
		for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
			ldflags += fmt.Sprintf(" -X %s.gitVersion=%s -X %s.gitMajor=%s -X %s.gitMinor=%s", pkg, version, pkg, numbers[0], pkg, numbers[1])
		}
	}
	// An interrupted build must not leave an incomplete program.
	part := out + ".part"
	flags := []string{"build", "-gcflags=all=-dwarf=false", "-o", part}
	if p.made {
		flags, ldflags = append(flags, "-mod=mod", "-trimpath"), ldflags+" -s"
	}
	if _, err := goTool(ctx, filepath.Join(root, p.dir), append(flags, "-ldflags="+ldflags, p.pkg)...); err != nil {
		return err
	}
	return os.Rename(part, out)
}

// goTool runs the go command in dir and returns its output.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
