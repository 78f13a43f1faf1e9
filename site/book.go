package main

// part is a part of the book: pages that belong together.
type part struct {
	title string
	pages []string // paths in the project
}

// book is all pages, in the order in which one may read them.
func book() []part {
	return []part{
		{"Start", []string{"README.md", "docs/tour.md", "docs/queue.md", "docs/recipes.md", "docs/playground.md", "docs/screens.md", "docs/install.md"}},
		{"Your cluster", []string{"docs/live.md", "docs/recorder.md", "docs/fleet.md", "docs/security.md"}},
		{"Your recordings", []string{"docs/audit.md", "docs/seed.md", "docs/damaged.md", "docs/memory.md"}},
		{"By platform", []string{
			"docs/platforms.md", "docs/platforms/eks.md", "docs/platforms/gke.md", "docs/platforms/aks.md", "docs/platforms/openshift.md",
			"docs/platforms/k3s.md", "docs/platforms/kubeadm.md", "docs/platforms/kwok.md", "docs/platforms/simulator.md",
			"docs/platforms/k8shark.md", "docs/platforms/workloads.md",
		}},
		{"Learning and teaching", []string{"docs/lessons.md", "docs/room.md"}},
		{"Reference", []string{
			"docs/keys.md", "docs/filter.md", "docs/config.md", "docs/explain.md", "docs/watch.md", "docs/verify.md", "docs/configuration.md",
			"docs/releases.md", "docs/trace-format.md", "docs/glossary.md", "docs/systems.md", "docs/versions.md",
		}},
		{"Inside", []string{"docs/architecture.md", "docs/embedding.md", "docs/decisions.md", "CONTRIBUTING.md"}},
	}
}

// host is where the project's files are that are no pages.
const host = "https://github.com/schedq/schedq/"
