// Package platforms has a test that the program can be built for each system that it is released for.
package platforms

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// targets are the systems and architectures that .goreleaser.yaml builds for.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// TestPlatforms: every package of the program, and every test, passes the compiler's checks of types for each system. The
// types are read from the source, without what other packages' functions do: to compile kube-scheduler for each of them
// takes 7 minutes of processor time, this takes one.
func TestPlatforms(t *testing.T) {
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			system, architecture, _ := strings.Cut(target, "/")
			loaded, err := packages.Load(&packages.Config{
				Mode:  packages.LoadAllSyntax,
				Dir:   "../..",
				Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0", "GOWORK=off"),
				Tests: true,
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(loaded, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					t.Error(e)
				}
			})
			if len(loaded) < 50 {
				t.Errorf("only %d packages were found", len(loaded))
			}
		})
	}
}
