package canvas

import "strings"

// Truncate shortens s to at most width cells and ends it with an ellipsis.
func Truncate(s string, width int) string {
	if fitsWidth(s, width) {
		return s
	}
	return head(s, width-1) + ellipsis(width)
}

// TruncateMiddle shortens s to at most width cells by replacing its middle. Pods of a controller share the start of their names and
// differ at the end.
func TruncateMiddle(s string, width int) string {
	if fitsWidth(s, width) {
		return s
	}
	tail := (width - 1) / 2
	return head(s, width-1-tail) + ellipsis(width) + tailOf(s, tail)
}

// Wrap splits s into lines of at most width cells, at spaces if possible.
func Wrap(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	var lines []string
	for len(s) > 0 {
		line := head(s, width)
		if len(line) == 0 { // a wide letter does not fit
			break
		}
		if len(line) < len(s) && s[len(line)] != ' ' {
			if i := strings.LastIndexByte(line, ' '); i > 0 && strings.TrimLeft(line[:i], " ") != "" {
				line = line[:i]
			}
		}
		s = s[len(line):]
		for len(s) > 0 && s[0] == ' ' {
			s = s[1:]
		}
		lines = append(lines, line)
	}
	return lines
}

// fitsWidth reports whether s fits into width cells.
func fitsWidth(s string, width int) bool { return len(s) <= width || Width(s) <= width }

func ellipsis(width int) string {
	if width < 1 {
		return ""
	}
	return "…"
}

// head returns the longest start of s that fits into width cells.
func head(s string, width int) string {
	i, n := 0, 0
	for i < len(s) {
		cluster, w := firstCluster(s[i:])
		if n += max(w, 1); n > width {
			break
		}
		i += len(cluster)
	}
	return s[:i]
}

// tailOf returns the longest end of s that fits into width cells.
func tailOf(s string, width int) string {
	left := Width(s)
	for left > width {
		cluster, w := firstCluster(s)
		left -= max(w, 1)
		s = s[len(cluster):]
	}
	return s
}
