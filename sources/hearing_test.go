package sources_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
)

// TestHearing: a stream is asked once a second how it stands. What is new of what it does not hear is told once, with when it was.
func TestHearing(t *testing.T) {
	at := func(second float64) time.Time {
		if second == 0 {
			return time.Time{}
		}
		return time.Unix(0, int64(second*1e9))
	}
	var h sources.Hearing
	for _, c := range []struct {
		now, stale, since, until float64 // since and until are of the pods' watch
		want                     string
	}{
		{1, 0, 0, 0, ""},
		{2, 0, 1.5, 0, "1.5 pods since 1.5"},
		{3, 0, 1.5, 0, ""},
		{4, 0, 1.5, 3.2, "3.2 pods since 1.5 until 3.2"},
		{5, 0, 4.1, 4.2, "4.1 pods since 4.1; 4.2 pods since 4.1 until 4.2"},
		{6, 5.9, 4.1, 4.2, "5.9 the cluster since 5.9"},
		{7, 5.5, 4.1, 4.2, "5.5 the cluster since 5.5"}, // it shows that it was longer
		{8, 5.7, 4.1, 4.2, ""},
		{9, 0, 4.1, 4.2, "9 the cluster since 5.5 until 9"},
		{10, 0, 4.1, 4.2, ""},
	} {
		pods := sources.Resource{Name: sources.PodsWatch, Unheard: sources.Gap{Since: at(c.since), Until: at(c.until)}}
		var told []string
		for _, ev := range h.Tell(at(c.now), sources.Status{StaleSince: at(c.stale), Resources: []sources.Resource{{Name: "nodes"}, pods}}) {
			u := ev.Fact.(*sources.Unheard)
			said := fmt.Sprintf("%v %s since %v", seconds(ev.Time), u.Resource, seconds(u.Since))
			if !u.Lasts() {
				said += fmt.Sprintf(" until %v", seconds(u.Until))
			}
			told = append(told, strings.Replace(said, "  ", " the cluster ", 1))
		}
		if got := strings.Join(told, "; "); got != c.want {
			t.Errorf("at %v it tells %q, want %q", c.now, got, c.want)
		}
	}
}

func seconds(t time.Time) float64 { return float64(t.Add(time.Microsecond).UnixMilli()) / 1e3 }
