package web

import (
	"strings"
	"testing"
)

// FuzzMessages decodes arbitrary messages. It must not panic or exceed the limits.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"name":"ada","code":"monday-room","columns":80,"rows":24}`))
	f.Add([]byte(`{"token":"` + strings.Repeat("x", 300) + `"}`))
	f.Add([]byte(`{"columns":-1}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is not one line: %q", err)
			}
			return
		}
		if len(data) > maxMessage || max(len(m.Name), len(m.Code), len(m.Token)) > maxField {
			t.Errorf("%d bytes decode to %v", len(data), m)
		}
	})
}
