package manifest

import (
	"fmt"
	"hash/fnv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	hashutil "k8s.io/kubernetes/pkg/util/hash"
)

// maxGenerated is the length to which the API server truncates a name before it appends a suffix (apiserver v0.37,
// storage/names), so that the result is a DNS label.
const maxGenerated = 58

// generate completes a generateName like the API server, but with a hash instead of a random suffix: the same file gives
// the same names. i distinguishes objects with the same prefix.
func (r *reader) generate(kind, namespace, prefix string, i int) string {
	for try := 0; ; try++ {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s/%s/%s/%d/%d", kind, namespace, prefix, i, try)
		name := prefix[:min(len(prefix), maxGenerated)] + suffix(h.Sum64())
		if r.seen[object{kind, namespace, name}] == 0 {
			return name
		}
	}
}

// suffix returns five of the letters and digits that the API server uses.
func suffix(n uint64) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	var s [5]byte
	for i := range s {
		s[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(s[:])
}

// templateHash returns the label pod-template-hash of the Deployment controller (kubernetes v1.37, pkg/controller).
func templateHash(template any) string {
	h := fnv.New32a()
	hashutil.DeepHashObject(h, template)
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

// clean sets metadata as the API server does when it creates an object: with a name and a UID, without fields that later
// requests set. It keeps a UID in the file, because other objects may refer to it.
func (r *reader) clean(kind string, namespaced bool, m *metav1.ObjectMeta) {
	switch {
	case !namespaced:
		m.Namespace = ""
	case m.Namespace == "":
		m.Namespace = metav1.NamespaceDefault
	}
	if m.Name == "" && m.GenerateName != "" {
		r.generated++
		m.Name = r.generate(kind, m.Namespace, m.GenerateName, r.generated)
	}
	if m.UID == "" {
		m.UID = UID(kind, m.Namespace, m.Name)
	}
	m.ResourceVersion, m.Generation = "", 0
	m.CreationTimestamp, m.DeletionTimestamp = metav1.Time{}, nil
}
