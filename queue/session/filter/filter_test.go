package filter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/filter"
)

// pod returns shop/web-1, which was rejected twice and has waited for 10 minutes.
func pod() *filter.Pod {
	return &filter.Pod{
		Namespace: "shop", Name: "web-1", Tier: queue.Unschedulable,
		Unschedulable: []string{"NodeResourcesFit", "TaintToleration"}, Pending: []string{"DynamicResources"},
		Labels:    map[string]string{"app": "web", "env": "prod"},
		OwnerKind: "ReplicaSet", OwnerName: "web-7d9f", Node: "node-b",
		Attempts: 2, Priority: 1000, Waiting: 10 * time.Minute,
	}
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{
		"":                       true,
		"   ":                    true,
		"!":                      true,
		"web":                    true,
		"WEB":                    true,
		"!web":                   false,
		"!!web":                  true,
		"shop/web":               true,
		"resources":              true,
		"dynamic":                true,
		"app=web":                true,
		"app=":                   true,
		"app=shop":               false,
		"web !shop":              false,
		"web taint":              true,
		"web affinity":           false,
		"web\tshop !db":          true,
		`"web-1"`:                true,
		`"web 1"`:                false,
		"\x1b[31m":               false,
		"/^shop.web-[0-9]$/":     true,
		"/WEB-\\d":               true,
		"/^web/":                 false, // the namespace comes first
		"/Fit$/":                 true,  // of a plugin
		"!/Fit$/":                false,
		"/^a|web 1$/":            false,
		"/web-1|a b/ shop":       true,
		"~swb1":                  true,
		"~bws":                   false,
		"-f sw1":                 true,
		"-l app=web":             true,
		"-l app=web,env!=prod":   false,
		"-l env in (prod, dev)":  true,
		"-l env in (dev) web":    false,
		"-l app web":             true, // a selector, then a word
		"-l app db":              false,
		`-l "env notin (prod)"`:  false,
		"! -l !app":              false, // a lone ! is incomplete
		"!-l !app":               true,
		"!-l app":                false,
		"-l !canary ns:shop":     true,
		"ns:sho":                 true,
		"ns=sho":                 false,
		"ns=shop":                true,
		"namespace!=shop":        false,
		"name:web":               true,
		"name:shop":              false,
		"plugin:taint":           true,
		"plugin=TaintToleration": true,
		"plugin=Taint":           false,
		"plugin:Dynamic":         true,
		"!plugin:Volume":         true,
		"tier:unsched":           true,
		"tier:backoff":           false,
		"tier=backoffQ":          false,
		"tier!=active":           true,
		"owner:replicaset/web":   true,
		"owner=web-7d9f":         true,
		"owner:job":              false,
		"node:node-b":            true,
		"attempts>1":             true,
		"attempts>2":             false,
		"attempts>=2 attempts<3": true,
		"attempts!=2":            false,
		"prio>=1000":             true,
		"priority<0":             false,
		"waiting>5m":             true,
		"waiting>=600s":          true,
		"waiting<10m":            false,
		"waiting<2d":             true,
	} {
		f, err := filter.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := f.Match(pod()); got != want {
			t.Errorf("%q matches: %t, want %t", text, got, want)
		}
	}
}

// TestGatingPlugin: the plugin that gates a pod is matched like plugins that reject it.
func TestGatingPlugin(t *testing.T) {
	p := &filter.Pod{Tier: queue.Gated, Gating: "SchedulingGates"}
	for text, want := range map[string]bool{"plugin:gates": true, "gates": true, "tier:gated": true, "plugin:fit": false, "owner:a": false} {
		if f, err := filter.Parse(text); err != nil || f.Match(p) != want {
			t.Errorf("%q matches: %t, want %t (%v)", text, !want, want, err)
		}
	}
}

// TestErrors: errors have a position, so that the user finds it in a long filter.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"colour:red":                 "letter 1: unknown field colour: use one of ns, name, plugin",
		"web size>3":                 "letter 5: unknown field size",
		"attempts>":                  "letter 10: value missing after attempts>",
		"attempts>many":              `letter 10: "many" is not a whole number`,
		"attempts:2":                 "letter 9: attempts supports > >= < <= = !=",
		"ns>a":                       "letter 3: ns supports : = !=",
		"prio>=99999999999999999999": `letter 7: "99999999999999999999" is not a whole number`,
		"tier:front":                 `letter 6: unknown tier "front": use one of active, backoff`,
		"tier>active":                "letter 5: tier supports : = !=",
		"waiting>soon":               `letter 9: invalid duration "soon": use 90s, 5m, 1h30m or 2d`,
		"waiting>-5m":                "letter 9: ",
		"waiting=5m":                 "letter 8: waiting supports > >= < <=",
		"äö /a(/":                    "letter 5: invalid regular expression: missing closing )",
		`web "two words`:             `letter 5: closing " is missing`,
		"-l":                         "letter 3: label selector missing",
		"-l app=a=b":                 "letter 4: invalid label selector: ",
		"web ~":                      "letter 6: letters missing after ~",
		"-f ":                        "letter 4: letters missing after -f",
		"-l env in (prod":            "letter 4: invalid label selector: ",
	} {
		_, err := filter.Parse(text)
		var mistake *filter.Error
		if !errors.As(err, &mistake) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestWaits: pods must be matched again when their waiting time passes one of the filter's.
func TestWaits(t *testing.T) {
	f, err := filter.Parse("web waiting>5m !waiting>1h")
	if err != nil || len(f.Waits()) != 2 || f.Waits()[0] != 5*time.Minute || f.Waits()[1] != time.Hour {
		t.Errorf("%v, %v", f.Waits(), err)
	}
}

// FuzzParse: any text is a filter or an error with a position in it, and matching does not panic.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"web !db /a.b/ ~x -l a=b,c ns:x attempts>3 waiting<5m", `"`, "-l in (", "!!", "/", "tier:", "\xff\x1b]0;a\a ns:\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := filter.Parse(text)
		var mistake *filter.Error
		switch {
		case errors.As(err, &mistake):
			if mistake.At < 1 || mistake.At > len([]rune(text))+1 {
				t.Errorf("%q: letter %d", text, mistake.At)
			}
		case err != nil:
			t.Errorf("%q: %v is not an *Error", text, err)
		default:
			parsed.Match(pod())
		}
	})
}
