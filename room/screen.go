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

// Key is the one key that the room keeps for itself.
const Key = "ctrl+t"

// keyLetGo lets go of the teacher's screen. Key does, too.
const keyLetGo = "esc"

// barFrom is the least height at which a row is left for the room. On a smaller screen the bar covers the last row
// while it has something to say.
const barFrom = 22

// screen is a visitor's: what was opened for them or the teacher's screen, above the room's bar. A teacher can have
// the room's page in its place.
type screen struct {
	visitor *Visitor
	room    *Room
	inner   tea.Model
	limiter *rate.Limiter

	width, height int
	call          call
	letGo         int  // the call that the visitor let go of
	toldFollowing bool // what the room was told of whether the visitor follows
	scene         *scene
	given         Prediction // what was answered to the teacher's question last
	waiting       bool       // for the next scene
	standing      *standing
	page          *page // nil while it is closed

	shown tea.View
	crash error // a mistake in the program
}

func newScreen(v *Visitor, inner tea.Model) *screen {
	s := &screen{visitor: v, room: v.room, inner: inner, limiter: rate.NewLimiter(newsRate, 2), standing: &standing{}}
	s.call.number = -1 // so that the first is news
	return s
}

// Init implements tea.Model.
func (s *screen) Init() tea.Cmd {
	news := s.nextCall()
	if s.visitor.teacher {
		news = tea.Batch(news, s.nextStanding())
	}
	return tea.Batch(s.inner.Init(), news)
}

func (s *screen) nextCall() tea.Cmd {
	shown := s.call
	return func() tea.Msg {
		if c, ok := next(s.visitor.ctx, &s.room.call, shown, s.limiter); ok {
			return callMsg{c}
		}
		return nil
	}
}

func (s *screen) nextStanding() tea.Cmd {
	shown := s.standing
	return func() tea.Msg {
		if n, ok := next(s.visitor.ctx, &s.room.standing, shown, s.limiter); ok {
			return standingMsg{n}
		}
		return nil
	}
}

// nextScene waits for the next scene, if the visitor follows and does not wait already.
func (s *screen) nextScene() tea.Cmd {
	if !s.following() || s.waiting {
		return nil
	}
	s.waiting = true
	shown := s.scene
	return func() tea.Msg {
		if n, ok := next(s.visitor.ctx, &s.room.stage, shown, s.limiter); ok {
			return sceneMsg{n}
		}
		return nil
	}
}

// following reports whether the teacher's screen is shown.
func (s *screen) following() bool {
	return s.call.by != 0 && s.call.by != s.visitor.id && s.letGo != s.call.number
}

// Update implements tea.Model. What it shows it draws, too. A panic ends this screen alone.
func (s *screen) Update(msg tea.Msg) (same tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			s.crash = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			same, cmd = s, tea.Quit
		}
	}()
	cmd = s.update(msg)
	if sized, ok := s.inner.(interface{ Size() int64 }); ok {
		s.visitor.holds.Store(sized.Size())
	}
	s.draw()
	return s, cmd
}

func (s *screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case callMsg:
		s.call = msg.call
		s.tellFollowing()
		return tea.Batch(s.nextCall(), s.nextScene())
	case sceneMsg:
		s.scene, s.waiting = msg.scene, false
		s.visitor.noteActivity()
		return s.nextScene()
	case standingMsg:
		s.standing = msg.standing
		return s.nextStanding()
	case slowMsg:
		if slow, ok := s.inner.(interface{ Slow() tea.Cmd }); ok {
			return slow.Slow()
		}
		return nil
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		return s.pass(tea.WindowSizeMsg{Width: s.width, Height: s.innerHeight()})
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
	return s.pass(msg)
}

// pass hands a message on to what was opened for the visitor.
func (s *screen) pass(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	s.inner, cmd = s.inner.Update(msg)
	return cmd
}

// key does what a key means: who follows the teacher answers what is asked there, or lets go.
func (s *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case s.following() && (key == keyLetGo || key == Key):
		s.letGo = s.call.number
		s.tellFollowing()
		return nil
	case s.following():
		s.answer(key)
		return nil
	case key == Key && s.visitor.teacher:
		s.page = s.page.toggle()
		return nil
	case key == Key:
		s.letGo = 0 // no call has that number
		s.tellFollowing()
		return s.nextScene()
	case s.page != nil:
		s.pageKey(key)
		return nil
	}
	return s.pass(msg)
}

// pageKey does what a key means on the room's page.
func (s *screen) pageKey(key string) {
	switch {
	case key == "f":
		s.room.follow(s.visitor, s.onStage())
		s.call, _ = s.room.call.get()
	case key == keySendOut && s.page.names:
		s.sendOut()
	case key == keyNewCode && s.page.names:
		s.changeCode()
	default:
		s.page = s.page.key(key, s.standing)
	}
}

