package sources

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// endless are quantities that resource.ParseQuantity would take minutes over, or whose exponent wraps around.
var endless = []string{"1e2147483648", "1e3000000000", "1e4294967297", "1E4294967297", "1e+4294967296", "1e-99999999", "-1.5E-99999999", "1e-4096",
	"1e00000000005", ".5e-12345", "5.e-12345", "e-99999999", "0e2147483648", strings.Repeat("9", 1<<20), "0." + strings.Repeat("0", 101) + "1",
	strings.Repeat("1", 101) + "Gi", strings.Repeat("0", 101) + "1e-9999", strings.Repeat("1", 100) + "." + strings.Repeat("1", 99) + "e-" + strings.Repeat("9", 18)}

func TestParseQuantity(t *testing.T) {
	for _, text := range endless {
		if _, err := ParseQuantity(text); err == nil || err != errCostly {
			t.Errorf("%.30q: %v", text, err)
		}
	}
	for text, want := range map[string]error{"1e31": errHuge, "-1e999": errHuge,
		"": errNone, "web-1e99999": errNone} {
		if _, err := ParseQuantity(text); err != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	for _, text := range []string{"0", "500m", "2Gi", "1e3", "1E+3", "1e-999", "1e030", "1.5Ti", strings.Repeat("0", 99) + "1"} {
		if _, err := ParseQuantity(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestGuard: the quantities that cost too much are refused wherever an object holds one, and texts that only
// look like it are let through wherever else they stand.
func TestGuard(t *testing.T) {
	object := func(name, uid, label, note string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Labels: map[string]string{"size": label}, Annotations: map[string]string{"x/" + name: note}},
			Spec: corev1.PodSpec{NodeSelector: map[string]string{label: label}, Overhead: corev1.ResourceList{"cpu": resource.MustParse("8888")}}}
	}
	read := func(t *testing.T, p *corev1.Pod, cpu string) error {
		t.Helper()
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.ReplaceAll(string(text), `"8888"`, cpu))
		return Guard(text, "it", func(raw []byte) error { return json.Unmarshal(raw, &corev1.Pod{}) })
	}
	for _, looks := range append(endless[:13:13], "1e9999", "99999", strings.Repeat("1", 63), "3e-1234", "123e12345678") {
		uid := "4e123456-1e-1234-4444-5555-12e123456789"
		if err := read(t, object(looks, uid, looks, `{"cpu":"`+looks+`","n":`+looks+`} \u1e9999`), `"2"`); err != nil {
			t.Errorf("%.40s where it is no quantity: %v", looks, err)
		}
	}
	for _, bad := range endless {
		for _, cpu := range []string{`"` + bad + `"`, bad, `"  ` + bad + "\u00a0 \"", "\n" + bad + "\n"} {
			if read(t, object("a", "u", "1e9999", ""), cpu) == nil {
				t.Errorf("%.40s is taken", cpu)
			}
		}
	}
}

// TestDefuse: a quantity that costs too much is decoded as one that Trim refuses, and nothing else changes
// without one.
func TestDefuse(t *testing.T) {
	for _, bad := range endless {
		for _, raw := range []string{`"` + bad + `"`, `" ` + bad + `"`, `"` + bad + "\u00a0 \""} {
			var q resource.Quantity
			if err := Defuse([]byte(raw), func(raw []byte) error { return json.Unmarshal(raw, &q) }); err == nil && !huge(q) {
				t.Errorf("%.30s is %s", raw, &q)
			}
		}
		text := []byte(bad)
		DefuseText(text)
		if q, err := resource.ParseQuantity(string(text)); err != nil || !huge(q) || len(text) != len(bad) {
			t.Errorf("%.30s is %s, %v", bad, &q, err)
		}
	}
	for _, raw := range []string{`"500m"`, `"1e999"`, `"x 1e99999"`, `{"1e99999":"1e99999"}`} {
		var was []byte
		if err := Defuse([]byte(raw), func(raw []byte) error { was = raw; return nil }); err != nil || string(was) != raw {
			t.Errorf("%s: %s, %v", raw, was, err)
		}
	}
}

// TestDefuseIsLinear: what many numbers in one word cost is in its length alone.
func TestDefuseIsLinear(t *testing.T) {
	raw := `"` + strings.Repeat(strings.Repeat("1", 101)+".", 20_000) + `"`
	began := time.Now()
	var q resource.Quantity
	if err := Defuse([]byte(raw), func(raw []byte) error { return json.Unmarshal(raw, &q) }); err != nil || !huge(q) {
		t.Errorf("it is %s, %v", &q, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// FuzzQuantity: whatever text the door lets through, alone or in an object, is parsed and written again at once.
func FuzzQuantity(f *testing.F) {
	for _, text := range append(endless, "500m", "2Gi", "1e-999", "1e999", "\t1e5", `\u0031e-99999999`, "١e-99999") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxObject {
			t.Skip()
		}
		began := time.Now()
		if q, err := ParseQuantity(text); err == nil {
			if _, err := resource.ParseQuantity(q.String()); err != nil {
				t.Errorf("%q becomes %q: %v", text, q.String(), err)
			}
			_, _ = q.Value(), q.MilliValue()
		}
		for _, raw := range []string{text, `"` + text + `"`, fmt.Sprintf("%q", text)} {
			var q resource.Quantity
			if Guard([]byte(raw), "it", func(raw []byte) error { return json.Unmarshal(raw, &q) }) == nil {
				if _, err := json.Marshal(q); err != nil {
					t.Errorf("%s: %v", raw, err)
				}
			}
			if Defuse([]byte(raw), func(raw []byte) error { return json.Unmarshal(raw, &q) }) == nil {
				_ = q.AsApproximateFloat64()
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%.60q took %s", text, took)
		}
	})
}
