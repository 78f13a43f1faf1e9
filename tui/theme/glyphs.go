package theme

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/schedq/schedq/tui/canvas"
)

// Glyphs say with which signs the screen is drawn.
type Glyphs string

const (
	// GlyphsAuto goes by the locale and by the terminal: see Resolve.
	GlyphsAuto Glyphs = "auto"
	// GlyphsUnicode are those of the code.
	GlyphsUnicode Glyphs = "unicode"
	// GlyphsASCII are ASCII alone, for consoles. What is no ASCII in text is a question mark.
	GlyphsASCII Glyphs = "ascii"
	// GlyphsNarrow are ASCII where terminals disagree whether a sign takes one cell or two; other text stays.
	GlyphsNarrow Glyphs = "narrow"
)

// AllGlyphs returns all that can be asked for.
func AllGlyphs() []Glyphs { return []Glyphs{GlyphsAuto, GlyphsUnicode, GlyphsNarrow, GlyphsASCII} }

// ParseGlyphs finds the one of that name. Empty is GlyphsAuto.
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
	return "", fmt.Errorf("there are no glyphs %q, only %s", name, strings.Join(names, ", "))
}

// Resolve is what GlyphsAuto means where getenv has the environment: ASCII on consoles, whose fonts have few signs, and
// where the locale names an encoding other than UTF-8; narrow in Chinese, Japanese and Korean locales, in which terminals
// may draw East Asian ambiguous signs two cells wide; Unicode elsewhere, also where no locale is set.
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

// Translate returns what draws a cell's text with g, in as many cells, or nil where it is drawn as it is.
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

// plainSigns are the signs of the code, and what is ASCII for each.
func plainSigns() map[string]string {
	const (
		signs = "●○◌◉⊘⊞⊟▸»→←↑↓▶‖■✓✗×≤≠…—–−·━─═│┃┊┈╸╭╮╰╯┏┓┗┛┬┴┼▁▂▃▄▅▆▇█▀▌▐░▒▲▼"
		plain = "*o?@%+->>><^v>=#+xx<!~---.=-=||:.-+++++++++++_.:-=+*#\"||,%^V"
	)
	all := make(map[string]string, len(plain))
	i := 0
	for _, sign := range signs {
		all[string(sign)] = plain[i : i+1]
		i++
	}
	return all
}
