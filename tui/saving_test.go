package tui

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui/whatif"
)

// folder holds written files by name.
type folder map[string]string

// write writes a new file, and fails if it exists.
func (f folder) write(path string, data []byte) error {
	if _, there := f[path]; there {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	f[path] = string(data)
	return nil
}

// TestSaving: saving writes the screen without the list above it, and the pods that match the
// filter.
func TestSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := folder{}
		p := sit(t, 80, 24, paused(t, sample), Options{WriteFile: files.write})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown)
		screen := p.screen()
		p.do(keymap.Save).enter("as text").sees("save to: schedq-103606.txt").press("enter")
		p.sees("schedq-103606.txt saved")
		if got := files["schedq-103606.txt"]; strings.TrimRight(got, "\n") != strings.TrimRight(screen, "\n") {
			t.Errorf("the text is\n%s\nwant the screen\n%s", got, screen)
		}
		p.do(keymap.Save).enter("as text").press("enter")
		p.sees("can't: save: write schedq-103606.txt: file already exists")

		p.do(keymap.Palette).enter("save").enter("picture").press("enter")
		wellFormed(t, files["schedq-103606.svg"])
		if svg := files["schedq-103606.svg"]; !strings.Contains(svg, "urgent-1") || strings.Contains(svg, "as a picture") || !strings.Contains(svg, "#7ee787") {
			t.Errorf("the picture is\n%s", svg)
		}

		p.do(keymap.Filter).enter("tier:unschedulable").do(keymap.Save).enter("CSV").press("enter")
		rows, err := csv.NewReader(strings.NewReader(files["schedq-103606.csv"])).ReadAll()
		if err != nil || len(rows) != 3 || rows[1][0] != "default/train-0" || rows[1][6] != "NodeAffinity NodeResourcesFit" || rows[1][2] != "4.5" {
			t.Errorf("the table is %q (%v)", rows, err)
		}
		p.do(keymap.Save).enter("JSON").press("enter")
		var listed struct {
			Time time.Time
			Pods []struct {
				Pod        string
				AgeSeconds float64
			}
		}
		if err := json.Unmarshal([]byte(files["schedq-103606.json"]), &listed); err != nil || len(listed.Pods) != 2 ||
			listed.Pods[0].AgeSeconds != 4.5 || listed.Pods[1].Pod != "shop/cart-7d9f8c6b5-x2k1p" || listed.Time.Format(time.TimeOnly) != "10:36:06" {
			t.Errorf("the document has %+v (%v)", listed, err)
		}
	})
}

// TestSavingMinutes: a part of a recording becomes a playable scenario; an invalid part is an
// error, and no file is written.
func TestSavingMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files, rec := folder{}, withNodes(t)
		for _, ev := range rec.Events {
			if c, ok := ev.Fact.(*sources.ObjectChange); ok { // objects as the API server stores them
				kinds, _, err := scheme.Scheme.ObjectKinds(c.Object)
				if err != nil {
					t.Fatal(err)
				}
				c.Object.GetObjectKind().SetGroupVersionKind(kinds[0])
				if pod, ok := c.Object.(*v1.Pod); ok {
					pod.Spec.Containers = []v1.Container{{Name: "main"}}
				}
			}
		}
		p := sit(t, 120, 40, session.New(rec, timeline.Options{Paused: true}), Options{WriteFile: files.write})
		p.goTo("10:36:02.5").do(keymap.Save).enter("scenario").sees("save minutes: 10:36:00 10:36:03 schedq-103602.yaml").press("enter")
		p.sees("schedq-103602.yaml saved")
		if s, err := scenario.Parse("saved", []byte(files["schedq-103602.yaml"])); err != nil || len(s.Objects) == 0 {
			t.Errorf("%v in\n%s", err, files["schedq-103602.yaml"])
		}
		p.do(keymap.Save).enter("scenario").paste(".txt").press("enter")
		p.sees("use one that ends in .yaml").press("esc")
		if len(files) != 1 {
			t.Errorf("%d files are written", len(files))
		}
	})
	synctest.Test(t, func(t *testing.T) { // objects that the API server would reject
		files := folder{}
		p := sit(t, 120, 40, paused(t, sample), Options{WriteFile: files.write})
		p.goTo(moment).do(keymap.Save).enter("scenario").press("enter")
		p.sees("can't: save: the scenario can't be played")
		if len(files) != 0 {
			t.Errorf("%d files are written", len(files))
		}
	})
}

// TestSavingAWhatIf: a what-if becomes a scenario of its initial cluster and its actions.
func TestSavingAWhatIf(t *testing.T) {
	story, err := scenario.Parse("small", []byte(`schedq: scenario
version: 1
name: small
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: old}
spec: {nodeName: node-a, containers: [{name: main}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		files := folder{}
		p := sit(t, 120, 40, session.New(story.Recording(), timeline.Options{Paused: true}), Options{WriteFile: files.write})
		p.do(keymap.Save).seesNot("this what-if").press("esc")
		p.do(keymap.WhatIf, keymap.AddPod).enter("mine").do(keymap.Save).enter("this what-if").sees("save to: schedq-").press("enter")
		p.sees(" saved")
		for name, text := range files {
			s, err := scenario.Parse(name, []byte(text))
			if err != nil || len(s.Objects) != 2 || len(s.Moments) != 1 || len(s.Moments[0].Objects) != 1 || s.Moments[0].Objects[0].(*v1.Pod).Name != "mine" {
				t.Errorf("%v in\n%s", err, text)
			}
		}
		if len(files) != 1 {
			t.Errorf("%d files are written", len(files))
		}
	})
	synctest.Test(t, func(t *testing.T) { // a recording without nodes
		files := folder{}
		p := sit(t, 80, 24, paused(t, sample), Options{WriteFile: files.write})
		p.goTo(moment).do(keymap.WhatIf, keymap.MoveAll, keymap.Save).enter("this what-if").press("enter")
		if p.sees("can't: save: no nodes are known"); len(files) != 0 {
			t.Errorf("%d files are written", len(files))
		}
	})
}

// TestSavingWhatWasMade: a cluster that the user built becomes a scenario, and a session without
// files refuses to save.
func TestSavingWhatWasMade(t *testing.T) {
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	story, err := whatif.EmptyScenario("")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		files := folder{}
		p := sitAt(t, 120, 40, func(ctx context.Context) *model { return newPlay(ctx, story, opts, Options{WriteFile: files.write}) })
		p.do(keymap.AddPod).enter("whale").do(keymap.Save).seesNot("minutes of the recording").enter("your cluster").press("backspace")
		for range 30 {
			p.press("backspace")
		}
		p.enter("mine.yaml").sees("mine.yaml saved")
		if s, err := scenario.Parse("mine", []byte(files["mine.yaml"])); err != nil || len(s.Moments) != 1 {
			t.Errorf("%v in\n%s", err, files["mine.yaml"])
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.do(keymap.Save).sees("can't: this session can't write files")
	})
}
