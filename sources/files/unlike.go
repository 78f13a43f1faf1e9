package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/schedlog"
	"github.com/schedq/schedq/sources/seed"
)

// The error about a file that is no recording describes the file and says what to do next. In a folder such files are
// counted by kind.

// unlike describes a file that is no recording.
type unlike struct {
	reason string // in a few words that fit any number of files
	advice string // a sentence about one file
}

var (
	// klogHeader begins a line that klog wrote.
	klogHeader = regexp.MustCompile(`[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.-]+:\d+\] `)
	// schedulersWords are messages of kube-scheduler. In its log they follow klog's header.
	schedulersWords = regexp.MustCompile(`Unable to schedule pod; no fit|(?:Attempting to schedule pod|Successfully bound pod to node|moved to an internal scheduling queue|About to try and schedule pod)"`)
	describedPod    = regexp.MustCompile(`(?m)^Name:\s+\S+\s*$[\s\S]*^(?:Namespace|Node|Status|Events|Roles|Conditions|Taints):`)
	goPanic         = regexp.MustCompile(`(?m)^(?:panic: |fatal error: )[\s\S]*^goroutine \d+ \[`)
	otherObject     = regexp.MustCompile(`(?m)^[\s{]*"?apiVersion"?: *"?[a-z][\w./-]*"?,?\s*"?kind"?: *"?[A-Z]\w+|^[\s{]*"?kind"?: *"?[A-Z]\w+"?,?\s*"?apiVersion"?: *"?[a-z]`)
	apiError        = regexp.MustCompile(`^(?:Error from server|error: |The connection to the server |Unable to connect to the server).{0,200}|^\{\s*"kind": *"Status",[\s\S]{0,400}?"message": *("(?:[^"\\]|\\.)*")`)
	emptyJSON       = regexp.MustCompile(`^\s*(?:\[\s*\]|\{\s*\}|\{[^{}\[\]]*(?:\{[^{}\[\]]*)?"(?:result|results|events|hits|data|rows)": *\[\s*\][\s}\]]*)\s*$`)
	eventsTable     = regexp.MustCompile(`(?m)^(?:NAMESPACE\s+)?LAST SEEN\s+(?:TYPE|FIRST SEEN|COUNT)\s`)
	kubectlTable    = regexp.MustCompile(`(?m)^(?:NAMESPACE\s+)?NAME\s+(?:[A-Z-]+\s+)*AGE\b`)
)

// unlikeOf describes a file that is no recording by its beginning and its first line.
func unlikeOf(head, first []byte) unlike {
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		return unlike{"empty", "is empty: it has only blank lines"}
	case bytes.HasPrefix(first, []byte("age-encryption.org/")):
		return unlike{"encrypted", "is encrypted (age): decrypt it first, with age --decrypt"}
	case isMarkdown(head):
		return unlike{"Markdown", "is a Markdown text, and no fence in it contains unmodified lines of an audit log or kube-scheduler's log"}
	case eventsTable.Match(head):
		return unlike{"kubectl table", "is a table of Events, with ages instead of times: pass the output of kubectl get events -A -o json as --seed, with a log"}
	case kubectlTable.Match(head):
		return unlike{"kubectl table", "is a table from kubectl, without times: pass the output with -o json as --seed, with a log"}
	case describedPod.Match(head):
		return unlike{"kubectl describe", "is output of kubectl describe, without the times of attempts: pass the output of kubectl get -o json as --seed, with an audit log or kube-scheduler's log"}
	}
	line, column := klogAt(head)
	switch {
	case line > 0:
		return unlike{"text", fmt.Sprintf("has a klog line at column %d of line %d, after a prefix that schedq does not know: remove the prefix", column, line)}
	case seed.Sniff(head) && bytes.Contains(head, []byte("metadata")):
		return unlike{"objects, for --seed", "contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log"}
	case goPanic.Match(head):
		return unlike{"Go panic", "is the stack of a program that ended in a panic, without the log before it: kubectl logs --previous has that"}
	case apiError.Match(head):
		return unlike{"error message", "contains an error message in place of a log: " + errorIn(head)}
	case emptyJSON.Match(head):
		return unlike{"empty", "contains no records: the query that it answers found nothing"}
	case otherObject.Match(head) && (first[0] == '{' || bytes.HasPrefix(first, []byte("apiVersion:")) || bytes.HasPrefix(first, []byte("kind:")) || bytes.HasPrefix(first, []byte("---"))):
		return unlike{"other objects", "contains objects that kube-scheduler does not read: pods and nodes, as kubectl get pods,nodes -A -o json prints them, are a --seed beside a log"}
	case schedulersWords.Match(head):
		return unlike{"text", "has kube-scheduler's messages without klog's header, which has their times: pass the lines as kube-scheduler writes them"}
	}
	shown := sources.Sanitize(string(first[:min(len(first), 60)]))
	return unlike{"text", fmt.Sprintf("has a format that schedq does not read (%s): its first line is \"%s\"", listFormats()+"; pass objects, as kubectl get -o json prints them, as --seed", shown)}
}

