package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is the namespace of all objects of a workload.
const Namespace = "default"

// Secret is in the environment of each pod, and must not be in schedq's output.
const Secret = "hunter2-must-not-be-recorded"

// Storage classes. Both bind a claim when its pod is scheduled: to an existing volume, or to one that the
// provisioner then creates.
const (
	StorageClass = "late"
	SlowClass    = "slow"
)

// SecondScheduler is the schedulerName of pods of another scheduler.
const SecondScheduler = "volcano"

const gate = "example.com/wait"

// newPod returns a pod with a CPU request.
func newPod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec: corev1.PodSpec{
			// No grace period: kwok deletes pods.
			TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{
				Name: "c", Image: "registry.example/app:1",
				Env: []corev1.EnvVar{{Name: "PASSWORD", Value: Secret}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Mi"),
				}},
			}},
		},
	}
}

// newNode returns a node with so many CPUs.
func newNode(name, cpu string) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse("64Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

// podShapes are kinds of pods that differ for the scheduler.
var podShapes = []choice[string]{
	{30, "small"}, {18, "large"}, {4, "elephant"}, {9, "gated"}, {7, "selector"}, {5, "tolerant"},
	{7, "urgent"}, {6, "apart"}, {5, "port"}, {5, "spread"}, {5, "claim"},
}

// stuckShapes are kinds of pods that stay unschedulable.
var stuckShapes = []string{"elephant", "gated", "nowhere", "bereft"}

// pod returns a new pod of a shape.
func (p *planner) pod(shape string) *corev1.Pod {
	name := fmt.Sprintf("p-%05d", p.allPods)
	p.allPods++
	p.pods = append(p.pods, name)
	pod := newPod(name, "0")
	pod.Labels = map[string]string{"shape": shape}
	cpu := fmt.Sprintf("%dm", 100*(1+p.random.IntN(10)))
	spec, labels := &pod.Spec, pod.Labels
	switch shape {
	case "large":
		cpu = fmt.Sprint(2 + p.random.IntN(5))
	case "elephant":
		cpu = "64"
	case "gated":
		spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate}}
		p.gated = append(p.gated, name)
	case "nowhere":
		spec.NodeSelector = map[string]string{"disk": "tape"}
	case "bereft":
		spec.Volumes = claimVolume("no-such-claim")
	case "selector":
		spec.NodeSelector = map[string]string{"disk": "ssd"}
	case "tolerant":
		spec.NodeSelector = map[string]string{"zone": p.zone()}
		spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	case "urgent":
		cpu = fmt.Sprint(1 + p.random.IntN(4))
		spec.PriorityClassName = "urgent"
	case "apart":
		labels["app"] = fmt.Sprintf("db-%d", p.random.IntN(2))
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: selector("app", labels["app"]),
			}},
		}}
	case "port":
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: int32(8080 + p.random.IntN(2))}}
	case "spread":
		labels["app"] = "web"
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector("app", "web"),
		}}
	case "claim":
		// An existing claim, or the next one, for which the pod has to wait.
		spec.Volumes = claimVolume(claimName(p.random.IntN(p.claims + 1)))
	}
	requests := spec.Containers[0].Resources.Requests
	requests[corev1.ResourceCPU] = resource.MustParse(cpu)
	requests[corev1.ResourceMemory] = resource.MustParse(fmt.Sprintf("%dMi", 64<<p.random.IntN(4)))
	return pod
}

func (p *planner) zone() string { return []string{"a", "b", "c"}[p.random.IntN(3)] }

// node returns a new node of a random size, in a random zone.
func (p *planner) node() *corev1.Node {
	name := fmt.Sprintf("n-%03d", p.allNodes)
	p.allNodes++
	p.nodes = append(p.nodes, name)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(fmt.Sprint(choose(p.random, []choice[int]{{3, 4}, {2, 8}, {1, 16}}))),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, "zone": p.zone(), "disk": choose(p.random, []choice[string]{{1, "ssd"}, {2, "hdd"}}),
		}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
	if p.random.IntN(6) == 0 {
		node.Spec.Taints = []corev1.Taint{dedicated}
	}
	return node
}

var dedicated = corev1.Taint{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}

func claimName(i int) string { return fmt.Sprintf("c-%d", i) }

func selector(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func claimVolume(claim string) []corev1.Volume {
	return []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}}
}

func storage() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
}
