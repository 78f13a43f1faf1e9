package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// deployment emits the ReplicaSet of a Deployment and its pods.
func (r *reader) deployment(d *document, o *appsv1.Deployment) error {
	if err := checkSelector(d, o.Spec.Selector, &o.Spec.Template); err != nil {
		return err
	}
	// The hash is that of the stored template.
	whole := corev1.PodTemplate{Template: o.Spec.Template}
	coredefaults.SetObjectDefaults_PodTemplate(&whole)
	hash := templateHash(whole.Template)
	labelled := func(old map[string]string) map[string]string {
		all := map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash}
		maps.Copy(all, old)
		return all
	}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: o.Name + "-" + hash, Namespace: o.Namespace,
		Labels:          labelled(o.Spec.Template.Labels),
		OwnerReferences: []metav1.OwnerReference{owner("apps/v1", "Deployment", &o.ObjectMeta)}}}
	rs.UID = UID("ReplicaSet", rs.Namespace, rs.Name)
	rs.Spec.Replicas = o.Spec.Replicas
	rs.Spec.Selector = o.Spec.Selector.DeepCopy()
	rs.Spec.Selector.MatchLabels = labelled(rs.Spec.Selector.MatchLabels)
	rs.Spec.Template = whole.Template
	rs.Spec.Template.Labels = labelled(whole.Template.Labels)
	return r.replicaSet(d, rs)
}

func (r *reader) replicaSet(d *document, o *appsv1.ReplicaSet) error {
	if err := checkSelector(d, o.Spec.Selector, &o.Spec.Template); err != nil {
		return err
	}
	return r.set(d, o, owner("apps/v1", "ReplicaSet", &o.ObjectMeta), &o.Spec.Template, o.Spec.Replicas)
}

func (r *reader) replicationController(d *document, o *corev1.ReplicationController) error {
	if o.Spec.Template == nil {
		return d.errorf("spec", "%s has no spec.template", d.title())
	}
	if len(o.Spec.Selector) == 0 {
		o.Spec.Selector = o.Spec.Template.Labels
	}
	if err := checkSelector(d, metav1.SetAsLabelSelector(o.Spec.Selector), o.Spec.Template); err != nil {
		return err
	}
	return r.set(d, o, owner("v1", "ReplicationController", &o.ObjectMeta), o.Spec.Template, o.Spec.Replicas)
}

// set emits an owner and its pods, which have generated names.
func (r *reader) set(d *document, o runtime.Object, ref metav1.OwnerReference, t *corev1.PodTemplateSpec, replicas *int32) error {
	n, err := count(d, "spec.replicas", replicas)
	if err != nil {
		return err
	}
	if err := r.put(d, o); err != nil {
		return err
	}
	pod, claims, err := r.template(d, o.(metav1.Object).GetNamespace(), ref, t, corev1.RestartPolicyAlways)
	if err != nil {
		return err
	}
	for i := range n {
		p := *pod
		r.rename(&p, r.generate("Pod", p.Namespace, ref.Name+"-", i))
		if err := r.place(d, &p, claims); err != nil {
			return err
		}
	}
	return nil
}

// statefulSet emits a StatefulSet and its pods, each after its claims. The controller would wait for each pod to be ready,
// unless podManagementPolicy is Parallel.
func (r *reader) statefulSet(d *document, o *appsv1.StatefulSet) error {
	if err := checkSelector(d, o.Spec.Selector, &o.Spec.Template); err != nil {
		return err
	}
	n, err := count(d, "spec.replicas", o.Spec.Replicas)
	if err != nil {
		return err
	}
	if err := r.put(d, o); err != nil {
		return err
	}
	// The volumes of claim templates replace volumes with the same names.
	t := &o.Spec.Template
	var made []volumeClaim
	for i := range o.Spec.VolumeClaimTemplates {
		v := &o.Spec.VolumeClaimTemplates[i]
		t.Spec.Volumes = slices.DeleteFunc(t.Spec.Volumes, func(old corev1.Volume) bool { return old.Name == v.Name })
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Name}}})
		labels := maps.Clone(v.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, o.Spec.Selector.MatchLabels)
		claim, err := r.claim(d, metav1.ObjectMeta{Labels: labels, Annotations: v.Annotations}, v.Spec)
		if err != nil {
			return d.errorf(fmt.Sprintf("spec.volumeClaimTemplates[%d]", i), "in a claim of %s, %w", d.title(), err)
		}
		made = append(made, volumeClaim{v.Name, claim})
	}
	pod, claims, err := r.template(d, o.Namespace, owner("apps/v1", "StatefulSet", &o.ObjectMeta), t, corev1.RestartPolicyAlways)
	if err != nil {
		return err
	}
	first := 0
	if o.Spec.Ordinals != nil {
		if first, err = count(d, "spec.ordinals.start", &o.Spec.Ordinals.Start); err != nil {
			return err
		}
	}
	for i := first; i < first+n; i++ {
		if err := r.spend(d, 0, len(made)+len(pod.Labels)+len(pod.Spec.Volumes)); err != nil {
			return err
		}
		p := *pod
		r.rename(&p, o.Name+"-"+strconv.Itoa(i))
		p.Labels = map[string]string{appsv1.StatefulSetPodNameLabel: p.Name, appsv1.PodIndexLabel: strconv.Itoa(i)}
		for k, v := range pod.Labels {
			if _, ours := p.Labels[k]; !ours {
				p.Labels[k] = v
			}
		}
		p.Spec.Volumes = slices.Clone(pod.Spec.Volumes)
		for _, v := range made {
			claim := *v.claim
			claim.Name, claim.Namespace = v.volume+"-"+p.Name, p.Namespace
			claim.UID = UID("PersistentVolumeClaim", claim.Namespace, claim.Name)
			if err := r.emit(d, &claim); err != nil {
				return err
			}
			at := slices.IndexFunc(p.Spec.Volumes, func(x corev1.Volume) bool { return x.Name == v.volume })
			p.Spec.Volumes[at].PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}
		}
		if err := r.place(d, &p, claims); err != nil {
			return err
		}
	}
	return nil
}

