package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns docs/reference/keys.md: every binding, by group.
func (m *Map) Markdown() string {
	var b strings.Builder
	b.WriteString("# Keys\n\nGenerated from `keymap/bindings.go`. To change it, edit that file and run `go test ./keymap -update`.\n")
	b.WriteString("\nTwo keys with a space between them are pressed one after the other: the first one shows what may follow. Actions without a key\nare in the palette.\n")
	for _, group := range Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| Keys | Name | In the configuration | Action |\n|---|---|---|---|\n", group)
		for _, binding := range m.In(group) {
			var keys []string
			for _, key := range binding.Keys {
				keys = append(keys, "`"+Display(key)+"`")
			}
			id := "`" + string(binding.ID) + "`"
			if slices.ContainsFunc(m.leaders, func(l Leader) bool { return l.ID == binding.ID }) {
				id = "" // it depends on the keys of others
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(keys, " "), binding.Name, id, binding.Description)
		}
	}
	return b.String()
}
