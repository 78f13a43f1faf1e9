package tui

import (
	"fmt"
	"strings"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
)

// lessonRows is how many rows a lesson takes of a screen of h, its title included.
func lessonRows(h int) int {
	switch {
	case h >= 36:
		return h / 3
	case h >= 24:
		return 10
	default:
		return 8
	}
}

// arrangeLesson divides a screen of w by h: the board above, the lesson below. The lesson's part is returned
// beside the layout; what has the whole middle covers it.
func arrangeLesson(w, h int, fork bool, focus, tab paneID, z zoom, projector bool) (l layout, lesson rect) {
	if w < minWidth || h < minHeight {
		return layout{}, rect{}
	}
	l = layout{arrangement: columns, spacing: 1, header: []headerLine{lineTitle, lineTime}, status: rect{0, h - 2, w, 1}, bar: rect{0, h - 1, w, 1}}
	if fork {
		l.header[0] = lineBanner
	}
	if w < 80 || h < 24 {
		l.arrangement = tabs
	}
	y := len(l.header)
	middle := rect{0, y, w, h - 2 - y}
	switch {
	case z == zoomDetail:
		l.detail = middle
		return l, rect{}
	case z == zoomCompare:
		l.compare = middle
		return l, rect{}
	case z.chart():
		l.chart = middle
		return l, rect{}
	}
	if projector && h >= 24 {
		l.counts = rect{0, middle.y, w, largeRows}
		middle.y, middle.h = middle.y+largeRows, middle.h-largeRows
	}
	rows := lessonRows(h)
	lesson = rect{0, middle.y + middle.h - rows, w, rows}
	middle.h -= rows
	if z == zoomPane && focus == logPane {
		l.log = middle
		return l, lesson
	}
	below, flight := max(2, middle.h/3), 1
	switch {
	case l.counts.h > 0 && h < 30:
		below, flight = 0, 0 // the large counts tell of both
	case z == zoomPane:
		below = 0
	}
	if l.arrangement == tabs {
		l.tabTitles = rect{0, middle.y, w, 1}
		middle.y, middle.h = middle.y+1, middle.h-1
		below = min(below, 2)
	}
	panes := rect{0, middle.y, w, middle.h - below - flight}
	l.flight = rect{0, panes.y + panes.h, w, flight}
	l.log = rect{0, l.flight.y + flight, w, below}
	if l.arrangement == tabs || z == zoomPane {
		l.panes[tab] = panes
		return l, lesson
	}
	a, b := (w-2)*29/100, (w-2)*32/100
	l.panes[activePane] = rect{0, panes.y, a, panes.h}
	l.panes[backoffPane] = rect{a + 1, panes.y, b, panes.h}
	l.panes[unschedulablePane] = rect{a + b + 2, panes.y, w - a - b - 2, panes.h}
	return l, lesson
}

// drawLesson draws the lesson below the board.
func (m *model) drawLesson(a canvas.Area) {
	if a.Empty() {
		return
	}
	m.lessonTitle(a.Row(0))
	p := &page{area: a.Sub(2, 1, a.W-4, a.H-1)}
	l := m.lesson
	switch s := l.current(); l.phase {
	case over:
		m.drawOver(p)
	case told:
		m.drawTold(p)
	case asking, going:
		p.say(plain, string(s.Text))
		m.drawAsk(p)
	case trying, reached:
		p.say(plain, string(s.Text))
		m.drawGoal(p)
	default:
		p.say(plain, string(s.Text))
	}
}

// lessonTitle draws the line between board and lesson: the lesson's place, its steps as a map, the time.
func (m *model) lessonTitle(a canvas.Area) {
	l := m.lesson
	a.Fill(dim, "─")
	timer := l.now.Sub(l.began)
	right := a.Right(a.W-1, 0, canvas.Bold, " "+span(timer)+" ")
	var steps strings.Builder
	for i := range l.plan.Lesson.Steps {
		switch {
		case i < l.step || l.phase == over:
			steps.WriteString("●")
		case i == l.step:
			steps.WriteString("◉")
		default:
			steps.WriteString("○")
		}
	}
	right = a.Right(right-1, 0, accent, " "+canvas.Truncate(steps.String(), a.W/3)+" ")
	title := fmt.Sprintf(" %d/%d %s ", l.step+1, len(l.plan.Steps), l.current().Title)
	if l.phase == over {
		title = " " + string(l.plan.Lesson.Title) + ": done "
	}
	a.Text(1, 0, accent|canvas.Bold, canvas.Truncate(title, right-2))
}

// page is where text is written, line by line, as far as there is room.
type page struct {
	area canvas.Area
	y    int
}

// say writes text, wrapped.
func (p *page) say(style canvas.Style, text string) {
	for _, line := range canvas.Wrap(safe(text), p.area.W) {
		p.area.Text(0, p.y, style, line)
		p.y++
	}
}

// answered writes text behind a glyph.
func (p *page) answered(style canvas.Style, glyph, text string) {
	for i, line := range canvas.Wrap(safe(text), p.area.W-2) {
		if i == 0 {
			p.area.Text(0, p.y, style|canvas.Bold, glyph)
		}
		p.area.Text(2, p.y, style, line)
		p.y++
	}
}

