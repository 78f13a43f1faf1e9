package canvas

import "testing"

// TestPlain: plain agrees with Unicode's tables, whatever text follows.
func TestPlain(t *testing.T) {
	var behind []string
	for _, r := range []rune{0, ' ', 'a', 0x7f, 0x80, 0xa0, 0x301, 0x903, 0x200b, 0x200d, 0x20dd, 0x20e3, 0x2500, 0x2580, 0x25a0, 0x25aa, 0xfe0e, 0xfe0f, '世', 0x1f3fb, 0xe0020} {
		behind = append(behind, string(r))
	}
	behind = append(behind, "", "\x80", "\xe2", "\xe2\x94", "\xe2\x96", "\u2500\u0301")
	first := []string{"\xe2\x94", "\xe2\x96", "\xe2\x94\xc0", "\xe2\x95\xff"}
	for r := range rune(0x3000) {
		first = append(first, string(r))
	}
	shortcuts := 0
	for _, begin := range first {
		for _, rest := range behind {
			s := begin + rest
			if s == "" {
				continue
			}
			if plain(s) == 0 {
				continue
			}
			shortcuts++
			if cluster, width := anyCluster(s); cluster != s[:plain(s)] || width != 1 {
				t.Errorf("%+q begins with %+q of %d cells, and plain takes it for one cell of %d bytes", s, cluster, width, plain(s))
			}
		}
	}
	if shortcuts < (95+0xa0)*8 {
		t.Errorf("only %d texts were handled without the tables", shortcuts)
	}
}
