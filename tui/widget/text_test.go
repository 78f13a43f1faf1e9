package widget

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/tui/canvas"
)

// TestTextIsWrapped: lines are wrapped to the width without losing text.
func TestTextIsWrapped(t *testing.T) {
	o := &Text{}
	for _, line := range []string{"a\tb", strings.Repeat("x", 1000), strings.Repeat("日本", 100), "", "\x1b[31mred"} {
		o.text = append(o.text, expandTabs(line))
	}
	o.Settle(40, 10)
	if o.lines[0] != "a       b" {
		t.Errorf("a tab makes %q", o.lines[0])
	}
	all := ""
	for _, line := range o.lines {
		if canvas.Width(line) > 38 {
			t.Errorf("%q is too wide", line)
		}
		all += line
	}
	if strings.Count(all, "x") != 1000 || strings.Count(all, "日本") != 100 {
		t.Error("some text is missing")
	}
}
