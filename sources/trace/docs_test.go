package trace

import (
	"os"
	"strings"
	"testing"
)

// TestDocumentedExample reads the example of docs/reference/trace-format.md.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/trace-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```json\n")
	example, _, _ := strings.Cut(after, "```")
	part, err := read([]byte(example))
	if err != nil || len(part.Notices) != 0 || len(part.Events) != strings.Count(example, "\n")-1 {
		t.Errorf("%v %+v", err, part)
	}
}
