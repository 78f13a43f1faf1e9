package live

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// version asks the API server of which release it is, which is the cheapest request there is. The release is "" if the
// answer does not tell it.
func (s *Source) version(ctx context.Context) (release string, err error) {
	answer, err := s.client.core().Get().AbsPath("/version").SetHeader("Accept", acceptText).MaxRetries(0).Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var info struct{ GitVersion string }
	_ = json.Unmarshal(answer, &info) // a proxy may answer otherwise
	if !isRelease(info.GitVersion) {
		return "", nil
	}
	return info.GitVersion, nil
}

// maxRelease is how long a release may be, v1.31.4-eks-1234567 for one.
const maxRelease = 64

// isRelease reports whether text is a release of Kubernetes, such as v1.31.4.
func isRelease(text string) bool {
	minor, ok := strings.CutPrefix(text, "v1.")
	return ok && len(text) <= maxRelease && minor != "" && minor[0] >= '0' && minor[0] <= '9'
}

// release returns of which release the scheduler is that leads, and what tells that: the image of its pod, or else the API
// server. It is "" if nothing does. The lock is held.
func (s *Source) release() (sources.SafeText, sources.ReleaseSource) {
	if tag := s.imageTag(); tag != "" {
		return sources.Sanitize(tag), sources.ReleaseImage
	}
	if s.serves != "" {
		return sources.Sanitize(s.serves), sources.ReleaseServer
	}
	return "", ""
}

// imageTag returns the tag of the image of the leader's pod, or if none is known to be that, of the first one of a
// scheduler. It is "" if no such pod is seen, or its image has no tag that is a release. The lock is held.
func (s *Source) imageTag() string {
	tag, first := "", types.NamespacedName{}
	for key, obj := range s.store(pods).objects {
		pod := obj.(*corev1.Pod)
		if !isScheduler(pod, s.lease) {
			continue
		}
		of := s.tagOf(pod)
		switch {
		case of == "":
		case pod.Spec.NodeName != "" && strings.HasPrefix(s.leader, pod.Spec.NodeName+"_") || strings.HasPrefix(s.leader, pod.Name+"_"):
			return of // the holder of a lease is called by its host's name, and something at random (app/server.go)
		case tag == "" || key.Name < first.Name:
			tag, first = of, key
		}
	}
	return tag
}

// tagOf returns the tag of the scheduler's image in pod, if that is a release: v1.31.4 of
// registry.k8s.io/kube-scheduler:v1.31.4@sha256:...
func (s *Source) tagOf(pod *corev1.Pod) string {
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == s.lease.name })
	if i < 0 {
		return ""
	}
	image, _, _ := strings.Cut(pod.Spec.Containers[i].Image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !isRelease(tag) {
		return ""
	}
	return tag
}
