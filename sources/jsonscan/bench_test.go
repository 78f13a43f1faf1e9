package jsonscan

import (
	"strings"
	"testing"
)

// BenchmarkEnd steps over a value such as most of a log is: names and texts of a few letters.
func BenchmarkEnd(b *testing.B) {
	text := []byte(`[` + strings.Repeat(`{"manager":"kubelet","operation":"Update","time":"2026-11-21T10:00:03Z","fieldsV1":{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{}}}}}},`, 100) + `{}]`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if End(text, 0) != len(text) {
			b.Fatal("it ends elsewhere")
		}
	}
}
