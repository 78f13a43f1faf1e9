// Package livetest provides an API server for tests. It stores objects and serves lists and watches
// like kube-apiserver (pagination, streaming lists, bookmarks, 410 Gone), and can inject failures.
package livetest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// Server is a test API server. Its methods may be called at any time.
type Server struct {
	*httptest.Server

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced by every change
	revision  int
	compacted int // watches from an older revision get 410 Gone
	objects   map[string]map[types.NamespacedName]runtime.Object
	log       []entry
	requests  []request
	refusals  map[string]int    // status codes by resource
	texts     map[string]string // response bodies by path
	refuseAll int
	only      string // the namespace whose allowed resources are served, with status 403 for all else
	allowed   []string
	noLists   int // status code for all GETs but /version
	noStreams bool
	cuts      map[string]chan struct{} // by resource; closed and removed to cut its watches
	raw       []rawText                // sent to running watches
	fault     http.HandlerFunc         // answers all requests but /version, or nil
}

// entry is a watch event.
type entry struct {
	revision int
	resource string
	kind     string
	object   runtime.Object
}

// rawText is text that running watches of a resource send.
type rawText struct{ resource, text string }

// New starts an empty server, which is closed when the test ends.
func New(t testing.TB) *Server {
	s := newServer()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.stop)
	return s
}

func newServer() *Server {
	return &Server{
		changed: make(chan struct{}), cuts: map[string]chan struct{}{}, revision: 100,
		objects: map[string]map[types.NamespacedName]runtime.Object{}, refusals: map[string]int{}, texts: map[string]string{},
	}
}

func (s *Server) stop() {
	s.CutWatches()
	s.Server.CloseClientConnections()
	s.Server.Close()
}

