package controlplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// insertion adds code to a file of k8s.io/kubernetes.
type insertion struct {
	file string
	// after has the line before the code as it is in different releases. One of them must occur, and once.
	after []string
	code  string
}

// faults make kube-scheduler lose pods, skip the events that should wake them and miss updates of nodes. They affect
// only pods and nodes with the label "fault". The plugins of faulty-scheduler make more faults.
var faults = []insertion{
	// kubernetes#139186: a pod that returns from a binding cycle can be popped before Done is called for it. Pop then
	// discards it. This makes the moment between both a second long, during which the queue continues.
	{"pkg/scheduler/backend/queue/scheduling_queue.go",
		[]string{"\t\t\tp.Done(pInfo.Pod.UID)\n\t\t}\n\t}()\n", "\tdefer p.Done(pInfo.Pod.UID)\n"},
		`
	if pInfo.Pod.Labels["fault"] == "lost" {
		defer func() {
			p.lock.Unlock()
			time.Sleep(time.Second)
			p.lock.Lock()
		}()
	}
`},
	// A queueing hint that skips all events.
	{"pkg/scheduler/backend/queue/scheduling_queue.go",
		[]string{"\thintMap, ok := p.queueingHintMap[pInfo.Pod.Spec.SchedulerName]\n"},
		`
	if pInfo.Pod.Labels["fault"] == "hint" {
		return queueSkip
	}
`},
	// A cache that misses the updates of a node.
	{"pkg/scheduler/eventhandlers.go",
		[]string{"\tlogger.V(4).Info(\"Update event for node\", \"node\", klog.KObj(newNode))\n"},
		`
	if newNode.Labels["fault"] == "stale" {
		for _, event := range framework.NodeSchedulingPropertiesChange(newNode, oldNode) {
			sched.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, event, oldNode, newNode, nil)
		}
		return
	}
`},
}

// FaultyScheduler builds faulty-scheduler with the faults, and returns its path. The first time takes some minutes.
// release must have the plugin API of k8s.io/kube-scheduler/framework, which v1.34 introduced; empty means that of this
// module.
func (b *Binaries) FaultyScheduler(ctx context.Context, release string) (string, error) {
	main, err := os.ReadFile(filepath.Join(b.root, "faulty-scheduler", "main.go"))
	if err != nil {
		return "", err
	}
	p := scheduler
	version := release
	if version == "" {
		if version, err = goTool(ctx, b.root, "list", "-m", "-f", "{{.Version}}", p.module); err != nil {
			return "", err
		}
	}
	// The name of the directory changes with the sources.
	sum := sha256.Sum256(fmt.Append(main, faults))
	dir := filepath.Join("bin", fmt.Sprintf("faulty-%s-%x", version, sum[:4]))
	path, err := filepath.Abs(filepath.Join(b.root, dir, p.name))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	start := time.Now()
	b.logf("building %s %s with faults", p.name, version)
	p.pkg, p.dir, p.made = ".", filepath.Join(dir, "module"), release != ""
	module := filepath.Join(b.root, p.dir)
	if err := writeFaultyModule(ctx, b.root, module, release, version); err != nil {
		return "", fmt.Errorf("create a module for %s %s with faults: %w", p.name, version, err)
	}
	if err := os.WriteFile(filepath.Join(module, "main.go"), main, 0o600); err != nil {
		return "", err
	}
	if err := p.compile(ctx, b.root, path, version); err != nil {
		return "", err
	}
	b.logf("built %s %s with faults in %v", p.name, version, time.Since(start).Round(time.Second))
	return path, nil
}

// writeFaultyModule writes a Go module to dir, and kube-scheduler's packages of k8s.io/kubernetes with the faults to a directory
// in it. The go command's option -overlay does not replace files of the module cache.
func writeFaultyModule(ctx context.Context, root, dir, release, version string) error {
	const replacement = "kubernetes"
	if release != "" {
		if err := writeModule(ctx, dir, release); err != nil {
			return err
		}
	} else if err := copyModule(ctx, root, dir); err != nil {
		return err
	}
	const packages = `{{with .Module}}{{if eq .Path "k8s.io/kubernetes"}}{{.Dir}} {{$.Dir}}{{end}}{{end}}`
	listed, err := goTool(ctx, dir, "list", "-mod=mod", "-deps", "-f", packages, scheduler.pkg)
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for _, f := range faults {
		missing[f.file] = true
	}
	upstream := ""
	for line := range strings.Lines(listed) {
		module, pkg, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		upstream = module
		under, err := filepath.Rel(module, pkg)
		if err != nil {
			return err
		}
		if err := copyPackage(pkg, filepath.Join(dir, replacement), under, missing); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("kube-scheduler %s does not have these files: %v", version, slices.Sorted(maps.Keys(missing)))
	}
	if err := copyFile(filepath.Join(upstream, "go.mod"), filepath.Join(dir, replacement, "go.mod")); err != nil {
		return err
	}
	_, err = goTool(ctx, dir, "mod", "edit", "-replace="+scheduler.module+"=./"+replacement)
	return err
}

// copyModule writes go.mod and go.sum of the nested module at root, so that it shares compiled packages, to dir.
func copyModule(ctx context.Context, root, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	above, err := filepath.Abs(filepath.Join(root, ".."))
	if err != nil {
		return err
	}
	_, err = goTool(ctx, dir, "mod", "edit", "-module=scheduler", "-replace=github.com/schedq/schedq="+above)
	return err
}

// copyFile copies a file, and makes the copy writable.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// copyPackage copies the files of a package, without tests, from a directory to the same place under a root, and inserts the faults.
func copyPackage(from, root, under string, missing map[string]bool) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	to := filepath.Join(root, under)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		text, file := string(data), filepath.ToSlash(filepath.Join(under, e.Name()))
		for _, f := range faults {
			if f.file != file {
				continue
			}
			if text, err = f.insert(text); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			delete(missing, file)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// insert returns text with the code inserted.
func (f insertion) insert(text string) (string, error) {
	for _, line := range f.after {
		if strings.Count(text, line) == 1 {
			return strings.Replace(text, line, line+f.code, 1), nil
		}
	}
	return "", errors.New("the code before the insertion is not as expected: adapt package controlplane to this release")
}
