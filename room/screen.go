package room

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/time/rate"
)

// Key is the only key that the room reserves.
const Key = "ctrl+t"

// keyUnfollow leaves the shared screen, as Key does.
const keyUnfollow = "esc"

// minBarHeight is the height from which the bar has a row of its own. On a smaller screen it covers
// the last row while it is needed.
const minBarHeight = 22

// screen is the visitor's tea.Model: their own model or the shared screen, above the bar. A teacher
// can open the room page instead.
type screen struct {
	visitor *Visitor
	room    *Room
	inner   tea.Model
	limiter *rate.Limiter

	width, height     int
	share             share
	unfollowed        int        // the number of the share that the visitor left
	reportedFollowing bool       // the value of Visitor.following
	frame             *frame     // of the shared screen
	answered          Prediction // the last answer to a question on the shared screen
	waiting           bool       // for the next frame
	snapshot          *snapshot
	page              *page // nil while it is closed

	shown tea.View
	crash error
}

func newScreen(v *Visitor, inner tea.Model) *screen {
	s := &screen{visitor: v, room: v.room, inner: inner, limiter: rate.NewLimiter(updateRate, 2), snapshot: &snapshot{}}
	s.share.number = -1 // so that the first share differs
	return s
}

// Init implements tea.Model.
func (s *screen) Init() tea.Cmd {
	updates := s.nextShare()
	if s.visitor.teacher {
		updates = tea.Batch(updates, s.nextSnapshot())
	}
	return tea.Batch(s.inner.Init(), updates)
}

func (s *screen) nextShare() tea.Cmd {
	shown := s.share
	return func() tea.Msg {
		if n, ok := next(s.visitor.ctx, &s.room.share, shown, s.limiter); ok {
			return shareMsg{n}
		}
		return nil
	}
}

func (s *screen) nextSnapshot() tea.Cmd {
	shown := s.snapshot
	return func() tea.Msg {
		if n, ok := next(s.visitor.ctx, &s.room.snapshots, shown, s.limiter); ok {
			return snapshotMsg{n}
		}
		return nil
	}
}

// nextFrame waits for the next frame, if the visitor follows and is not waiting already.
func (s *screen) nextFrame() tea.Cmd {
	if !s.following() || s.waiting {
		return nil
	}
	s.waiting = true
	shown := s.frame
	return func() tea.Msg {
		if n, ok := next(s.visitor.ctx, &s.room.frames, shown, s.limiter); ok {
			return frameMsg{n}
		}
		return nil
	}
}

// following reports whether the visitor sees the shared screen.
func (s *screen) following() bool {
	return s.share.by != 0 && s.share.by != s.visitor.id && s.unfollowed != s.share.number
}

// Update implements tea.Model. It also draws the screen. A panic ends this session only.
func (s *screen) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			s.crash = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			same, cmd = s, tea.Quit
		}
	}()
	cmd = s.update(msg)
	memory := screenMemory(s.width, s.height)
	if sized, ok := s.inner.(interface{ Size() int64 }); ok {
		memory += sized.Size()
	}
	s.visitor.memory.Store(memory)
	s.draw()
	return s, cmd
}

func (s *screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case shareMsg:
		s.share = msg.share
		s.reportFollowing()
		return tea.Batch(s.nextShare(), s.nextFrame())
	case frameMsg:
		s.frame, s.waiting = msg.frame, false
		s.visitor.noteActivity()
		return s.nextFrame()
	case snapshotMsg:
		s.snapshot = msg.snapshot
		return s.nextSnapshot()
	case slowMsg:
		if slow, ok := s.inner.(interface{ Slow() tea.Cmd }); ok {
			return slow.Slow()
		}
		return nil
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		return s.updateInner(tea.WindowSizeMsg{Width: s.width, Height: s.innerHeight()})
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.PasteMsg:
		if s.following() || s.page != nil {
			return nil
		}
	case tea.MouseMsg:
		if s.following() || s.page != nil || msg.Mouse().Y >= s.innerHeight() {
			return nil
		}
	}
	return s.updateInner(msg)
}

func (s *screen) updateInner(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	s.inner, cmd = s.inner.Update(msg)
	return cmd
}

// key handles a key. While the visitor follows, keys answer the shared question or leave the screen.
func (s *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case s.following() && (key == keyUnfollow || key == Key):
		s.unfollowed = s.share.number
		s.reportFollowing()
		return nil
	case s.following():
		s.answer(key)
		return nil
	case key == Key && s.visitor.teacher:
		s.page = s.page.toggle()
		return nil
	case key == Key:
		s.unfollowed = 0 // no share has this number
		s.reportFollowing()
		return s.nextFrame()
	case s.page != nil:
		s.pageKey(key)
		return nil
	}
	return s.updateInner(msg)
}

// pageKey handles a key on the room page.
func (s *screen) pageKey(key string) {
	switch {
	case key == "f":
		s.room.toggleShare(s.visitor, s.sharedFrame())
		s.share, _ = s.room.share.get()
	case key == keyRemove && s.page.people:
		s.removeSelected()
	case key == keyNewCode && s.page.people:
		s.changeCode()
	default:
		s.page = s.page.key(key, s.snapshot)
	}
}

