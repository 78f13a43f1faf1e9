package theme

import (
	"math"
	"strconv"
	"testing"

	"github.com/schedq/schedq/tui/canvas"
)

type rgb [3]float64 // linear, 0 to 1

func parseColor(t *testing.T, s string) rgb {
	t.Helper()
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	var c rgb
	for i := range c {
		v := float64(n>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return c
}

func (c rgb) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is WCAG's ratio of two colours, 1 to 21.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast: every colour is readable on light and dark backgrounds.
func TestContrast(t *testing.T) {
	black, white := rgb{}, rgb{1, 1, 1}
	for _, set := range []struct {
		name   string
		colors map[canvas.Style]shades
		least  float64
	}{
		{"standard", standard(), 4.5}, {"high contrast", highContrast(), 7}, {"colour-blind", colorBlind(), 4.5},
	} {
		for style, pair := range set.colors {
			if c := contrast(parseColor(t, pair.light), white); c < set.least {
				t.Errorf("%s: colour %d, %s, has a contrast of %.1f on white", set.name, style, pair.light, c)
			}
			if c := contrast(parseColor(t, pair.dark), black); c < set.least {
				t.Errorf("%s: colour %d, %s, has a contrast of %.1f on black", set.name, style, pair.dark, c)
			}
		}
	}
}

// blindness has the colours seen with one kind of cone missing, in linear light: Machado, Oliveira and Fernandes 2009.
var blindness = map[string][3]rgb{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab returns CIE 1976 L*a*b*, where a distance of about 2 is just visible.
func (c rgb) lab() [3]float64 {
	x := (0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505
	y := c.luminance()
	z := (0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089
	f := func(v float64) float64 {
		if v = max(v, 0); v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	return [3]float64{116*f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))}
}

// TestColorBlindTiers: the tiers' colours differ for every kind of colour blindness.
func TestColorBlindTiers(t *testing.T) {
	tiers := []canvas.Style{Active, Backoff, Unschedulable, Gated, InFlight}
	for kind, matrix := range blindness {
		seen := func(hex string) [3]float64 {
			c := parseColor(t, hex)
			var out rgb
			for i, row := range matrix {
				out[i] = min(max(row[0]*c[0]+row[1]*c[1]+row[2]*c[2], 0), 1)
			}
			return out.lab()
		}
		for i, a := range tiers {
			for _, b := range tiers[i+1:] {
				for ground, pick := range map[string]func(shades) string{
					"light": func(s shades) string { return s.light }, "dark": func(s shades) string { return s.dark },
				} {
					x, y := seen(pick(colorBlind()[a])), seen(pick(colorBlind()[b]))
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < 15 {
						t.Errorf("%s, on %s: %s and %s are only %.0f apart", kind, ground, pick(colorBlind()[a]), pick(colorBlind()[b]), d)
					}
				}
			}
		}
	}
}

func TestParseTheme(t *testing.T) {
	for name, want := range map[string]Theme{"": Auto, "light": Light, "High-Contrast": HighContrast} {
		if got, err := Skins(nil).Parse(name); err != nil || got != want {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	if _, err := Skins(nil).Parse("solarized"); err == nil || err.Error() != `unknown theme "solarized": use auto, dark, light, high-contrast, colour-blind, none` {
		t.Errorf("an unknown theme: %v", err)
	}
}
