package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/theme"
)

// Look are the flags that say how the screen looks. What they leave open, the configuration file says. They are used in
// this order: Register, Check, and then Session and Options.
type Look struct {
	noColor, noMouse, projector bool
	theme, glyphs, zone         string
	cmd                         *cobra.Command

	// Filter selects the pods that are shown.
	Filter Filter
	// Source is what the screen remembers how it was looked at by. Empty: it does not.
	Source string
	// Config is the configuration file, as Check read it.
	Config *config.Config
	watch  *config.Watch
}

// Register adds the flags to cmd.
func (f *Look) Register(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.theme, "theme", "", "colours: auto (by the terminal's background), dark, light, high-contrast, colour-blind, none or one of your own")
	cmd.Flags().StringVar(&f.glyphs, "glyphs", "", "signs: auto (by the locale and TERM), unicode, narrow (ASCII where signs may be two cells wide) or ascii")
	cmd.Flags().BoolVar(&f.noColor, "no-color", false, "draw without colours; NO_COLOR does the same")
	cmd.Flags().BoolVar(&f.projector, "projector", false, "draw for a room: large counts, bold text, the keys that are pressed")
	cmd.Flags().BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	cmd.Flags().StringVar(&f.zone, "time-zone", "", "the zone in which times of day are told: UTC, local or a name like Europe/Berlin")
	f.Filter.Register(cmd, "show only pods")
	var themes []string
	for _, t := range theme.All() {
		themes = append(themes, string(t))
	}
	Completes(cmd, "theme", themes...)
	var glyphs []string
	for _, g := range theme.AllGlyphs() {
		glyphs = append(glyphs, string(g))
	}
	Completes(cmd, "glyphs", glyphs...)
	Completes(cmd, "time-zone", "UTC", "local")
}

// Given reports whether the person gave the flag.
func (f *Look) Given(flag string) bool { return f.cmd.Flags().Changed(flag) }

// Check finds mistakes in the flags and in the configuration file, and takes from it what the flags leave open. It is
// called when the command line is read.
func (f *Look) Check() error {
	if _, err := theme.ParseGlyphs(f.glyphs); err != nil {
		return UsageError{Err: err}
	}
	if _, err := words.ParseZone(f.zone); err != nil {
		return UsageError{Err: err}
	}
	var err error
	f.watch = config.NewWatch()
	if f.Config, err = config.Load(f.cmd.Context()); err != nil {
		return err
	}
	if _, err := f.Config.Themes.Parse(f.theme); err != nil {
		return UsageError{Err: err}
	}
	f.fill()
	return nil
}

// fill takes from the configuration what the flags leave open.
func (f *Look) fill() {
	if !f.Given("theme") {
		f.theme = string(f.Config.Theme)
	}
	if !f.Given("glyphs") {
		f.glyphs = string(f.Config.Glyphs)
	}
	if !f.Given("projector") {
		f.projector = f.Config.Projector
	}
	if !f.Given("no-mouse") {
		f.noMouse = !f.Config.Mouse
	}
	if !f.Given("filter") {
		f.Filter.Filter = f.Config.Filter
	}
}

// Session returns opts with what the flags say of it.
func (f *Look) Session(opts timeline.Options) timeline.Options {
	opts.Filter = f.Filter.Filter
	opts.Zone = f.inZone()
	return opts
}

// inZone is the time zone that is asked for.
func (f *Look) inZone() words.Zone {
	if !f.Given("time-zone") {
		return f.Config.Zone
	}
	zone, _ := words.ParseZone(f.zone) // checked
	return zone
}

// Options are the screen's, with the recordings to switch to.
func (f *Look) Options(recordings []tui.Recording) tui.Options {
	named, err := f.Config.Themes.Parse(f.theme)
	if err != nil {
		named = f.Config.Theme // it was one of the person's own, which the file that is read again has no more
	}
	glyphs, _ := theme.ParseGlyphs(f.glyphs) // checked
	o := tui.Options{Recordings: recordings, NoColor: f.noColor, NoMouse: f.noMouse, Projector: f.projector, Theme: named, Skins: f.Config.Themes, Glyphs: glyphs, Keys: f.Config.Bindings, Start: f.Config.Start, Views: f.Config.Views, Commands: f.Config.Commands, Bell: f.Config.Bell, Zone: f.inZone()}
	if views, err := config.RememberedViews(f.cmd.Context()); err == nil && f.Config.Remember {
		o.Memory, o.Source = views, f.Source
	}
	o.NextConfig = f.next
	return o
}

// next is tui.Options.NextConfig: flags come before what the file says then, too.
func (f *Look) next(ctx context.Context) (tui.Options, error) {
	read, err := f.watch.Next(ctx)
	if err != nil {
		return tui.Options{}, err
	}
	again := *f
	again.Config = read
	again.fill()
	return again.Options(nil), nil
}
