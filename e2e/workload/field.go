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

// What a field workload has, and how often.
const (
	jobsEvery    = 4 * time.Second
	disksEvery   = 6 * time.Second
	foreignEvery = 6 * time.Second
	devicesEvery = 5 * time.Second
	crowdsEvery  = 30 * time.Second

	crowdSize = 150
	crowdWait = 10 * time.Second // until nodes come that they fit on
	crowdRun  = 12 * time.Second // until they go, with their nodes
)

// Names of pods begin with these: of those that wait for slow volumes, and of the second scheduler's.
const (
	DiskPrefix    = "stateful-"
	ForeignPrefix = "foreign-"
)

// planField returns what a production cluster does beside the random steps: Jobs whose pods end, pods
// whose volumes take seconds to be provisioned, pods of a second scheduler, crowds of pods that nodes are
// added for, and Jobs that want devices.
func planField(o Options) []Step {
	// Of its own, so that the random steps are the same with it and without it.
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

func (p *fieldPlanner) do(d Doing) { p.after(0, d) }

func (p *fieldPlanner) after(wait time.Duration, d Doing) {
	p.steps = append(p.steps, Step{At: min(p.at+wait, p.until), Do: d})
}

func (p *fieldPlanner) between(from, to time.Duration) time.Duration {
	return from + time.Duration(p.random.Int64N(int64(to-from)))
}

// each plans at random moments, so long apart on average.
func (p *fieldPlanner) each(apart time.Duration, plan func(i int)) {
	p.at = 0
	for i := 0; ; i++ {
		if p.at += time.Duration(p.random.ExpFloat64() * float64(apart)); p.at >= p.until {
			return
		}
		plan(i)
	}
}

// disk plans a pod whose volume takes seconds to be provisioned. Half of them go again.
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

// foreign plans a pod of the second scheduler. Half of them go again.
func (p *fieldPlanner) foreign(i int) {
	pod := newPod(fmt.Sprintf("%s%d", ForeignPrefix, i), fmt.Sprintf("%dm", 100*(1+p.random.IntN(10))))
	pod.Spec.SchedulerName = SecondScheduler
	p.do(createPod{pod})
	if p.random.IntN(2) == 0 {
		p.after(p.between(10*time.Second, 30*time.Second), deletePod{pod.Name})
	}
}

// crowds plans crowds that do not meet: the first comes after some seconds, the next when that one has gone.
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

// crowd plans 150 pods that come at once and wait for a pool of nodes. When that comes, its first node wakes all
// of them, and about a third of them do not fit.
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

// job returns a Job of some pods that run for 2 to 20 seconds each; with a template of claims, they want devices.
func (p *fieldPlanner) job(name string, milliCPU int, template string) *batchv1.Job {
	pod := newPod("", fmt.Sprintf("%dm", milliCPU))
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	// What kwok, which plays the kubelets, goes by.
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

// inOrder sorts steps by their time; those of one time stay as they are.
func inOrder(steps []Step) {
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
}
