package theme

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/schedq/schedq/tui/canvas"
)

// Glyphs selects the characters that the screen is drawn with.
type Glyphs string

const (
	// GlyphsAuto depends on the locale and the terminal: see Resolve.
	GlyphsAuto Glyphs = "auto"
	// GlyphsUnicode draws all characters as they are.
	GlyphsUnicode Glyphs = "unicode"
	// GlyphsASCII draws only ASCII, for consoles. Other text becomes question marks.
	GlyphsASCII Glyphs = "ascii"
	// GlyphsNarrow draws ASCII where terminals disagree whether a character takes one cell or two; other text stays.
	GlyphsNarrow Glyphs = "narrow"
)

// AllGlyphs returns all values.
func AllGlyphs() []Glyphs { return []Glyphs{GlyphsAuto, GlyphsUnicode, GlyphsNarrow, GlyphsASCII} }

// ParseGlyphs returns the value of that name. "" is GlyphsAuto.
func ParseGlyphs(name string) (Glyphs, error) {
	if name == "" {
		return GlyphsAuto, nil
	}
	var names []string
	for _, g := range AllGlyphs() {
		if string(g) == strings.ToLower(name) {
			return g, nil
		}
		names = append(names, string(g))
	}
	return "", fmt.Errorf("unknown glyphs %q: use %s", name, strings.Join(names, ", "))
}

// Resolve replaces GlyphsAuto by the environment: ASCII on consoles, whose fonts have few glyphs, and in locales with an encoding
// other than UTF-8; narrow in Chinese, Japanese and Korean locales, where terminals may draw East Asian ambiguous characters two
// cells wide; Unicode elsewhere, also without a locale.
func (g Glyphs) Resolve(getenv func(string) string) Glyphs {
	if g != GlyphsAuto && g != "" {
		return g
	}
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = getenv(name); locale != "" {
			break
		}
	}
	language, encoding, _ := strings.Cut(strings.ToLower(locale), ".")
	encoding, _, _ = strings.Cut(encoding, "@")
	term := getenv("TERM")
	switch {
	case term == "linux", strings.HasPrefix(term, "vt1"), strings.HasPrefix(term, "vt2"):
		return GlyphsASCII
	case locale != "" && encoding != "utf-8" && encoding != "utf8":
		return GlyphsASCII
	case strings.HasPrefix(language, "zh"), strings.HasPrefix(language, "ja"), strings.HasPrefix(language, "ko"):
		return GlyphsNarrow
	}
	return GlyphsUnicode
}

// Translate returns the function that draws a cell's text in the same width, or nil if text is drawn as it is.
func (g Glyphs) Translate() canvas.Translate {
	if g != GlyphsASCII && g != GlyphsNarrow {
		return nil
	}
	plain := plainSigns()
	return func(text string) string {
		if sign, ok := plain[text]; ok {
			return sign
		}
		r, _ := utf8.DecodeRuneInString(text)
		if g == GlyphsNarrow && width.LookupRune(r).Kind() != width.EastAsianAmbiguous {
			return text
		}
		return "??"[:min(canvas.Width(text), 2)]
	}
}

// plainSigns returns the glyphs of the screen with their ASCII replacements.
func plainSigns() map[string]string {
	const (
		signs = "●○◌◉⊘⊞⊟▸»→←↑↓▶‖■✓✗×≤≥≠…—–−·━─═│┃┊┈╸╭╮╰╯┏┓┗┛┬┴┼▁▂▃▄▅▆▇█▀▌▐░▒▲▼"
		plain = "*o?@%+->>><^v>=#+xx<>!~---.=-=||:.-+++++++++++_.:-=+*#\"||,%^V"
	)
	all := make(map[string]string, len(plain))
	i := 0
	for _, sign := range signs {
		all[string(sign)] = plain[i : i+1]
		i++
	}
	return all
}
