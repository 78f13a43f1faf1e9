package cli

import (
	"io"
	"strings"

	"github.com/schedq/schedq/sources"
)

// Sentences are what err says, one for each error that was joined. Arguments, file names and what the system
// or a library says of them are in it as they are, so all of it is made safe.
func Sentences(err error) []sources.SafeText {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []sources.SafeText{sources.Sanitize(err.Error())}
	}
	var all []sources.SafeText
	whole := 0
	for _, e := range joined.Unwrap() {
		all = append(all, Sentences(e)...)
		whole += len(e.Error()) + len("\n")
	}
	if whole != len(err.Error())+len("\n") { // a sentence about several errors
		return []sources.SafeText{sources.Sanitize(err.Error())}
	}
	return all
}

// Writer makes safe what is written for a person, line by line: whatever a command or a library says
// there of an argument, a flag or a file name, none of its bytes steers the terminal.
type PlainWriter struct{ io.Writer }

// Write implements io.Writer. Each call has whole lines, or the beginning of one.
func (w PlainWriter) Write(text []byte) (int, error) {
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
