package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/schedq/schedq/e2e/controlplane"
)

// tokenUser is a service account with the rights of schedq's user and a token in a file.
type tokenUser struct {
	kubeconfig string
	tokenFile  string
	anchor     string // the token expires with this secret
}

const tokenUserName = "schedq-guest"

// createTokenUser creates the service account. Its kubeconfig leads to the API server at address.
func createTokenUser(t *testing.T, c *controlplane.ControlPlane, client kubernetes.Interface, address string) *tokenUser {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: tokenUserName}}
	if _, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	bindings, err := client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bindings.Items {
		if !strings.HasSuffix(b.Name, "-e2e") {
			continue
		}
		b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: tokenUserName})
		if _, err := client.RbacV1().ClusterRoleBindings().Update(t.Context(), &b, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	u := &tokenUser{kubeconfig: filepath.Join(dir, "kubeconfig"), tokenFile: filepath.Join(dir, "token")}
	config, err := clientcmd.LoadFromFile(schedqKubeconfig(t, c, address))
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: u.tokenFile}
	}
	if err := clientcmd.WriteToFile(*config, u.kubeconfig); err != nil {
		t.Fatal(err)
	}
	u.renew(t, client)
	return u
}

// renew writes a new token to the file.
func (u *tokenUser) renew(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	anchor, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "anchor-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u.anchor = anchor.Name
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: anchor.Name, UID: anchor.UID},
	}}
	answer, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), tokenUserName, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.tokenFile, []byte(answer.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// expire invalidates the token by deleting the secret that it is bound to, and waits until the API
// server's cache of valid tokens has expired.
func (u *tokenUser) expire(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	if err := client.CoreV1().Secrets("default").Delete(t.Context(), u.anchor, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", u.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	own, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	poll(t, func(ctx context.Context) error {
		_, err := own.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			return errors.New("the token is still valid")
		}
		if !apierrors.IsUnauthorized(err) {
			return err
		}
		return nil
	})
}
