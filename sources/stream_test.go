package sources_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestGapTracker: each start and end of a gap is returned once, with its time.
func TestGapTracker(t *testing.T) {
	at := func(second float64) time.Time {
		if second == 0 {
			return time.Time{}
		}
		return time.Unix(0, int64(second*1e9))
	}
	var tracker sources.GapTracker
	for _, c := range []struct {
		now, stale, since, until float64 // since and until of the pods watch
		want                     string
	}{
		{1, 0, 0, 0, ""},
		{2, 0, 1.5, 0, "1.5 pods since 1.5"},
		{3, 0, 1.5, 0, ""},
		{4, 0, 1.5, 3.2, "3.2 pods since 1.5 until 3.2"},
		{5, 0, 4.1, 4.2, "4.1 pods since 4.1; 4.2 pods since 4.1 until 4.2"},
		{6, 5.9, 4.1, 4.2, "5.9 the cluster since 5.9"},
		{7, 5.5, 4.1, 4.2, "5.5 the cluster since 5.5"}, // it turns out to be longer
		{8, 5.7, 4.1, 4.2, ""},
		{9, 0, 4.1, 4.2, "9 the cluster since 5.5 until 9"},
		{10, 0, 4.1, 4.2, ""},
	} {
		pods := sources.Resource{Name: sources.PodsWatch, Gap: sources.Gap{Since: at(c.since), Until: at(c.until)}}
		var all []string
		for _, ev := range tracker.Update(at(c.now), sources.Status{StaleSince: at(c.stale), Resources: []sources.Resource{{Name: "nodes"}, pods}}) {
			gap := ev.Fact.(*sources.WatchGap)
			text := fmt.Sprintf("%v %s since %v", seconds(ev.Time), gap.Resource, seconds(gap.Since))
			if !gap.Lasts() {
				text += fmt.Sprintf(" until %v", seconds(gap.Until))
			}
			all = append(all, strings.Replace(text, "  ", " the cluster ", 1))
		}
		if got := strings.Join(all, "; "); got != c.want {
			t.Errorf("at %v: %q, want %q", c.now, got, c.want)
		}
	}
}

func seconds(t time.Time) float64 { return float64(t.Add(time.Microsecond).UnixMilli()) / 1e3 }
