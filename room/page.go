package room

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// page is the room's page on the teacher's screen: the answers, who is where, or what most get wrong. Only the first may be
// shown to the room, and it holds no names and no code.
type page struct {
	names  bool
	missed bool
	reveal bool   // which answer is right
	row    int    // the question
	chosen uint64 // whose seat it is, of the names
	// sure is the key that has to be pressed once more before something is done that can't be undone, and said what
	// the page says of that.
	sure, said string
}

// The keys of the list of names that do something to the room.
const (
	keySendOut = "x"
	keyNewCode = "c"
)

// toggle opens or closes the page.
func (p *page) toggle() *page {
	if p != nil {
		return nil
	}
	return &page{}
}

// key returns the page after a key, or nil if that closes it.
func (p *page) key(key string, s *standing) *page {
	n := *p
	n.sure, n.said = "", ""
	switch key {
	case "esc", "q":
		return nil
	case "w":
		n = page{names: !p.names}
	case "m":
		n = page{missed: !p.missed}
	case "v":
		n.reveal = !p.reveal && len(s.tallies) > 0 // of the next question, nobody has asked
	case "down", "j":
		n.move(1, s)
	case "up", "k":
		n.move(-1, s)
	}
	return &n
}

// move goes on by so many rows.
func (p *page) move(by int, s *standing) {
	if !p.names {
		p.row, p.reveal = max(0, p.row+by), false
		return
	}
	if len(s.seats) > 0 {
		p.chosen = s.seats[min(max(0, p.chosenRow(s)+by), len(s.seats)-1)].id
	}
}

// chosenRow returns the row of the name that is chosen; where that one has left, the row of the next. Seats are in
// the order in which people came.
func (p *page) chosenRow(s *standing) int {
	for i, seat := range s.seats {
		if seat.id >= p.chosen {
			return i
		}
	}
	return max(0, len(s.seats)-1)
}

// confirm returns true if key was pressed for the second time in a row, and otherwise the page that asks for it to be
// pressed again. what is what the key does.
func (p *page) confirm(key, what string) (*page, bool) {
	n := *p
	if p.sure == key {
		n.sure, n.said = "", ""
		return &n, true
	}
	n.sure, n.said = key, what+": "+key+" once more does it"
	return &n, false
}

var bold = lipgloss.NewStyle().Bold(true)

// draw returns the page's rows.
func (p *page) draw(s *standing, followed bool, width, height int) []string {
	all, _ := s.visitors()
	state := "f follow me"
	if followed {
		state = "f let go"
	}
	var lines []string
	if p.names {
		lines = append(lines, p.heading(width, "Who is where: "+plural(all, "visitor"), keySendOut+" send out  "+keyNewCode+" new code  w answers  "+state+"  esc"), p.said)
		lines = append(lines, p.seats(s, width, max(0, height-2))...)
	} else if p.missed {
		lines = append(lines, p.heading(width, "Most missed", "m answers  w who is where  "+state+"  esc close"), "")
		lines = append(lines, missedMost(s, width)...)
	} else {
		lines = append(lines, p.heading(width, "Predictions", "v the right one  j k others  m missed  w who is where  "+state+"  esc"), "")
		lines = append(lines, p.tally(s, all, width)...)
	}
	return lines[:min(len(lines), max(0, height))]
}

func (p *page) heading(width int, title, keys string) string {
	return bold.Render(title) + "  " + ansi.Truncate(keys, max(0, width-ansi.StringWidth(title)-2), "…")
}

// seats lists who is where.
func (p *page) seats(s *standing, width, height int) []string {
	height = max(1, height-2) // without what the marks mean
	at := p.chosenRow(s)
	first := max(0, min(at-height/2, len(s.seats)-height))
	var lines []string
	for i, seat := range s.seats[first:min(first+height, len(s.seats))] {
		mark := "  "
		switch {
		case seat.teacher:
			mark = "T "
		case seat.following:
			mark = "→ "
		}
		name := seat.name + strings.Repeat(" ", max(0, longestName+4-ansi.StringWidth(seat.name)))
		line := ansi.Truncate(mark+name+seat.place, max(0, width-2), "…")
		if first+i == at {
			lines = append(lines, bold.Render("▸ "+line))
		} else {
			lines = append(lines, "  "+line)
		}
	}
	return append(lines, "", "T teaches   → follows   ▸ j k")
}

// tally draws what was answered to the question in the row, and a line for each of the others.
func (p *page) tally(s *standing, visitors, width int) []string {
	if len(s.tallies) == 0 {
		return []string{"Nobody has predicted anything yet."}
	}
	p.row = min(p.row, len(s.tallies)-1)
	t := s.tallies[p.row]
	lines := []string{
		ansi.Truncate(fmt.Sprintf("%s · %s    %d of %s answered", t.question.lesson, t.question.step, t.total, plural(max(visitors, t.total), "visitor")), width, "…"),
		bold.Render(ansi.Truncate(t.question.words, width, "…")), "",
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
		room := max(1, width-label-12)
		filled := t.counts[i] * room / max(1, t.total)
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
			lines = append(lines, ansi.Truncate(fmt.Sprintf("  (%s) %s · %s: %s", count, other.question.lesson, other.question.step, other.question.words), width, "…"))
		}
	}
	return lines
}

// missedMost lists the questions to which somebody gave a wrong answer, those first that most got wrong of all who answered.
func missedMost(s *standing, width int) []string {
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
		return []string{"Nobody has answered anything wrongly yet."}
	}
	var lines []string
	for _, t := range missed {
		lines = append(lines, ansi.Truncate(fmt.Sprintf("%3d of %d wrong  %s · %s: %s", t.wrong(), t.total, t.question.lesson, t.question.step, t.question.words), width, "…"))
	}
	return lines
}
