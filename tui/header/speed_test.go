package header

import "testing"

func TestSpeed(t *testing.T) {
	for times, want := range map[float64]string{1: "×1", 0.25: "×0.25", 16: "×16", 2.47415775: "×2.47", 1000: "×1000"} {
		if got := Speed(times); got != want {
			t.Errorf("%g is %s, want %s", times, got, want)
		}
	}
}
