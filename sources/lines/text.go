package lines

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// text returns line as UTF-8. A cut-off last line may end within a character.
func (r *Reader) text(line []byte) ([]byte, error) {
	if utf8.Valid(line) || r.cut && validBut(line) {
		return line, nil
	}
	if r.strict {
		return nil, r.binary()
	}
	r.losses.replaced.add(r.line, 1)
	return bytes.ToValidUTF8(line, []byte("\uFFFD")), nil
}

// validBut reports whether line is UTF-8 but for an incomplete character at its end.
func validBut(line []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		if tail := line[len(line)-n:]; utf8.RuneStart(tail[0]) {
			return !utf8.FullRune(tail) && utf8.Valid(line[:len(line)-n])
		}
	}
	return false
}

// plain reports whether a block contains neither a NUL nor invalid UTF-8. Characters that are cut at the block's end, or at
// its beginning within a line, do not count: a line that spans blocks is checked separately.
func plain(block []byte, inside bool) bool {
	if isASCII(block) {
		return true
	}
	if bytes.IndexByte(block, 0) >= 0 {
		return false
	}
	for n := 1; inside && n < utf8.UTFMax && len(block) > 0 && !utf8.RuneStart(block[0]); n++ {
		block = block[1:]
	}
	return utf8.Valid(block) || validBut(block)
}

// isASCII reports whether a block contains only ASCII without NULs, as nearly all do.
func isASCII(block []byte) bool {
	// A byte has its top bit in (b-1)|b if it is 0 or beyond ASCII; what is borrowed from the next one is borrowed for a 0.
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(block) >= 32; block = block[32:] {
		a, b := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
		c, d := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		if ((a-ones)|a|(b-ones)|b|(c-ones)|c|(d-ones)|d)&tops != 0 {
			return false
		}
	}
	for _, b := range block {
		if b == 0 || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
