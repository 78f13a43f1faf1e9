package sources

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// ObjectName is what an object is known by while it lives.
type ObjectName struct {
	Kind string
	types.NamespacedName
}

// NameOf returns what obj is known by.
func NameOf(obj runtime.Object) ObjectName {
	m := obj.(metav1.Object)
	return ObjectName{obj.GetObjectKind().GroupVersionKind().Kind, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
}

// Compare orders names by kind, namespace and name.
func (n ObjectName) Compare(o ObjectName) int {
	return cmp.Or(cmp.Compare(n.Kind, o.Kind), cmp.Compare(n.Namespace, o.Namespace), cmp.Compare(n.Name, o.Name))
}

// maxName is the longest name of an object, in bytes (a DNS subdomain).
const maxName = 253

// CheckName returns an error, one sentence that quotes the name made safe, unless name is a Kubernetes
// object name: lower-case letters, digits, '-' and '.', at most 253 bytes, beginning and ending with a
// letter or a digit.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("an object's name is empty")
	}
	if !validName(name) {
		if len(name) > 80 {
			name = name[:80] + "..."
		}
		return fmt.Errorf("\"%s\" is not a Kubernetes object name", Sanitize(name))
	}
	return nil
}

// ParsePod parses "namespace/name", as logs and JSON output spell a pod, and checks both names.
func ParsePod(s string) (types.NamespacedName, error) {
	namespace, name, ok := strings.Cut(s, "/")
	if !ok {
		return types.NamespacedName{}, fmt.Errorf("\"%s\" is not a pod's namespace/name", Sanitize(s))
	}
	if err := CheckName(namespace); err != nil {
		return types.NamespacedName{}, err
	}
	if err := CheckName(name); err != nil {
		return types.NamespacedName{}, err
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// maxShown limits each part of a redacted name, in bytes. It is the longest that Kubernetes allows.
const maxShown = 253

// SafePod returns a redacted name, such as mill/pod-A or [REDACTED], safe to show and of bounded length.
func SafePod(s string) types.NamespacedName {
	part := func(s string) string {
		safe := string(Sanitize(s))
		cut := min(len(safe), maxShown)
		for cut < len(safe) && !utf8.RuneStart(safe[cut]) {
			cut--
		}
		return safe[:cut]
	}
	namespace, name, ok := strings.Cut(s, "/")
	if !ok {
		namespace, name = "", s
	}
	return types.NamespacedName{Namespace: part(namespace), Name: part(name)}
}

// ParseShownPod is ParsePod, but also accepts the names that SafePod returns.
func ParseShownPod(s string) (types.NamespacedName, error) {
	pod, err := ParsePod(s)
	if err == nil {
		return pod, nil
	}
	if safe := SafePod(s); safe.Name != "" && safe.String() == s {
		return safe, nil
	}
	return pod, err
}

func validName(s string) bool {
	if len(s) == 0 || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case (c == '-' || c == '.') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return true
}
