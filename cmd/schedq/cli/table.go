package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Numbers writes tables, each below an empty line: the first column to the left, the others to the right. Each row of a
// table has as many cells as its first.
func WriteNumbers(w io.Writer, tables ...[][]string) error {
	for _, rows := range tables {
		if err := numbers(w, rows); err != nil {
			return err
		}
	}
	return nil
}

func numbers(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for c, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", widths[c+1], cell)
		}
		if i == 0 {
			line = "\n" + line
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("can't write to standard output: %w", err)
		}
	}
	return nil
}

// Columns writes rows below each other, all to the left and indented. A row may have fewer cells than another.
func WriteColumns(b *strings.Builder, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := " "
		for i, cell := range row {
			line += fmt.Sprintf(" %-*s ", widths[i], cell)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}
