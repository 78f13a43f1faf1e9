package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/config"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui"
	"github.com/schedq/schedq/tui/theme"
)

// Display holds the flags for the look of the screen. Where a flag is not set, the configuration file
// decides. Call Register, then Check, then Session and Options.
type Display struct {
	noColor, noMouse, projector bool
	theme, glyphs, zone         string
	cmd                         *cobra.Command

	// Filter selects the pods to show.
	Filter Filter
	// Source is the key under which the screen remembers its view. If empty, it does not.
	Source string
	// Config is the configuration file as Check read it.
	Config *config.Config
	notice string // about mistakes in the configuration file
	watch  *config.Watch
}

// Register adds the flags to cmd.
func (f *Display) Register(cmd *cobra.Command) {
	f.cmd = cmd
	Group(cmd, GroupDisplay, func() { f.register(cmd) })
}

func (f *Display) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.theme, "theme", "", "colour theme: auto (from the terminal's background), dark, light, high-contrast, colour-blind, none or one of your own")
	cmd.Flags().StringVar(&f.glyphs, "glyphs", "", "symbols: auto (from the locale and TERM), unicode, narrow (ASCII where a symbol may be two cells wide) or ascii")
	cmd.Flags().BoolVar(&f.noColor, "no-color", false, "disable colours, as NO_COLOR does")
	cmd.Flags().BoolVar(&f.projector, "projector", false, "show large counts, bold text and the pressed keys, for an audience")
	cmd.Flags().BoolVar(&f.noMouse, "no-mouse", false, "do not capture the mouse")
	cmd.Flags().StringVar(&f.zone, "time-zone", "", "time zone of displayed times: UTC, local or a name such as Europe/Berlin")
	f.Filter.Register(cmd, "only show pods")
	CompleteWith(cmd, "theme", themeNames()...)
	CompleteWith(cmd, "glyphs", glyphNames()...)
	CompleteWith(cmd, "time-zone", "UTC", "local")
}

// themeNames returns the names of the embedded themes.
func themeNames() (names []string) {
	for _, t := range theme.All() {
		names = append(names, string(t))
	}
	return names
}

// glyphNames returns the names of the sets of symbols.
func glyphNames() (names []string) {
	for _, g := range theme.AllGlyphs() {
		names = append(names, string(g))
	}
	return names
}

// Changed reports whether the command line sets the flag.
func (f *Display) Changed(flag string) bool { return f.cmd.Flags().Changed(flag) }

// Check validates the flags and reads the configuration file. Mistakes in the file are a notice on the
// screen.
func (f *Display) Check() error {
	if _, err := theme.ParseGlyphs(f.glyphs); err != nil {
		return Suggest(UsageError{Err: err}, f.glyphs, glyphNames())
	}
	if _, err := words.ParseZone(f.zone); err != nil {
		return UsageError{Err: err}
	}
	var err error
	f.watch = config.NewWatch()
	if f.Config, err = config.Load(f.cmd.Context()); f.Config == nil {
		return err
	}
	if err != nil {
		f.notice = "configuration, defaults apply: " + config.Summary(err)
	}
	if _, err := f.Config.Themes.Parse(f.theme); err != nil {
		return Suggest(UsageError{Err: err}, f.theme, themeNames())
	}
	f.fill()
	return nil
}

// fill sets the flags that the command line does not set from the configuration.
func (f *Display) fill() {
	if !f.Changed("theme") {
		f.theme = string(f.Config.Theme)
	}
	if !f.Changed("glyphs") {
		f.glyphs = string(f.Config.Glyphs)
	}
	if !f.Changed("projector") {
		f.projector = f.Config.Projector
	}
	if !f.Changed("no-mouse") {
		f.noMouse = !f.Config.Mouse
	}
	if !f.Changed("filter") {
		f.Filter.Filter = f.Config.Filter
	}
}

// Session returns opts with the filter and the time zone.
func (f *Display) Session(opts timeline.Options) timeline.Options {
	opts.Filter = f.Filter.Filter
	opts.Zone = f.timeZone()
	return opts
}

func (f *Display) timeZone() words.Zone {
	if !f.Changed("time-zone") {
		return f.Config.Zone
	}
	zone, _ := words.ParseZone(f.zone) // Check validated it
	return zone
}

// Options returns the screen's options, with the recordings it can switch to.
func (f *Display) Options(recordings []tui.Recording) tui.Options {
	named, err := f.Config.Themes.Parse(f.theme)
	if err != nil {
		named = f.Config.Theme // the theme was removed from the configuration file
	}
	glyphs, _ := theme.ParseGlyphs(f.glyphs) // Check validated it
	o := tui.Options{
		Recordings: recordings, NoColor: f.noColor, NoMouse: f.noMouse, Projector: f.projector, Theme: named, Skins: f.Config.Themes,
		Glyphs: glyphs, Keys: f.Config.Bindings, Start: f.Config.Start, Views: f.Config.Views, Commands: f.Config.Commands,
		Bell: f.Config.Bell, Notifications: f.Config.Notifications, Zone: f.timeZone(), Notice: f.notice,
	}
	if views, err := config.RememberedViews(f.cmd.Context()); err == nil && f.Config.Remember {
		o.Memory, o.Source = views, f.Source
	}
	o.NextConfig = f.next
	return o
}

// next implements tui.Options.NextConfig. Flags take precedence over the changed file, too.
func (f *Display) next(ctx context.Context) (tui.Options, error) {
	read, err := f.watch.Next(ctx)
	if err != nil {
		return tui.Options{}, errors.New(config.Summary(err))
	}
	again := *f
	again.Config = read
	again.fill()
	return again.Options(nil), nil
}
