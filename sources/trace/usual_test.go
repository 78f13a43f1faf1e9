package trace

import (
	"encoding/json"
	"reflect"
	"testing"
)

// newUsual returns a Reader that reads nothing but moves.
func newUsual() *Reader { return &Reader{words: map[string]string{}} }

// TestUsualMove: a move as a Writer writes it is read without encoding/json, and anything else is left to it.
func TestUsualMove(t *testing.T) {
	for text, usual := range map[string]bool{
		`{"pod":"default/web-1","to":"active"}`: true,
		`{"pod":"default/web-1","to":"unschedulable","event":"ScheduleAttemptFailure","plugins":["A","B"]}`: true,
		`{"pod":"a/b","to":"gated","gatingPlugin":"SchedulingGates","message":"0/3 – none","node":"n1"}`:    true,
		`{"pod":"a/b","to":"active","restated":true}`:                                                       true,
		`{"pod":"a/b","to":"active","pod":"c/d"}`:                                                           true, // the last counts
		`{ "pod" : "a/b" , "to" : "active" }`:                                                               true,
		`{"pod":"a\u002fb","to":"active"}`:                                                                  false,
		`{"pod":"a/b","to":"active","more":1}`:                                                              false,
		`{"Pod":"a/b","to":"active"}`:                                                                       false,
		`{"pod":"a/b","to":null}`:                                                                           false,
		`{"pod":"a/b","to":7}`:                                                                              false,
		`{"pod":"a/b","plugins":["A",]}`:                                                                    false,
		`{"pod":"a/b","plugins":[]}`:                                                                        false,
		`{"pod":"a/b","plugins":"A"}`:                                                                       false,
		`{"pod":"a/b","plugins":["A",null]}`:                                                                false,
		`{"pod":"a/b","to":"active",}`:                                                                      false,
		`{"pod":"a/b","to":"active" `:                                                                       false,
		`{"pod":"a/b","restated":false}`:                                                                    false,
		"{\"pod\":\"a/\tb\"}":                                                                               false,
		`["pod"]`:                                                                                           false,
	} {
		if got := newUsual().usualMove([]byte(text)) != nil; got != usual {
			t.Errorf("%s: usual is %v, want %v", text, got, usual)
		}
		sameMove(t, text)
	}
}

// sameMove checks that a move that is read as a usual one is what encoding/json makes of it.
func sameMove(t *testing.T, text string) {
	t.Helper()
	got := newUsual().usualMove([]byte(text))
	if got == nil {
		return
	}
	want := &move{}
	if err := json.Unmarshal([]byte(text), want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v, %v", text, got, want, err)
	}
}

// FuzzUsualMove: whatever is read as a usual move is what encoding/json makes of it.
func FuzzUsualMove(f *testing.F) {
	f.Add(`{"pod":"default/web-1","to":"unschedulable","event":"ScheduleAttemptFailure","plugins":["A","B"],"message":"m"}`)
	f.Add(`{"pod":"a/b","to":"active","restated":true,"gatingPlugin":"g","node":"n"}`)
	f.Fuzz(sameMove)
}
