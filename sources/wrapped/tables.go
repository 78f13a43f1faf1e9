package wrapped

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/sources"
)

// isCSV reports whether a file is a table with a field that holds a line of a log: in quotes, which are doubled in it.
func isCSV(head []byte) bool {
	for range headLines {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		if isKlog(line) {
			return false
		}
		for i := range min(len(line), maxPrefix) {
			if line[i] != '"' || i > 0 && line[i-1] != ',' && line[i-1] != ';' && line[i-1] != '\t' {
				continue
			}
			if field := line[i+1:]; isStamp(field) || bytes.HasPrefix(field, []byte(`{""`)) {
				return true
			}
		}
		if head = rest; !more {
			break
		}
	}
	return false
}

// readCSV reads a table whose first row names the columns.
func (w *writer) readCSV(from io.Reader) error {
	limited := &limitedReader{from: bufio.NewReaderSize(from, 1<<18), left: maxLine}
	first, err := limited.from.Peek(4096)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return err
	}
	r := csv.NewReader(limited)
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	r.Comma = separator(firstLine(first))
	var names []string
	for {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, csv.ErrFieldCount), errors.Is(err, csv.ErrQuote), errors.Is(err, csv.ErrBareQuote):
			continue
		case err != nil:
			return err
		}
		limited.left = maxLine
		if names == nil {
			for _, name := range row {
				names = append(names, string(bytes.TrimPrefix([]byte(name), []byte("\ufeff"))))
			}
			if !holdsLine(row) {
				continue
			}
			names = make([]string, len(row)) // it has no names
		}
		w.record++
		m := make(members, 0, len(row))
		for i, field := range row[:min(len(row), mostMembers)] {
			value, err := json.Marshal(field)
			if err != nil {
				continue
			}
			name := ""
			if i < len(names) {
				name = names[i]
			}
			m = append(m, member{[]byte(name), value})
		}
		if _, err := w.members(context{inner: true}, m, nil); err != nil {
			return err
		}
	}
}

// holdsLine reports whether one of the fields holds a line of a log.
func holdsLine(row []string) bool {
	for _, field := range row {
		if findKlog([]byte(field)) >= 0 || bytes.HasPrefix([]byte(field), auditBegin) {
			return true
		}
	}
	return false
}

// separator returns what separates the fields of a table.
func separator(first []byte) rune {
	best, most := ',', 0
	for _, c := range ",;\t" {
		if n := bytes.Count(first, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// limitedReader limits the size of a row: an unterminated quote would extend a row to the end of the file.
type limitedReader struct {
	from *bufio.Reader
	left int
}

var errLongRow = fmt.Errorf("a row in it is longer than %d MiB", maxLine>>20)

// Read implements io.Reader.
func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongRow
	}
	n, err := r.from.Read(p)
	r.left -= n
	return n, err
}

// yamlKey matches the start of a YAML line with a member of an object.
var yamlKey = regexp.MustCompile(`^[A-Za-z@_][\w.@-]*:(\s|$)`)

// isYAML reports whether a file is documents of YAML that hold lines of a log.
func isYAML(head []byte) bool {
	if !bytes.HasPrefix(head, []byte("---")) && !yamlKey.Match(head) {
		return false
	}
	found := &writer{to: bufio.NewWriter(io.Discard), looking: true}
	_ = found.readYAML(bytes.NewReader(head))
	return found.wrapped > 0
}

// maxYAML limits the bytes of one document of YAML, whose decoder takes many times as much memory.
const maxYAML = 4 << 20

var errLongYAML = fmt.Errorf("a document of YAML in it is longer than %d MiB: export JSON", maxYAML>>20)

// readYAML reads documents of YAML, each of which is a record.
func (w *writer) readYAML(from io.Reader) error {
	r := bufio.NewReaderSize(from, 1<<18)
	var doc []byte
	flush := func() error {
		defer func() { doc = doc[:0] }()
		if err := sources.CheckYAML(doc); err != nil {
			return err
		}
		raw, err := yaml.YAMLToJSON(doc)
		if err != nil || len(raw) == 0 {
			return nil
		}
		w.record++
		_, err = w.value(context{inner: true}, raw)
		return err
	}
	for {
		line, err := readLine(r)
		if bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line, " \r\n")) == 3 {
			if err := flush(); err != nil {
				return err
			}
		} else if doc = append(doc, line...); len(doc) > maxYAML {
			return errLongYAML
		}
		if err == io.EOF {
			return flush()
		}
		if err != nil {
			return err
		}
	}
}
