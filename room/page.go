package room

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// page is the room page on the teacher's screen: the answers, the list of people, or the questions
// that most people got wrong. Only the answers may be shared; they contain no names and no code.
type page struct {
	people   bool
	missed   bool
	reveal   bool   // the right answer
	row      int    // of the questions
	selected uint64 // the id of a person
	// confirming is the key that has to be pressed again for an action that can't be undone.
	confirming string
	message    string
}

// The keys of the list of people that change something.
const (
	keyRemove  = "x"
	keyNewCode = "c"
)

// toggle opens or closes the page.
func (p *page) toggle() *page {
	if p != nil {
		return nil
	}
	return &page{}
}

// key returns the page after a key, or nil if the key closes it.
func (p *page) key(key string, s *snapshot) *page {
	n := *p
	n.confirming, n.message = "", ""
	switch key {
	case "esc", "q":
		return nil
	case "w":
		n = page{people: !p.people}
	case "m":
		n = page{missed: !p.missed}
	case "v":
		n.reveal = !p.reveal && len(s.tallies) > 0 // without a question, don't reveal the next one
	case "down", "j":
		n.move(1, s)
	case "up", "k":
		n.move(-1, s)
	}
	return &n
}

// move moves the selection by some rows.
func (p *page) move(by int, s *snapshot) {
	if !p.people {
		p.row, p.reveal = max(0, p.row+by), false
		return
	}
	if len(s.people) > 0 {
		p.selected = s.people[min(max(0, p.selectedRow(s)+by), len(s.people)-1)].id
	}
}

// selectedRow returns the row of the selected person, or of the next one if they have left. People
// are in the order of their ids.
func (p *page) selectedRow(s *snapshot) int {
	for i, person := range s.people {
		if person.id >= p.selected {
			return i
		}
	}
	return max(0, len(s.people)-1)
}

// confirm returns true if key was pressed twice in a row, and otherwise a page that asks for it.
func (p *page) confirm(key, action string) (*page, bool) {
	n := *p
	if p.confirming == key {
		n.confirming, n.message = "", ""
		return &n, true
	}
	n.confirming, n.message = key, "Press "+key+" again to "+action+"."
	return &n, false
}

var bold = lipgloss.NewStyle().Bold(true)

// draw returns the rows of the page.
func (p *page) draw(s *snapshot, sharing bool, width, height int) []string {
	all, _ := s.visitors()
	share := "f share screen"
	if sharing {
		share = "f stop sharing"
	}
	var lines []string
	if p.people {
		lines = append(lines, p.heading(width, "People: "+plural(all, "visitor"), keyRemove+" remove  "+keyNewCode+" new code  w answers  "+share+"  esc"), p.message)
		lines = append(lines, p.list(s, width, max(0, height-2))...)
	} else if p.missed {
		lines = append(lines, p.heading(width, "Most missed", "m answers  w people  "+share+"  esc close"), "")
		lines = append(lines, mostMissed(s, width)...)
	} else {
		lines = append(lines, p.heading(width, "Predictions", "v reveal  j k question  m missed  w people  "+share+"  esc"), "")
		lines = append(lines, p.tally(s, all, width)...)
	}
	return lines[:min(len(lines), max(0, height))]
}

func (p *page) heading(width int, title, keys string) string {
	return bold.Render(title) + "  " + ansi.Truncate(keys, max(0, width-ansi.StringWidth(title)-2), "…")
}

// list draws the list of people.
func (p *page) list(s *snapshot, width, height int) []string {
	height = max(1, height-2) // without the legend
	at := p.selectedRow(s)
	first := max(0, min(at-height/2, len(s.people)-height))
	var lines []string
	for i, person := range s.people[first:min(first+height, len(s.people))] {
		mark := "  "
		switch {
		case person.teacher:
			mark = "T "
		case person.following:
			mark = "→ "
		}
		name := person.name + strings.Repeat(" ", max(0, maxName+4-ansi.StringWidth(person.name)))
		line := ansi.Truncate(mark+name+person.place, max(0, width-2), "…")
		if first+i == at {
			lines = append(lines, bold.Render("▸ "+line))
		} else {
			lines = append(lines, "  "+line)
		}
	}
	return append(lines, "", "T teacher   → following   ▸ selected (j k)")
}

// tally draws the answers to the selected question, and a line for each of the others.
func (p *page) tally(s *snapshot, visitors, width int) []string {
	if len(s.tallies) == 0 {
		return []string{"No predictions yet."}
	}
	p.row = min(p.row, len(s.tallies)-1)
	t := s.tallies[p.row]
	lines := []string{
		ansi.Truncate(fmt.Sprintf("%s · %s    %d of %s answered", t.question.lesson, t.question.step, t.total, plural(max(visitors, t.total), "visitor")), width, "…"),
		bold.Render(ansi.Truncate(t.question.text, width, "…")), "",
	}
	label := 0
	for _, a := range t.answers {
		label = max(label, ansi.StringWidth(a))
	}
	label = min(label, width/2)
	for i, a := range t.answers {
		mark := "  "
		if p.reveal && i == t.right {
			mark = "✓ "
		}
		a = ansi.Truncate(a, label, "…")
		a += strings.Repeat(" ", label-ansi.StringWidth(a))
		barWidth := max(1, width-label-12)
		filled := t.counts[i] * barWidth / max(1, t.total)
		row := fmt.Sprintf("%s%d %s  %s %d", mark, i+1, a, strings.Repeat("█", filled), t.counts[i])
		if mark != "  " {
			row = bold.Render(row)
		}
		lines = append(lines, row)
	}
	if p.reveal {
		lines = append(lines, "", fmt.Sprintf("%d of %d were right.", t.counts[t.right], t.total))
	}
	lines = append(lines, "")
	for i, other := range s.tallies {
		if i != p.row {
			count := fmt.Sprint(other.total)
			if p.reveal {
				count = fmt.Sprintf("%d of %d right", other.counts[other.right], other.total)
			}
			lines = append(lines, ansi.Truncate(fmt.Sprintf("  (%s) %s · %s: %s", count, other.question.lesson, other.question.step, other.question.text), width, "…"))
		}
	}
	return lines
}

// mostMissed lists the questions with wrong answers, the largest share of wrong answers first.
func mostMissed(s *snapshot, width int) []string {
	var missed []tally
	for _, t := range s.tallies {
		if t.wrong() > 0 {
			missed = append(missed, t)
		}
	}
	slices.SortStableFunc(missed, func(a, b tally) int {
		return cmp.Or(cmp.Compare(b.wrong()*a.total, a.wrong()*b.total), cmp.Compare(b.wrong(), a.wrong()))
	})
	if len(missed) == 0 {
		return []string{"No wrong answers yet."}
	}
	var lines []string
	for _, t := range missed {
		lines = append(lines, ansi.Truncate(fmt.Sprintf("%3d of %d wrong  %s · %s: %s", t.wrong(), t.total, t.question.lesson, t.question.step, t.question.text), width, "…"))
	}
	return lines
}
