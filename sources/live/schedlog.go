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

// Log is a stream of the facts in a scheduler's log, from now on: moves at -v=5 and above, otherwise attempts, which
// are evidence beside the cluster.
type Log struct {
	name sources.SafeText
	// uid returns the UID of the current pod with the name, or "".
	uid func(types.NamespacedName) types.UID
	// read passes each piece of new text to its argument until ctx or the log ends.
	read func(ctx context.Context, text func([]byte)) error

	mu       sync.Mutex
	follower *schedlog.Follower
	line     []byte // the start of an incomplete line
	long     bool   // that line is too long and is skipped
	omitted  int    // skipped lines
	trouble  string // why the log can't be read at the moment
	began    time.Time
}

// lookEvery is how often a log file is polled.
const lookEvery = 100 * time.Millisecond

func (s *Source) newLog(name string, read func(ctx context.Context, text func([]byte)) error) *Log {
	safe := sources.Sanitize(name)
	return &Log{name: safe, uid: s.podUID, read: read, follower: schedlog.NewFollower(safe)}
}

// podUID returns the UID of the current pod with the name, or "".
func (s *Source) podUID(key types.NamespacedName) types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pod, is := s.store(pods).objects[key].(*corev1.Pod); is {
		return pod.UID
	}
	return ""
}

// FollowLog returns a stream of the log file at path, or of stdin for "-". A rotated or truncated file is read from
// its start. The error is the context's if that ends while FollowLog waits for the file.
func (s *Source) FollowLog(ctx context.Context, path string, stdin io.Reader) (*Log, error) {
	if path == "-" {
		return s.newLog("standard input", func(_ context.Context, text func([]byte)) error { return copyText(stdin, text) }), nil
	}
	f, err := disk.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	_, _ = f.Seek(0, io.SeekEnd) // fails for a pipe, which is all new
	return s.newLog(path, func(ctx context.Context, text func([]byte)) error { return tail(ctx, path, f, text) }), nil
}

// PodLog returns a stream of the log of a scheduler that runs as a pod, as of kubectl logs -f. An empty container means
// the only one. Failed reads are retried, unless the API server refuses the first one.
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
				_ = copyText(body, text) // the connection was lost, or the pod ended; its successor has the same name
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

// tail passes on the text that is appended to f, the file at path.
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

// lose records that the log can't be read at the moment.
func (l *Log) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line, l.long = nil, false
	l.follower.Lose(time.Now())
}

// fail records why the log can't be read at the moment; nil means that it can.
func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trouble = ""; err != nil {
		l.trouble = fmt.Sprintf("The log %s can't be read: %s. schedq tries again.", l.name, sources.Sanitize(Sentence("", err).Error()))
	}
}

// text parses new text. It skips lines that it can't parse.
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

// silence is the time without a line of the scheduler after which a notice reports it.
const silence = 30 * time.Second

// Take implements sources.Stream.
func (l *Log) Take() ([]sources.Event, sources.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var status sources.Status
	switch level := l.follower.Verbosity(); {
	case level >= 0 && level < sources.MovesVerbosity:
		status.Notices = []string{fmt.Sprintf("The log %s is at -v=%d: it corrects the model, but contains no moves. A log at -v=%d does.", l.name, level, sources.MovesVerbosity)}
	case l.follower.Known() == 0 && !l.began.IsZero() && now.Sub(l.began) > silence:
		status.Notices = []string{fmt.Sprintf("The log %s contains no line that only kube-scheduler writes yet.", l.name)}
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
