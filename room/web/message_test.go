package web

import (
	"strings"
	"testing"
)

// FuzzMessages reads what a page may say: no panic, and nothing beyond its bounds.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"name":"ada","code":"monday-room","columns":80,"rows":24}`))
	f.Add([]byte(`{"token":"` + strings.Repeat("x", 300) + `"}`))
	f.Add([]byte(`{"columns":-1}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is no sentence", err)
			}
			return
		}
		if len(data) > maxMessage || max(len(m.Name), len(m.Code), len(m.Token)) > maxWord {
			t.Errorf("%d bytes make %v", len(data), m)
		}
	})
}
