package audit

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
)

func FuzzAudit(f *testing.F) {
	f.Add(req{verb: "create", resource: "pods", response: pod("a", 10)}.line())
	f.Add(req{verb: "create", resource: "pods", sub: "binding", name: "a", ns: "default", body: `{"target":{"name":"n"}}`, response: success}.line())
	f.Add(req{verb: "delete", resource: "nodes", name: "node-a", response: deletedNode}.line())
	f.Add(req{verb: "deletecollection", resource: "pods", response: `{"items":[` + pod("a", 1) + `]}`}.line())
	f.Add(by(scheduler, failedScheduling(1, "create", failed)))
	f.Add(by(scheduler, req{at: 1, verb: "create", resource: "pods", response: pod("a", 10)}, status(2, "a", 11)))
	f.Add(starting(1, "pods", "nodes", "services", "persistentvolumes", "persistentvolumeclaims"))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := lines.New(context.Background(), "f", time.Time{}, io.NopCloser(strings.NewReader(text)))
		if err != nil {
			return
		}
		defer r.Close()
		log, err := keep(r)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || len(err.Error()) > 1500 {
				t.Fatalf("%q", err)
			}
			return
		}
		last := time.Time{}
		for i, e := range order(log) {
			if i > 0 && e.Time.Before(last) {
				t.Fatalf("back in time: %v, %v", last, e.Time)
			}
			if last = e.Time; sources.CheckTime(last) != nil {
				t.Fatal(last)
			}
			name := "a"
			switch f := e.Fact.(type) {
			case *sources.ObjectChange:
				name = f.Object.(metav1.Object).GetName()
			case *sources.FailedAttempt:
				name = f.Pod.Name
				safe(t, string(f.UID), string(f.Message))
			case *sources.StatusPatched:
				name = f.Pod.Name
				safe(t, string(f.UID))
			}
			if sources.CheckName(name) != nil {
				t.Fatalf("%q", name)
			}
		}
	})
}

func safe(t *testing.T, texts ...string) {
	for _, s := range texts {
		if string(sources.Sanitize(s)) != s {
			t.Fatalf("%q", s)
		}
	}
}