// errorIn returns the error message that a file begins with.
func errorIn(head []byte) string {
	found := apiError.FindSubmatch(head)
	message := string(found[0])
	if found[1] != nil {
		_ = json.Unmarshal(found[1], &message)
	}
	return string(sources.Sanitize(strings.TrimSpace(message)))
}

// klogAt returns the line and column of the first klog header in head, or 0.
func klogAt(head []byte) (line, column int) {
	at := klogHeader.FindIndex(head)
	if at == nil {
		return 0, 0
	}
	before := head[:at[0]]
	return bytes.Count(before, []byte("\n")) + 1, at[0] - bytes.LastIndexByte(before, '\n')
}

// unlikeHead is unlikeOf for a file in a folder or an archive, of which no line was read.
func unlikeHead(head []byte) unlike {
	if bytes.IndexByte(head[:min(len(head), 1024)], 0) >= 0 {
		return unlike{reason: "binary"}
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	return unlikeOf(head, first)
}

// skipped counts the skipped files of a folder or an archive by reason.
type skipped struct {
	root   string
	what   string // the kind of file sought
	looked int
	counts map[string]int
	first  map[string]string // the name of the first, by reason
}

// add counts a file.
func (s *skipped) add(reason, name string) {
	if s.counts == nil {
		s.counts, s.first = map[string]int{}, map[string]string{}
	}
	if s.counts[reason]++; s.counts[reason] == 1 {
		s.first[reason] = name
	}
}

// reasons lists them, the most frequent first.
func (s *skipped) reasons() string {
	var all []string
	for reason := range s.counts {
		all = append(all, reason)
	}
	slices.SortFunc(all, func(a, b string) int {
		if n := s.counts[b] - s.counts[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for i, reason := range all {
		more := ""
		if s.counts[reason] > 1 {
			more = ", …"
		}
		all[i] = fmt.Sprintf("%s (%d: %s%s)", reason, s.counts[reason], sources.Sanitize(s.first[reason]), more)
	}
	return strings.Join(all, ", ")
}

// refusal returns the error about a folder or an archive without a readable file.
func (s *skipped) refusal() error {
	return fmt.Errorf("%s: none of the %d files in it is %s: %s", sources.Sanitize(s.root), s.looked, s.what, s.reasons())
}

// notice returns how many files are left out and why, or "".
func (s *skipped) notice() string {
	left := 0
	for _, n := range s.counts {
		left += n
	}
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d of the %d files in it are left out: %s", sources.Sanitize(s.root), left, s.looked, s.reasons())
}

// leave counts an unreadable file by its error.
func (s *skipped) leave(name string, err error) {
	reason, _ := schedlog.WhyOther(err)
	if reason == "" {
		reason = "damaged"
	}
	s.add(reason, name)
}

// unknown returns the error about a file without a known format.
func (f *file) unknown() error {
	head := f.reader.Head()
	f.reader.Strict()
	first, err := f.reader.Next() // the error about a line that is too long or binary describes it
	if err != nil {
		return err
	}
	return fmt.Errorf("%s %s", f.reader.Name(), unlikeOf(bytes.Clone(head), first).advice)
}
