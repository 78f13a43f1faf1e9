package live

import (
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// groups are the API groups that are read, and known are their kinds. client-go's scheme would link all groups.
var (
	groups = []group{
		{corev1.SchemeGroupVersion, corev1.AddToScheme}, {appsv1.SchemeGroupVersion, appsv1.AddToScheme},
		{authorizationv1.SchemeGroupVersion, authorizationv1.AddToScheme}, {coordinationv1.SchemeGroupVersion, coordinationv1.AddToScheme},
		{eventsv1.SchemeGroupVersion, eventsv1.AddToScheme}, {policyv1.SchemeGroupVersion, policyv1.AddToScheme},
		{resourcev1.SchemeGroupVersion, resourcev1.AddToScheme}, {schedulingv1.SchemeGroupVersion, schedulingv1.AddToScheme},
		{schedulingv1beta1.SchemeGroupVersion, schedulingv1beta1.AddToScheme}, {storagev1.SchemeGroupVersion, storagev1.AddToScheme},
	}
	known      = newScheme()
	codecs     = serializer.NewCodecFactory(known)
	parameters = runtime.NewParameterCodec(known)
)

// group is an API group, and the function that adds its kinds to a scheme.
type group struct {
	schema.GroupVersion
	add func(*runtime.Scheme) error
}

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	for _, g := range groups {
		utilruntime.Must(g.add(s)) // as client-go does: it fails if two types have one name
	}
	return s
}
