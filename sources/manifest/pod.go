package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/schedq/schedq/sources"
)

// pod emits a pod of the file.
func (r *reader) pod(d *document, p *corev1.Pod) error {
	ready, claims, err := r.ready(d, p, "")
	if err != nil {
		return err
	}
	return r.place(d, ready, claims)
}

// claims are the claims that controllers create for a pod: for its ephemeral volumes and its claim templates. They are
// trimmed and have no name yet.
type claims struct {
	volumes []volumeClaim
	devices []deviceClaim
}

type volumeClaim struct {
	volume string
	claim  *corev1.PersistentVolumeClaim
}

type deviceClaim struct {
	name  string // in the pod
	claim *resourcev1.ResourceClaim
}

// place emits a pod after its claims. The pod is trimmed, and not shared except for the parts that pods of one template
// share.
func (r *reader) place(d *document, p *corev1.Pod, c *claims) error {
	if err := r.spend(d, 1, 1+len(c.volumes)+len(c.devices)); err != nil {
		return err
	}
	own := []metav1.OwnerReference{owner("v1", "Pod", &p.ObjectMeta)}
	for _, v := range c.volumes {
		claim := *v.claim
		claim.Name, claim.Namespace, claim.OwnerReferences = p.Name+"-"+v.volume, p.Namespace, own
		claim.UID = UID("PersistentVolumeClaim", claim.Namespace, claim.Name)
		if err := r.emit(d, &claim); err != nil {
			return err
		}
	}
	for _, v := range c.devices {
		claim := *v.claim
		claim.Name = r.generate("ResourceClaim", p.Namespace, p.Name+"-"+v.name+"-", 0)
		claim.Namespace, claim.OwnerReferences = p.Namespace, own
		claim.UID = UID("ResourceClaim", claim.Namespace, claim.Name)
		if err := r.emit(d, &claim); err != nil {
			return err
		}
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses,
			corev1.PodResourceClaimStatus{Name: v.name, ResourceClaimName: &claim.Name})
	}
	return r.emit(d, p)
}

// ready returns the trimmed pod as the API server would create it. prefix is its position in the document: "spec.template."
// or, for a pod, nothing. An error describes why the API server would refuse it.
func (r *reader) ready(d *document, p *corev1.Pod, prefix string) (*corev1.Pod, *claims, error) {
	p.Generation = 1
	if p.Spec.NodeName == "" || p.Status.Phase == "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending} // what is not on a node has not run
	}
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Reason: corev1.PodReasonSchedulingGated, Message: "Scheduling is blocked due to non-empty scheduling gates"}}
	}
	coredefaults.SetObjectDefaults_Pod(p)
	tolerateBriefly(&p.Spec)
	p, err := validated(d, p, prefix)
	if err != nil {
		return nil, nil, err
	}
	mergeLabelKeys(p)
	c, err := r.claimsOf(d, p, prefix)
	if err != nil {
		return nil, nil, err
	}
	trimmed, err := sources.Trim(p)
	if err != nil {
		return nil, nil, d.errorf(prefix, "%w", err)
	}
	return trimmed.(*corev1.Pod), c, nil
}

// validated returns a copy of the pod with the fields that the API server sets after the defaults. It validates the pod
// with the API server's code.
func validated(d *document, p *corev1.Pod, prefix string) (*corev1.Pod, error) {
	var in core.Pod
	if err := coredefaults.Convert_v1_Pod_To_core_Pod(p, &in, nil); err != nil {
		return nil, d.errorf(prefix, "%s cannot be converted: %s", d.title(), short(err.Error()))
	}
	podutil.DefaultPodLevelResources(&in)
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, nil, &in.ObjectMeta, nil)
	opts.ResourceIsPod = true
	for _, e := range validation.ValidatePodCreate(&in, opts) {
		if e.Type == field.ErrorTypeRequired && strings.HasSuffix(e.Field, ".image") {
			continue // the scheduler does not need an image, so manifests may omit it
		}
		return nil, d.errorf(prefix+e.Field, "%s would be refused: %s%s: %s", d.title(), prefix, short(e.Field), short(e.ErrorBody()))
	}
	out := &corev1.Pod{}
	if err := coredefaults.Convert_core_Pod_To_v1_Pod(&in, out, nil); err != nil {
		return nil, d.errorf(prefix, "%s cannot be converted: %s", d.title(), short(err.Error()))
	}
	out.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	return out, nil
}

// tolerateBriefly adds the tolerations of the admission plugin DefaultTolerationSeconds.
func tolerateBriefly(s *corev1.PodSpec) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := false
		for _, t := range s.Tolerations {
			tolerated = tolerated || (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}
		if !tolerated {
			seconds := int64(300)
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists,
				Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
		}
	}
}

// mergeLabelKeys writes matchLabelKeys into the selectors, as the API server does (kubernetes v1.37,
// pkg/registry/core/pod): the plugin InterPodAffinity reads only selectors. Keys of labels that differ
// among the pods of a StatefulSet are not there yet, and left out.
func mergeLabelKeys(p *corev1.Pod) {
	merge := func(s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator) {
		if s == nil {
			return // selects nothing, and goes on to
		}
		for _, k := range keys {
			if v, ok := p.Labels[k]; ok {
				s.MatchExpressions = append(s.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: k, Operator: op, Values: []string{v}})
			}
		}
	}
	term := func(t *corev1.PodAffinityTerm) {
		merge(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn)
		merge(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			term(&required[i])
		}
		for i := range preferred {
			term(&preferred[i].PodAffinityTerm)
		}
	}
	if a := p.Spec.Affinity; a != nil {
		if a := a.PodAffinity; a != nil {
			terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a := a.PodAntiAffinity; a != nil {
			terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		merge(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
}

// claimsOf returns the claims that controllers create for a pod.
func (r *reader) claimsOf(d *document, p *corev1.Pod, prefix string) (*claims, error) {
	out := &claims{}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		t := v.Ephemeral.VolumeClaimTemplate
		claim, err := r.claim(d, t.ObjectMeta, t.Spec)
		if err != nil {
			return nil, d.errorf(prefix+"spec.volumes", "in the volume %s of %s, %w", short(v.Name), d.title(), err)
		}
		out.volumes = append(out.volumes, volumeClaim{v.Name, claim})
	}
	for i, c := range p.Spec.ResourceClaims {
		if c.ResourceClaimTemplateName == nil {
			continue
		}
		t := r.claimTemplates[types.NamespacedName{Namespace: p.Namespace, Name: *c.ResourceClaimTemplateName}]
		if t == nil {
			r.notice(d, "the pods of %s will wait for a claim, because the ResourceClaimTemplate %s is not in the file",
				d.title(), short(*c.ResourceClaimTemplateName))
			continue
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Labels: t.Spec.Labels}, Spec: t.Spec.Spec}
		trimmed, err := sources.Trim(claim)
		if err != nil {
			return nil, d.errorf(prefix+field.NewPath("spec", "resourceClaims").Index(i).String(), "%w", err)
		}
		out.devices = append(out.devices, deviceClaim{c.Name, trimmed.(*resourcev1.ResourceClaim)})
	}
	return out, nil
}

// claim returns a claim of a template, trimmed.
func (r *reader) claim(d *document, m metav1.ObjectMeta, s corev1.PersistentVolumeClaimSpec) (*corev1.PersistentVolumeClaim, error) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Labels: m.Labels, Annotations: m.Annotations}, Spec: s}
	r.claimDefaults(c)
	trimmed, err := sources.Trim(c)
	if err != nil {
		return nil, err
	}
	return trimmed.(*corev1.PersistentVolumeClaim), nil
}
