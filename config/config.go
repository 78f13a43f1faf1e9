// Package config reads what a person has set for good: the configuration file, and how each source was looked
// at last.
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

// FileVariable names the configuration file, in place of the one in XDG_CONFIG_HOME.
const FileVariable = "SCHEDQ_CONFIG"

// Config is what the configuration file says. What it does not say is as Default has it.
type Config struct {
	Theme     theme.Theme
	Themes    theme.Skins // the person's own
	Glyphs    theme.Glyphs
	Projector bool
	Mouse     bool
	Bell      bool
	// Zone is the time zone in which times of day are told.
	Zone words.Zone
	// Speed is the speed of playing, in model seconds a second. Paused begins with time standing still.
	Speed  float64
	Paused bool
	// Filter is the one that every source is seen through at first.
	Filter filter.Filter
	// Remember has each source be looked at as it was the last time.
	Remember bool
	// Start is what the screen begins with: see tui.Options. Views are the person's own.
	Start string
	Views []tui.NamedView
	// Commands are the person's own.
	Commands []tui.Command
	// Bindings are those of keymap.Default with the person's own keys.
	Bindings []keymap.Binding
}

// Default returns what holds without a file.
func Default() *Config {
	return &Config{Theme: theme.Auto, Glyphs: theme.GlyphsAuto, Mouse: true, Speed: 1, Remember: true, Start: tui.StartBoard, Bindings: keymap.Default()}
}

// File returns the path of the configuration file: $SCHEDQ_CONFIG, or config.yaml in $XDG_CONFIG_HOME/schedq,
// which is ~/.config/schedq if that is not set. Whether it is there is another question.
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

// maxFile bounds the configuration file.
const maxFile = 1 << 20

// Load reads the configuration file. Without one it returns Default; but one that FileVariable names must be
// there. An error says file and line; it is the context's if that ends while the file is waited for.
func Load(ctx context.Context) (*Config, error) {
	path, err := File()
	if err != nil {
		return Default(), nil // who has no home has no configuration
	}
	text, err := disk.Read(ctx, path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv(FileVariable) == "":
		return Default(), nil
	case err != nil:
		return nil, fmt.Errorf("the configuration can't be read: %w", err)
	}
	return Parse(string(sources.Sanitize(path)), text)
}
