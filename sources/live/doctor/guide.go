package doctor

import (
	"github.com/schedq/schedq/sources/worth"
)

// guide says how to get a platform's logs, like its page in docs/use/platforms.
type guide struct {
	log, audit []string // commands
	// logNeeds and auditNeeds are the requirements.
	logNeeds, auditNeeds string
	// verbosity is the scheduler's verbosity if the platform fixes it; otherwise 0.
	verbosity int
	// fixed reports whether the platform fixes the audit policy.
	fixed bool
}

// auditAdds says what the platform's audit log contributes.
func (g guide) auditAdds() string {
	const adds = "the past, and every object at any time: "
	if g.fixed {
		return adds + worth.Cloud + " (its policy can't be changed)"
	}
	return adds + "with the policy in docs/use/audit.md " + worth.Audit
}

// guideOf returns a platform's guide, by default that of kubeadm.
func guideOf(platform string) guide {
	switch platform {
	case eks:
		return guide{verbosity: 2, fixed: true,
			logNeeds: "control plane logging of `scheduler` must be on", auditNeeds: "control plane logging of `audit` must be on",
			log:   []string{"aws logs filter-log-events --log-group-name /aws/eks/CLUSTER/cluster --log-stream-name-prefix kube-scheduler --start-time MS --end-time MS > sched.json"},
			audit: []string{"aws logs filter-log-events --log-group-name /aws/eks/CLUSTER/cluster --log-stream-name-prefix kube-apiserver-audit --start-time MS --end-time MS > audit.json"}}
	case gke:
		return guide{verbosity: 2, fixed: true,
			logNeeds: "the log of the `SCHEDULER` component must be on",
			log:      []string{`gcloud logging read 'resource.type="k8s_control_plane_component" AND resource.labels.component_name="scheduler"' --format json --order asc > sched.json`},
			audit:    []string{`gcloud logging read 'logName:"cloudaudit.googleapis.com%2Factivity" AND resource.type="k8s_cluster" AND resource.labels.cluster_name="CLUSTER"' --format json --order asc > audit.json`}}
	case aks:
		return guide{verbosity: 2, fixed: true,
			logNeeds: "a diagnostic setting must send `kube-scheduler`", auditNeeds: "a diagnostic setting must send `kube-audit` or `kube-audit-admin`",
			log:   []string{"az storage blob download-batch --account-name ACCOUNT --source insights-logs-kube-scheduler --destination sched"},
			audit: []string{"az storage blob download-batch --account-name ACCOUNT --source insights-logs-kube-audit-admin --destination audit"}}
	case openshift:
		return guide{
			logNeeds:   "LogLevel Normal of the kubescheduler operator is -v=2, Debug is 4, Trace is 6",
			auditNeeds: "the audit profile must be WriteRequestBodies; with Default the log contains no objects and can't be used",
			log:        []string{"kubectl logs -n openshift-kube-scheduler openshift-kube-scheduler-NODE -c kube-scheduler --timestamps > sched.log"},
			audit:      []string{"oc adm must-gather -- /usr/bin/gather_audit_logs"}}
	case k3s:
		return guide{
			logNeeds:   "k3s must run with --kube-scheduler-arg=v=2 or higher",
			auditNeeds: noAudit,
			log:        []string{"journalctl -u k3s -o short-iso > k3s.log"}}
	}
	return guide{auditNeeds: noAudit, log: []string{"kubectl logs -n kube-system kube-scheduler-NODE --timestamps > sched.log"}}
}

const noAudit = "kube-apiserver must run with --audit-policy-file and --audit-log-path; docs/use/audit.md has a policy"