// job emits the pods that a Job creates at once. The scheduler does not watch Jobs.
func (r *reader) job(d *document, o *batchv1.Job) error {
	n, err := count(d, "spec.parallelism", o.Spec.Parallelism)
	if err != nil {
		return err
	}
	if c := o.Spec.Completions; c != nil && int(*c) < n {
		if n, err = count(d, "spec.completions", c); err != nil {
			return err
		}
	}
	if o.Spec.Suspend != nil && *o.Spec.Suspend {
		r.notice(d, "%s is left out: it is suspended", d.title())
		return nil
	}
	t := &o.Spec.Template
	added := map[string]string{batchv1.JobNameLabel: o.Name, "job-name": o.Name,
		batchv1.ControllerUidLabel: string(o.UID), "controller-uid": string(o.UID)}
	maps.Copy(added, t.Labels)
	t.Labels = added
	pod, claims, err := r.template(d, o.Namespace, owner("batch/v1", "Job", &o.ObjectMeta), t,
		corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)
	if err != nil {
		return err
	}
	indexed := o.Spec.CompletionMode != nil && *o.Spec.CompletionMode == batchv1.IndexedCompletion
	for i := range n {
		p := *pod
		prefix := o.Name + "-"
		if indexed {
			prefix += strconv.Itoa(i) + "-"
			if err := r.spend(d, 0, len(p.Labels)); err != nil {
				return err
			}
			p.Labels = maps.Clone(p.Labels)
			p.Labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i)
		}
		r.rename(&p, r.generate("Pod", p.Namespace, prefix, i))
		if err := r.place(d, &p, claims); err != nil {
			return err
		}
	}
	return nil
}

// template returns a pod of which all pods of a workload are shallow copies with other names. Lists and maps must be copied
// before they are changed.
func (r *reader) template(d *document, namespace string, ref metav1.OwnerReference, t *corev1.PodTemplateSpec,
	restart ...corev1.RestartPolicy) (*corev1.Pod, *claims, error) {
	policy := t.Spec.RestartPolicy
	if policy == "" {
		policy = corev1.RestartPolicyAlways
	}
	if !slices.Contains(restart, policy) {
		return nil, nil, d.errorf("spec.template.spec.restartPolicy", "%s would be refused: its spec.template.spec.restartPolicy is %s and not %s",
			d.title(), quote(string(policy)), strings.Trim(fmt.Sprint(restart), "[]"))
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace, Labels: t.Labels,
		Annotations: t.Annotations, OwnerReferences: []metav1.OwnerReference{ref}}, Spec: t.Spec}
	return r.ready(d, p, "spec.template.")
}

// rename names a copy of a template.
func (r *reader) rename(p *corev1.Pod, name string) {
	p.Name, p.UID = name, UID("Pod", p.Namespace, name)
	p.Status.ResourceClaimStatuses = nil
}

// checkSelector returns an error unless a workload's selector selects its own pods, and not all.
func checkSelector(d *document, s *metav1.LabelSelector, t *corev1.PodTemplateSpec) error {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return d.errorf("spec.selector", "%s has no spec.selector", d.title())
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return d.errorf("spec.selector", "the selector of %s is none: %s", d.title(), short(err.Error()))
	}
	if !selector.Matches(labels.Set(t.Labels)) {
		return d.errorf("spec.selector", "the selector of %s does not select the labels of its own spec.template", d.title())
	}
	return nil
}