// Kubeconfig writes a kubeconfig for the server, and returns its path.
func (s *Server) Kubeconfig(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
users: [{name: reader, user: {token: secret-token}}]
contexts: [{name: test, context: {cluster: test, user: reader}}]
current-context: test
`, s.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Put creates or updates copies of objects.
func (s *Server) Put(objects ...runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, obj := range objects {
		obj = obj.DeepCopyObject()
		name, m := resourceOf(obj), obj.(metav1.Object)
		s.revision++
		m.SetResourceVersion(strconv.Itoa(s.revision))
		key := types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}
		if m.GetUID() == "" {
			m.SetUID(types.UID(key.String()))
		}
		all := s.objects[name]
		if all == nil {
			all = map[types.NamespacedName]runtime.Object{}
			s.objects[name] = all
		}
		kind := "MODIFIED"
		if _, there := all[key]; !there {
			kind = "ADDED"
		}
		all[key] = obj
		s.log = append(s.log, entry{s.revision, name, kind, obj})
	}
	s.wake()
}

// Delete removes objects.
func (s *Server) Delete(objects ...runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, obj := range objects {
		name, m := resourceOf(obj), obj.(metav1.Object)
		key := types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}
		last := s.objects[name][key]
		if last == nil {
			continue
		}
		delete(s.objects[name], key)
		s.revision++
		last = last.DeepCopyObject()
		last.(metav1.Object).SetResourceVersion(strconv.Itoa(s.revision))
		s.log = append(s.log, entry{s.revision, name, "DELETED", last})
	}
	s.wake()
}

// Answer sets the response body for a path, as for paths that kube-apiserver proxies.
func (s *Server) Answer(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[path] = text
}

// Refuse rejects requests for a resource with an HTTP status code. 0 serves them again. An empty
// resource means all requests.
func (s *Server) Refuse(resource string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if resource == "" {
		s.refuseAll = code
		return
	}
	s.refusals[resource] = code
}

// Limit allows only resources of one namespace, as a Role does.
func (s *Server) Limit(namespace string, resources ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.only, s.allowed = namespace, resources
}

// mayRead reports whether a resource of a namespace, or of all, is allowed. The caller holds s.mu.
func (s *Server) mayRead(namespace, resource string) bool {
	return s.only == "" || namespace == s.only && slices.Contains(s.allowed, resource)
}

// RefuseLists rejects all lists and watches with an HTTP status code. 0 serves them again.
func (s *Server) RefuseLists(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noLists = code
}

// NoStreams disables streaming lists, as in older servers.
func (s *Server) NoStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noStreams = true
}

// CutWatches drops the connections of running watches: those of the given resources, or all.
func (s *Server) CutWatches(resources ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, cut := range s.cuts {
		if len(resources) == 0 || slices.Contains(resources, name) {
			close(cut)
			delete(s.cuts, name)
		}
	}
}

// SendToWatches sends raw text to the running watches of a resource.
func (s *Server) SendToWatches(resource, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, rawText{resource, text})
	s.wake()
}

// Break has fault answer all requests but /version. nil mends the server.
func (s *Server) Break(fault http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Compact drops all events so far. A watch that resumes from an older revision gets 410 Gone.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted, s.log = s.revision, nil
}

// maxRequests is how many requests are kept.
const maxRequests = 10_000

type request struct {
	method, path string
	at           time.Time
}

// Requests returns the requests so far, as "GET /api/v1/pods". Beyond maxRequests it begins anew.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.requests {
		all = append(all, r.method+" "+r.path)
	}
	return all
}

// Asked returns when the path was requested. Beyond maxRequests it begins anew.
func (s *Server) Asked(path string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	var at []time.Time
	for _, r := range s.requests {
		if r.path == path {
			at = append(at, r.at)
		}
	}
	return at
}

func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// resourceOf returns the resource name of obj's kind.
func resourceOf(obj runtime.Object) string {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		panic(err) // a bug in the test
	}
	obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	name := strings.ToLower(kinds[0].Kind)
	if strings.HasSuffix(name, "s") {
		return name + "es"
	}
	if before, ok := strings.CutSuffix(name, "y"); ok {
		return before + "ies"
	}
	return name + "s"
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	if len(s.requests) == maxRequests {
		s.requests = s.requests[:0]
	}
	s.requests = append(s.requests, request{req.Method, req.URL.Path, time.Now()})
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	resource := parts[len(parts)-1]
	code := s.refuseAll
	if code == 0 {
		code = s.refusals[resource]
	}
	if code == 0 && req.Method == http.MethodGet && req.URL.Path != "/version" {
		code = s.noLists
	}
	if in := slices.Index(parts, "namespaces"); code == 0 && req.Method == http.MethodGet && len(parts) > 2 &&
		!s.mayRead(append(parts, "")[in+1], resource) {
		code = http.StatusForbidden
	}
	text, texted := s.texts[req.URL.Path]
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && req.URL.Path != "/version" {
		fault(w, req)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case code != 0:
		refuse(w, code)
	case texted:
		fmt.Fprint(w, text)
	case req.URL.Path == "/version":
		fmt.Fprint(w, `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`)
	case req.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case req.Method == http.MethodPost && resource == "selfsubjectaccessreviews":
		s.review(w, req)
	case req.Method != http.MethodGet:
		refuse(w, http.StatusMethodNotAllowed)
	case req.URL.Query().Get("watch") != "":
		s.watch(w, req, resource)
	default:
		s.list(w, req, resource)
	}
}

func refuse(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1") // as kube-apiserver does
	}
	w.WriteHeader(code)
	reasons := map[int]metav1.StatusReason{401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden, 404: metav1.StatusReasonNotFound,
		405: metav1.StatusReasonMethodNotAllowed, 410: metav1.StatusReasonExpired, 422: metav1.StatusReasonInvalid,
		429: metav1.StatusReasonTooManyRequests, 500: metav1.StatusReasonInternalError, 503: metav1.StatusReasonServiceUnavailable}
	json.NewEncoder(w).Encode(status(code, reasons[code]))
}

func status(code int, reason metav1.StatusReason) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code), Reason: reason, Message: string(reason)}
}

// review answers a SelfSubjectAccessReview: all resources are allowed but those refused with 403.
func (s *Server) review(w http.ResponseWriter, req *http.Request) {
	var r struct {
		Spec struct {
			ResourceAttributes struct{ Namespace, Resource string }
		}
	}
	json.NewDecoder(req.Body).Decode(&r)
	s.mu.Lock()
	of := r.Spec.ResourceAttributes
	allowed := s.refusals[of.Resource] != http.StatusForbidden && s.mayRead(of.Namespace, of.Resource)
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":%v}}`, allowed)
}

// selected returns the objects that match a request, sorted by name. The caller holds s.mu.
func (s *Server) selected(req *http.Request, resource string) []runtime.Object {
	var list []runtime.Object
	keys := slices.SortedFunc(maps.Keys(s.objects[resource]), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		if obj := s.objects[resource][key]; selects(req, obj) {
			list = append(list, obj)
		}
	}
	return list
}

