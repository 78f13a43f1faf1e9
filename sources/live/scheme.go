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

// groups are those of the API that are read, and known are their kinds. client-go's own scheme has all groups there are, and
// links them.
var (
	groups = []schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion, authorizationv1.SchemeGroupVersion,
		coordinationv1.SchemeGroupVersion, eventsv1.SchemeGroupVersion, policyv1.SchemeGroupVersion, resourcev1.SchemeGroupVersion,
		schedulingv1.SchemeGroupVersion, schedulingv1beta1.SchemeGroupVersion, storagev1.SchemeGroupVersion}
	known      = newScheme()
	codecs     = serializer.NewCodecFactory(known)
	parameters = runtime.NewParameterCodec(known)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, authorizationv1.AddToScheme, coordinationv1.AddToScheme,
		eventsv1.AddToScheme, policyv1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme, schedulingv1beta1.AddToScheme, storagev1.AddToScheme} {
		utilruntime.Must(add(s)) // as client-go does: it fails if two types have one name
	}
	return s
}
