package schedlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestDeliveries: a log of 3 tells when the scheduler heard that a pod or a node came or went.
func TestDeliveries(t *testing.T) {
	line := func(micro int, text string) string {
		return fmt.Sprintf("I1121 10:00:01.%06d       1 x.go:1] %s\n", micro, text)
	}
	heard := line(10, `"Add event for node" node="node-a"`) +
		line(11, `"Add event for unscheduled pod" pod="default/web"`) +
		line(12, `"Update event for unscheduled pod" pod="default/web"`) +
		line(13, `"Delete event for unscheduled pod" pod="default/web"`) +
		line(14, `"Add event for scheduled pod" pod="default/web"`) +
		line(15, `"Delete event for scheduled pod" pod="default/web"`) +
		line(16, `"Delete event for node" node="node-a"`) +
		line(17, `"Add event for pod group" podGroup="default/g"`) +
		line(18, `"Add event for node" node="`) + line(19, `"Add event for scheduled pod" pod="no name"`)
	for _, c := range []struct{ name, log, want string }{
		{"of 3", attempt(3, 0, "a") + heard, `10 added /node-a node
11 added default/web
13 deleted default/web
14 added default/web assigned
15 deleted default/web assigned
16 deleted /node-a node
`},
		{"of 5, which tells what followed", attempt(5, 0, "a") + heard, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, err := read(t, c.log, Year{})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, ev := range part.Events {
				d, is := ev.Fact.(*sources.Delivered)
				if !is {
					continue
				}
				fmt.Fprintf(&got, "%d %s %s", ev.Time.Nanosecond()/1000, d.Verb, d.Name)
				if d.Node {
					got.WriteString(" node")
				}
				if d.Assigned {
					got.WriteString(" assigned")
				}
				got.WriteString("\n")
			}
			if got.String() != c.want {
				t.Errorf("it tells\n%swant\n%s", got.String(), c.want)
			}
		})
	}
}
