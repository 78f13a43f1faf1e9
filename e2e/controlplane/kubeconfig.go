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

// The users of the API server. Their tokens are the names with the suffix "-token".
const (
	Admin             = "admin"
	SchedulerUser     = "system:kube-scheduler"
	controllerUser    = "controllers"
	kwokUser          = "kwok"
	SchedqUser        = "schedq"         // has the rights that the tests grant
	StrangerUser      = "stranger"       // has no rights
	systemMasters     = "system:masters" // a group with all rights
	serverCertificate = "apiserver.crt"
)

// writeTokens writes the API server's token file. more are users with all rights.
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

// Kubeconfig writes a kubeconfig for user, and returns its path. address may be that of a proxy; default:
// the API server's.
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
