package cli_test

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/cmd/schedq/cli"
)

// TestWriteNumbers: numbers are right-aligned, and each character counts as one cell.
func TestWriteNumbers(t *testing.T) {
	var b strings.Builder
	cli.WriteNumbers(&b, [][]string{{"time in", "stays"}, {"backoff", "12"}, {"é", "–"}}, [][]string{{"", "a"}})
	if want := "\ntime in  stays\nbackoff     12\né            –\n\n  a\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestWriteColumns: columns are left-aligned, and lines do not end in spaces.
func TestWriteColumns(t *testing.T) {
	for _, c := range []struct {
		rows [][]string
		want string
	}{
		{[][]string{{"a", "b"}, {"long", ""}, {"", "c", "d"}}, "  a     b\n  long\n        c  d\n"},
		{[][]string{{"é", "1", "2"}, {"ab"}}, "  é   1  2\n  ab\n"},
	} {
		var b strings.Builder
		if cli.WriteColumns(&b, c.rows); b.String() != c.want {
			t.Errorf("%q, want %q", b.String(), c.want)
		}
	}
}
