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

// version requests the API server's release, which is the cheapest request. The release is "" if the response does
// not contain it.
func (s *Source) version(ctx context.Context) (release string, err error) {
	answer, err := s.client.core().Get().AbsPath("/version").SetHeader("Accept", acceptText).MaxRetries(0).Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var info struct{ GitVersion string }
	_ = json.Unmarshal(answer, &info) // a proxy may respond with something else
	if !isRelease(info.GitVersion) {
		return "", nil
	}
	return info.GitVersion, nil
}

// maxRelease limits the length of a release, such as v1.31.4-eks-1234567.
const maxRelease = 64

// isRelease reports whether text is a release of Kubernetes, such as v1.31.4.
func isRelease(text string) bool {
	minor, ok := strings.CutPrefix(text, "v1.")
	return ok && len(text) <= maxRelease && minor != "" && minor[0] >= '0' && minor[0] <= '9'
}

// release returns the release of the leading scheduler and its source: the image of its pod, or else the API server.
// It is "" if unknown. The lock is held.
func (s *Source) release() (sources.SafeText, sources.ReleaseSource) {
	if tag := s.imageTag(); tag != "" {
		return sources.Sanitize(tag), sources.ReleaseImage
	}
	if s.serves != "" {
		return sources.Sanitize(s.serves), sources.ReleaseServer
	}
	return "", ""
}

// imageTag returns the image tag of the leader's pod or, if that is unknown, of the first scheduler pod. It is "" if
// there is no such pod, or if the tag is not a release. The lock is held.
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
			return of // the holder's identity is its host name and a random suffix (app/server.go)
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
