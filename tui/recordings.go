package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// opening is a recording that was opened, or why it could not be.
type opening struct {
	name    string
	session *session.Session
	source  string
	view    *View // how it was looked at last, or nil
	err     error
}

// origin is the session that the program began with: a cluster, the person's files, an embedded recording. It goes on while
// another is shown, with its what-ifs and marks, and the list of recordings leads back to it.
type origin struct {
	session *session.Session // nil if none is kept
	frame   *session.Frame   // its newest
	source  string
	stop    context.CancelFunc
}

// rest leaves the session, which is ended by stop, alone for a while. What is live goes on.
func (o *origin) rest(stop context.CancelFunc) {
	o.stop = stop
	if o.frame.Live == nil {
		o.session.Pause()
	}
}

// found are the recordings that a person made, and the clusters that there are.
type found struct{ own, clusters []Recording }

// find looks for both. An error is of one of them: the other may have been found.
func (o Options) find() (f found, err error) {
	var noClusters error
	if o.OwnRecordings != nil {
		f.own, err = o.OwnRecordings()
	}
	if o.Clusters != nil {
		f.clusters, noClusters = o.Clusters()
	}
	return f, errors.Join(err, noClusters)
}

// choice is what the recordings are listed for: to take the place of what is shown, or to stand beside it.
type choice struct {
	title string
	open  func(r Recording) tea.Cmd
	// back leads back to where the program began. Nil: that is not offered.
	back func() tea.Cmd
}

// chooseRecording opens one of the recordings and the clusters in the place of what is shown.
func (m *model) chooseRecording() tea.Cmd {
	c := choice{title: "recordings", open: func(r Recording) tea.Cmd {
		return m.unlessLost(func() tea.Cmd { return m.open(r) })
	}}
	if o := m.origin; o.session != nil && m.Session != o.session {
		c.back = func() tea.Cmd {
			return m.unlessLost(func() tea.Cmd {
				return m.opened(opening{name: "where you began", session: o.session, source: o.source})
			})
		}
	}
	return m.choose(c)
}

// nothingToChoose is why there is no other recording to open. Empty if there is.
func (m *model) nothingToChoose() string {
	if o := m.options; len(o.Recordings) == 0 && o.OwnRecordings == nil && o.Clusters == nil && o.OpenFiles == nil {
		return "there are no other recordings to choose from"
	}
	return ""
}

// choose lists the recordings and the clusters. Those of the person are looked for outside of Update.
func (m *model) choose(c choice) tea.Cmd {
	o := m.options
	if o.OwnRecordings == nil && o.Clusters == nil {
		return m.listRecordings(c, found{})
	}
	return page.Guarded(func() tea.Msg {
		f, err := o.find()
		return page.Ready(func() tea.Cmd {
			if m.Overlays.Top() != nil {
				return nil // the person does something else
			}
			if err != nil {
				return tea.Batch(m.listRecordings(c, f), m.Refuse(err.Error()))
			}
			return m.listRecordings(c, f)
		})
	})
}

// listRecordings lists where the program began, the recordings inside of it, and what was found.
func (m *model) listRecordings(c choice, f found) tea.Cmd {
	var choices []func() tea.Cmd
	l := widget.List{Title: c.title, Choose: func(chosen []int) tea.Cmd { return choices[chosen[0]]() }}
	add := func(it widget.Item, choose func() tea.Cmd) {
		l.Items, choices = append(l.Items, it), append(choices, choose)
	}
	heading := func(text string) { add(widget.Item{Text: text, Heading: true}, nil) }
	opens := func(r Recording) func() tea.Cmd { return func() tea.Cmd { return c.open(r) } }
	if c.back != nil {
		add(widget.Item{Key: "back", Text: format.Safe(string(m.origin.frame.Name)), Note: "Where you began, with its what-ifs and marks."}, c.back)
	}
	for _, r := range m.options.Recordings {
		add(widget.Item{Key: r.Name, Text: r.Title, Note: r.Description}, opens(r))
	}
	attachable := slices.DeleteFunc(slices.Clone(f.clusters), func(r Recording) bool { return r.Source == m.source || r.Source == m.origin.source })
	if len(attachable) > 0 {
		heading("Clusters of your kubeconfig")
	}
	for _, r := range attachable {
		add(widget.Item{Text: format.Safe(r.Title), Note: format.Safe(r.Description), Keywords: r.Name}, opens(r))
	}
	if len(f.own) > 0 {
		heading("What was recorded while you were attached, the newest first")
	}
	for _, r := range f.own {
		add(widget.Item{Text: format.Safe(r.Title), Note: format.Safe(r.Description), Keywords: r.Name}, opens(r))
	}
	if m.options.OpenFiles != nil {
		heading("Files")
		add(widget.Item{Text: "open files …", Note: "Files of one run: an audit log, a scheduler's log, a trace, a scenario."}, func() tea.Cmd { return m.askFiles(c) })
	}
	return widget.OpenList(m.UI, l, 0)
}

