package prebind_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/prebind"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestSelected: which node a change of a claim shows to have been chosen for its pod.
func TestSelected(t *testing.T) {
	claim := func(node string) *v1.PersistentVolumeClaim {
		c := world.PendingClaim("data", "disk")
		if node != "" {
			c.Annotations = map[string]string{sources.AnnSelectedNode: node}
		}
		return c
	}
	for _, c := range []struct {
		name string
		old  runtime.Object
		now  *v1.PersistentVolumeClaim
		want string
	}{
		{"one is chosen", claim(""), claim("a"), "a"},
		{"another is", claim("a"), claim("b"), "b"},
		{"it was before", claim("a"), claim("a"), ""},
		{"it is given up", claim("a"), claim(""), ""},
		{"it is not known when it was", nil, claim("a"), ""},
		{"none is", claim(""), claim(""), ""},
	} {
		if got := prebind.Selected(c.old, c.now); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestHasVolume: a claim is a pod's if the pod names it, or if it was made for a volume of the pod's own.
func TestHasVolume(t *testing.T) {
	pod := world.PendingPod("web", "1")
	world.Mount(pod, "data")
	pod.Spec.Volumes = append(pod.Spec.Volumes, v1.Volume{Name: "scratch", VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}},
		v1.Volume{Name: "config"})
	for name, want := range map[string]bool{"data": true, "web-scratch": true, "scratch": false, "web-config": false, "config": false} {
		if got := cluster.HasVolume(pod, world.PendingClaim(name, "disk")); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	other := world.PendingClaim("data", "disk")
	if other.Namespace = "other"; cluster.HasVolume(pod, other) {
		t.Error("a claim of another namespace is taken for the pod's")
	}
}
