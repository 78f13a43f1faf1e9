package schedulerconfig

import "testing"

func TestChanges(t *testing.T) {
	cfg, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Strategy("default-scheduler"); got != "LeastAllocated" {
		t.Errorf("the default strategy is %q", got)
	}
	packed, err := cfg.WithStrategy("MostAllocated", nil)
	if err != nil || packed.Strategy("default-scheduler") != "MostAllocated" || cfg.Strategy("default-scheduler") != "LeastAllocated" {
		t.Errorf("%v, %v", packed, err)
	}
	if ratio, err := cfg.WithStrategy("RequestedToCapacityRatio", [][2]int32{{0, 0}, {100, 10}}); err != nil || ratio.Strategy("default-scheduler") != "RequestedToCapacityRatio" {
		t.Errorf("%v", err)
	}
	if _, err := cfg.WithStrategy("RequestedToCapacityRatio", [][2]int32{{0, 11}}); err == nil {
		t.Error("a score of 11 is accepted")
	}
	if _, err := cfg.WithWeight("NoSuchPlugin", 1); err == nil {
		t.Error("an unknown plugin is accepted")
	}
}