// askFiles asks for the paths of files and opens them as one recording.
func (m *model) askFiles(c choice) tea.Cmd {
	var paths []string
	return widget.Ask(m.UI, widget.Prompt{
		Title: "open",
		Hint:  "FILE ...: of one run, in any format",
		Paths: widget.NewPaths(m.UI, 0),
		Accept: func(text string) string {
			if paths = strings.Fields(text); len(paths) == 0 {
				return "the path of a file, or of several"
			}
			return ""
		},
		After: func() tea.Msg {
			return page.Ready(func() tea.Cmd { return c.open(m.options.OpenFiles(paths)) })
		},
	}, "")
}

// lost is what is lost when the session that is shown ends: a cluster that is watched, or its what-ifs. Empty if nothing is.
func lost(f *session.Frame) string {
	if f.Live != nil {
		return "what is seen of " + format.Safe(string(f.Name)) + ", beside its recording,"
	}
	n := 0
	for _, fork := range f.Forks {
		if len(fork.Injected) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return format.Plural(n, "what-if") + " of " + format.Safe(string(f.Name))
}

// unlessLost does what ends the session that is shown, or asks first if anything is lost with it.
func (m *model) unlessLost(do func() tea.Cmd) tea.Cmd {
	what := lost(m.Frame)
	if m.Session == m.origin.session {
		what = "" // it goes on
	}
	return m.unless(what, do)
}

// unless does it, or asks first if what, which is said, would be lost.
func (m *model) unless(what string, do func() tea.Cmd) tea.Cmd {
	if what == "" {
		return do()
	}
	return widget.OpenList(m.UI, widget.List{Title: what + " would be lost", Choose: func(chosen []int) tea.Cmd {
		if chosen[0] == 0 {
			return nil
		}
		return do()
	}, Items: []widget.Item{{Text: "stay"}, {Text: "go on, and lose that"}}}, 0)
}

// open opens a recording, and shows it unless the person does something else by then.
func (m *model) open(r Recording) tea.Cmd { return m.opening(r, m.opened) }

// opening opens a recording for show, unless the person does something else by then.
func (m *model) opening(r Recording, show func(opening) tea.Cmd) tea.Cmd {
	return m.Begin(m.ctx, "opening "+r.Name, func(ctx context.Context, work *page.Work) func(late bool) tea.Cmd {
		s, err := r.Open(ctx, work.Report)
		o := opening{r.Name, s, r.Source, m.options.recall(r.Source), err}
		return func(late bool) tea.Cmd {
			if late && err == nil {
				return m.QueueNotice(page.Notice{Text: r.Name + " is open", Open: func() tea.Cmd { return show(o) }})
			}
			return show(o)
		}
	})
}

// opened shows the recording that was opened.
func (m *model) opened(o opening) tea.Cmd {
	if o.err != nil {
		return m.Refuse("open " + o.name + ": " + o.err.Error())
	}
	keep := m.keepView()
	started := m.show(o.session)
	m.source = o.source
	m.remembered(o.view)
	return tea.Batch(keep, started)
}
