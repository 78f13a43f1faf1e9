package cli_test

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/cmd/schedq/cli"
)

// Numbers stand below each other at their last figure, and letters count as one however many bytes they have.
func TestNumbers(t *testing.T) {
	var b strings.Builder
	if err := cli.WriteNumbers(&b, [][]string{{"time in", "stays"}, {"backoff", "12"}, {"é", "–"}}, [][]string{{"", "a"}}); err != nil {
		t.Fatal(err)
	}
	if want := "\ntime in  stays\nbackoff     12\né            –\n\n  a\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// Columns begin below each other, and no line ends in spaces.
func TestColumns(t *testing.T) {
	var b strings.Builder
	cli.WriteColumns(&b, [][]string{{"a", "b"}, {"long", ""}, {"", "c", "d"}})
	if want := "  a     b\n  long\n        c  d\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	cli.WriteColumns(&b, [][]string{{"é", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, {"ab"}})
	if want := "  é   1  2  3  4  5  6  7  8  9\n  ab\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
