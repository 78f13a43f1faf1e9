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

// guest is a service account that may do what schedq's user may, by a token in a file.
type guest struct {
	kubeconfig string
	tokenFile  string
	anchor     string // the secret with which the token ends
}

// guestName is the name of the service account.
const guestName = "schedq-guest"

// admitGuest makes the service account, for the API server at address.
func admitGuest(t *testing.T, c *controlplane.ControlPlane, client kubernetes.Interface, address string) *guest {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: guestName}}
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
		b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: guestName})
		if _, err := client.RbacV1().ClusterRoleBindings().Update(t.Context(), &b, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	g := &guest{kubeconfig: filepath.Join(dir, "kubeconfig"), tokenFile: filepath.Join(dir, "token")}
	config, err := clientcmd.LoadFromFile(schedqKubeconfig(t, c, address))
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: g.tokenFile}
	}
	if err := clientcmd.WriteToFile(*config, g.kubeconfig); err != nil {
		t.Fatal(err)
	}
	g.renew(t, client)
	return g
}

// renew puts a new token into the file.
func (g *guest) renew(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	anchor, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "anchor-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g.anchor = anchor.Name
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: anchor.Name, UID: anchor.UID},
	}}
	answer, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), guestName, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.tokenFile, []byte(answer.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// expire makes the token worth nothing: the secret that it is bound to is deleted. The API server may remember
// for some seconds that the token was good.
func (g *guest) expire(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	if err := client.CoreV1().Secrets("default").Delete(t.Context(), g.anchor, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", g.kubeconfig)
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
			return errors.New("the token is still good")
		}
		if !apierrors.IsUnauthorized(err) {
			return err
		}
		return nil
	})
}
