package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDistribution: the summary of a distribution equals that of the sorted values.
func TestDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(0, 20e9), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
		some := rapid.SliceOfN(value, 0, 100).Draw(t, "values")
		var all []int64
		for range rapid.SampledFrom([]int{1, 1, 3, 3*maxFresh/100 + 7}).Draw(t, "times") {
			all = append(all, some...)
		}
		shuffle := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "order")))
		shuffle.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var d distribution
		for i, v := range all {
			if d.add(v); i%(2*maxFresh) == maxFresh/2 {
				d.spread() // allowed at any time
			}
		}
		slices.Sort(all)
		var want spread
		if want.count = len(all); len(all) > 0 {
			want.median, want.p90, want.max = all[(len(all)+1)/2-1], all[(len(all)*9+9)/10-1], all[len(all)-1]
		}
		for _, v := range all {
			want.total += v
		}
		if got := d.spread(); got != want {
			t.Fatalf("%d values: %+v, want %+v", len(all), got, want)
		}
	})
}

// TestDistributionIsSmall: a value takes as many bytes as its difference needs, and there are few runs.
func TestDistributionIsSmall(t *testing.T) {
	const count = 1 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		value func() int64
		most  int // average bytes per value
	}{
		"12 s in ns": {func() int64 { return rng.Int64N(12e9) }, 2 + 1}, // 11 µs apart: 2 bytes
		"12 s in ms": {func() int64 { return rng.Int64N(12e3) * 1e6 }, 1 + 1},
		"any":        {rng.Int64, 8}, // 2^43 apart: 7 bytes
	} {
		var d distribution
		for i := range count {
			d.add(c.value())
			if (i+1)%(count/8) != 0 {
				continue
			}
			bytes, values := 8*cap(d.fresh), len(d.fresh)
			for _, r := range d.runs {
				bytes, values = bytes+cap(r.bytes), values+r.count
			}
			if values != i+1 || bytes > c.most*values+8*maxFresh || len(d.runs) > 16 {
				t.Errorf("%s: %d values of %d take %d bytes in %d runs, want at most %d each", name, values, i+1, bytes, len(d.runs), c.most)
			}
		}
	}
}
