package tui

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// asks runs do in a cluster of two nodes with too few GPUs for the pending pod train-0, and with an
// unused claim without a volume. The in-tree plugins are created outside of the bubble, since they
// start goroutines that outlive it.
func asks(t *testing.T, do func(p *person)) {
	t.Helper()
	if _, err := cycle.InTree(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		rec := withNodes(t)
		class := ""
		claim := &v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data", UID: types.UID("data")},
			Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
				Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}}},
			Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending},
		}
		rec.Events = append([]sources.Event{{Time: zero, Fact: &sources.ObjectChange{Verb: sources.Added, Object: claim}}}, rec.Events...)
		p := sit(t, 120, 40, session.New(rec, timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:02.5").do(keymap.FocusUnsched, keymap.RowDown).sees("▸● train-0")
		do(p)
	})
}

func TestTheSchedulerDecides(t *testing.T) {
	asks(t, func(p *person) {
		p.try(keymap.RunScheduler).sees("a local scheduler decides", "start a local scheduler: none bound, 1 waiting: ")
		p.do(keymap.Pop).sees("can't: the local scheduler makes the decisions: press s to make them yourself")
		p.do(keymap.AddPod).enter("small").do(keymap.StepForward, keymap.StepForward, keymap.StepForward).sees("small", "in-flight→bound", "to node-")
		p.do(keymap.RunScheduler).sees("stop the local scheduler", "you are the scheduler —")
	})
}

func TestANodeLikeOneThatIsThere(t *testing.T) {
	asks(t, func(p *person) {
		p.try(keymap.AddNode).press("enter")
		p.sees("type a node's name, and optionally a name for the new node").press("esc")
		p.seesNot("WHAT-IF").try(keymap.AddNode).enter("node-9").sees("node like: node-9", "there is no node node-9; there are node-1, node-2")
		p.press("esc")
		p.try(keymap.EditNode).enter("node-9 cordon").sees("edit node: node-9 cordon", "there is no node node-9; there are node-1, node-2").press("esc")
		p.try(keymap.AddNode).enter("node-1 twin").sees("node twin like node-1: ", "a local scheduler decides")
		p.do(keymap.Undo).sees("undone: node twin like node-1")
	})
}

func TestTheNearestNodeIsOffered(t *testing.T) {
	asks(t, func(p *person) {
		p.do(keymap.Needs).sees("It fits on none of the 2 nodes").try(keymap.AddNode).sees("node like: node-1").press("esc")
		p.try(keymap.EditNode).sees("edit node: node-1").press("esc")
	})
}

func TestEditingANode(t *testing.T) {
	asks(t, func(p *person) {
		p.try(keymap.EditNode).enter("node-1").sees("type a node's name, then changes").press("esc")
		p.try(keymap.EditNode).enter("node-1 cordon disk=ssd").sees("node node-1 cordon disk=ssd: none bound, 1 waiting: ")
		p.do(keymap.EditNode).enter("node-1 zone-").sees("can't: node node-1 zone-: node node-1 has no label or taint zone")
	})
}

func TestApplyingAManifest(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pod.yaml")
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: extra}\nspec:\n  containers: [{name: c, image: i}]\n"
	if err := os.WriteFile(file, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("kind: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	asks(t, func(p *person) {
		p.try(keymap.Apply).enter("").sees("the path of a manifest").press("esc")
		p.try(keymap.Apply).paste(filepath.Join(dir, "missing.yaml")).press("enter")
		p.sees("can't: ", "missing.yaml")
		p.try(keymap.Apply).paste(broken).press("enter")
		p.sees("can't: ", "broken.yaml").seesNot("WHAT-IF")
		p.try(keymap.Apply).paste(file).press("enter")
		p.sees("apply pod.yaml: 1 bound (extra on node-", "WHAT-IF")
	})
}

func TestBindingAClaim(t *testing.T) {
	asks(t, func(p *person) {
		p.try(keymap.BindClaim).enter("No_Claim").sees("type a claim's name, or namespace/name").press("esc")
		p.try(keymap.BindClaim).enter("none").sees("bind claim: none", "there is no claim none; there are data").press("esc")
		p.try(keymap.BindClaim).enter("data").sees("bind claim default/data: none bound, 1 waiting: ")
	})
}

func TestDeletingAPodOrANode(t *testing.T) {
	asks(t, func(p *person) {
		p.try(keymap.Delete).enter("train-0").sees("type pod or node, then its name").press("esc")
		p.try(keymap.Delete).enter("node node-9").sees("delete: node node-9", "there is no node node-9; there are node-1, node-2").press("esc")
		p.try(keymap.Delete).enter("pod train-0").sees("delete pod default/train-0: none bound, none waiting")
		p.do(keymap.Delete).enter("node node-2").sees("delete node node-2: none bound, none waiting")
	})
}

// TestNothingToAsk: a log without an audit log contains no nodes, so there is no local scheduler.
func TestNothingToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).try(keymap.RunScheduler).sees("can't: start a local scheduler: no nodes are known").seesNot("WHAT-IF")
	})
}
