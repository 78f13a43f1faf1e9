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

// opening is a recording that was opened, or the error.
type opening struct {
	name    string
	session *session.Session
	source  string
	view    *View // remembered, or nil
	err     error
}

// origin is the session that the program started with: a cluster, files, an embedded recording. It stays open with its what-ifs
// and marks while another is shown, and the list of recordings leads back to it.
type origin struct {
	session *session.Session // nil if it is not kept
	frame   *session.Frame   // its latest
	source  string
	life    life
}

// rest pauses the session while another is shown. A live session goes on.
func (o *origin) rest(l life) {
	o.life = l
	if o.frame.Live == nil {
		o.session.Pause()
	}
}

// found are the user's own recordings and the clusters.
type found struct{ own, clusters []Recording }

// find looks for both. After an error one of them may still be found.
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

// choice is what the list of recordings is for: to replace the session, or to open a second one beside it.
type choice struct {
	title string
	open  func(r Recording) tea.Cmd
	// back goes back to the origin. Nil: it is not offered.
	back func() tea.Cmd
}

// chooseRecording lists recordings and clusters to replace the session.
func (m *model) chooseRecording() tea.Cmd {
	c := choice{title: "recordings", open: func(r Recording) tea.Cmd {
		return m.confirmLoss(func() tea.Cmd { return m.open(r) })
	}}
	if o := m.origin; o.session != nil && m.Session != o.session {
		c.back = func() tea.Cmd {
			return m.confirmLoss(func() tea.Cmd {
				return m.opened(opening{name: "the first session", session: o.session, source: o.source})
			})
		}
	}
	return m.choose(c)
}

// nothingToChoose returns why there is no list of recordings, or "".
func (m *model) nothingToChoose() string {
	if o := m.options; len(o.Recordings) == 0 && o.OwnRecordings == nil && o.Clusters == nil && o.OpenFiles == nil {
		return "there are no other recordings to choose from"
	}
	return ""
}

// choose lists the recordings and the clusters. It looks for the user's own outside of Update.
func (m *model) choose(c choice) tea.Cmd {
	o := m.options
	if o.OwnRecordings == nil && o.Clusters == nil {
		return m.listRecordings(c, found{})
	}
	return page.Guarded(func() tea.Msg {
		f, err := o.find()
		return page.Ready(func() tea.Cmd {
			if m.Overlays.Top() != nil {
				return nil // the user has opened something else
			}
			if err != nil {
				return tea.Batch(m.listRecordings(c, f), m.Refuse(err.Error()))
			}
			return m.listRecordings(c, f)
		})
	})
}

// listRecordings lists the origin, the embedded recordings, and what was found.
func (m *model) listRecordings(c choice, f found) tea.Cmd {
	var choices []func() tea.Cmd
	l := widget.List{Title: c.title, Choose: func(chosen []int) tea.Cmd { return choices[chosen[0]]() }}
	add := func(it widget.Item, choose func() tea.Cmd) {
		l.Items, choices = append(l.Items, it), append(choices, choose)
	}
	heading := func(text string) { add(widget.Item{Text: text, Heading: true}, nil) }
	opens := func(r Recording) func() tea.Cmd { return func() tea.Cmd { return c.open(r) } }
	if c.back != nil {
		add(widget.Item{Key: "back", Text: format.Safe(string(m.origin.frame.Name)), Note: "The session you started with, with its what-ifs and marks."}, c.back)
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
		heading("Recorded while attached, newest first")
	}
	for _, r := range f.own {
		add(widget.Item{Text: format.Safe(r.Title), Note: format.Safe(r.Description), Keywords: r.Name}, opens(r))
	}
	if m.options.OpenFiles != nil {
		heading("Files")
		add(widget.Item{Text: "open files …", Note: "Files of one run: an audit log, a scheduler log, a trace, a scenario."}, func() tea.Cmd { return m.askFiles(c) })
	}
	return widget.OpenList(m.UI, l, 0)
}

// askFiles asks for paths and opens the files as one recording.
func (m *model) askFiles(c choice) tea.Cmd {
	var paths []string
	return widget.Ask(m.UI, widget.Prompt{
		Title: "open",
		Hint:  "FILE...: files of one run, in any format",
		Paths: widget.NewPaths(m.UI, 0),
		Accept: func(text string) string {
			if paths = strings.Fields(text); len(paths) == 0 {
				return "type one or more paths"
			}
			return ""
		},
		After: func() tea.Msg {
			return page.Ready(func() tea.Cmd { return c.open(m.options.OpenFiles(paths)) })
		},
	}, "")
}

// lost returns what is lost when the session ends: a live cluster or what-ifs. "": nothing.
func lost(f *session.Frame) string {
	if f.Live != nil {
		return "the live session of " + format.Safe(string(f.Name)) + " (its recording is kept)"
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

// confirmLoss calls do, which ends the session, and asks first if that loses anything.
func (m *model) confirmLoss(do func() tea.Cmd) tea.Cmd {
	what := lost(m.Frame)
	if m.Session == m.origin.session {
		what = "" // the origin stays open
	}
	return m.confirm(what, do)
}

// confirm calls do, and asks first if what, which the question names, would be lost.
func (m *model) confirm(what string, do func() tea.Cmd) tea.Cmd {
	if what == "" {
		return do()
	}
	return widget.OpenList(m.UI, widget.List{Title: what + " will be lost", Choose: func(chosen []int) tea.Cmd {
		if chosen[0] == 0 {
			return nil
		}
		return do()
	}, Items: []widget.Item{{Text: "cancel"}, {Text: "continue"}}}, 0)
}

// open opens a recording in place of the session.
func (m *model) open(r Recording) tea.Cmd { return m.opening(r, m.opened) }

// opening opens a recording and calls show. If the user has done something else meanwhile, a notice offers it.
func (m *model) opening(r Recording, show func(opening) tea.Cmd) tea.Cmd {
	return m.Begin(m.ctx, "opening "+r.Name, func(ctx context.Context, work *page.Work) func(late bool) tea.Cmd {
		s, err := r.Open(ctx, work.Report)
		o := opening{r.Name, s, r.Source, m.options.recall(r.Source), err}
		if err != nil {
			return func(bool) tea.Cmd { return show(o) }
		}
		keep := context.AfterFunc(ctx, s.Close) // the work is stopped
		return func(late bool) tea.Cmd {
			keep()
			if !late {
				return show(o)
			}
			unopened := context.AfterFunc(m.ctx, s.Close)
			return m.QueueNotice(page.Notice{Text: r.Name + " is open", Open: func() tea.Cmd {
				if unopened() {
					return show(o)
				}
				return m.opening(r, show) // the user opened the notice before
			}})
		}
	})
}

// opened shows a recording that was opened.
func (m *model) opened(o opening) tea.Cmd {
	if o.err != nil {
		return m.Refuse("open " + o.name + ": " + o.err.Error())
	}
	keep := m.saveView()
	started := m.show(o.session)
	m.source = o.source
	m.restoreView(o.view)
	return tea.Batch(keep, started)
}
