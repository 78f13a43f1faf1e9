package command

import (
	"os"
	"strings"
	"testing"
)

// TestSplitPods: pods and files may come in any order.
func TestSplitPods(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"recording", "web-1"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"a":                             "a|",
		"a b shop/c":                    "a b shop/c|",
		"pod/a pods/shop/b po/c":        "a shop/b c|",
		"a recording":                   "a|recording",
		"recording a":                   "a|recording",
		"audit.log.gz sched.log a":      "a|audit.log.gz sched.log",
		"a missing.log":                 "a|missing.log",
		"a - ./x ../y /z http://host/r": "a|- ./x ../y /z http://host/r",
		"web-1":                         "web-1|",
		"web-1 recording":               "web-1|recording",
		"pod/web-1 web-1":               "web-1|web-1",
		"a web-1":                       "a|web-1",
		"audit.log":                     "|audit.log",
		"pod/":                          "|",
		"":                              "|",
	} {
		pods, paths := splitPods(strings.Fields(args))
		if got := strings.Join(pods, " ") + "|" + strings.Join(paths, " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
