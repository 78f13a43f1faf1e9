package theme

import (
	"testing"

	"golang.org/x/text/width"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
)

func TestGlyphsByLocale(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want Glyphs
	}{
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm-256color"}, GlyphsUnicode},
		{map[string]string{"TERM": "xterm-256color"}, GlyphsUnicode}, // a container without a locale
		{map[string]string{"LANG": "C"}, GlyphsASCII},
		{map[string]string{"LANG": "C.UTF-8"}, GlyphsUnicode},
		{map[string]string{"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, GlyphsASCII},
		{map[string]string{"LC_CTYPE": "de_DE.utf8@euro", "LANG": "C"}, GlyphsUnicode},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, GlyphsASCII},
		{map[string]string{"LANG": "ja_JP.UTF-8"}, GlyphsNarrow},
		{map[string]string{"LANG": "zh_CN.GB18030"}, GlyphsASCII},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "linux"}, GlyphsASCII},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "vt220"}, GlyphsASCII},
	} {
		if got := GlyphsAuto.Resolve(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v is drawn with %s, want %s", test.env, got, test.want)
		}
	}
	if got := GlyphsUnicode.Resolve(func(string) string { return "C" }); got != GlyphsUnicode {
		t.Errorf("unicode resolves to %s", got)
	}
}

// TestTranslatedTextKeepsItsWidth: ASCII and narrow replacements take as many cells, and narrow
// ones have no ambiguous width.
func TestTranslatedTextKeepsItsWidth(t *testing.T) {
	ascii, narrow := GlyphsASCII.Translate(), GlyphsNarrow.Translate()
	for sign := range plainSigns() {
		if got := ascii(sign); len(got) != 1 || got[0] >= 0x80 {
			t.Errorf("%s becomes %q", sign, got)
		}
	}
	for _, text := range []string{"日", "ä", "ß", "█", "①", "\uFFFD", "é", "√"} {
		if got := ascii(text); len(got) != canvas.Width(text) || got[0] >= 0x80 {
			t.Errorf("%s becomes %q, which has another width", text, got)
		}
		got := narrow(text)
		if canvas.Width(got) != canvas.Width(text) {
			t.Errorf("%s becomes %q, which has another width", text, got)
		}
		for _, r := range got {
			if width.LookupRune(r).Kind() == width.EastAsianAmbiguous {
				t.Errorf("%s becomes %q, whose width is ambiguous", text, got)
			}
		}
	}
	if got := narrow("日"); got != "日" {
		t.Errorf("日 becomes %q", got)
	}
}

// TestSixteenColorsDistinguishTiers: with sixteen colours, no two tiers look alike, nor like dim or
// selected text.
func TestSixteenColorsDistinguishTiers(t *testing.T) {
	for _, named := range []Theme{Auto, Dark, Light, HighContrast, ColorBlind} {
		for _, dark := range []bool{true, false} {
			palette := NewPalette(named, dark, false, true)
			seen := map[string]string{palette[Dim]: "dim text", palette[Accent]: "the selection", palette[Plain]: "plain text"}
			for tier := queue.Active; tier <= queue.InFlight; tier++ {
				color := palette[Tier(tier)]
				if other, taken := seen[color]; taken {
					t.Errorf("%s, dark %t: %s looks like %s: %q", named, dark, TierName(tier), other, color)
				}
				seen[color] = TierName(tier)
			}
		}
	}
}
