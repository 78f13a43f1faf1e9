package doctor

// Commands returns the commands of a platform's guide.
func Commands(platform string) []string {
	g := guideOf(platform)
	return append(g.log, g.audit...)
}
