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

// Drawn is a screen as it is drawn for a terminal of W by H cells.
type Drawn struct {
	Text string
	W, H int
	On   Paper
}

// Export is where what is shown comes from, and where it goes.
type Export struct {
	// Screen returns the screen as it is without anything open above the page.
	Screen func() Drawn
	// Own is true if the cluster is the person's own: a what-if that leaves nothing.
	Own bool
	// Write writes a new file. Nil: there are no files here.
	Write func(path string, data []byte) error
}

// Add adds what writes files.
func Add(d *page.UI, e *Export, all page.Actions) {
	all[keymap.Save] = page.Action{Do: func(string) tea.Cmd { return e.choose(d) }}.DisabledWhen(func() string {
		if e.Write == nil {
			return "files can't be written from here"
		}
		return ""
	})
}

// output is something that can be saved.
type output struct {
	what, note string
	// ending is that of its file's name.
	ending string
	// make returns the file's content. It is called outside of Update.
	make func() ([]byte, error)
}

// choose lists what can be saved, asks for the name of a file and writes it.
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
			Note: "A YAML file of the cluster's objects and what became of them, that can be played, changed and taught with."})
	}
	return widget.OpenList(d, l, 0)
}

// outputs are what can be saved of the moment that is shown.
func (e *Export) outputs(d *page.UI) []output {
	screen, f := e.Screen(), d.Frame
	pods := "the pods that are shown, as "
	all := []output{
		{"the screen, as a picture", "An SVG file, in the colours of the screen.", ".svg", func() ([]byte, error) {
			return []byte(DrawPicture(screen.Text, screen.W, screen.H, screen.On)), nil
		}},
		{"the screen, as text", "What the screen shows, without colours.", ".txt", func() ([]byte, error) {
			return []byte(ansi.Strip(screen.Text) + "\n"), nil
		}},
		{pods + "CSV", "A row for each pod that waits and that the filter shows: where it is, for how long, how often it was tried, what rejected it.", ".csv",
			func() ([]byte, error) { return table(f.Waiting()) }},
		{pods + "JSON", "What schedq list -o json says of them.", ".json", func() ([]byte, error) { return document(f.Waiting()) }},
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
		all = append(all, output{"the cluster that you made, as a scenario", "What schedq play -o writes when you leave.", ".yaml", made})
	case f.Fork != nil:
		all = append(all, output{"this what-if, as a scenario",
			"A YAML file of the cluster as it was when the what-if began, and of what you did since. Played, pods that waited then wait as if they had just come, and a local scheduler decides, where you did too.",
			".yaml", made})
	}
	return all
}

func scenarioFile(s *scenario.Scenario) ([]byte, error) {
	var b bytes.Buffer
	err := scenario.Write(&b, s)
	return b.Bytes(), err
}

// askName asks for the name of the file and writes it.
func (e *Export) askName(d *page.UI, o output) tea.Cmd {
	var path string
	return widget.Ask(d, widget.Prompt{
		Title: "save to",
		Hint:  "FILE, which must not be there yet",
		Paths: widget.NewPaths(d, 0),
		Accept: func(text string) string {
			if path = strings.TrimSpace(text); path == "" {
				return "the name of a file"
			}
			return ""
		},
		After: func() tea.Msg { return e.save(d, path, o.make) },
	}, fileName(d.Frame)+o.ending)
}

// fileName is what a file about the moment that f shows may be called.
func fileName(f *session.Frame) string { return "schedq-" + f.Now.UTC().Format("150405") }

// save writes what is made, and says so.
func (e *Export) save(d *page.UI, path string, made func() ([]byte, error)) tea.Msg {
	data, err := made()
	if err == nil {
		err = e.Write(path, data)
	}
	return page.Ready(func() tea.Cmd {
		if err != nil {
			return d.Refuse("save: " + err.Error())
		}
		return d.Answer(format.Safe(path) + " is saved")
	})
}

// askMinutes asks for a part of the recording and a file, and writes that as a scenario. What a chart shows is offered, or
// else the last minute.
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
		Hint:  "FROM TO FILE, which ends in .yaml",
		Paths: widget.NewPaths(d, 2),
		Accept: func(text string) string {
			words := strings.Fields(text)
			if len(words) < 3 {
				return "two times and the name of a file"
			}
			var err error
			if from, err = travel.ParseTime(words[0], d.Frame); err != nil {
				return err.Error()
			}
			if to, err = travel.ParseTime(words[1], d.Frame); err != nil {
				return err.Error()
			}
			if path = strings.Join(words[2:], " "); !scenario.Named(path) {
				return "a scenario's name ends in .yaml"
			}
			return ""
		},
		After: func() tea.Msg {
			return e.save(d, path, func() ([]byte, error) {
				// It is read and written to its end, whatever is shown meanwhile.
				cut, err := d.Session.Cut(context.Background(), from, to)
				if err != nil {
					return nil, err
				}
				return scenarioFile(cut)
			})
		},
	}, d.Frame.Zone.Second(from)+" "+d.Frame.Zone.Second(to.Add(time.Second))+" "+fileName(d.Frame)+".yaml")
}
