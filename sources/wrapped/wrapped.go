// Package wrapped takes the lines of a log out of what carries them: what clouds and journals hand out in place of the
// file that a program wrote. It gives kube-apiserver's audit lines and kube-scheduler's lines as those programs wrote
// them, and knows nothing else of either.
//
// The wrappers are told by what is in a file's beginning:
//
//	CloudWatch        get-log-events, filter-log-events, subscription records, Insights results (JSON);
//	                  export to S3 and "logs tail" (a time, perhaps a stream, before each line)
//	Cloud Logging     an array, or an entry a line (JSON); an audit event is put together of its protoPayload
//	Azure Monitor     storage and Event Hub records, rows with log_s, the AKSAudit tables (JSON)
//	journald          short, short-iso and JSON. Of a journal of all components, the scheduler's lines and audit events are taken
//	container runtime CRI's prefix, Docker's JSON
//	klog              its JSON format, written as text
package wrapped

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine bounds a line, as package lines does.
const maxLine = 16 << 20

// Wrapper is a kind of wrapper that was found.
type Wrapper struct {
	// Name is what to call it.
	Name string
	// unwrap writes the lines of what it reads.
	unwrap func(from io.Reader, to *writer) error
}

// Detect returns the wrapper of a file with that beginning, or nil if its lines stand for themselves.
func Detect(head []byte) *Wrapper {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 {
		return nil
	}
	if head[0] == '{' || head[0] == '[' {
		return detectJSON(head)
	}
	return detectPrefix(head)
}

// Open returns the lines in what from holds, wrapped in w, each with a line's end. An error of from's is returned by
// Read. Closing it ends the goroutine that reads; from is not closed.
func (w *Wrapper) Open(from io.Reader) io.ReadCloser {
	r, pipe := io.Pipe()
	go func() {
		out := &writer{to: bufio.NewWriterSize(pipe, 1<<18)}
		err := w.unwrap(from, out)
		if flushed := out.to.Flush(); err == nil {
			err = flushed
		}
		pipe.CloseWithError(err) // nil is io.EOF
	}()
	return r
}

// writer writes lines.
type writer struct {
	to *bufio.Writer
	// journal is true if the lines are of many programs: then only the scheduler's and audit events are written.
	journal, taken bool

	// The last stamp, and which second of which form it is of.
	stamped, second []byte
	form            form
	// Room that is used again for each record: for its members and those of an object in it, for what a text says, one within
	// it, and a line that is put together.
	spans             []span
	members, inner    members
	said, within, put []byte
}

// line writes text, which may be of several lines. at, if there is one, is for lines that have no time of their own with a year.
func (w *writer) line(at moment, text []byte) error {
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 {
		return nil
	}
	if w.journal && !w.isScheduler(text) && !bytes.HasPrefix(text, auditBegin) {
		return nil
	}
	if isKlog(text) {
		if stamp := w.stamp(at); len(stamp) > 0 {
			if _, err := w.to.Write(append(stamp, ' ')); err != nil {
				return err
			}
		}
	}
	if _, err := w.to.Write(text); err != nil {
		return err
	}
	return w.to.WriteByte('\n')
}

// schedulerFiles are the source files of kube-scheduler whose lines tell of its work (v1.29 to v1.37).
var schedulerFiles = []string{"schedule_one.go:", "schedule_one_podgroup.go:", "scheduling_queue.go:", "active_queue.go:", "backoff_queue.go:",
	"eventhandlers.go:"}

// isScheduler reports whether a line of a journal is kube-scheduler's. What has no header goes with the line before it.
func (w *writer) isScheduler(text []byte) bool {
	if !isKlog(text) {
		w.taken = w.taken && (text[0] == '\t' || text[0] == ' ')
		return w.taken
	}
	header, _, _ := bytes.Cut(text, []byte("]"))
	w.taken = false
	for _, file := range schedulerFiles {
		w.taken = w.taken || bytes.Contains(header, []byte(" "+file))
	}
	return w.taken
}

// klogStamp is what begins a line that klog wrote: "I1121 10:56:22.400364 ".
const klogStamp = "I1121 10:56:22.400364 "

// isKlog reports whether text begins as klog's lines do.
func isKlog(text []byte) bool {
	if len(text) < len(klogStamp) || bytes.IndexByte([]byte("IWEF"), text[0]) < 0 {
		return false
	}
	for i := 1; i < len(klogStamp); i++ {
		if want := klogStamp[i]; want >= '0' && want <= '9' {
			if text[i] < '0' || text[i] > '9' {
				return false
			}
		} else if text[i] != want {
			return false
		}
	}
	return true
}
