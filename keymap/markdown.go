package keymap

import (
	"fmt"
	"strings"
)

// Markdown returns docs/reference/keys.md: every binding, by group.
func (m *Map) Markdown() string {
	var b strings.Builder
	b.WriteString("# Keys\n\nGenerated from `keymap/bindings.go`. To change it, edit that file and run `go test ./keymap -update`.\n")
	for _, group := range Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| Keys | Name | Action |\n|---|---|---|\n", group)
		for _, binding := range m.In(group) {
			var keys []string
			for _, key := range binding.Keys {
				keys = append(keys, "`"+Display(key)+"`")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(keys, " "), binding.Name, binding.Description)
		}
	}
	return b.String()
}