// sendOut sends out whoever is chosen, if the teacher is sure.
func (s *screen) sendOut() {
	if len(s.standing.seats) == 0 {
		return
	}
	chosen := s.standing.seats[s.page.chosenRow(s.standing)]
	page, sure := s.page.confirm(keySendOut, "send out "+chosen.name)
	if s.page = page; !sure {
		page.chosen = chosen.id // whoever moves up meanwhile is not meant
		return
	}
	if chosen.id != page.chosen {
		page.said = "they have left"
		return
	}
	name, err := s.room.sendOut(s.visitor, chosen.id)
	if page.said = name + " is out, and does not get in by that name for " + minutes(s.room.config.Limits.SentOut); err != nil {
		page.said = err.Error()
	}
}

// changeCode gives the room another code, if the teacher is sure. Only this page shows it.
func (s *screen) changeCode() {
	page, sure := s.page.confirm(keyNewCode, "a new code for those who come")
	if s.page = page; !sure {
		return
	}
	if code := s.room.changeCode(s.visitor); code != "" {
		page.said = "The room has the code " + code + " now. Those who are in stay."
	} else {
		page.said = "there is no code: visitors come in by their keys"
	}
}

// tellFollowing tells the room whether the visitor follows.
func (s *screen) tellFollowing() {
	if follows := s.following(); follows != s.toldFollowing {
		s.toldFollowing = follows
		s.room.change(func(*Room) { s.visitor.following = follows })
	}
}

// innerHeight is how many rows are left for what was opened for the visitor.
func (s *screen) innerHeight() int {
	if s.height >= barFrom && !s.room.config.Alone {
		return s.height - 1
	}
	return s.height
}

// View implements tea.Model. What it returns was drawn by Update.
func (s *screen) View() tea.View { return s.shown }

// draw draws the screen. A teacher who is followed has it shown to the others, but for the list of names.
func (s *screen) draw() {
	v := tea.View{AltScreen: true}
	var lines []string
	switch {
	case s.following() && s.scene != nil && s.scene.by == s.call.by:
		lines, v.Cursor = s.scene.lines, s.scene.cursor
	case s.page != nil:
		lines = s.page.draw(s.standing, s.call.by == s.visitor.id, s.width, s.innerHeight())
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
		height-- // it covers the last row
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
	if s.shown = v; s.call.by == s.visitor.id {
		s.room.stage.set(s.onStage())
	}
}

// onStage is what of the teacher's screen the others see.
func (s *screen) onStage() *scene {
	n := &scene{by: s.visitor.id, width: s.width, height: s.innerHeight()}
	if s.page != nil && !s.page.names && !s.page.missed {
		n.lines = s.page.draw(s.standing, true, s.width, s.innerHeight())
		return n
	}
	own := s.inner.View()
	n.lines, n.cursor = strings.Split(own.Content, "\n"), own.Cursor
	if a, ok := s.inner.(asker); ok {
		if asked, keys, open := a.Asks(); open {
			n.asks, n.keys = &asked, keys
		}
	}
	return n
}

// bar is the room's row at the bottom, and whether it has something to say that can't wait.
func (s *screen) bar() (line string, needed bool) {
	name := s.visitor.name
	switch {
	case s.following():
		line, needed = s.followingBar(), true
	case s.visitor.teacher:
		all, follow := s.standing.visitors()
		line = plural(all, "visitor")
		if s.call.by == s.visitor.id {
			line += fmt.Sprintf(", %d follow you", follow)
			needed = true
		}
		if len(s.standing.tallies) > 0 {
			t := s.standing.tallies[0]
			line += fmt.Sprintf(" · %d of %d answered", t.total, max(all, t.total)) // some have left
		}
		line += " · " + Key + " the room"
	case s.call.by != 0:
		line, needed = Key+" follows the teacher", true
	default:
		line = "you are on your own: the teacher may show you something"
	}
	line = ansi.Truncate(" "+name+" · "+line, max(0, s.width), "…")
	line += strings.Repeat(" ", max(0, s.width-ansi.StringWidth(line)))
	return lipgloss.NewStyle().Reverse(true).Render(line), needed
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// minutes says how long, in minutes, the last begun one included.
func minutes(d time.Duration) string {
	return plural(int((d+time.Minute-1)/time.Minute), "minute")
}

// errMistake is what a visitor is told of a panic.
var errMistake = errors.New("schedq made a mistake, and what it was is in the room's log: come in again")

// outcome says what to tell the visitor after the program, which returned err, and what the log.
func (s *screen) outcome(err error) (said string, why error) {
	if c, ok := s.inner.(interface{ Crash() error }); ok && s.crash == nil {
		s.crash = c.Crash()
	}
	switch {
	case s.crash != nil:
		return sentence(errMistake), s.crash
	case errors.Is(err, tea.ErrProgramPanic): // in a command: the stack is on standard error
		return sentence(errMistake), err
	}
	return "", err
}
