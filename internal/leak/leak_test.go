package leak

import (
	"context"
	"os"
	"testing"
	"time"
)

// failures counts the failures of a check.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }
func (f *failures) Logf(string, ...any)   {}

// TestCheck: one thing left per round is found, and one that ends late is not.
func TestCheck(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 300 * time.Millisecond
	var kept [][]byte
	for name, c := range map[string]struct {
		round  func(int)
		leaves bool
	}{
		"nothing": {func(int) {}, false},
		"a goroutine that ends late": {func(int) {
			go func() { _, _ = os.ReadDir(".") }()
		}, false},
		"a goroutine": {func(int) {
			go func() { <-t.Context().Done() }()
		}, true},
		"a file": {func(int) {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			context.AfterFunc(t.Context(), func() { _ = f.Close() })
		}, true},
		"memory": {func(int) { kept = append(kept, make([]byte, 200<<10)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			found := &failures{TB: t}
			if Check(found, 10, c.round); found.n > 0 != c.leaves {
				t.Errorf("%d failures", found.n)
			}
		})
	}
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}
