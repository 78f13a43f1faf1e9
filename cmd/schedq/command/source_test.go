package command

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestArgumentsOf: the key of a source leads back to the arguments that open it.
func TestArgumentsOf(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "audit.log"), filepath.Join(dir, "recording x")}
	for source, want := range map[string][]string{
		sourceOfFiles(files):          files,
		sourceOfFiles([]string{"-"}):  nil,
		sourceOfRecording("workshop"): {"--recording", "workshop"},
		sourceOfCluster("prod"):       nil,
	} {
		if got := argumentsOf(source); !slices.Equal(got, want) {
			t.Errorf("%q leads to %q, want %q", source, got, want)
		}
	}
}
