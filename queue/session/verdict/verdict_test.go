package verdict

import (
	"slices"
	"testing"
)

func TestReadMessage(t *testing.T) {
	for message, want := range map[string]struct {
		nodes   int
		reasons []Reason
		rest    string
	}{
		"0/3 nodes are available: 3 Insufficient cpu.": {3, []Reason{{Text: "Insufficient cpu", Nodes: 3}}, ""},
		"0/3 nodes are available: 1 a, b, 2 c. preemption: 0/3 nodes are available: 3 d.": {
			3, []Reason{{Text: "a, b", Nodes: 1}, {Text: "c", Nodes: 2}}, "preemption: 0/3 nodes are available: 3 d."},
		`0/2 nodes are available: persistentvolumeclaim "my.data" not found. not found`: {
			2, []Reason{{Text: `persistentvolumeclaim "my.data" not found`, Nodes: 2}}, "not found"},
		"no nodes available to schedule pods": {0, nil, "no nodes available to schedule pods"},
		"1/3 nodes are available: 2 a.":       {0, nil, "1/3 nodes are available: 2 a."},
		"0/x nodes are available: 2 a.":       {0, nil, "0/x nodes are available: 2 a."},
		"":                                    {0, nil, ""},
	} {
		nodes, reasons, rest := ReadMessage(message)
		if nodes != want.nodes || rest != want.rest || !slices.Equal(reasons, want.reasons) {
			t.Errorf("%q: got %d, %+v, %q", message, nodes, reasons, rest)
		}
	}
}

// TestFailsBinding: only messages of the binding cycle match, not those of the scheduling cycle.
func TestFailsBinding(t *testing.T) {
	for message, want := range map[string]bool{
		`running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumes "v-6"`: true,
		`running PreBindPreFlight "DynamicResources": no such claim`:                                       true,
		`running Bind plugin "DefaultBinder": the server is going away`:                                    true,
		`running Permit plugin "Gang": no`:                                                                 false,
		`running Reserve plugin "VolumeBinding": no`:                                                       false,
		`0/3 nodes are available: 3 Insufficient cpu.`:                                                     false,
		``: false,
	} {
		if got := FailsBinding(message); got != want {
			t.Errorf("%q: got %t", message, got)
		}
	}
}
