// Package archives tests the output of .goreleaser.yaml: archives, packages, and a manifest for krew.
package archives

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// tool returns the path of a tool of this module, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("SCHEDQ_TOOLS")
	if folder == "" {
		t.Skip("SCHEDQ_TOOLS is not set: use make release-check")
	}
	return filepath.Join(folder, name)
}

// run runs a program in folder and returns its output.
func run(t *testing.T, folder string, environment []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestInstall: krew validates its manifest and installs the plugin from it and the archive, without a network.
// The archives contain a small program instead of schedq, which would be compiled for six systems.
func TestInstall(t *testing.T) {
	goreleaser, validate, krew := tool(t, "goreleaser"), tool(t, "validate-krew-manifest"), tool(t, "krew")
	project := standIn(t)
	snapshot(t, goreleaser, project)
	dist := filepath.Join(project, "dist")
	manifest := filepath.Join(dist, "krew", "schedq.yaml")
	run(t, project, nil, validate, "-manifest", manifest, "-skip-install")

	root := filepath.Join(t.TempDir(), "krew")
	archives, err := filepath.Glob(filepath.Join(dist, "schedq_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("%q, %v", archives, err)
	}
	run(t, project, []string{"KREW_ROOT=" + root, "KREW_NO_UPGRADE_CHECK=1"}, krew, "install", "--manifest", manifest, "--archive", archives[0])
	if got := run(t, project, nil, filepath.Join(root, "bin", "kubectl-schedq")); got != "a stand-in\n" {
		t.Errorf("the plugin prints %q", got)
	}
	checkArchive(t, archives[0], "LICENSE", "README.md", "schedq", "man/schedq.1", "completions/schedq.bash")
	checkSums(t, dist)
}

// TestReproducible: the same commit gives the same bytes in another folder at another time, packages included.
func TestReproducible(t *testing.T) {
	goreleaser, project := tool(t, "goreleaser"), standIn(t)
	clone := filepath.Join(t.TempDir(), "elsewhere", "schedq")
	run(t, project, nil, "git", "clone", "-q", project, clone)
	run(t, clone, nil, "git", "remote", "set-url", "origin", remote)
	then := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"LICENSE", "README.md", "cmd/schedq/main.go"} {
		if err := os.Chtimes(filepath.Join(clone, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	checksums := map[string]string{}
	for _, folder := range []string{project, clone} {
		snapshot(t, goreleaser, folder)
		text, err := os.ReadFile(filepath.Join(folder, "dist", "checksums.txt"))
		if err != nil {
			t.Fatal(err)
		}
		checksums[folder] = string(text)
	}
	if checksums[project] != checksums[clone] {
		t.Errorf("checksums in %s:\n%sand in %s:\n%s", project, checksums[project], clone, checksums[clone])
	}
}

// snapshot builds a release of the folder without publishing it.
func snapshot(t *testing.T, goreleaser, folder string) {
	t.Helper()
	run(t, folder, nil, goreleaser, "release", "--snapshot", "--clean", "--skip=sign,sbom,docker,nix")
}

// remote is the URL of the repository. It is never contacted.
const remote = "https://git.example.com/schedq/schedq.git"

// standIn creates a repository with this project's .goreleaser.yaml and a small program.
func standIn(t *testing.T) string {
	t.Helper()
	project := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example.com/schedq\n\ngo 1.26\n",
		"cmd/schedq/main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"a stand-in\\n\") }\n",
		"Makefile": "manuals:\n\tmkdir -p bin/man bin/completions\n\techo .TH schedq > bin/man/schedq.1\n" +
			"\tfor s in bash zsh fish; do echo $$s > bin/completions/schedq.$$s; done\n",
		".gitignore": "/dist/\n/bin/\n",
		"LICENSE":    "a licence\n",
		"README.md":  "# A stand-in\n",
	} {
		write(t, filepath.Join(project, name), text)
	}
	config, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(project, ".goreleaser.yaml"), string(config))
	git := []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	run(t, project, git, "git", "init", "-q")
	run(t, project, git, "git", "add", "-A")
	run(t, project, git, "git", "commit", "-qm", "A stand-in")
	run(t, project, git, "git", "tag", "v0.1.0")
	run(t, project, nil, "git", "remote", "add", "origin", remote)
	return project
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkArchive checks that the archive contains the files.
func checkArchive(t *testing.T, archive string, files ...string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names[header.Name] = true
	}
	for _, name := range files {
		if !names[name] {
			t.Errorf("%s is not in the archive, which has %v", name, names)
		}
	}
}

// checkSums checks that every archive and package exists and matches checksums.txt.
func checkSums(t *testing.T, dist string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != sum {
			t.Errorf("%s does not match its checksum, %v", name, err)
		}
		for _, kind := range []string{".tar.gz", ".zip", ".deb", ".rpm", ".apk", ".pkg.tar.zst"} {
			if strings.HasSuffix(name, kind) {
				count[kind]++
			}
		}
	}
	if got, want := fmt.Sprint(count), "map[.apk:2 .deb:2 .pkg.tar.zst:2 .rpm:2 .tar.gz:4 .zip:2]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
