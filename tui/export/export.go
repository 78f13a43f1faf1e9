package export

import (
	"bytes"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui/chart"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/travel"
	"github.com/schedq/schedq/tui/widget"
)

// Drawn is a screen drawn for a terminal of W by H cells.
type Drawn struct {
	Text string
	W, H int
	On   Paper
}

// Export connects the save actions to the screen and to files.
type Export struct {
	// Screen returns the screen without overlays.
	Screen func() Drawn
	// Own is true for the user's own cluster: a what-if without a recording.
	Own bool
	// Write writes a new file. Nil if files can't be written.
	Write func(path string, data []byte) error
}

// Add adds the save action.
func Add(d *page.UI, e *Export, all page.Actions) {
	all[keymap.Save] = page.Do(func() tea.Cmd { return e.choose(d) }).DisabledWhen(func() string {
		if e.Write == nil {
			return "this session can't write files"
		}
		return ""
	})
}

// output is something to save.
type output struct {
	what, note string
	// ending is the extension of the file.
	ending string
	// make returns the file's content. It runs outside Update.
	make func() ([]byte, error)
}

// choose lists the outputs, asks for a file name and writes the file.
func (e *Export) choose(d *page.UI) tea.Cmd {
	all := e.outputs(d)
	l := widget.List{Title: "save", Choose: func(chosen []int) tea.Cmd {
		if n := chosen[0]; n < len(all) {
			return e.askName(d, all[n])
		}
		return e.askMinutes(d)
	}}
	for _, o := range all {
		l.Items = append(l.Items, widget.Item{Text: o.what, Note: o.note})
	}
	if d.Session.Recorded() {
		l.Items = append(l.Items, widget.Item{Text: "minutes of the recording, as a scenario",
			Note: "A YAML file with the cluster's objects and their changes, to play, edit and teach with."})
	}
	return widget.OpenList(d, l, 0)
}

// outputs returns what can be saved at the current moment.
func (e *Export) outputs(d *page.UI) []output {
	screen, f := e.Screen(), d.Frame
	pods := "the shown pods, as "
	all := []output{
		{"the screen, as a picture", "An SVG file, in the colours of the screen.", ".svg", func() ([]byte, error) {
			return []byte(DrawPicture(screen.Text, screen.W, screen.H, screen.On)), nil
		}},
		{"the screen, as text", "The screen without colours.", ".txt", func() ([]byte, error) {
			return []byte(ansi.Strip(screen.Text) + "\n"), nil
		}},
		{pods + "CSV", "One row per waiting pod that matches the filter: tier, waiting time, attempts, rejecting plugins.", ".csv",
			func() ([]byte, error) { return table(f.Waiting()) }},
		{pods + "JSON", "Same as schedq list -o json.", ".json", func() ([]byte, error) { return document(f.Listing()) }},
	}
	made := func() ([]byte, error) {
		s, err := d.Session.ForkScenario()
		if err != nil {
			return nil, err
		}
		return scenarioFile(s)
	}
	switch {
	case e.Own:
		all = append(all, output{"your cluster, as a scenario", "Same as schedq play -o.", ".yaml", made})
	case f.Fork != nil:
		all = append(all, output{"this what-if, as a scenario",
			"A YAML file with the cluster at the start of the what-if and your changes since. On playback, waiting pods start as new ones, and a local scheduler makes all decisions.",
			".yaml", made})
	}
	return all
}

func scenarioFile(s *scenario.Scenario) ([]byte, error) {
	var b bytes.Buffer
	err := scenario.Write(&b, s)
	return b.Bytes(), err
}

// askName asks for the file's name and writes the file.
func (e *Export) askName(d *page.UI, o output) tea.Cmd {
	var path string
	return widget.Ask(d, widget.Prompt{
		Title: "save to",
		Hint:  "FILE (must not exist)",
		Paths: widget.NewPaths(d, 0),
		Accept: func(text string) string {
			if path = strings.TrimSpace(text); path == "" {
				return "type a file name"
			}
			return ""
		},
		After: func() tea.Msg { return e.save(d, path, o.make) },
	}, fileName(d.Frame)+o.ending)
}

// fileName returns the suggested file name for the moment of f.
func fileName(f *session.Frame) string { return "schedq-" + f.Now.UTC().Format("150405") }

// save writes the output and reports the result.
func (e *Export) save(d *page.UI, path string, made func() ([]byte, error)) tea.Msg {
	data, err := made()
	if err == nil {
		err = e.Write(path, data)
	}
	return page.Ready(func() tea.Cmd {
		if err != nil {
			return d.Refuse("save: " + err.Error())
		}
		return d.Answer(format.Safe(path) + " saved")
	})
}

// askMinutes asks for a part of the recording and a file, and saves it as a scenario. It suggests
// the range of the open chart, or the last minute.
func (e *Export) askMinutes(d *page.UI) tea.Cmd {
	from, to := d.Frame.Now.Add(-time.Minute), d.Frame.Now
	if c, ok := d.Pages.Shown().(chart.Chart); ok {
		shown := c.Span().Shown
		from = shown.From
		if shown.End().Before(to) {
			to = shown.End()
		}
	}
	if from.Before(d.Frame.Start) {
		from = d.Frame.Start
	}
	var path string
	return widget.Ask(d, widget.Prompt{
		Title: "save minutes",
		Hint:  "FROM TO FILE.yaml",
		Paths: widget.NewPaths(d, 2),
		Accept: func(text string) string {
			words := strings.Fields(text)
			if len(words) < 3 {
				return "type two times and a file name"
			}
			var err error
			if from, err = travel.ParseTime(words[0], d.Frame); err != nil {
				return err.Error()
			}
			if to, err = travel.ParseTime(words[1], d.Frame); err != nil {
				return err.Error()
			}
			if path = strings.Join(words[2:], " "); !scenario.Named(path) {
				return "invalid file name: use one that ends in .yaml"
			}
			return ""
		},
		After: func() tea.Msg {
			return e.save(d, path, func() ([]byte, error) {
				// Finishes even if the screen shows something else meanwhile.
				cut, err := d.Session.Cut(context.Background(), from, to)
				if err != nil {
					return nil, err
				}
				return scenarioFile(cut)
			})
		},
	}, d.Frame.Zone.Second(from)+" "+d.Frame.Zone.Second(to.Add(time.Second))+" "+fileName(d.Frame)+".yaml")
}