// drawAsk draws the question that is open and its answers.
func (m *model) drawAsk(p *page) {
	l := m.lesson
	if l.phase == going {
		p.say(accent, "…")
		return
	}
	a := l.ask()
	p.say(accent|canvas.Bold, string(a.Question))
	x := 0
	for i, answer := range a.Answers {
		key, name := answerKey(a.Kind, i, answer), answerName(answer)
		if x > 0 && x+len(key)+canvas.Width(name)+4 > p.area.W {
			x, p.y = 0, p.y+1
		}
		x = p.area.Text(x, p.y, accent|canvas.Bold|canvas.Reverse, " "+key+" ")
		x = p.area.Text(x+1, p.y, canvas.Bold, name) + 3
	}
	p.y++
}

// drawTold draws what was right, what the person said, and how the model came to it.
func (m *model) drawTold(p *page) {
	l := m.lesson
	for i, a := range l.current().Prediction.Asks {
		right := a.Answers[a.Right()]
		given := noAnswer
		if i < len(l.given) {
			given = l.given[i]
		}
		switch {
		case given == a.Right():
			p.answered(active, "✓", answerName(right)+": "+string(right.Says))
		case given == noAnswer:
			p.answered(accent, "→", answerName(right)+": "+string(right.Says))
		default:
			p.answered(alarm, "✗", "You said "+answerName(a.Answers[given])+". "+string(a.Answers[given].Says))
			p.answered(active, "→", answerName(right)+": "+string(right.Says))
		}
	}
	for _, why := range l.plan.Steps[l.step].Why {
		p.say(dim, why)
	}
}

// drawGoal draws how the goal stands: hints, the solution, whether it is reached.
func (m *model) drawGoal(p *page) {
	l := m.lesson
	g := l.current().Goal
	switch {
	case l.phase == reached:
		p.answered(active, "✓", "Reached: "+goalIn(g)+".")
		return
	case l.why != "":
		p.answered(alarm, "✗", l.why)
	}
	if l.solution {
		p.say(accent|canvas.Bold, "One way:")
		for _, d := range g.Solution {
			p.answered(plain, "·", m.deedInKeys(d))
		}
		return
	}
	for i := max(0, l.hints-2); i < l.hints; i++ {
		p.answered(accent, "·", string(g.Hints[i]))
	}
	if l.hints == 0 && l.why == "" {
		p.say(dim, "The goal: "+goalIn(g)+". h gives a hint.")
	}
}

// goalIn says in a few words what is to be reached.
func goalIn(g *lessons.Goal) string {
	switch g.Tier {
	case queue.Active, queue.Backoff:
		return g.Pod.Name + " goes to " + lessonTiers[g.Tier].name
	default:
		return g.Pod.Name + " is " + lessonTiers[g.Tier].name
	}
}

// deedInKeys says how the person does what a solution says.
func (m *model) deedInKeys(d lessons.Deed) string {
	id, ok := map[string]keymap.ID{
		"activate": keymap.Activate, "add": keymap.AddPod, "apply": keymap.Apply, "bind": keymap.BindClaim, "delete": keymap.Delete,
		"edit": keymap.EditNode, "event": keymap.InjectEvent, "fits": keymap.Fits, "like": keymap.AddNode, "move-all": keymap.MoveAll,
		"open": keymap.OpenGate, "pop": keymap.Pop, "reject": keymap.Reject, "wait": keymap.Play,
	}[d.Verb]
	if d.Verb == "flush" {
		id, ok = keymap.FlushLeft, true
		if d.Words[0] == "backoff" {
			id = keymap.FlushBackoff
		}
	}
	b, bound := m.keys.ByID(id)
	if !ok || !bound || b.Key() == "" {
		return d.Text
	}
	return fmt.Sprintf("%s   with %s (%s)", d.Text, b.Key(), b.Name)
}

// drawOver draws what is said behind the last step.
func (m *model) drawOver(p *page) {
	l := m.lesson
	p.say(plain, "People think: "+string(l.plan.Lesson.Misconception))
	if l.plan.Lesson.Behaviour != "" {
		p.say(canvas.Bold, string(l.plan.Lesson.Behaviour))
	}
	p.say(plain, "It holds for "+string(l.plan.Lesson.Holds)+".")
	p.y++
	if l.asks > 0 {
		p.say(active, fmt.Sprintf("You answered %d of %s rightly, in %s.", l.right, plural(l.asks, "question"), span(l.now.Sub(l.began))))
	}
	if next, ok := m.keys.ByID(keymap.LessonNext); ok {
		p.say(dim, next.Key()+" goes on to the next lesson.")
	}
}

// lessonBar are the keys of a lesson that can be used now.
func (m *model) lessonBar() []keymap.Binding {
	var on []keymap.Binding
	for _, b := range m.keys.OnBar(keymap.Lesson) {
		if m.lessonRefusal(b.ID) == "" {
			if b.ID == keymap.LessonNext && m.lesson.phase == asking {
				b.Name = "show me"
			}
			on = append(on, b)
		}
	}
	return on
}
