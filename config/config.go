// Package config reads the user's configuration file and remembers the last view of each source.
package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/theme"
)

// FileVariable is the environment variable with the path of the configuration file. It overrides
// the file in XDG_CONFIG_HOME.
const FileVariable = "SCHEDQ_CONFIG"

// Config holds the settings of the configuration file. Settings missing from the file have the
// values of Default.
type Config struct {
	Theme     theme.Theme
	Themes    theme.Skins // the user's own
	Glyphs    theme.Glyphs
	Projector bool
	Mouse     bool
	Bell      bool
	// Notifications raises desktop notifications while the terminal has no focus: see tui.Options.
	Notifications bool
	// Zone is the time zone for times of day.
	Zone words.Zone
	// Speed is the playback speed in model seconds per second. Paused starts with playback paused.
	Speed  float64
	Paused bool
	// Filter is the initial filter for every source.
	Filter filter.Filter
	// Remember restores the last view of each source.
	Remember bool
	// Start selects the initial screen: see tui.Options. Views are the user's own.
	Start string
	Views []tui.NamedView
	// Commands are the user's own.
	Commands []tui.Command
	// Bindings are the bindings of keymap.Default with the user's keys.
	Bindings []keymap.Binding
}

// Default returns the configuration used without a file.
func Default() *Config {
	return &Config{Theme: theme.Auto, Glyphs: theme.GlyphsAuto, Mouse: true, Speed: 1, Remember: true, Start: tui.StartBoard, Bindings: keymap.Default()}
}

// File returns the path of the configuration file: $SCHEDQ_CONFIG, or schedq/config.yaml in
// $XDG_CONFIG_HOME, which defaults to ~/.config. The file need not exist.
func File() (string, error) {
	if path := os.Getenv(FileVariable); path != "" {
		return path, nil
	}
	dir, err := disk.ConfigFolder()
	if err != nil {
		return "", fmt.Errorf("neither XDG_CONFIG_HOME nor HOME is set: %w", err)
	}
	return filepath.Join(dir, "config.yaml"), nil
}

// maxFile limits the size of the configuration file.
const maxFile = 1 << 20

// Load reads the configuration file. It returns Default if the file does not exist. The error contains
// all mistakes with file and line, and that a file named by FileVariable does not exist; the
// configuration is usable nevertheless: see Parse. Load returns nil and the context's error if ctx ends
// first.
func Load(ctx context.Context) (*Config, error) {
	path, err := File()
	if err != nil {
		return Default(), nil // without a home directory there is no configuration
	}
	text, err := disk.Read(ctx, path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv(FileVariable) == "":
		return Default(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return Default(), fmt.Errorf("can't read the configuration: %w", err)
	}
	return Parse(string(sources.Sanitize(path)), text)
}
