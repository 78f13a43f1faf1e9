package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// AddScheduler builds kube-scheduler of a release such as v1.33.0 for Options.Release, if it is missing.
// The first time takes some minutes.
func (b *Binaries) AddScheduler(ctx context.Context, release string) error {
	return b.add(ctx, schedulerOf(release), release)
}

// schedulerOf returns kube-scheduler of a release, or of this module if release is empty.
func schedulerOf(release string) program {
	p := scheduler
	if release != "" {
		p.dir, p.made = filepath.Join("bin", release, "module"), true
	}
	return p
}

// writeModule writes a Go module to dir that requires k8s.io/kubernetes of a release, with upstream's own
// go.mod and go.sum. Its staging modules, which are directories in upstream's repository, are replaced by
// the published ones, such as v0.33.0 for v1.33.0.
func writeModule(ctx context.Context, dir, release string) error {
	number, isV1 := strings.CutPrefix(release, "v1.")
	if !isV1 {
		return fmt.Errorf("invalid release %q: use one such as v1.33.0", release)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	downloaded, err := goTool(ctx, dir, "mod", "download", "-json", scheduler.module+"@"+release)
	if err != nil {
		return err
	}
	var source struct{ Dir string }
	if err := json.Unmarshal([]byte(downloaded), &source); err != nil {
		return err
	}
	upstream := filepath.Join(source.Dir, "go.mod")
	listed, err := goTool(ctx, dir, "mod", "edit", "-json", upstream)
	if err != nil {
		return err
	}
	var requires struct {
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(listed), &requires); err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-print", "-module=scheduler", "-require=" + scheduler.module + "@" + release}
	for _, r := range requires.Replace {
		if strings.HasPrefix(r.New.Path, "./staging/") {
			edit = append(edit, fmt.Sprintf("-replace=%s=%s@v0.%s", r.Old.Path, r.Old.Path, number))
		}
	}
	module, err := goTool(ctx, dir, append(edit, upstream)...)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(source.Dir, "go.sum"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600)
}
