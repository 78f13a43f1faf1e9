package explain_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/schedq/schedq/queue/session/explain"
)

// TestReasonsAreDocumented: docs/reference/outputs.md lists every reason, in the order of precedence.
func TestReasonsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/reference/outputs.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|").FindAllSubmatch(doc, -1)
	for i, want := range explain.Reasons() {
		if i >= len(rows) || string(rows[i][1]) != string(want) {
			t.Fatalf("row %d of the table is not %s", i, want)
		}
	}
	if len(rows) != len(explain.Reasons()) {
		t.Errorf("the table has %d rows, and there are %d reasons", len(rows), len(explain.Reasons()))
	}
}
