package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is a page of the site.
type page struct {
	source, address string
	title           string
	summary         string // its first words
	body            string // HTML
	sections        []section
	plays           bool // it has a session that can be played
}

// section is what stands below a heading, up to the next one.
type section struct {
	level       int
	title, name string // the name leads to it: page.html#name
	text        string
}

// read reads a page of the project.
func read(l *linker) (*page, error) {
	source, err := os.ReadFile(filepath.Join(l.root, filepath.FromSlash(l.source)))
	if err != nil {
		return nil, err
	}
	p := &page{source: l.source, address: address(l.source)}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&drawing{page: p, linker: l}, 100))))
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(names{}))))
	if err := relink(doc, l); err != nil {
		return nil, err
	}
	p.sections = sections(doc, source)
	if len(p.sections) == 0 || p.sections[0].level != 1 {
		return nil, fmt.Errorf("%s does not begin with its title", l.source)
	}
	p.title = p.sections[0].title
	for n := doc.FirstChild(); n != nil && p.summary == ""; n = n.NextSibling() {
		if n.Kind() == ast.KindParagraph {
			p.summary = plain(n, source)
		}
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", l.source, err)
	}
	p.body = b.String()
	return p, nil
}

// relink has all links of a page lead to where they do on the site.
func relink(doc ast.Node, l *linker) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		var to string
		switch n := n.(type) {
		case *ast.Link:
			to, err = l.follow(string(n.Destination))
			n.Destination = []byte(to)
		case *ast.Image:
			to, err = l.follow(string(n.Destination))
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, err
	})
}

// sections are the headings of a page, each with the text below it.
func sections(doc ast.Node, source []byte) []section {
	var all []section
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			all = append(all, section{level: h.Level, title: plain(h, source), name: string(name)})
			continue
		}
		if len(all) > 0 {
			last := &all[len(all)-1]
			last.text = strings.TrimSpace(last.text + " " + plain(n, source))
		}
	}
	return all
}

// plain is the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.URL(source))
			}
		case *ast.HTMLBlock:
			return ast.WalkSkipChildren, nil
		default:
			if !entering && (n.Type() == ast.TypeBlock || n.Kind() == extast.KindTableCell) {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(html.UnescapeString(b.String())), " ")
}

// names gives headings the names that GitHub gives them, so that a link works on both. It implements parser.IDs.
type names map[string]bool

func (all names) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	unique := name
	for i := 1; all[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	all[unique] = true
	return []byte(unique)
}

func (all names) Put(value []byte) { all[string(value)] = true }

// drawing draws what is other than goldmark has it: what may be wider than the page can be scrolled by keys, too. It implements
// renderer.NodeRenderer.
type drawing struct {
	page   *page
	linker *linker
}

func (d *drawing) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, d.code)
	r.Register(ast.KindFencedCodeBlock, d.code)
	r.Register(extast.KindTable, d.table)
	r.Register(ast.KindParagraph, d.paragraph)
	r.Register(ast.KindHTMLBlock, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) { return ast.WalkSkipChildren, nil })
}

func (d *drawing) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprintf(w, "<pre tabindex=\"0\"><code>%s</code></pre>\n", html.EscapeString(string(n.Lines().Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func (d *drawing) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"table\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</tbody>\n</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// paragraph draws one that is a picture as a figure.
func (d *drawing) paragraph(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if image, ok := n.FirstChild().(*ast.Image); ok && n.ChildCount() == 1 {
		if !entering {
			return ast.WalkContinue, nil
		}
		figure, err := d.figure(string(image.Destination), plain(image, source))
		if err != nil {
			return ast.WalkStop, err
		}
		_, _ = w.WriteString(figure)
		return ast.WalkSkipChildren, nil
	}
	if entering {
		_, _ = w.WriteString("<p>")
	} else {
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkContinue, nil
}
