package command

import (
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/schedq/schedq/sources"
)

// maxKubeFile is how large a kubeconfig, or a file that it names, may be, in bytes. client-go reads them whole,
// without a bound of its own.
const maxKubeFile = 16 << 20

// checkKubeconfigs finds kubeconfigs that have no end, or are out of all proportion. One may come through a
// pipe, as that of a shell's <(...).
func checkKubeconfigs(access clientcmd.ConfigAccess) error {
	paths := access.GetLoadingPrecedence()
	if access.IsExplicitFile() {
		paths = []string{access.GetExplicitFile()}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); path == os.DevNull || err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			continue
		}
		if err := checkFile("the kubeconfig", path); err != nil {
			return err
		}
	}
	return nil
}

// checkNamedFiles is the same for the files that a kubeconfig, or a flag in its place, names.
func (f *KubeFlags) checkNamedFiles(config *clientcmdapi.Config) error {
	given := f.cluster.overrides
	files := [][2]string{{"--certificate-authority", given.ClusterInfo.CertificateAuthority},
		{"--client-certificate", given.AuthInfo.ClientCertificate}, {"--client-key", given.AuthInfo.ClientKey}}
	for _, user := range config.AuthInfos {
		files = append(files, [2]string{"the kubeconfig's tokenFile", user.TokenFile},
			[2]string{"the kubeconfig's client-certificate", user.ClientCertificate}, [2]string{"the kubeconfig's client-key", user.ClientKey})
	}
	for _, cluster := range config.Clusters {
		files = append(files, [2]string{"the kubeconfig's certificate-authority", cluster.CertificateAuthority})
	}
	for _, file := range files {
		if err := checkFile(file[0], file[1]); err != nil {
			return err
		}
	}
	return nil
}

// checkFile finds that path, if there is such a file, is one that can be read whole. An empty path is none.
func checkFile(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case path == "" || err != nil:
		return nil // whoever reads it says what is wrong
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %s is not a regular file", what, sources.Sanitize(path))
	case info.Size() > maxKubeFile:
		return fmt.Errorf("%s: %s is larger than %d MiB", what, sources.Sanitize(path), maxKubeFile>>20)
	}
	return nil
}
