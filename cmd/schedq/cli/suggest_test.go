package cli

import "testing"

func TestClosest(t *testing.T) {
	known := []string{"explain", "list", "workshop-nopop", "workshop", "three-places", "--recording", "dark"}
	for word, want := range map[string]string{
		"explian": "explain", "EXPLAIN": "explain", "lsit": "list", "worksho": "workshop", "thre-places": "three-places", "three": "three-places",
		"--recordng": "--recording", "drak": "dark",
		"x": "", "ls": "", "": "", "audit.log": "", "dxxk": "", "\xff\xff\xff": "",
	} {
		if got := Closest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
