package lesson

import (
	"fmt"
	"strings"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// lessonRows returns how many rows a lesson takes of a screen of h rows, its title included.
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

// leastBoard is how many rows a small screen leaves to the board: a pane's title, heading and one pod, and the pods in flight.
const leastBoard = 5

// needs returns how many rows show the whole lesson at width w, its title included and the model's reasons excluded: why? has them.
func (l *Lesson) needs(w int) int {
	return 1 + l.measure(w-4, true)
}

// measure returns how many rows of w cells the text takes, with or without the answered questions.
func (l *Lesson) measure(w int, questions bool) int {
	var scratch canvas.Canvas
	scratch.Reset(w, 1)
	p := &sheet{area: scratch.Area()}
	l.drawText(p, questions)
	return p.y
}

func (l *Lesson) Context() keymap.Context { return keymap.Lesson }

// Settle implements page.Page: the board above, the lesson below.
func (l *Lesson) Settle(w, h int) {
	if h == 0 {
		l.Board.Settle(w, h)
		return
	}
	l.above = h - max(lessonRows(l.Height), min(l.needs(w), h-leastBoard))
	l.SettleParts(l.Arrange(w, l.above, l.OutlineAbove(l.above)))
}

// Draw implements page.Page.
func (l *Lesson) Draw(a canvas.Area) {
	l.Board.Draw(a.Sub(0, 0, a.W, l.above))
	a = a.Sub(0, l.above, a.W, a.H-l.above)
	l.title(a.Row(0))
	p := &sheet{area: a.Sub(2, 1, a.W-4, a.H-1)}
	l.drawText(p, l.measure(p.area.W, true) <= p.area.H)
	if l.phase == judged {
		l.drawWhy(p)
	}
}

// drawText draws the text of the current phase.
func (l *Lesson) drawText(p *sheet, questions bool) {
	switch l.phase {
	case finished:
		l.drawSummary(p)
		return
	case judged:
		l.drawResult(p, questions)
		return
	}
	finding := l.current().Prediction != nil && l.current().Prediction.Finding
	if finding && l.phase != reading { // leave the space to the question
		l.drawAsk(p)
		return
	}
	p.writeText(theme.Plain, l.Keys.Say(string(l.current().Text)))
	if under := l.plan.Lesson.Under(); under != "" && l.step == 0 {
		p.writeText(theme.Accent, under)
	}
	if finding {
		for _, a := range l.current().Prediction.Asks {
			p.writeText(theme.Accent|canvas.Bold, string(a.Question))
		}
		p.writeText(theme.Dim, l.Keys.Say("Look around, then press {lesson-next} to answer."))
	}
	switch l.phase {
	case asking, playing:
		l.drawAsk(p)
	case trying, reached:
		l.drawGoal(p)
	}
}

// title draws the line between board and lesson: title, steps, time.
func (l *Lesson) title(a canvas.Area) {
	a.Fill(theme.Dim, "─")
	timer := l.score.now.Sub(l.score.began)
	said := format.Span(timer)
	if planned := l.plan.Lesson.Planned; planned > 0 {
		said += " of " + format.Span(planned)
	}
	right := a.Right(a.W-1, 0, canvas.Bold, " "+said+" ")
	var steps strings.Builder
	for i := range l.plan.Lesson.Steps {
		switch {
		case i < l.step || l.phase == finished:
			steps.WriteString("●")
		case i == l.step:
			steps.WriteString("◉")
		default:
			steps.WriteString("○")
		}
	}
	right = a.Right(right-1, 0, theme.Accent, " "+canvas.Truncate(steps.String(), a.W/3)+" ")
	title := fmt.Sprintf(" %d/%d %s ", l.step+1, len(l.plan.Steps), l.current().Title)
	if l.phase == finished {
		title = " " + string(l.plan.Lesson.Title) + ": done "
	}
	a.Text(1, 0, theme.Accent|canvas.Bold, canvas.Truncate(title, right-2))
}

// sheet is an area that text is written into line by line, as far as it fits.
type sheet struct {
	area canvas.Area
	y    int
}

// writeText writes text, wrapped.
func (p *sheet) writeText(style canvas.Style, text string) {
	for _, line := range canvas.Wrap(format.Safe(text), p.area.W) {
		p.area.Text(0, p.y, style, line)
		p.y++
	}
}

// writeMarked writes text after a glyph.
func (p *sheet) writeMarked(style canvas.Style, glyph, text string) {
	for i, line := range canvas.Wrap(format.Safe(text), p.area.W-2) {
		if i == 0 {
			p.area.Text(0, p.y, style|canvas.Bold, glyph)
		}
		p.area.Text(2, p.y, style, line)
		p.y++
	}
}

// drawAsk draws the open question, its answers and the chosen one.
func (l *Lesson) drawAsk(p *sheet) {
	asks := l.current().Prediction.Asks
	shown := min(len(l.given), len(asks)-1)
	for i, a := range asks[:shown] {
		said := "no answer"
		if l.given[i] != noAnswer {
			said = answerName(a.Answers[l.given[i]])
		}
		p.writeText(theme.Dim, string(a.Question)+" "+said)
	}
	a, chosen := &asks[shown], noAnswer
	if len(l.given) > shown {
		chosen = l.given[shown]
	}
	question := string(a.Question)
	if len(asks) > 1 {
		question = fmt.Sprintf("%d of %d: %s", shown+1, len(asks), question)
	}
	p.writeText(theme.Accent|canvas.Bold, question)
	x := 0
	for i, answer := range a.Answers {
		key, name := AnswerKey(a.Kind, i, answer), answerName(answer)
		if x > 0 && x+len(key)+canvas.Width(name)+4 > p.area.W {
			x, p.y = 0, p.y+1
		}
		keyStyle, nameStyle := theme.Accent|canvas.Bold|canvas.Reverse, canvas.Bold
		switch {
		case i == chosen:
			nameStyle |= canvas.Underline
		case l.phase == playing:
			keyStyle, nameStyle = theme.Dim, theme.Dim
		case chosen != noAnswer:
			keyStyle, nameStyle = theme.Accent, theme.Dim
		}
		x = p.area.Text(x, p.y, keyStyle, " "+key+" ")
		x = p.area.Text(x+1, p.y, nameStyle, name) + 3
	}
	p.y++
	switch {
	case l.phase == playing:
		p.writeText(theme.Accent, "…")
	case chosen != noAnswer:
		p.writeText(theme.Accent, l.Keys.Say("Your answer: "+sentence(answerName(a.Answers[chosen]))+" Press another key to change it, {lesson-next} to see "+l.nextShows()+"."))
	}
}

// nextShows returns what going on from the question shows.
func (l *Lesson) nextShows() string {
	if l.current().Prediction.Finding {
		return "the answer"
	}
	return "what happens"
}

// drawResult draws the given and the right answers, with the questions if they fit.
func (l *Lesson) drawResult(p *sheet, questions bool) {
	for i, a := range l.current().Prediction.Asks {
		if questions {
			p.writeText(theme.Dim, string(a.Question))
		}
		right := a.Answers[a.Right()]
		given := noAnswer
		if i < len(l.given) {
			given = l.given[i]
		}
		switch {
		case given == a.Right():
			p.writeMarked(theme.Active, "✓", because(right))
		case given == noAnswer:
			p.writeMarked(theme.Accent, "→", because(right))
		default:
			p.writeMarked(theme.Alarm, "✗", "You said "+sentence(answerName(a.Answers[given]))+" "+string(a.Answers[given].Says))
			p.writeMarked(theme.Active, "→", because(right))
		}
	}
}

// because returns an answer and why it is right.
func because(a lessons.Answer) string {
	if name := answerName(a); sentence(name) != name {
		return name + ": " + string(a.Says)
	}
	return answerName(a) + " " + string(a.Says)
}

// sentence returns text with a full stop, unless it ends a sentence already.
func sentence(text string) string {
	if strings.ContainsAny(text[max(len(text)-1, 0):], ".!?") {
		return text
	}
	return text + "."
}

// drawWhy draws the model's reasons for the right answers.
func (l *Lesson) drawWhy(p *sheet) {
	said := p.y
	for _, why := range l.plan.Steps[l.step].Why {
		p.writeText(theme.Dim, why)
	}
	if p.y > p.area.H && said < p.area.H { // the rest is on the page why?
		p.area.Right(p.area.W, p.area.H-1, theme.Accent, l.Keys.Say(" … {lesson-why}: why?"))
	}
}

// drawGoal draws the goal with the hints, the solution, or that it is reached.
func (l *Lesson) drawGoal(p *sheet) {
	g := l.current().Goal
	switch {
	case l.phase == reached:
		p.writeMarked(theme.Active, "✓", "Reached: "+goalIn(g)+".")
		return
	case l.goal.why != "":
		p.writeMarked(theme.Alarm, "✗", l.goal.why)
	}
	if l.goal.solution {
		p.writeText(theme.Accent|canvas.Bold, "One way:")
		for _, d := range g.Solution {
			p.writeMarked(theme.Plain, "·", l.commandWithKey(d))
		}
		return
	}
	for i := max(0, l.goal.hints-2); i < l.goal.hints; i++ {
		p.writeMarked(theme.Accent, "·", l.Keys.Say(string(g.Hints[i])))
	}
	if l.goal.hints == 0 && l.goal.why == "" {
		p.writeText(theme.Dim, "The goal: "+goalIn(g)+l.Keys.Say(". {lesson-hint} gives a hint."))
		p.writeText(theme.Dim, l.Keys.Say(goalHelp))
	}
}

// goalHelp lists what helps with any goal: not everybody has been in a what-if.
const goalHelp = "What you can do: {add-node} adds a node like an existing one, {delete} deletes a pod or a node, {edit-node} edits a node, " +
	"{inject-event} creates an event, {activate} activates the selected pod. {help} lists more."

// goalIn returns the goal in a few words.
func goalIn(g *lessons.Goal) string {
	switch g.Tier {
	case queue.Active, queue.Backoff:
		return g.Pod.Name + " goes to " + lessonTiers[g.Tier].name
	default:
		return g.Pod.Name + " is " + lessonTiers[g.Tier].name
	}
}

// commandWithKey returns a command of a solution with the key that runs it.
func (l *Lesson) commandWithKey(d lessons.Action) string {
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
	b, bound := l.Keys.ByID(id)
	if !ok || !bound || b.Key() == "" {
		return d.Text
	}
	return fmt.Sprintf("%s   with %s (%s)", d.Text, b.Key(), b.Name)
}

// drawSummary draws the summary after the last step.
func (l *Lesson) drawSummary(p *sheet) {
	p.writeText(theme.Plain, "People think: "+string(l.plan.Lesson.Misconception))
	if l.plan.Lesson.Behaviour != "" {
		p.writeText(canvas.Bold, "In fact: "+string(l.plan.Lesson.Behaviour))
	}
	p.writeText(theme.Plain, "Applies to "+string(l.plan.Lesson.Holds)+".")
	p.y++
	if asked, answered, right, _ := l.counts(); asked > 0 {
		p.writeText(theme.Active, fmt.Sprintf("You answered %d of %s, %d correctly, in %s.", answered, format.Plural(asked, "question"), right, format.Span(l.score.now.Sub(l.score.began))))
	}
	if next, ok := l.Keys.ByID(keymap.LessonNext); ok {
		p.writeText(theme.Dim, next.Key()+": next lesson")
	}
}

// Bar returns the keys of the lesson that are available.
func (l *Lesson) Bar() []keymap.Binding {
	var on []keymap.Binding
	if _, keys, open := l.Question(); open {
		on = append(on, keymap.Binding{ID: keymap.AnswerChoice, Keys: []string{strings.Join(keys, " ")}, Name: "answer"})
	}
	for _, b := range l.Keys.OnBar(keymap.Lesson) {
		if l.Actions[b.ID].Refusal() == "" {
			on = append(on, l.Named(b))
		}
	}
	return on
}
