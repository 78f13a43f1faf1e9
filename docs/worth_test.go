package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/docs/doctable"
	"github.com/schedq/schedq/sources"
)

// measured returns the least and the most recall and precision, as "98.9 to 99.2", in a column of a table of
// development/accuracy.md, over the rows whose names begin with workshop, random-1, random-2 and busy, and end as given.
func measured(t *testing.T, name, column, ending string) (recall, precision string) {
	t.Helper()
	table, err := doctable.Read("development/accuracy.md", name)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(table.Header, column)
	if i < 0 {
		t.Fatalf("%s of development/accuracy.md has no column %q", name, column)
	}
	var recalls, precisions []float64
	for _, row := range table.Rows {
		recording, found := strings.CutSuffix(row[0], ending)
		if !found || !slices.Contains([]string{"workshop", "random-1", "random-2", "busy"}, recording) {
			continue
		}
		var r, p float64
		if _, err := fmt.Sscanf(row[i], "%f / %f", &r, &p); err != nil {
			t.Fatalf("%s, %s: %v", row[0], column, err)
		}
		recalls, precisions = append(recalls, r), append(precisions, p)
	}
	if len(recalls) != 4 {
		t.Fatalf("%s of development/accuracy.md has %d of the four recordings", name, len(recalls))
	}
	span := func(all []float64) string {
		return strings.ReplaceAll(fmt.Sprintf("%.1f to %.1f", slices.Min(all), slices.Max(all)), "100.0", "100")
	}
	return span(recalls), span(precisions)
}

// TestWorth compares the claims of sources.WorthOfAudit and its like with the measured figures in development/accuracy.md.
func TestWorth(t *testing.T) {
	for column, claim := range map[string]string{
		"audit log": sources.WorthOfAudit, "EKS policy": sources.WorthOfCloud, "audit log, `-v=2`": sources.WorthWithLog, "EKS policy, `-v=2`": sources.WorthOfCloudWithLog,
	} {
		recall, precision := measured(t, "verify:logs", column, "")
		if want := recall + " % of the moves are found, and " + precision + " % of those reported are right"; claim != want {
			t.Errorf("the claim is\n%s, but column %q of development/accuracy.md is\n%s", claim, column, want)
		}
	}
	alone, _ := measured(t, "verify:parts", "audit log", ", last half")
	seeded, _ := measured(t, "verify:parts", "seeded", ", last half")
	if want := "for the second half of a log alone, " + alone + " % of the moves are found, instead of " + seeded + " % with a seed"; sources.WorthUnseeded != want {
		t.Errorf("the claim is\n%s, but development/accuracy.md has\n%s", sources.WorthUnseeded, want)
	}
}
