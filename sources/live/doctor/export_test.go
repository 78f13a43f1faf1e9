package doctor

// Commands are those of a platform's guide.
func Commands(platform string) []string {
	g := guideOf(platform)
	return append(g.log, g.audit...)
}
