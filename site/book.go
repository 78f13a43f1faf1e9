package main

// part is a group of pages in the table of contents.
type part struct {
	title string
	pages []string // paths in the repository
}

// book returns all pages in reading order.
func book() []part {
	return []part{
		{"Start", []string{"README.md", "docs/start/tour.md", "docs/start/queue.md", "docs/start/cycle.md", "docs/start/recipes.md", "docs/start/screens.md", "docs/start/install.md"}},
		{"Use", []string{
			"docs/use/live.md", "docs/use/recordings.md", "docs/use/platforms.md", "docs/use/recorder.md", "docs/use/lessons.md", "docs/use/room.md",
		}},
		{"Reference", []string{
			"docs/reference/keys.md", "docs/reference/filter.md", "docs/reference/settings.md", "docs/reference/scheduler-configuration.md", "docs/reference/outputs.md",
			"docs/reference/trace-format.md", "docs/reference/releases.md", "docs/reference/verdicts.md", "docs/reference/glossary.md", "docs/reference/security.md",
		}},
		{"Development", []string{"docs/development/architecture.md", "docs/development/accuracy.md", "docs/development/embedding.md", "CONTRIBUTING.md"}},
	}
}

// repository is the address of files that are not part of the site.
const repository = "https://github.com/schedq/schedq/"
