package explain

import "strings"

// PostFilter returns the part of a scheduler's message after its reasons, which the PostFilter plugins wrote, with its origin in
// front. That is "preemption: ..." only for the plugin that preempts.
func PostFilter(rest string) string {
	if rest == "" || strings.HasPrefix(rest, "preemption:") {
		return rest
	}
	return "PostFilter: " + rest
}
