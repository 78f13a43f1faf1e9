package docs

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources/worth"
)

// TestWorth: what logs are said to be worth is what docs/use/audit.md's table has.
func TestWorth(t *testing.T) {
	text, err := os.ReadFile("use/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (?:workshop|random-1|random-2|busy) \|(.+)\|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) != 4 {
		t.Fatalf("docs/use/audit.md has %d recordings in its table", len(rows))
	}
	said := []string{worth.Audit, worth.Cloud, worth.Beside, worth.BesideCloud}
	ranges := make([][4]float64, len(said)) // recall's least and most, and precision's
	for i := range ranges {
		ranges[i] = [4]float64{math.Inf(1), 0, math.Inf(1), 0}
	}
	for _, row := range rows {
		for i, cell := range strings.Split(row[1], "|") {
			var recall, precision float64
			if _, err := fmt.Sscanf(strings.TrimSpace(cell), "%f / %f", &recall, &precision); err != nil {
				t.Fatal(err)
			}
			r := &ranges[i]
			r[0], r[1], r[2], r[3] = min(r[0], recall), max(r[1], recall), min(r[2], precision), max(r[3], precision)
		}
	}
	for i, r := range ranges {
		number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
		want := fmt.Sprintf("%s to %s %% of the moves are found, and %s to %s %% of those told are right", number(r[0]), number(r[1]), number(r[2]), number(r[3]))
		if said[i] != want {
			t.Errorf("said is\n%s, but docs/use/audit.md's column %d is\n%s", said[i], i+1, want)
		}
	}
}
