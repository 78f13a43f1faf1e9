package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/report"
)

// table returns pods as CSV, with the column names of the JSON output.
func table(pods []report.Waiting) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"pod", "tier", "ageSeconds", "inTierSeconds", "attempts", "priority", "plugins", "nextTry", "provenance", "reason", "cause", "attemptsAtLeast"}}
	for _, p := range pods {
		next := ""
		if p.NextTry != nil {
			next = p.NextTry.UTC().Format(time.RFC3339Nano)
		}
		rows = append(rows, []string{
			text(string(p.Pod)), p.Tier, seconds(p.Age), seconds(p.InTier), strconv.Itoa(p.Attempts), strconv.Itoa(int(p.Priority)),
			text(strings.Join(p.Plugins, " ")), next, p.Provenance,
			p.Reason, text(string(p.Cause)), strconv.FormatBool(p.AttemptsAtLeast),
		})
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

func seconds(s report.Seconds) string {
	return strconv.FormatFloat(time.Duration(s).Seconds(), 'f', -1, 64)
}

// text keeps spreadsheets from interpreting a name as a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// document returns the pods as schedq list -o json prints them.
func document(l *session.Listing) ([]byte, error) {
	b, err := json.MarshalIndent(l, "", "  ")
	return append(b, '\n'), err
}
