package doctable

import (
	"os"
	"path/filepath"
	"testing"
)

// failures counts errors instead of failing.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Logf(string, ...any)   {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestCheck(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const text = "# Title\n\n<!-- a -->\n| recording | recall |\n|---|---|\n| busy | 98.9 |\n| mine | 1 |\n<!-- end -->\n\nText.\n\n<!-- b -->\n<!-- end -->\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	header := []string{"recording", "recall"}
	for _, c := range []struct {
		name   string
		table  Table
		errors int
	}{
		{"the same", Table{header, [][]string{{"busy", "98.9"}}}, 0},
		{"a recording that the page does not have", Table{header, [][]string{{"yours", "2"}}}, 0},
		{"another figure", Table{header, [][]string{{"busy", "98.8"}, {"mine", "1"}}}, 1},
		{"some of the columns", Table{header[:1], [][]string{{"busy"}}}, 0},
	} {
		f := &failures{TB: t}
		if Check(f, page, "a", c.table, false); f.n != c.errors {
			t.Errorf("%s: %d errors, want %d", c.name, f.n, c.errors)
		}
	}
	Check(t, page, "a", Table{header, [][]string{{"busy", "99"}, {"yours", "2"}}}, true)
	Check(t, page, "b", Table{header, [][]string{{"busy", "3"}}}, true)
	Check(t, page, "b", Table{[]string{"recording", "time"}, [][]string{{"busy", "4"}}}, true)
	const want = "# Title\n\n<!-- a -->\n| recording | recall |\n|---|---|\n| busy | 99 |\n| mine | 1 |\n| yours | 2 |\n<!-- end -->\n\nText.\n\n<!-- b -->\n| recording | recall | time |\n|---|---|---|\n| busy | 3 | 4 |\n<!-- end -->\n"
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("the page is %q (%v), want %q", got, err, want)
	}
	if table, err := Read(page, "b"); err != nil || len(table.Rows) != 1 || table.Rows[0][1] != "3" {
		t.Errorf("table b is %v, %v", table, err)
	}
	if _, err := Read(page, "c"); err == nil {
		t.Error("a table that the page lacks was read")
	}
}
