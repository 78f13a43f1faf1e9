package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/theme"
)

// lookFlags are the flags that say how the screen looks. What they leave open, the configuration file says.
type lookFlags struct {
	noColor, noMouse, projector bool
	theme                       string
	filter                      filterFlag
	// source is what the screen remembers how it was looked at by. Empty: it does not.
	source string

	cmd    *cobra.Command
	config *config.Config
}

func (f *lookFlags) register(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.theme, "theme", "", "colours: auto (by the terminal's background), dark, light, high-contrast, colour-blind or none")
	cmd.Flags().BoolVar(&f.noColor, "no-color", false, "draw without colours; NO_COLOR does the same")
	cmd.Flags().BoolVar(&f.projector, "projector", false, "draw for a room: large counts, bold text, the keys that are pressed")
	cmd.Flags().BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	f.filter.register(cmd, "show only pods")
	var themes []string
	for _, t := range theme.All() {
		themes = append(themes, string(t))
	}
	completes(cmd, "theme", themes...)
}

// given reports whether the person gave the flag.
func (f *lookFlags) given(flag string) bool { return f.cmd.Flags().Changed(flag) }

// check finds mistakes in the flags and in the configuration file, and takes from it what the flags leave open.
func (f *lookFlags) check() error {
	if _, err := theme.Parse(f.theme); err != nil {
		return usageError{err}
	}
	var err error
	if f.config, err = config.Load(f.cmd.Context()); err != nil {
		return err
	}
	if !f.given("theme") {
		f.theme = string(f.config.Theme)
	}
	if !f.given("projector") {
		f.projector = f.config.Projector
	}
	if !f.given("no-mouse") {
		f.noMouse = !f.config.Mouse
	}
	if !f.given("filter") {
		f.filter.filter = f.config.Filter
	}
	return nil
}

// session returns opts with what the flags say of it.
func (f *lookFlags) session(opts session.Options) session.Options {
	opts.Filter = f.filter.filter
	return opts
}

// options are the screen's, with the recordings to switch to.
func (f *lookFlags) options(recordings []tui.Recording) tui.Options {
	named, _ := theme.Parse(f.theme) // checked
	o := tui.Options{Recordings: recordings, NoColor: f.noColor, NoMouse: f.noMouse, Projector: f.projector, Theme: named, Keys: f.config.Bindings}
	if views, err := config.RememberedViews(f.cmd.Context()); err == nil && f.config.Remember {
		o.Memory, o.Source = views, f.source
	}
	return o
}

// sourceOfFiles is what files are remembered by: their paths. Standard input is not remembered.
func sourceOfFiles(paths []string) string {
	var all []string
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil || path == "-" {
			return ""
		}
		all = append(all, absolute)
	}
	return strings.Join(all, "\n")
}

// sourceOfRecording is what an embedded recording is remembered by.
func sourceOfRecording(name string) string { return "recording " + name }
