package decisions

import "time"

const (
	// alone is what it costs to leave a change or a line without a partner.
	alone = 10 * time.Second
	// maxApart is how far a change and its line can be apart. An object that was there when the
	// scheduler started has the line of its addition then.
	maxApart = 2 * time.Second
)

// align pairs an object's changes with its log lines, in order, so that as many changes as possible
// have a line with the same content, as close in time as possible. It returns each change's line,
// or -1.
func align(changes []change, lines []int, log []line) []int {
	n, m := len(changes), len(lines)
	cost := make([][]time.Duration, n+1) // of the first changes and the first lines
	for i := range cost {
		cost[i] = make([]time.Duration, m+1)
		for j := range cost[i] {
			switch {
			case i == 0:
				cost[i][j] = time.Duration(j) * alone
			case j == 0:
				cost[i][j] = time.Duration(i) * alone
			default:
				cost[i][j] = min(cost[i-1][j], cost[i][j-1]) + alone
				if c, ok := pairing(&changes[i-1], &log[lines[j-1]]); ok {
					cost[i][j] = min(cost[i][j], cost[i-1][j-1]+c)
				}
			}
		}
	}
	pairs := make([]int, n)
	for i, j := n, m; i > 0; {
		var c time.Duration
		var ok bool
		if j > 0 {
			c, ok = pairing(&changes[i-1], &log[lines[j-1]])
		}
		switch {
		case ok && cost[i][j] == cost[i-1][j-1]+c:
			pairs[i-1] = lines[j-1]
			i, j = i-1, j-1
		case j > 0 && cost[i][j] == cost[i][j-1]+alone:
			j--
		default:
			pairs[i-1] = -1
			i--
		}
	}
	return pairs
}

// pairing returns the cost of pairing l with c, and whether they can be paired.
func pairing(c *change, l *line) (time.Duration, bool) {
	if c.logged != l.kind {
		return 0, false
	}
	apart := l.at.Sub(c.at).Abs()
	added := l.kind == addPod || l.kind == addAssigned || l.kind == addNode
	return min(apart, alone), added || apart < maxApart
}
