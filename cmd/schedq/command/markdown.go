package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/format"
)

// markdown returns x in GitHub's Markdown, for an issue or a chat.
func markdown(x *explain.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s at %s UTC\n\n", inMarkdown(string(x.Pod)), x.Time.Format("2006-01-02 15:04:05.000"))
	if c := x.Conclusion; c != nil {
		fmt.Fprintf(&b, "**%s**\n\n", inMarkdown(string(c.Summary)))
		for _, line := range c.Lines() {
			fmt.Fprintf(&b, "%s\n\n", inMarkdown(line))
		}
	}
	if v := x.Opinion(); v != nil {
		fmt.Fprintf(&b, "**%s**\n\n", inMarkdown(string(v.Sentence)))
		for _, seen := range v.Evidence {
			fmt.Fprintf(&b, "- %s %s\n", seen.Time.Format("15:04:05.000"), inMarkdown(string(seen.Text)))
		}
		b.WriteByte('\n')
	}
	if a := x.LastAttempt; a != nil && len(a.Reasons) > 0 {
		var rows [][]string
		for _, r := range a.Reasons {
			rows = append(rows, []string{strconv.Itoa(r.Nodes), r.Plugin, string(r.Reason)})
		}
		fmt.Fprintf(&b, "Last attempt at %s, %s, over %s:\n\n", a.Time.Format("15:04:05.000"), a.Provenance, format.Plural(a.Nodes, "node"))
		markdownTable(&b, []string{"nodes", "plugin", "reason"}, rows)
	}
	if n := x.Needs; n != nil && len(n.Nearest) > 0 {
		var rows [][]string
		for _, node := range n.Nearest {
			rows = append(rows, []string{string(node.Node), node.String()})
		}
		b.WriteString("Nearest nodes:\n\n")
		markdownTable(&b, []string{"node", "lacks"}, rows)
	}
	for _, note := range x.Notes {
		fmt.Fprintf(&b, "*%s*\n\n", inMarkdown(note))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func markdownTable(b *strings.Builder, head []string, rows [][]string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(b, "| %s ", inMarkdown(cell))
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
}

// inMarkdown escapes what Markdown would interpret.
func inMarkdown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>|#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
