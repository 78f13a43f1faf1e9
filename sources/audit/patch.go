package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/jsonscan"
)

// At level Request a line holds what was asked for and not what became of it. The policies of EKS, GKE and AKS have kubelets'
// writes of status at that level: there it shows that a Job's pod has ended, and what a node can take.

// maxPatch bounds a request that is kept until the object is known to which it is applied.
const maxPatch = 256 << 10

// asked reports whether the event holds a request that changes an object, and no answer.
func (e *event) asked() bool {
	if e.responseObject != nil || e.requestObject == nil || len(e.requestObject) > maxPatch || e.name == "" {
		return false
	}
	return e.requestObject[0] == '{' && (string(e.verb) == "patch" || string(e.verb) == "update") && (e.subresource == "" || e.subresource == "status")
}

// appendRequest adds what the event asked for.
func (e *event) appendRequest(to []entry) ([]entry, error) {
	at, err := time.Parse(time.RFC3339Nano, string(e.stamp))
	if err != nil {
		return nil, fmt.Errorf("the stageTimestamp is not a time: \"%s\"", sources.Sanitize(string(e.stamp)))
	}
	if err := sources.CheckTime(at); err != nil {
		return nil, err
	}
	n := entry{op: apply, kind: e.kind, uid: e.uid, time: at.UTC(), patch: bytes.Clone(e.requestObject)}
	n.key.Namespace, n.key.Name = e.namespace, e.name
	if e.subresource == "status" {
		if n.patch = onlyStatus(e.requestObject); n.patch == nil {
			return to, nil
		}
	}
	return e.appendNamed(to, n)
}

// onlyStatus returns the part of a request that a write of status changes, or nil if there is none.
func onlyStatus(request []byte) (patch []byte) {
	_ = jsonscan.Members(request, func(name, value []byte) bool {
		if string(name) == "status" {
			patch = fmt.Appendf(nil, `{"status":%s}`, value)
		}
		return patch == nil
	})
	return patch
}

// patched returns old with what a request asked to change, by a strategic merge as kube-apiserver does it (v1.37,
// apiserver/pkg/endpoints/handlers/patch.go), or nil if nothing changes that the scheduler reads.
func patched(old runtime.Object, patch []byte, d *sources.Decoder) (runtime.Object, error) {
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, old)
	if err != nil {
		return nil, fmt.Errorf("the patch can't be applied: %s", sources.Sanitize(err.Error()))
	}
	now, err := d.Decode(after)
	if err != nil || now == nil || equality.Semantic.DeepEqual(old, now) {
		return nil, err
	}
	return now, nil
}
