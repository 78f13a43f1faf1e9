package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/schedlog"
)

// Log is a stream of what a scheduler's log tells, from now on: each move if it is of -v=5 or above, else what it says of
// attempts, as evidence beside the cluster.
type Log struct {
	name sources.SafeText
	// uid returns the UID of the pod of that name that the cluster has now, or "".
	uid func(types.NamespacedName) types.UID
	// read hands each piece of new text to its argument until ctx ends, or there is no more.
	read func(ctx context.Context, text func([]byte)) error

	mu       sync.Mutex
	follower *schedlog.Follower
	line     []byte // the beginning of one that has not ended yet
	long     bool   // that one is too long, and is left out
	omitted  int    // lines that were
	trouble  string // why the log can't be read at the moment
	began    time.Time
}

// lookEvery is how often a log file is looked at for more.
const lookEvery = 100 * time.Millisecond

func (s *Source) newLog(name string, read func(ctx context.Context, text func([]byte)) error) *Log {
	safe := sources.Sanitize(name)
	return &Log{name: safe, uid: s.podUID, read: read, follower: schedlog.NewFollower(safe)}
}

// podUID returns the UID of the pod of that name that there is now, or "".
func (s *Source) podUID(key types.NamespacedName) types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pod, is := s.store(pods).objects[key].(*corev1.Pod); is {
		return pod.UID
	}
	return ""
}

// FollowLog returns a stream of the log file at path, "-" being stdin. A file that is replaced or cut, as
// logs are, is read again from its start. The error is the context's if that ends while the file is waited for.
func (s *Source) FollowLog(ctx context.Context, path string, stdin io.Reader) (*Log, error) {
	if path == "-" {
		return s.newLog("standard input", func(_ context.Context, text func([]byte)) error { return copyText(stdin, text) }), nil
	}
	f, err := disk.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	_, _ = f.Seek(0, io.SeekEnd) // of a pipe, all is new
	return s.newLog(path, func(ctx context.Context, text func([]byte)) error { return tail(ctx, path, f, text) }), nil
}

// PodLog returns a stream of the log of a scheduler that runs as a pod, as kubectl logs -f reads it. An empty container is
// the only one. A log that can't be read is tried again, as long as it is not the first time and the API server has said no.
func (s *Source) PodLog(namespace, name, container string) *Log {
	var l *Log
	l = s.newLog(namespace+"/"+name, func(ctx context.Context, text func([]byte)) error {
		retries := newRetries()
		for began := false; ctx.Err() == nil; {
			since := int64(1)
			body, err := s.client.core().Get().Namespace(namespace).Resource(pods).Name(name).SubResource("log").SetHeader("Accept", acceptText).
				VersionedParams(&corev1.PodLogOptions{Container: container, Follow: true, SinceSeconds: &since}, parameters).
				MaxRetries(0).Stream(retries.noting(ctx))
			switch {
			case err == nil:
				began = true
				l.fail(nil)
				_ = copyText(body, text) // the connection was lost, or the pod ended: the next one has the same name
				body.Close()
				l.lose()
			case !began && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)):
				return err
			default:
				retries.note(err)
				l.fail(err)
			}
			retries.backOff(ctx)
		}
		return nil
	})
	return l
}

func copyText(from io.Reader, text func([]byte)) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		text(buffer[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// tail hands on what is added to f, the file at path.
func tail(ctx context.Context, path string, f disk.File, text func([]byte)) error {
	defer func() { f.Close() }()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := copyText(f, text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		now, err := os.Stat(path)
		if err != nil {
			continue // it is being replaced
		}
		was, err := f.Stat()
		if err != nil {
			return err
		}
		at, _ := f.Seek(0, io.SeekCurrent)
		switch {
		case !os.SameFile(was, now):
			next, err := disk.Open(ctx, path)
			if err != nil {
				continue
			}
			f.Close()
			f = next
		case now.Mode().IsRegular() && now.Size() < at:
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
	}
}

// Name implements sources.Stream.
func (l *Log) Name() sources.SafeText { return l.name }

// Run implements sources.Stream.
func (l *Log) Run(ctx context.Context) error {
	l.mu.Lock()
	l.began = time.Now()
	l.mu.Unlock()
	defer l.lose()
	return l.read(ctx, l.text)
}

// lose notes that the log can't be read any more, or not for now.
func (l *Log) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line, l.long = nil, false
	l.follower.Lose(time.Now())
}

// fail notes why the log can't be read at the moment, or with nil that it can.
func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trouble = ""; err != nil {
		l.trouble = fmt.Sprintf("The log %s can't be read: %s. schedq tries again.", l.name, sources.Sanitize(Sentence("", err).Error()))
	}
}

// text takes in new text. A line that can't be read is left out.
func (l *Log) text(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if l.long = l.long || len(l.line)+len(line) > lines.MaxLine; l.long {
			l.line = nil
		} else {
			l.line = append(l.line, line...)
		}
		if !whole {
			return
		}
		text = rest
		if l.long {
			l.omitted++
			l.long = false
			continue
		}
		_ = l.follower.Line([]byte(strings.ToValidUTF8(string(bytes.TrimSuffix(l.line, []byte("\r"))), "�")), now)
		l.line = l.line[:0]
	}
}

// silence is for how long a scheduler may say nothing at all before that is strange.
const silence = 30 * time.Second

// Take implements sources.Stream.
func (l *Log) Take() ([]sources.Event, sources.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var status sources.Status
	switch level := l.follower.Verbosity(); {
	case level >= 0 && level < sources.MovesVerbosity:
		status.Notices = []string{fmt.Sprintf("The log %s is of -v=%d: it corrects the model, and does not tell each move, as one of -v=%d does.", l.name, level, sources.MovesVerbosity)}
	case l.follower.Known() == 0 && !l.began.IsZero() && now.Sub(l.began) > silence:
		status.Notices = []string{fmt.Sprintf("The log %s has told nothing yet that only kube-scheduler writes.", l.name)}
	}
	if l.trouble != "" {
		status.Notices = append(status.Notices, l.trouble)
	}
	if l.omitted > 0 {
		status.Notices = append(status.Notices, fmt.Sprintf("The log %s has lines longer than %d MiB: schedq skips them.", l.name, lines.MaxLine>>20))
	}
	events := l.follower.Take(now)
	for _, ev := range events {
		switch f := ev.Fact.(type) {
		case *sources.FailedAttempt:
			f.UID = l.uid(f.Pod)
		case *sources.Bound:
			f.UID = l.uid(f.Pod)
		}
	}
	return events, status
}
