package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/tui/theme"
)

// TestFlagsTakePrecedence: a flag still applies when the configuration file is reloaded.
func TestFlagsTakePrecedence(t *testing.T) {
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
		var display Display
		cmd := &cobra.Command{Use: "play"}
		cmd.SetContext(t.Context())
		display.Register(cmd)
		if err := cmd.ParseFlags([]string{"--theme", "none"}); err != nil {
			t.Fatal(err)
		}
		if err := display.Check(); err != nil {
			t.Fatal(err)
		}
		next := display.Options(nil).NextConfig
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

// TestMistakesInConfig: mistakes in the configuration file are a notice, and the screen opens.
func TestMistakesInConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	t.Setenv(config.FileVariable, path)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := os.WriteFile(path, []byte("theme: pink\nspeed: fast\nprojector: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var display Display
	cmd := &cobra.Command{Use: "play"}
	cmd.SetContext(t.Context())
	display.Register(cmd)
	if err := display.Check(); err != nil {
		t.Fatal(err)
	}
	o := display.Options(nil)
	if o.Theme != theme.Auto || !o.Projector || !strings.Contains(o.Notice, "2 mistakes (schedq config lists them), first ") || !strings.Contains(o.Notice, "config.yaml, line 1: unknown theme") {
		t.Errorf("theme %q, projector %t, notice %q", o.Theme, o.Projector, o.Notice)
	}
}
