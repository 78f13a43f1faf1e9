package lessons

import (
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/session"
)

// finding goes to the moment of the finding and checks the right answers.
func (w *walk) finding(s *Step, planned Planned) (Planned, error) {
	p := s.Prediction
	if p.Shows >= 0 {
		w.at = Place{At: p.Shows}
		w.at.GoTo(w.session, w.Scenario.Start)
	}
	planned.To = w.at
	f, _, err := w.sync()
	if err != nil {
		return planned, err
	}
	if pod := f.Board.Get(p.Pod); pod != nil {
		planned.Why = f.Explain(pod)
	}
	for _, a := range p.Asks {
		if err := w.checkFound(a, s, f); err != nil {
			return planned, err
		}
	}
	return planned, nil
}

// checkFound returns an error unless the right answer matches f. For answers that can't be
// computed, a claim must back the explanation.
func (w *walk) checkFound(a Ask, s *Step, f *session.Frame) error {
	right := a.Answers[a.Right()]
	wrong := func(is []string) error {
		if len(is) == 0 {
			is = []string{"none"}
		}
		return w.errorf(right.Line, "%s is not the right answer to %s: it is %s", right.Text, a.Kind, strings.Join(is, ", "))
	}
	switch a.Kind {
	case AskPlugin:
		p := f.Board.Get(s.Prediction.Pod)
		if p == nil {
			return w.errorf(right.Line, "there is no pod %s at that time", s.Prediction.Pod)
		}
		for _, answer := range a.Answers {
			if slices.Contains(p.RejectorPlugins(), string(answer.Text)) != answer.Right {
				return wrong(p.RejectorPlugins())
			}
		}
	case AskEvent:
		most := wokenMost(f, s.Prediction)
		if len(most) != 1 || most[0] != string(right.Text) {
			return wrong(most)
		}
	default:
		if !slices.ContainsFunc(s.Claims, func(c Claim) bool { return strings.Contains(string(right.Says), string(c.Of)) }) {
			return w.errorf(right.Line, "%q is right, but no claim backs its explanation", right.Text)
		}
	}
	return nil
}

// wokenMost returns the events that most often moved the pod out of the unschedulable and gated
// pods up to f.
func wokenMost(f *session.Frame, p *Prediction) []string {
	counts := map[string]int{}
	most := []string{"none: nothing woke " + p.Pod.Name}
	highest := 0
	for i := range f.Log.Len() {
		m := f.Log.At(i)
		if m.Pod.Key != p.Pod || !isWoken(m) {
			continue
		}
		switch counts[m.Event]++; {
		case counts[m.Event] > highest:
			most, highest = []string{m.Event}, counts[m.Event]
		case counts[m.Event] == highest:
			most = append(most, m.Event)
		}
	}
	return most
}
