package wrapped

import (
	"testing"
	"time"
)

// TestStamp: each form of time, and the next within a second, is written as RFC 3339 has it.
func TestStamp(t *testing.T) {
	var w writer
	for _, c := range []struct {
		text string
		form form
		want string
	}{
		{"2026-11-21T10:56:16.375925Z", asText, "2026-11-21T10:56:16.375925Z"},
		{"2026-11-21T10:56:16.400Z", asText, "2026-11-21T10:56:16.4Z"},
		{"2026-11-21T10:56:16Z", asText, "2026-11-21T10:56:16Z"},
		{"2026-11-21T10:56:16.000000000Z", asText, "2026-11-21T10:56:16Z"},
		{"2026-11-21T11:56:16.5+01:00", asText, "2026-11-21T10:56:16.5Z"},
		{"2026-11-21T11:56:16+0100", asText, "2026-11-21T10:56:16Z"},
		{"2026-11-21T10:56:16.1Z", asText, "2026-11-21T10:56:16.1Z"},
		{"2026-11-21T10:56:16.x1Z", asText, ""},
		{"2026-11-21T10:56:16.Z", asText, ""},
		{"2026-13-21T10:56:16.1Z", asText, ""},
		{"2026-13-21T10:56:16.2Z", asText, ""},
		{"1795258576375", inMillis, "2026-11-21T10:56:16.375Z"},
		{"1795258576000", inMillis, "2026-11-21T10:56:16Z"},
		{"1795258577001", inMillis, "2026-11-21T10:56:17.001Z"},
		{"1795258577001000", inMicros, "2026-11-21T10:56:17.001Z"},
		{"1795258577001", inMicros, "1970-01-21T18:40:58.577001Z"},
		{"7", inMillis, "1970-01-01T00:00:00.007Z"},
		{"-7000", inMillis, ""},
		{"x7000", inMillis, ""},
		{"", inMillis, ""},
		{"0", inMillis, ""},
	} {
		if got := string(w.stamp(moment{[]byte(c.text), c.form})); got != c.want {
			t.Errorf("%s (%d) is %q, want %q", c.text, c.form, got, c.want)
		}
		if _, err := time.Parse(time.RFC3339Nano, c.want); c.want != "" && err != nil {
			t.Error(err)
		}
	}
}
