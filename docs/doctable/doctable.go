// Package doctable keeps measured tables in the documentation. A table stands in a Markdown page between the comments
// <!-- name --> and <!-- end -->. The test that measures its rows compares them with the page, or writes them there.
package doctable

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// end is the comment behind a table.
const end = "<!-- end -->\n"

// Table is a Markdown table. The first cell of a row names it.
type Table struct {
	Header []string
	Rows   [][]string
}

// Check compares measured cells with the table of that name in the page, which may have more columns and more rows. It
// skips rows that the page lacks, such as those of a user's own recordings. With update, Check writes the measured cells
// into the page instead.
func Check(t testing.TB, page, name string, measured Table, update bool) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, after, table, err := find(string(text), name)
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	if update {
		written := before + merge(table, measured).String() + after
		if err := os.WriteFile(page, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, row := range measured.Rows {
		i := table.index(row[0])
		if i < 0 {
			t.Logf("%s: %s has no row for %q", page, name, row)
			continue
		}
		for j, column := range measured.Header {
			if k := slices.Index(table.Header, column); k < 0 {
				t.Fatalf("%s: %s has no column %q", page, name, column)
			} else if got := table.Rows[i][k]; got != row[j] {
				t.Errorf("%s: %s has %q for %s, %s, want %q: run make accuracy", page, name, got, row[0], column, row[j])
			}
		}
	}
}

// Read returns the table of that name in a page.
func Read(page, name string) (Table, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return Table{}, err
	}
	_, _, table, err := find(string(text), name)
	return table, err
}

// find returns the text before and after a table, and the table, which is empty if nothing has been measured yet.
func find(text, name string) (before, after string, table Table, err error) {
	start := "<!-- " + name + " -->\n"
	before, rest, found := strings.Cut(text, start)
	body, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", "", table, fmt.Errorf("there is no table between %q and %q", strings.TrimSpace(start), strings.TrimSpace(end))
	}
	for i, line := range strings.Split(strings.TrimSpace(body), "\n") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case line == "", i == 1: // the line below the header
		case i == 0:
			table.Header = cells
		case len(cells) != len(table.Header):
			return "", "", table, fmt.Errorf("the row %q does not have %d cells", line, len(table.Header))
		default:
			table.Rows = append(table.Rows, cells)
		}
	}
	return before + start, end + after, table, nil
}

// merge returns table with the cells of measured.
func merge(table, measured Table) Table {
	for j, column := range measured.Header {
		k := slices.Index(table.Header, column)
		if k < 0 {
			k = len(table.Header)
			table.Header = append(table.Header, column)
			for i := range table.Rows {
				table.Rows[i] = append(table.Rows[i], "")
			}
		}
		for _, row := range measured.Rows {
			i := table.index(row[0])
			if i < 0 {
				i = len(table.Rows)
				table.Rows = append(table.Rows, make([]string, len(table.Header)))
			}
			table.Rows[i][k] = row[j]
		}
	}
	return table
}

// index returns the number of the row of that name, or -1.
func (t Table) index(name string) int {
	return slices.IndexFunc(t.Rows, func(row []string) bool { return row[0] == name })
}

// String writes the table in Markdown.
func (t Table) String() string {
	var s strings.Builder
	line := func(cells []string) { s.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.Header)
	s.WriteString(strings.Repeat("|---", len(t.Header)) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return s.String()
}
