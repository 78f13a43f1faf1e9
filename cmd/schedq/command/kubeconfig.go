package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/schedq/schedq/sources"
)

// kubeconfigFlags are kubectl's flags for a cluster and a user. They are built on client-go, because
// k8s.io/cli-runtime would link kustomize and package plugin, which makes the linker keep every method.
type kubeconfigFlags struct {
	rules     clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
	extra     []string // --as-user-extra, each KEY=VALUE
}

// register adds the flags to set.
func (c *kubeconfigFlags) register(set *pflag.FlagSet) {
	c.rules = *clientcmd.NewDefaultClientConfigLoadingRules()
	c.rules.DefaultClientConfig = &clientcmd.DefaultClientConfig // for clientcmd.IsEmptyConfig
	c.overrides.ClusterDefaults = clientcmd.ClusterDefaults
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", "" // removed from kubectl
	clientcmd.BindOverrideFlags(&c.overrides, set, names)
	set.StringVar(&c.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use for CLI requests.")
	set.StringArrayVar(&c.extra, "as-user-extra", nil, "User extras to impersonate for the operation, KEY=VALUE; this flag can be repeated to specify multiple values for the same key.")
}

// loader returns the kubeconfig with the flags applied.
func (c *kubeconfigFlags) loader() clientcmd.ClientConfig {
	overrides := c.overrides
	for _, extra := range c.extra {
		if key, value, ok := strings.Cut(extra, "="); ok {
			if overrides.AuthInfo.ImpersonateUserExtra == nil {
				overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
			}
			overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&c.rules, &overrides)
}

// kubeconfig reads the kubeconfig that the flags and the environment name.
func (f *kubeFlags) kubeconfig() (*clientcmdapi.Config, error) {
	loader := f.cluster.loader()
	if err := checkKubeconfigs(loader.ConfigAccess()); err != nil {
		return nil, err
	}
	config, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("can't read the kubeconfig: %s", oneLine(err))
	}
	return &config, nil
}

var errNoCluster = errors.New("no kubeconfig names a cluster: set KUBECONFIG or use --kubeconfig")

// config returns how to reach the cluster, and its name.
func (f *kubeFlags) config() (config *rest.Config, name string, err error) {
	raw, err := f.kubeconfig()
	if err != nil {
		return nil, "", err
	}
	if err := f.checkReferencedFiles(raw); err != nil {
		return nil, "", err
	}
	name = raw.CurrentContext
	if named := f.cluster.overrides.CurrentContext; named != "" {
		name = named
		if raw.Contexts[name] == nil {
			return nil, "", fmt.Errorf("no context %s in the kubeconfig: kubectl config get-contexts lists them", sources.Sanitize(name))
		}
	}
	if len(raw.Clusters) == 0 && f.cluster.overrides.ClusterInfo.Server == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, "", errNoCluster
		}
		return config, "the cluster", nil
	}
	config, err = f.cluster.loader().ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, "", errNoCluster
	case err != nil:
		return nil, "", fmt.Errorf("invalid kubeconfig: %s", oneLine(err))
	}
	if name == "" {
		name = config.Host
	}
	return config, name, nil
}

// oneLine returns err's text, sanitized and in one line.
func oneLine(err error) sources.SafeText {
	return sources.Sanitize(strings.TrimSpace(strings.ReplaceAll(err.Error(), "\n", " ")))
}

// maxKubeFile limits the size of a kubeconfig and of a file it references, in bytes. client-go reads
// them whole.
const maxKubeFile = 16 << 20

// checkKubeconfigs rejects kubeconfigs that are endless or too large. Pipes are allowed, for a shell's
// <(...).
func checkKubeconfigs(access clientcmd.ConfigAccess) error {
	paths := access.GetLoadingPrecedence()
	if access.IsExplicitFile() {
		paths = []string{access.GetExplicitFile()}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); path == os.DevNull || err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			continue
		}
		if err := checkKubeFile("the kubeconfig", path); err != nil {
			return err
		}
	}
	return nil
}

// checkReferencedFiles checks the files that a kubeconfig or the flags name.
func (f *kubeFlags) checkReferencedFiles(config *clientcmdapi.Config) error {
	flags := f.cluster.overrides
	files := [][2]string{{"--certificate-authority", flags.ClusterInfo.CertificateAuthority},
		{"--client-certificate", flags.AuthInfo.ClientCertificate}, {"--client-key", flags.AuthInfo.ClientKey}}
	for _, user := range config.AuthInfos {
		files = append(files, [2]string{"the kubeconfig's tokenFile", user.TokenFile},
			[2]string{"the kubeconfig's client-certificate", user.ClientCertificate}, [2]string{"the kubeconfig's client-key", user.ClientKey})
	}
	for _, cluster := range config.Clusters {
		files = append(files, [2]string{"the kubeconfig's certificate-authority", cluster.CertificateAuthority})
	}
	for _, file := range files {
		if err := checkKubeFile(file[0], file[1]); err != nil {
			return err
		}
	}
	return nil
}

// checkKubeFile checks that path can be read whole. It accepts an empty path and a missing file.
func checkKubeFile(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case path == "" || err != nil:
		return nil // reading it reports the error
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %s is not a regular file", what, sources.Sanitize(path))
	case info.Size() > maxKubeFile:
		return fmt.Errorf("%s: %s is larger than %d MiB", what, sources.Sanitize(path), maxKubeFile>>20)
	}
	return nil
}
