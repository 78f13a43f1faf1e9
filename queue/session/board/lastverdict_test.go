package board

import (
	"slices"
	"testing"

	"github.com/schedq/schedq/queue/session/verdict"
)

// TestLastVerdict: the model's count is only shown with the scheduler's own message.
func TestLastVerdict(t *testing.T) {
	const said = "0/2 nodes are available: 2 Insufficient cpu."
	p := &Pod{Message: said, Verdict: &verdict.Verdict{Message: said, Reasons: []verdict.Reason{
		{Plugin: "NodeResourcesFit", Text: "Insufficient cpu", Nodes: 1},
		{Plugin: "NodeResourcesFit", Text: "Insufficient cpu", Nodes: 1, Final: true},
	}}}
	if v, _ := p.LastVerdict(); v != nil {
		t.Errorf("without a failure, its verdict is %+v", v)
	}
	p.UnschedulableCount = 1
	v, modelled := p.LastVerdict()
	if want := []verdict.Reason{{Plugin: "NodeResourcesFit", Text: "Insufficient cpu", Nodes: 2}}; !modelled || !slices.Equal(v.ByPlugin(), want) {
		t.Errorf("modelled %v, %+v", modelled, v.ByPlugin())
	}
	p.Message = "0/2 nodes are available: 2 node(s) were unschedulable."
	if v, modelled = p.LastVerdict(); modelled || len(v.Reasons) != 1 || v.Reasons[0].Plugin != "NodeUnschedulable" {
		t.Errorf("modelled %v, %+v, though the scheduler said something else", modelled, v)
	}
}
