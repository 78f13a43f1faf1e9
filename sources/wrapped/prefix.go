package wrapped

import (
	"bufio"
	"bytes"
	"io"
	"time"
)

// maxPrefix is how long what stands before a line may be.
const maxPrefix = 300

// auditBegin is how an audit event begins, as kube-apiserver writes it.
var auditBegin = []byte(`{"kind":"Event","apiVersion":"audit.k8s.io/`)

// detectPrefix finds a time and names before the lines of a text.
func detectPrefix(head []byte) *Wrapper {
	for range 200 {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		p, ok := prefixOf(line)
		switch {
		case ok && p.plain: // a scheduler's log alone: its own reader takes a time off
		case ok:
			return &Wrapper{Name: p.name(), unwrap: p.unwrap}
		case !more:
			return nil
		}
		head = rest
	}
	return nil
}

// prefix is what stands before the lines of a text.
type prefix struct {
	fields  int  // words
	journal bool // the last of them is a program's name, with its number and a colon
	cri     bool // the last two are a stream and a tag
	plain   bool // it is a time alone, or with a stream and a tag, before a line of klog's
}

func (p prefix) name() string {
	switch {
	case p.journal:
		return "journald"
	case p.cri:
		return "a container runtime"
	}
	return "CloudWatch"
}

// prefixOf finds the prefix of a line, if it has one before what is known to be a log's.
func prefixOf(line []byte) (p prefix, ok bool) {
	if !isDate(line) {
		return p, false
	}
	rest := line
	for p.fields < 8 && len(line)-len(rest) < maxPrefix {
		word, after, found := bytes.Cut(rest, []byte(" "))
		if !found {
			return p, false
		}
		p.fields++
		p.cri = p.cri || p.fields == 3 && len(word) == 1 && (word[0] == 'F' || word[0] == 'P')
		p.journal = bytes.HasSuffix(word, []byte("]:")) || bytes.HasSuffix(word, []byte(":")) && p.fields > 2
		rest = after
		klog, audit := isKlog(rest), bytes.HasPrefix(rest, auditBegin)
		if klog || audit {
			p.plain = klog && (p.fields == 1 || p.cri)
			return p, true
		}
	}
	return p, false
}

// isDate reports whether a line begins with a date: RFC 3339's, or a month's name.
func isDate(line []byte) bool {
	if len(line) < len("Nov 21 10:56:16 ") {
		return false
	}
	if line[4] == '-' && line[7] == '-' {
		return line[10] == 'T' || line[10] == ' '
	}
	_, err := time.Parse("Jan", string(line[:3]))
	return err == nil && line[3] == ' '
}

// unwrap takes the prefix off each line.
func (p prefix) unwrap(from io.Reader, to *writer) error {
	to.journal = p.journal
	r := bufio.NewReaderSize(from, 1<<18)
	var partial []byte
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			at, tag, text := p.cut(bytes.TrimRight(line, "\r\n"))
			if tag == 'P' && len(partial)+len(text) < maxLine {
				partial = append(partial, text...)
			} else {
				if len(partial) > 0 {
					text = append(partial, text...)
				}
				if err := to.line(at, text); err != nil {
					return err
				}
				partial = partial[:0]
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// cut splits a line: its time, CRI's tag, and what stands behind the prefix.
func (p prefix) cut(line []byte) (at moment, tag byte, text []byte) {
	if !isDate(line) {
		return moment{}, 0, line
	}
	text = line
	for i := range p.fields {
		word, rest, found := bytes.Cut(text, []byte(" "))
		if !found {
			return moment{}, 0, line
		}
		if i == 0 {
			at.text = word
		}
		if p.cri && i == 2 && len(word) == 1 {
			tag = word[0]
		}
		// Days of one digit have two spaces before them.
		for i == 0 && len(rest) > 0 && rest[0] == ' ' {
			rest = rest[1:]
		}
		text = rest
	}
	return at, tag, text
}

// readLine returns the next line with its end. A line that is too long comes cut.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	long := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = r.ReadSlice('\n')
		if len(long) <= maxLine { // what is more makes it too long for its reader
			long = append(long, line...)
		}
	}
	return long, err
}
