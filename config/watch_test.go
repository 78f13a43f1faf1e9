package config_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/tui/theme"
)

// TestWatch: a change is read once the file settles, an error has its line and does not end the
// watch, and removing the file counts as a change.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedq", "config.yaml")
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(filepath.Dir(path)))
	t.Setenv(config.FileVariable, "")
	write := func(text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("theme: dark\n")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := config.NewWatch()
		type read struct {
			config *config.Config
			err    error
		}
		reads := make(chan read)
		go func() {
			defer close(reads)
			for {
				c, err := w.Next(ctx)
				if ctx.Err() != nil {
					return
				}
				reads <- read{c, err}
			}
		}()
		unread := func(when string) {
			t.Helper()
			synctest.Wait()
			select {
			case <-reads:
				t.Errorf("the file is read %s", when)
			default:
			}
		}
		time.Sleep(time.Minute + time.Second/2)
		unread("without a change")
		write("") // as an editor does before it writes
		time.Sleep(time.Second)
		unread("while an editor writes it")
		write("theme: light\n")
		if r := <-reads; r.err != nil || r.config.Theme != theme.Light {
			t.Errorf("after a change: %v, %v", r.config, r.err)
		}
		write("mouse: true\ntheme: loud\n")
		if r := <-reads; r.err == nil || !strings.Contains(r.err.Error(), "config.yaml, line 2: ") {
			t.Errorf("with an invalid setting: %v", r.err)
		}
		time.Sleep(time.Minute)
		unread("twice")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if r := <-reads; r.err != nil || r.config.Theme != theme.Auto {
			t.Errorf("without a file: %v, %v", r.config, r.err)
		}
		cancel()
		<-reads
	})
}
