package cli

import (
	"io"
	"strings"

	"github.com/schedq/schedq/sources"
)

// ErrorLines returns err's text, one line for each joined error, sanitized: errors quote arguments,
// file names, and messages of the system and of libraries.
func ErrorLines(err error) []sources.SafeText {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []sources.SafeText{sources.Sanitize(err.Error())}
	}
	var lines []sources.SafeText
	length := 0
	for _, e := range joined.Unwrap() {
		lines = append(lines, ErrorLines(e)...)
		length += len(e.Error()) + len("\n")
	}
	if length != len(err.Error())+len("\n") { // not errors.Join: one sentence wraps several errors
		return []sources.SafeText{sources.Sanitize(err.Error())}
	}
	return lines
}

// SanitizingWriter sanitizes each line before it reaches the terminal, since commands and libraries
// print arguments, flags and file names.
type SanitizingWriter struct{ io.Writer }

// Write implements io.Writer. Each call contains whole lines, or the beginning of one.
func (w SanitizingWriter) Write(text []byte) (int, error) {
	var safe strings.Builder
	for line := range strings.Lines(string(text)) {
		line, ended := strings.CutSuffix(line, "\n")
		safe.WriteString(string(sources.Sanitize(line)))
		if ended {
			safe.WriteByte('\n')
		}
	}
	if _, err := io.WriteString(w.Writer, safe.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
