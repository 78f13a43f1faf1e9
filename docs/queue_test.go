package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestQueueStates: queue.md has every way from state to state that queue/doc.go has, with its label, and its picture every state.
func TestQueueStates(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page, picture := read("start/queue.md"), read("start/queue.svg")
	told := map[string]bool{} // from → to, as the page's table has it
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| [^|]+ \|[^|]*\|$`).FindAllStringSubmatch(page, -1) {
		for from := range strings.SplitSeq(row[1], ", ") {
			for to := range strings.SplitSeq(row[2], ", ") {
				told[from+" → "+to] = true
			}
		}
	}
	way := regexp.MustCompile(`(?m)^//\t([a-z(), ]+?) +─*\s*[A-Z][^▶]*▶ ([a-z, ]+?)(?: {2,}(.*))?$`)
	names := strings.NewReplacer("(new)", "new", "active", "activeQ", "backoff", "backoffQ", "inflight", "in flight", "scheduled", "bound", "any that waits", "any in which it waits")
	label := regexp.MustCompile(`[A-Z]\w+(?:Add|Timeout|Failure|Complete|Activate)\b`)
	ways := way.FindAllStringSubmatch(read("../queue/doc.go"), -1)
	if len(ways) < 13 {
		t.Fatalf("queue/doc.go has the ways %q", ways)
	}
	for _, way := range ways {
		for from := range strings.SplitSeq(names.Replace(way[1]), ", ") {
			for to := range strings.SplitSeq(names.Replace(way[2]), ", ") {
				if !told[from+" → "+to] {
					t.Errorf("queue.md has no way %s → %s", from, to)
				}
				if to != "deleted" && !strings.Contains(picture, ">"+to+"<") {
					t.Errorf("queue.svg does not show %s", to)
				}
			}
		}
		for _, name := range label.FindAllString(way[3], -1) {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("queue.md does not have the label %s", name)
			}
		}
	}
}
