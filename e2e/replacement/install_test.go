package replacement

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// newScheduler returns an unconnected scheduler with the default profile after change.
func newScheduler(t *testing.T, ctx context.Context, change func(*schedulerapi.KubeSchedulerProfile), plugins frameworkruntime.Registry) (*scheduler.Scheduler, Settings) {
	t.Helper()
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Profiles {
		change(&cfg.Profiles[i])
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	s, err := scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return nil },
		scheduler.WithProfiles(cfg.Profiles...), scheduler.WithFrameworkOutOfTreeRegistry(plugins))
	if err != nil {
		t.Fatal(err)
	}
	return s, Settings{
		Pods: factory.Core().V1().Pods().Lister(), PodInitialBackoff: 1, PodMaxBackoff: 10, PodMaxInUnschedulablePods: time.Minute,
	}
}

func unchanged(*schedulerapi.KubeSchedulerProfile) {}

// TestInstall checks that the scheduler uses the new queue, which writes upstream's log lines.
func TestInstall(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, args string) {
		if !strings.Contains(args, "SignPod") { // of the framework
			lines = append(lines, args)
		}
	}, funcr.Options{Verbosity: 5})
	ctx := klog.NewContext(t.Context(), logger)
	s, settings := newScheduler(t, ctx, unchanged, nil)
	if err := Install(ctx, s, settings); err != nil {
		t.Fatal(err)
	}
	lines = nil
	pod, gated := &v1.Pod{}, &v1.Pod{}
	pod.Namespace, pod.Name, pod.UID, pod.Spec.SchedulerName = "default", "web", "1", v1.DefaultSchedulerName
	gated.Namespace, gated.Name, gated.UID, gated.Spec.SchedulerName = "default", "held", "2", v1.DefaultSchedulerName
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "wait"}}
	s.SchedulingQueue.Add(ctx, pod)
	s.SchedulingQueue.Add(ctx, gated)
	entity, err := s.NextEntity(logger)
	if err != nil {
		t.Fatal(err)
	}
	info, ok := entity.(*framework.QueuedPodInfo)
	if !ok || info.Pod != pod || info.Attempts != 1 {
		t.Fatalf("popped %+v", entity)
	}
	info.UnschedulablePlugins = sets.New("NodeResourcesFit")
	if err := s.SchedulingQueue.AddUnschedulablePodIfNotPresent(logger, info, 1); err != nil {
		t.Fatal(err)
	}
	if pods := s.SchedulingQueue.UnschedulablePods(); len(pods) != 2 {
		t.Errorf("%d unschedulable or gated pods, want 2", len(pods))
	}
	node := &v1.Node{Status: v1.NodeStatus{Allocatable: v1.ResourceList{}}}
	s.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}, nil, node, nil)
	s.SchedulingQueue.Done(pod.UID)
	s.SchedulingQueue.Delete(logger, pod)
	s.SchedulingQueue.Close()
	if entity, err := s.NextEntity(logger); entity != nil || err != nil {
		t.Errorf("a closed queue popped %v, %v", entity, err)
	}
	for i, want := range []string{
		`"Entity moved to an internal scheduling queue" "type"="pod" "entity"={"name"="web" "namespace"="default"} "event"="UnscheduledPodAdd" "queue"="Active"`,
		`"Entity moved to an internal scheduling queue, because it is gated"`,
		`"Checking events for in-flight pod"`,
		`"Pod moved to an internal scheduling queue" "pod"={"name"="web" "namespace"="default"} "event"="ScheduleAttemptFailure" "queue"="Unschedulable"`,
	} {
		if len(lines) <= i || !strings.Contains(lines[i], want) {
			t.Fatalf("line %d of the log lacks %s:\n%s", i, want, strings.Join(lines, "\n"))
		}
	}
}

// TestInstallErrors checks that unsupported settings are errors, and the scheduler keeps its queue.
func TestInstallErrors(t *testing.T) {
	mine := frameworkruntime.Registry{"Mine": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return lastFirst{}, nil }}
	refuse := func(t *testing.T, change func(*schedulerapi.KubeSchedulerProfile), want string) {
		t.Helper()
		s, settings := newScheduler(t, t.Context(), change, mine)
		own := s.SchedulingQueue
		if err := Install(t.Context(), s, settings); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if s.SchedulingQueue != own {
			t.Error("the queue was replaced")
		}
	}
	t.Run("queue sort", func(t *testing.T) {
		refuse(t, func(p *schedulerapi.KubeSchedulerProfile) {
			p.Plugins.QueueSort = schedulerapi.PluginSet{
				Enabled: []schedulerapi.Plugin{{Name: "Mine"}}, Disabled: []schedulerapi.Plugin{{Name: queuesort.Name}},
			}
			p.Plugins.MultiPoint.Disabled = append(p.Plugins.MultiPoint.Disabled, schedulerapi.Plugin{Name: queuesort.Name})
		}, "profile default-scheduler has the queue sort plugin Mine: this queue supports only PrioritySort")
	})
	t.Run("gate", func(t *testing.T) {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.InPlacePodVerticalScalingSchedulerPreemption, true)
		refuse(t, unchanged, "feature gate InPlacePodVerticalScalingSchedulerPreemption is not supported by this queue: turn it off")
	})
}

// lastFirst is a queue sort plugin.
type lastFirst struct{}

func (lastFirst) Name() string { return "Mine" }
func (lastFirst) Less(a, b fwk.QueuedEntityInfo) bool {
	return a.GetTimestamp().After(b.GetTimestamp())
}
