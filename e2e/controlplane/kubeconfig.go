package controlplane

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Users that the API server knows by their tokens. A token is the user's name with "-token" behind it.
const (
	Admin             = "admin"
	SchedulerUser     = "system:kube-scheduler"
	controllerUser    = "controllers"
	kwokUser          = "kwok"
	SchedqUser        = "schedq"         // has what the tests grant it
	StrangerUser      = "stranger"       // may do nothing
	systemMasters     = "system:masters" // RBAC lets this group do everything
	serverCertificate = "apiserver.crt"
)

// writeTokens writes the API server's file of users. More are users who may do everything.
func writeTokens(path string, more []string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	groups := map[string]string{Admin: systemMasters, controllerUser: systemMasters, kwokUser: systemMasters, SchedulerUser: "", SchedqUser: "", StrangerUser: ""}
	for _, user := range more {
		groups[user] = systemMasters
	}
	for user, group := range groups {
		record := []string{token(user), user, user}
		if group != "" {
			record = append(record, group)
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func token(user string) string { return strings.ReplaceAll(user, ":", "-") + "-token" }

// Kubeconfig writes a kubeconfig of user's, for the API server at address, and returns its path. An empty
// address is the API server's own; another one may be that of a proxy before it.
func (c *ControlPlane) Kubeconfig(user, address string) (string, error) {
	if address == "" {
		address = c.apiAddress
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{
		Server:               "https://" + address,
		CertificateAuthority: filepath.Join(c.dir, "certs", serverCertificate),
	}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token(user)}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: user}
	config.CurrentContext = "e2e"
	path := filepath.Join(c.dir, fmt.Sprintf("%s@%s.kubeconfig", strings.ReplaceAll(user, ":", "-"), strings.ReplaceAll(address, ":", "-")))
	return path, clientcmd.WriteToFile(*config, path)
}
