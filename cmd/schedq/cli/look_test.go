package cli

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/tui/theme"
)

// TestFlagsComeFirst: what a flag says stays when the configuration is read again, and the rest is the file's.
func TestFlagsComeFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	t.Setenv(config.FileVariable, path)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("theme: dark\n")
	synctest.Test(t, func(t *testing.T) {
		var look Look
		cmd := &cobra.Command{Use: "play"}
		cmd.SetContext(t.Context())
		look.Register(cmd)
		if err := cmd.ParseFlags([]string{"--theme", "none"}); err != nil {
			t.Fatal(err)
		}
		if err := look.Check(); err != nil {
			t.Fatal(err)
		}
		next := look.Options(nil).NextConfig
		go func() {
			time.Sleep(time.Minute)
			write("theme: light\nprojector: true\n")
		}()
		o, err := next(t.Context())
		if err != nil || o.Theme != theme.None || !o.Projector {
			t.Errorf("theme %q, projector %t, %v; want none, true", o.Theme, o.Projector, err)
		}
	})
}
