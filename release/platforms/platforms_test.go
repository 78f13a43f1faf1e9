// Package platforms tests that the program compiles on every released platform.
package platforms

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// targets are the platforms of .goreleaser.yaml.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// TestPlatforms type-checks every package and test for each platform. Compiling kube-scheduler for all of them
// would take 7 minutes of CPU time; type-checking takes one.
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
				t.Errorf("only %d packages", len(loaded))
			}
		})
	}
}
