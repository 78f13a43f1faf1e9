package sources

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"web-1": true, "a": true, "10.0.0.1": true, "my.node": true, strings.Repeat("a", 253): true,
		"": false, "Web": false, "-a": false, "a-": false, ".": false, "a_b": false, "a b": false, "a/b": false,
		"a\x1b[31m": false, "ä": false, "a\u202e": false, strings.Repeat("a", 254): false,
	} {
		err := CheckName(name)
		if (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil && (strings.ContainsRune(err.Error(), 0x1b) || strings.ContainsRune(err.Error(), 0x202e) || len(err.Error()) > 200) {
			t.Errorf("not safe to show: %q", err)
		}
	}
}

func TestParsePod(t *testing.T) {
	pod, err := ParsePod("default/web-1")
	if err != nil || pod.Namespace != "default" || pod.Name != "web-1" {
		t.Errorf("%v %v", pod, err)
	}
	for _, bad := range []string{"", "web-1", "/web-1", "default/", "default/a/b", "default/\x1b]0;x"} {
		if _, err := ParsePod(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