// removeSelected removes the selected visitor after a confirmation.
func (s *screen) removeSelected() {
	if len(s.snapshot.people) == 0 {
		return
	}
	selected := s.snapshot.people[s.page.selectedRow(s.snapshot)]
	page, confirmed := s.page.confirm(keyRemove, "remove "+selected.name)
	if s.page = page; !confirmed {
		page.selected = selected.id // not whoever moves up to this row meanwhile
		return
	}
	if selected.id != page.selected {
		page.message = errAlreadyLeft.Error()
		return
	}
	name, err := s.room.ban(s.visitor, selected.id)
	if page.message = name + " is removed, and can't join under that name for " + minutes(s.room.config.Limits.Ban); err != nil {
		page.message = err.Error()
	}
}

// changeCode replaces the room's code after a confirmation. Only this page shows the new one.
func (s *screen) changeCode() {
	page, confirmed := s.page.confirm(keyNewCode, "replace the visitors' code")
	if s.page = page; !confirmed {
		return
	}
	if code := s.room.changeCode(s.visitor); code != "" {
		page.message = "New visitors' code: " + code + ". People in the room stay."
	} else {
		page.message = "The room has no code: visitors log in with keys."
	}
}

// reportFollowing updates Visitor.following.
func (s *screen) reportFollowing() {
	if following := s.following(); following != s.reportedFollowing {
		s.reportedFollowing = following
		s.room.update(func(*Room) { s.visitor.following = following })
	}
}

// innerHeight returns the number of rows for the visitor's model.
func (s *screen) innerHeight() int {
	if s.height >= minBarHeight && !s.room.config.NoTeacher {
		return s.height - 1
	}
	return s.height
}

// View implements tea.Model. It returns what Update has drawn.
func (s *screen) View() tea.View { return s.shown }

// draw draws the screen, and publishes it if the visitor shares it.
func (s *screen) draw() {
	v := tea.View{AltScreen: true}
	var lines []string
	switch {
	case s.following() && s.frame != nil && s.frame.by == s.share.by:
		lines, v.Cursor = s.frame.lines, s.frame.cursor
	case s.page != nil:
		lines = s.page.draw(s.snapshot, s.share.by == s.visitor.id, s.width, s.innerHeight())
	default:
		own := s.inner.View()
		lines = strings.Split(own.Content, "\n")
		v.Cursor, v.MouseMode = own.Cursor, own.MouseMode
	}
	if v.Cursor != nil && (v.Cursor.X >= s.width || v.Cursor.Y >= s.innerHeight()) {
		v.Cursor = nil
	}
	bar, needed := s.bar()
	height := s.innerHeight()
	if height == s.height && needed {
		height-- // the bar covers the last row
	}
	var b strings.Builder
	for y := range max(0, height) {
		if y > 0 {
			b.WriteByte('\n')
		}
		if y < len(lines) {
			b.WriteString(lines[y])
		}
	}
	if height < s.height {
		b.WriteString("\n" + bar)
	}
	v.Content = b.String()
	if s.shown = v; s.share.by == s.visitor.id {
		s.room.frames.set(s.sharedFrame())
	}
}

// sharedFrame returns the screen as followers see it: without the pages that only the teacher may see.
func (s *screen) sharedFrame() *frame {
	f := &frame{by: s.visitor.id, width: s.width, height: s.innerHeight()}
	if s.page != nil && !s.page.people && !s.page.missed {
		f.lines = s.page.draw(s.snapshot, true, s.width, s.innerHeight())
		return f
	}
	own := s.inner.View()
	f.lines, f.cursor = strings.Split(own.Content, "\n"), own.Cursor
	if a, ok := s.inner.(asker); ok {
		if question, keys, open := a.Asks(); open {
			f.question, f.keys = &question, keys
		}
	}
	return f
}

// bar returns the room's row at the bottom, and whether it is needed on a small screen, too.
func (s *screen) bar() (line string, needed bool) {
	name := s.visitor.name
	switch {
	case s.following():
		line, needed = s.followerBar(), true
	case s.visitor.teacher:
		all, following := s.snapshot.visitors()
		line = plural(all, "visitor")
		if s.share.by == s.visitor.id {
			line += fmt.Sprintf(", %d following", following)
			needed = true
		}
		if len(s.snapshot.tallies) > 0 {
			t := s.snapshot.tallies[0]
			line += fmt.Sprintf(" · %d of %d answered", t.total, max(all, t.total)) // some have left
		}
		line += " · " + Key + " room page"
	case s.share.by != 0:
		line, needed = Key+" follow the teacher", true
	default:
		line = "your own session · the teacher may share a screen"
	}
	line = ansi.Truncate(" "+name+" · "+line, max(0, s.width), "…")
	line += strings.Repeat(" ", max(0, s.width-ansi.StringWidth(line)))
	return lipgloss.NewStyle().Reverse(true).Render(line), needed
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// minutes formats a duration in minutes, rounded up.
func minutes(d time.Duration) string {
	return plural(int((d+time.Minute-1)/time.Minute), "minute")
}

// errCrash is the message to a visitor after a panic.
var errCrash = errors.New("schedq crashed, and the room's log has the details: join again to continue")

// outcome returns the message to the visitor and the reason for the log, given the error of the program.
func (s *screen) outcome(err error) (message string, reason error) {
	if c, ok := s.inner.(interface{ Crash() error }); ok && s.crash == nil {
		s.crash = c.Crash()
	}
	switch {
	case s.crash != nil:
		return sentence(errCrash), s.crash
	case errors.Is(err, tea.ErrProgramPanic): // in a command: the stack is on standard error
		return sentence(errCrash), err
	}
	return "", err
}
