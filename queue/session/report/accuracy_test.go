package report_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/docs/doctable"
	"github.com/schedq/schedq/queue/session/report"
)

var update = flag.Bool("update", false, "write the measured figures into docs/development/accuracy.md")

// The tables of docs/development/accuracy.md that the tests in this package measure.
const (
	byLogs   = "verify:logs"
	byPart   = "verify:parts"
	attached = "verify:attached"
)

// checkTable compares measured rows with a table of docs/development/accuracy.md, or writes them there.
func checkTable(t *testing.T, name string, header []string, rows [][]string) {
	t.Helper()
	doctable.Check(t, "../../../docs/development/accuracy.md", name, doctable.Table{Header: header, Rows: rows}, *update)
}

// recordingOf returns the name of the recording that a subtest reads.
func recordingOf(t *testing.T) string { return filepath.Base(t.Name()) }

// cell returns recall, precision and the share of the time as the tables have them.
func cell(v *report.Verification) string {
	return strings.Join([]string{percent(v.Transitions.Recall), percent(v.Transitions.Precision), percent(v.PodSeconds.Share)}, " / ")
}

// percent rounds a share to tenths of a percent.
func percent(share float64) string {
	if text := fmt.Sprintf("%.1f", 100*share); text != "100.0" {
		return text
	}
	return "100"
}
