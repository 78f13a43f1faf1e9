package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue/session/words"
)

// Output is the flag -o of the commands that print.
type Output struct {
	// Also are the formats of the command besides text and json.
	Also   []string
	format string
}

// Register adds the flag to cmd.
func (f *Output) Register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.format, "output", "o", "text", "output format: "+words.Or(f.formats()))
	CompleteWith(cmd, "output", f.formats()...)
}

func (f *Output) formats() []string { return append([]string{"text", "json"}, f.Also...) }

// Is reports whether format, one of Also, was chosen.
func (f *Output) Is(format string) bool { return f.format == format }

// JSON reports whether the output format is JSON.
func (f *Output) JSON() (bool, error) {
	if !slices.Contains(f.formats(), f.format) {
		return false, Suggest(Usagef("invalid output format %q: use %s", f.format, words.Or(f.formats())), f.format, f.formats())
	}
	return f.format == "json", nil
}

// WriteText writes text to w, which is standard output.
func WriteText(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return OutputError(err)
}

// WriteJSON writes v to w, which is standard output, as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	encoder := NewJSONEncoder(w)
	encoder.SetIndent("", "  ")
	return OutputError(encoder.Encode(v))
}

// NewJSONEncoder returns an encoder that writes <, > and & as they are.
func NewJSONEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// OutputError returns err as an error of writing to standard output. A nil err stays nil.
func OutputError(err error) error {
	if err != nil {
		return fmt.Errorf("can't write to standard output: %w", err)
	}
	return nil
}

// WriteNumbers writes tables, each after an empty line, with the first column left-aligned and the
// others right-aligned. Each row has as many cells as the first.
func WriteNumbers(b *strings.Builder, tables ...[][]string) {
	for _, rows := range tables {
		widths := columnWidths(rows)
		b.WriteByte('\n')
		for _, row := range rows {
			fmt.Fprintf(b, "%-*s", widths[0], row[0])
			for i, cell := range row[1:] {
				fmt.Fprintf(b, "  %*s", widths[i+1], cell)
			}
			b.WriteByte('\n')
		}
	}
}

// WriteColumns writes rows, indented and left-aligned. Rows may have different numbers of cells.
func WriteColumns(b *strings.Builder, rows [][]string) {
	widths := columnWidths(rows)
	for _, row := range rows {
		line := " "
		for i, cell := range row {
			line += fmt.Sprintf(" %-*s ", widths[i], cell)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}

// columnWidths returns the width of each column in characters.
func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}
