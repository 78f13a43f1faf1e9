package tui

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// withNodes is the sample in a cluster of two nodes with one GPU in all, where train-0 requests 2.
func withNodes(t *testing.T) *sources.Recording {
	rec := tell(t, sample)
	gpu := v1.ResourceName("nvidia.com/gpu")
	var before []sources.Event
	for name, n := range map[string]string{"node-1": "1", "node-2": "0"} {
		room := v1.ResourceList{v1.ResourcePods: resource.MustParse("110"), gpu: resource.MustParse(n)}
		before = append(before, sources.Event{Time: zero, Fact: &sources.ObjectChange{Verb: sources.Added, Object: &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: room},
		}}})
	}
	for _, ev := range rec.Events {
		if c, ok := ev.Fact.(*sources.ObjectChange); ok {
			pod := c.Object.(*v1.Pod)
			pod.Spec.SchedulerName = v1.DefaultSchedulerName
			if pod.Name == "train-0" {
				pod.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{gpu: resource.MustParse("2")}}}}
			}
		}
	}
	rec.Events = append(before, rec.Events...)
	return rec
}

// TestNeeds: the page of a pod shows what the pod needs at each moment.
func TestNeeds(t *testing.T) {
	if _, err := cycle.InTree(); err != nil { // created outside of the bubble
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 100, 30, session.New(withNodes(t), timeline.Options{Paused: true}), Options{})
		p.goTo("10:36:02.5").do(keymap.FocusUnsched, keymap.RowDown, keymap.Open)
		golden(t, "needs", p.screen())
		p.sees("No node has 2 nvidia.com/gpu free", "It fits on none of the 2 nodes.").seesNot("(at 10:36:02")
		p.do(keymap.StepForward).sees("It fits on none of the 2 nodes.").seesNot("(at 10:36:02")
		p.do(keymap.Back).seesNot("It fits on none").do(keymap.Needs).sees("It fits on none")
		p.do(keymap.Back, keymap.WhatIf, keymap.DeletePod, keymap.Needs)
		p.sees("can't: default/train-0 is deleted: it has left the queue")
	})
}
