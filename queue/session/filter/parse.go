package filter

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/schedq/schedq/sources"
)

// Error is a syntax error in a filter.
type Error struct {
	// At is the position of the error in characters, from 1.
	At int
	// Problem describes the error, safe to show.
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("letter %d: %s", e.At, e.Problem) }

// Parse parses a filter. Errors are of type *Error.
func Parse(text string) (Filter, error) {
	p := parser{text: text}
	f := Filter{text: sources.Sanitize(strings.TrimSpace(text))}
	for p.skipBlanks(); p.at < len(text); p.skipBlanks() {
		t, err := p.term(&f)
		if err != nil {
			return Filter{}, err
		}
		if t.match != nil {
			f.terms = append(f.terms, t)
		}
	}
	return f, nil
}

// parser parses a filter from left to right. at is the next byte.
type parser struct {
	text string
	at   int
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) skipBlanks() {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t\r\n"))
}

// errorf returns an Error at a byte offset.
func (p *parser) errorf(at int, format string, args ...any) error {
	return &Error{At: utf8.RuneCountInString(p.text[:at]) + 1, Problem: string(sources.Sanitize(fmt.Sprintf(format, args...)))}
}

// term parses one term. An incomplete one, such as a lone !, has no match.
func (p *parser) term(f *Filter) (t term, err error) {
	for strings.HasPrefix(p.rest(), "!") {
		t.not = !t.not
		p.at++
	}
	switch rest := p.rest(); {
	case rest == "-l" || strings.HasPrefix(rest, "-l "):
		p.at += len("-l")
		t.match, err = p.selector()
	case rest == "-f" || strings.HasPrefix(rest, "-f "):
		p.at += len("-f")
		t.match, err = p.fuzzy("-f")
	case strings.HasPrefix(rest, "~"):
		p.at += len("~")
		t.match, err = p.fuzzy("~")
	case strings.HasPrefix(rest, "/"):
		t.match, err = p.regexp()
	default:
		t.match, err = p.wordOrField(f)
	}
	return t, err
}

// word parses up to the next blank, or a quoted text.
func (p *parser) word() (string, error) {
	if !strings.HasPrefix(p.rest(), `"`) {
		n := strings.IndexAny(p.rest(), " \t\r\n")
		if n < 0 {
			n = len(p.rest())
		}
		w := p.rest()[:n]
		p.at += n
		return w, nil
	}
	n := strings.Index(p.rest()[1:], `"`)
	if n < 0 {
		return "", p.errorf(p.at, `closing " is missing`)
	}
	w := p.rest()[1 : 1+n]
	p.at += n + 2
	return w, nil
}

func (p *parser) fuzzy(after string) (func(*Pod) bool, error) {
	p.skipBlanks()
	at := p.at
	w, err := p.word()
	if err != nil {
		return nil, err
	}
	if w == "" {
		return nil, p.errorf(at, "letters missing after %s", after)
	}
	return fuzzy(strings.ToLower(w)), nil
}

// regexp parses /.../. The closing slash is optional if the expression contains no blank.
func (p *parser) regexp() (func(*Pod) bool, error) {
	at := p.at
	source := p.rest()[1:]
	if end := closing(source); end >= 0 {
		source = source[:end]
		p.at += end + 2
	} else {
		source, _, _ = strings.Cut(source, " ")
		p.at += len(source) + 1
	}
	re, err := regexp.Compile("(?i)" + source)
	if err != nil {
		problem := err.Error()
		if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
			problem = bad.Code.String() // without the expression, which is on the screen
		}
		return nil, p.errorf(at+1, "invalid regular expression: %s", problem)
	}
	if source == "" {
		return nil, nil
	}
	return func(p *Pod) bool { return p.name(re.MatchString) || p.plugins(re.MatchString) }, nil
}

// closing returns the index of the slash that ends a regular expression: before a blank or the end.
func closing(s string) int {
	for i := range len(s) {
		if s[i] == '/' && (i+1 == len(s) || s[i+1] == ' ') {
			return i
		}
	}
	return -1
}

// selector parses a label selector in kubectl's syntax: app=web,tier!=db, "env in (a, b)", !canary.
func (p *parser) selector() (func(*Pod) bool, error) {
	p.skipBlanks()
	at := p.at
	source, err := p.word()
	if err != nil {
		return nil, err
	}
	for last := source; ; { // a set contains blanks: env in (a, b)
		before := p.at
		p.skipBlanks()
		next, err := p.word()
		open := strings.Count(source, "(") > strings.Count(source, ")")
		if err != nil || next == "" || !open && !isSetOperator(last) && !isSetOperator(next) {
			p.at = before
			break
		}
		source, last = source+" "+next, next
	}
	if source == "" {
		return nil, p.errorf(at, "label selector missing: -l app=web,tier!=db")
	}
	s, err := labels.Parse(source)
	if err != nil {
		return nil, p.errorf(at, "invalid label selector: %s", err)
	}
	return func(p *Pod) bool { return s.Matches(labels.Set(p.Labels)) }, nil
}

func isSetOperator(w string) bool {
	return w == "in" || w == "notin" || strings.HasPrefix(w, "in(") || strings.HasPrefix(w, "notin(")
}

// operators are the operators between a field and its value, longer ones before their prefixes.
var operators = [...]string{"!=", ">=", "<=", ">", "<", "=", ":"}

// wordOrField parses a word, or a field with its operator and value.
func (p *parser) wordOrField(f *Filter) (func(*Pod) bool, error) {
	start := p.at
	name, operator := p.fieldName()
	if operator == "" {
		w, err := p.word()
		if err != nil || w == "" {
			return nil, err
		}
		return word(strings.ToLower(w)), nil
	}
	d := field(name)
	if d == nil {
		if operator == "=" || operator == "!=" { // a label
			p.at = start
			w, err := p.word()
			return word(strings.ToLower(w)), err
		}
		return nil, p.errorf(start, "unknown field %s: use one of %s", name, strings.Join(FieldNames(), ", "))
	}
	at := p.at + len(name)
	p.at = at + len(operator)
	valueAt := p.at
	value, err := p.word()
	if err != nil {
		return nil, err
	}
	if value == "" {
		return nil, p.errorf(valueAt, "value missing after %s%s", name, operator)
	}
	match, problem := d.parse(f, operator, value)
	switch {
	case problem == wrongOperator:
		return nil, p.errorf(at, "%s supports %s", name, strings.Join(d.Operators, " "))
	case problem != "":
		return nil, p.errorf(valueAt, "%s", problem)
	}
	return match, nil
}

// fieldName returns the next letters and the operator after them, if there is one.
func (p *parser) fieldName() (name, operator string) {
	rest := p.rest()
	n := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if n <= 0 {
		return "", ""
	}
	for _, o := range operators {
		if strings.HasPrefix(rest[n:], o) {
			return rest[:n], o
		}
	}
	return "", ""
}
