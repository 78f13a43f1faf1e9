package archives

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestGoInstall: go install builds the committed program from a module proxy, which is a folder, and its
// dependencies from the usual one. go install rejects a go.mod with replace directives.
func TestGoInstall(t *testing.T) {
	if os.Getenv("SCHEDQ_TOOLS") == "" {
		t.Skip("SCHEDQ_TOOLS is not set: use make release-check")
	}
	project := filepath.Join(t.TempDir(), "project") // a clone, since .git may be a file here
	run(t, "../..", nil, "git", "clone", "-q", ".", project)
	// go's caches assume that a version never changes: name it after the commit.
	commit := strings.TrimSpace(run(t, project, nil, "git", "rev-parse", "HEAD"))
	m := module.Version{Path: "github.com/schedq/schedq", Version: "v0.0.1-h" + commit}
	var archive bytes.Buffer
	if err := zip.CreateFromVCS(&archive, m, project, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	proxy, cache, bin := t.TempDir(), strings.TrimSpace(run(t, project, nil, "go", "env", "GOMODCACHE")), t.TempDir()
	versions := filepath.Join(proxy, m.Path, "@v")
	if err := os.MkdirAll(versions, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":              m.Version + "\n",
		m.Version + ".info": `{"Version":"` + m.Version + `","Time":"2026-01-01T00:00:00Z"}`,
		m.Version + ".mod":  run(t, project, nil, "git", "show", "HEAD:go.mod"),
		m.Version + ".zip":  archive.String(),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // clean up the module cache
		os.RemoveAll(filepath.Join(cache, m.Path+"@"+m.Version))
		kept, _ := filepath.Glob(filepath.Join(cache, "cache", "download", m.Path, "@v", m.Version+"*"))
		for _, file := range kept {
			os.Remove(file)
		}
	})
	usual := strings.TrimSpace(run(t, project, nil, "go", "env", "GOPROXY"))
	// GOSUMDB does not know an unpublished version.
	run(t, bin, []string{"GOPROXY=file://" + proxy + "," + usual, "GOSUMDB=off", "GOFLAGS=-modcacherw", "CGO_ENABLED=0", "GOBIN=" + bin},
		"go", "install", m.Path+"/cmd/schedq@"+m.Version)
	if out := run(t, bin, nil, filepath.Join(bin, "schedq"), "version"); !strings.Contains(out, m.Version) {
		t.Errorf("schedq version: %s", out)
	}
}
