package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The contents of a field workload.
const (
	jobsEvery    = 4 * time.Second
	disksEvery   = 6 * time.Second
	foreignEvery = 6 * time.Second
	devicesEvery = 5 * time.Second
	crowdsEvery  = 30 * time.Second

	crowdSize = 150
	crowdWait = 10 * time.Second // until nodes are added for them
	crowdRun  = 12 * time.Second // until they and their nodes are deleted
)

// Name prefixes of pods that wait for slow volumes, and of the second scheduler's pods.
const (
	DiskPrefix    = "stateful-"
	ForeignPrefix = "foreign-"
)

// planField returns the steps that a field workload adds: Jobs that finish, pods whose volumes take
// seconds to be provisioned, pods of a second scheduler, crowds of pods for which nodes are added, and
// Jobs with devices.
func planField(o Options) []Step {
	// A separate source, so that the random steps are the same with and without it.
	p := &fieldPlanner{random: rand.New(rand.NewPCG(o.Seed, 1)), until: o.Duration}
	p.each(jobsEvery, func(i int) { p.do(createJob{p.job(fmt.Sprintf("job-%d", i), 250*(1+p.random.IntN(4)), "")}) })
	p.each(disksEvery, p.disk)
	p.each(foreignEvery, p.foreign)
	p.crowds()
	if o.Devices {
		p.each(devicesEvery, func(i int) {
			p.do(createJob{p.job(fmt.Sprintf("train-%d", i), 250, deviceTemplates[p.random.IntN(len(deviceTemplates))].name)})
		})
	}
	return p.steps
}

type fieldPlanner struct {
	random *rand.Rand
	until  time.Duration
	at     time.Duration
	steps  []Step
}

func (p *fieldPlanner) do(d Action) { p.after(0, d) }

func (p *fieldPlanner) after(wait time.Duration, d Action) {
	p.steps = append(p.steps, Step{At: min(p.at+wait, p.until), Do: d})
}

func (p *fieldPlanner) between(from, to time.Duration) time.Duration {
	return from + time.Duration(p.random.Int64N(int64(to-from)))
}

// each calls plan at random times, on average so long apart.
func (p *fieldPlanner) each(apart time.Duration, plan func(i int)) {
	p.at = 0
	for i := 0; ; i++ {
		if p.at += time.Duration(p.random.ExpFloat64() * float64(apart)); p.at >= p.until {
			return
		}
		plan(i)
	}
}

// disk plans a pod whose volume takes seconds to be provisioned. Half of them are deleted.
func (p *fieldPlanner) disk(i int) {
	claim := fmt.Sprintf("disk-%d", i)
	pod := newPod(fmt.Sprintf("%s%d", DiskPrefix, i), "250m")
	pod.Spec.Volumes = claimVolume(claim)
	p.do(createClaim{claim, SlowClass})
	p.do(createPod{pod})
	if p.random.IntN(2) == 0 {
		p.after(p.between(5*time.Second, 25*time.Second), deletePod{pod.Name})
	}
}

// foreign plans a pod of the second scheduler. Half of them are deleted.
func (p *fieldPlanner) foreign(i int) {
	pod := newPod(fmt.Sprintf("%s%d", ForeignPrefix, i), fmt.Sprintf("%dm", 100*(1+p.random.IntN(10))))
	pod.Spec.SchedulerName = SecondScheduler
	p.do(createPod{pod})
	if p.random.IntN(2) == 0 {
		p.after(p.between(10*time.Second, 30*time.Second), deletePod{pod.Name})
	}
}

// crowds plans crowds that do not overlap, the first after some seconds.
func (p *fieldPlanner) crowds() {
	p.at = 0
	for i := 0; ; i++ {
		if p.at += p.between(crowdsEvery/6, crowdsEvery/3); p.at >= p.until {
			return
		}
		p.crowd(i)
		p.at += crowdWait + crowdRun
	}
}

// crowd plans 150 pods that are created at once and wait for a pool of nodes. The first node of the pool
// wakes all of them, and about a third do not fit.
func (p *fieldPlanner) crowd(i int) {
	pool := fmt.Sprintf("pool-%d", i)
	var create, remove several
	for n := range crowdSize {
		pod := newPod(fmt.Sprintf("crowd-%d-%d", i, n), "500m")
		pod.Spec.NodeSelector = map[string]string{"pool": pool}
		create, remove = append(create, createPod{pod}), append(remove, deletePod{pod.Name})
	}
	var grow several
	for n := range 1 + p.random.IntN(3) {
		node := newNode(fmt.Sprintf("%s-%d", pool, n), "16")
		node.Labels["pool"] = pool
		grow, remove = append(grow, addNode{node}), append(remove, deleteNode{node.Name})
	}
	p.do(create)
	p.after(crowdWait, grow)
	p.after(crowdWait+crowdRun, remove)
}

// job returns a Job whose pods run for 2 to 20 seconds each, with devices if it has a claim template.
func (p *fieldPlanner) job(name string, milliCPU int, template string) *batchv1.Job {
	pod := newPod("", fmt.Sprintf("%dm", milliCPU))
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	// Read by kwok, which simulates the kubelets.
	pod.Annotations = map[string]string{
		"pod-complete.stage.kwok.x-k8s.io/delay":        "2s",
		"pod-complete.stage.kwok.x-k8s.io/jitter-delay": "20s",
	}
	if template != "" {
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: &template}}
		pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "device"}}
		pod.Spec.Tolerations = []corev1.Toleration{{Key: deviceTaint.Key, Operator: corev1.TolerationOpExists}}
	}
	parallel := int32(1 + p.random.IntN(6))
	completions, keep := parallel+int32(p.random.IntN(4)), int32(5)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec: batchv1.JobSpec{
			Parallelism: &parallel, Completions: &completions, TTLSecondsAfterFinished: &keep,
			Template: corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec},
		},
	}
}

// inOrder sorts steps by time, stably.
func inOrder(steps []Step) {
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
}
