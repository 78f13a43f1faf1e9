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

// Error says what is wrong with the text of a filter, and where.
type Error struct {
	// At is the number of the letter at which it is wrong, from 1.
	At int
	// Problem is what is wrong there, safe to show.
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("letter %d: %s", e.At, e.Problem) }

// Parse makes a filter out of text. What is wrong with it comes as an *Error.
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

// parser reads a filter from left to right. at is the byte that is read next.
type parser struct {
	text string
	at   int
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) skipBlanks() {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t\r\n"))
}

// wrong returns the Error of what is wrong at a byte.
func (p *parser) wrong(at int, format string, args ...any) error {
	return &Error{At: utf8.RuneCountInString(p.text[:at]) + 1, Problem: string(sources.Sanitize(fmt.Sprintf(format, args...)))}
}

// term reads one term. One that says nothing yet, such as a lone !, has no match.
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

// word reads up to the next blank, or from a quotation mark to the next.
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
		return "", p.wrong(p.at, `the " that ends these words is missing`)
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
		return nil, p.wrong(at, "letters of a name are missing after %s", after)
	}
	return fuzzy(strings.ToLower(w)), nil
}

// regexp reads /.../. The second stroke may be missing if there is no blank in it.
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
			problem = bad.Code.String() // without the expression, which the person sees
		}
		return nil, p.wrong(at+1, "no regular expression: %s", problem)
	}
	if source == "" {
		return nil, nil
	}
	return func(p *Pod) bool { return p.name(re.MatchString) || p.plugins(re.MatchString) }, nil
}

// closing returns where the stroke is that ends a regular expression: before a blank or the end.
func closing(s string) int {
	for i := range len(s) {
		if s[i] == '/' && (i+1 == len(s) || s[i+1] == ' ') {
			return i
		}
	}
	return -1
}

// selector reads a label selector in kubectl's words: app=web,tier!=db, "env in (a, b)", !canary.
func (p *parser) selector() (func(*Pod) bool, error) {
	p.skipBlanks()
	at := p.at
	source, err := p.word()
	if err != nil {
		return nil, err
	}
	for last := source; ; { // a set has blanks in it: env in (a, b)
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
		return nil, p.wrong(at, "a label selector is missing: -l app=web,tier!=db")
	}
	s, err := labels.Parse(source)
	if err != nil {
		return nil, p.wrong(at, "no label selector: %s", err)
	}
	return func(p *Pod) bool { return s.Matches(labels.Set(p.Labels)) }, nil
}

func isSetOperator(w string) bool {
	return w == "in" || w == "notin" || strings.HasPrefix(w, "in(") || strings.HasPrefix(w, "notin(")
}

// operators are what may stand between a field and its value; of two that begin alike the longer first.
var operators = [...]string{"!=", ">=", "<=", ">", "<", "=", ":"}

// wordOrField reads a word, or a field with its operator and value.
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
		if operator == "=" || operator == "!=" { // of a label, as it is shown
			p.at = start
			w, err := p.word()
			return word(strings.ToLower(w)), err
		}
		return nil, p.wrong(start, "there is no field %s; there are %s", name, strings.Join(FieldNames(), ", "))
	}
	at := p.at + len(name)
	p.at = at + len(operator)
	valueAt := p.at
	value, err := p.word()
	if err != nil {
		return nil, err
	}
	if value == "" {
		return nil, p.wrong(valueAt, "a value is missing after %s%s", name, operator)
	}
	match, problem := d.read(f, operator, value)
	switch {
	case problem == wrongOperator:
		return nil, p.wrong(at, "%s goes with %s", name, strings.Join(d.Operators, " "))
	case problem != "":
		return nil, p.wrong(valueAt, "%s", problem)
	}
	return match, nil
}

// fieldName returns the letters that come next and the operator behind them, if one is.
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
