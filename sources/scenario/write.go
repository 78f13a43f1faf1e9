package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Write writes s as a file that Parse reads. It fails, and writes nothing, if s holds what Parse would refuse: readers of
// recordings take objects that no API server would.
func Write(w io.Writer, s *Scenario) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "schedq: %s\nversion: %d\n", Format, Version)
	for _, of := range []struct{ key, value string }{
		{"name", string(s.Name)}, {"title", string(s.Title)}, {"description", string(s.Description)}, {"release", s.Release},
	} {
		if of.value != "" {
			fmt.Fprintf(&b, "%s: %q\n", of.key, of.value)
		}
	}
	fmt.Fprintf(&b, "start: %s\nend: %s\n", s.Start.UTC().Format(time.RFC3339Nano), s.End)
	for _, of := range []struct {
		key   string
		value time.Duration
	}{{"podInitialBackoff", s.PodInitialBackoff}, {"podMaxBackoff", s.PodMaxBackoff}, {"podMaxInUnschedulablePods", s.PodMaxInUnschedulablePods}} {
		if of.value >= 0 {
			fmt.Fprintf(&b, "%s: %s\n", of.key, of.value)
		}
	}
	if err := writeObjects(&b, s.Objects); err != nil {
		return err
	}
	for _, m := range s.Moments {
		if m.When != nil {
			fmt.Fprintf(&b, "---\nwhen: %s enters %s %d\nafter: %s\n", m.When.Pod, m.When.Into, m.When.Nth, m.At)
		} else {
			fmt.Fprintf(&b, "---\nat: %s\n", m.At)
		}
		if m.Mark != "" {
			fmt.Fprintf(&b, "mark: %q\n", m.Mark)
		}
		if len(m.Delete) > 0 {
			var names []string
			for _, o := range m.Delete {
				names = append(names, strings.ToLower(o.Kind)+"/"+strings.TrimPrefix(o.String(), "/"))
			}
			fmt.Fprintf(&b, "delete: [%s]\n", strings.Join(names, ", "))
		}
		if len(m.Inject) > 0 {
			fmt.Fprintf(&b, "inject: [%s]\n", strings.Join(m.Inject, ", "))
		}
		if len(m.Activate) > 0 {
			var names []string
			for _, pod := range m.Activate {
				names = append(names, pod.String())
			}
			fmt.Fprintf(&b, "activate: [%s]\n", strings.Join(names, ", "))
		}
		if err := writeObjects(&b, m.Objects); err != nil {
			return err
		}
	}
	if b.Len() > maxFile {
		return fmt.Errorf("the scenario would be larger than %d MiB: cut less", maxFile>>20)
	}
	if _, err := Parse("the scenario", b.Bytes()); err != nil {
		return fmt.Errorf("the scenario can't be played: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// String is the name as files spell it.
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// writeObjects writes manifests.
func writeObjects(b *bytes.Buffer, objects []runtime.Object) error {
	for _, obj := range objects {
		text, err := json.Marshal(obj)
		if err != nil {
			return fmt.Errorf("%s can't be written: %w", obj.(metav1.Object).GetName(), err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			return fmt.Errorf("%s can't be written: %w", obj.(metav1.Object).GetName(), err)
		}
		if meta, ok := fields["metadata"].(map[string]any); ok {
			delete(meta, "uid") // it follows from the name
		}
		if status, ok := fields["status"].(map[string]any); ok && fields["kind"] == "Node" {
			delete(status, "nodeInfo")
			delete(status, "daemonEndpoints")
		}
		if n := longestKey(fields); n > maxKey {
			return fmt.Errorf("%s can't be written: a key in it has %d bytes, and YAML takes %d", obj.(metav1.Object).GetName(), n, maxKey)
		}
		if text, err = yaml.Marshal(prune(fields)); err != nil {
			return fmt.Errorf("%s can't be written: %w", obj.(metav1.Object).GetName(), err)
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return nil
}

// maxKey is how many bytes a key may have in YAML (1.2, section 7.4).
const maxKey = 1024

// longestKey is how many bytes the longest key has within v as JSON writes it, which is how it goes into YAML.
func longestKey(v any) (longest int) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			longest = max(longest, longestKey(one))
		}
	case map[string]any:
		for key, value := range v {
			quoted, err := json.Marshal(key)
			if err == nil { // a string can always be written
				longest = max(longest, len(quoted), longestKey(value))
			}
		}
	}
	return longest
}

// prune returns v without null members and empty objects.
func prune(v any) any {
	if list, ok := v.([]any); ok {
		for i := range list {
			list[i] = prune(list[i])
		}
		return list
	}
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for key, value := range m {
		value = prune(value)
		if inner, isMap := value.(map[string]any); value == nil || isMap && len(inner) == 0 && key != "emptyDir" && !strings.HasSuffix(key, "elector") {
			delete(m, key)
		}
	}
	return m
}