// selects reports whether obj matches a request's namespace and field selector.
func selects(req *http.Request, obj runtime.Object) bool {
	m := obj.(metav1.Object)
	if _, after, ok := strings.Cut(req.URL.Path, "/namespaces/"); ok && m.GetNamespace() != strings.Split(after, "/")[0] {
		return false
	}
	selector, err := fields.ParseSelector(req.URL.Query().Get("fieldSelector"))
	if err != nil {
		return false
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return false
	}
	phase, _ := content["status"].(map[string]any)
	node, _, _ := unstructured.NestedString(content, "spec", "nodeName")
	set := fields.Set{"metadata.name": m.GetName(), "reason": fmt.Sprint(content["reason"]), "status.phase": fmt.Sprint(phase["phase"]), "spec.nodeName": node}
	return selector.Matches(set)
}

func (s *Server) list(w http.ResponseWriter, req *http.Request, resource string) {
	s.mu.Lock()
	items, revision := s.selected(req, resource), s.revision
	s.mu.Unlock()
	meta := map[string]any{"resourceVersion": strconv.Itoa(revision)}
	from, _ := strconv.Atoi(req.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(req.URL.Query().Get("limit"))
	items = items[min(from, len(items)):]
	if limit > 0 && len(items) > limit && req.URL.Query().Get("resourceVersion") != "0" {
		items = items[:limit]
		meta["continue"] = strconv.Itoa(from + limit)
	}
	if items == nil {
		items = []runtime.Object{}
	}
	version, kind := kindOf(req, resource)
	json.NewEncoder(w).Encode(map[string]any{"kind": kind + "List", "apiVersion": version, "metadata": meta, "items": items})
}

func (s *Server) watch(w http.ResponseWriter, req *http.Request, resource string) {
	query := req.URL.Query()
	s.mu.Lock()
	at, cut := s.revision, s.cuts[resource]
	if cut == nil {
		cut = make(chan struct{})
		s.cuts[resource] = cut
	}
	stream := query.Get("sendInitialEvents") == "true"
	if from, err := strconv.Atoi(query.Get("resourceVersion")); err == nil && from > 0 && !stream {
		at = from
	}
	old, first := at < s.compacted, []runtime.Object(nil)
	if stream {
		first = s.selected(req, resource)
	}
	refused, sent := stream && s.noStreams, len(s.raw)
	s.mu.Unlock()
	if refused {
		refuse(w, http.StatusUnprocessableEntity)
		return
	}
	encoder := json.NewEncoder(w)
	send := func(kind string, obj any) { encoder.Encode(map[string]any{"type": kind, "object": obj}) }
	if old {
		send("ERROR", status(http.StatusGone, metav1.StatusReasonExpired))
		return
	}
	for _, obj := range first {
		send("ADDED", obj)
	}
	if stream {
		send("BOOKMARK", bookmark(req, resource, at))
	}
	w.(http.Flusher).Flush()
	for {
		s.mu.Lock()
		changed := s.changed
		var due []entry
		for _, e := range s.log {
			if e.revision > at && e.resource == resource && selects(req, e.object) {
				due = append(due, e)
			}
		}
		at = max(at, s.revision)
		raw := s.raw[sent:]
		sent = len(s.raw)
		s.mu.Unlock()
		for _, r := range raw {
			if r.resource == resource {
				io.WriteString(w, r.text)
			}
		}
		for _, e := range due {
			send(e.kind, e.object)
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-cut:
			panic(http.ErrAbortHandler)
		case <-req.Context().Done():
			return
		}
	}
}

// kindOf returns the API version of a request, and the kind of its resource.
func kindOf(req *http.Request, resource string) (version, kind string) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	version = "v1"
	if parts[0] == "apis" {
		version = parts[1] + "/" + parts[2]
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if gvk.GroupVersion().String() != version {
			continue
		}
		if obj, err := scheme.Scheme.New(gvk); err == nil {
			if _, ok := obj.(metav1.Object); ok && resourceOf(obj) == resource {
				return version, gvk.Kind
			}
		}
	}
	return version, ""
}

// bookmark returns the bookmark that ends a streaming list.
func bookmark(req *http.Request, resource string, revision int) any {
	version, kind := kindOf(req, resource)
	return map[string]any{"kind": kind, "apiVersion": version, "metadata": map[string]any{
		"resourceVersion": strconv.Itoa(revision), "annotations": map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
}
