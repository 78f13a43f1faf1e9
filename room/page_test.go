package room

import "testing"

// Where nobody has answered, v asks for the right answer of no question, and not of the next one.
func TestTheRightAnswerOfNoQuestion(t *testing.T) {
	nobody, somebody := &standing{}, &standing{tallies: []tally{{}}}
	if p := (&page{}).key("v", nobody); p.reveal {
		t.Error("the answer to the first question will be shown before it is asked for")
	}
	if p := (&page{}).key("v", somebody); !p.reveal || p.key("v", somebody).reveal {
		t.Error("v does not show the right answer and hide it again")
	}
}
