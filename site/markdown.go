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
	summary         string // the first paragraph
	body            string // HTML
	sections        []section
	hasSession      bool // needs the player
}

// section is a heading with the text up to the next one.
type section struct {
	level       int
	title, name string // the name is the fragment in links
	text        string
}

// readPage parses a page.
func readPage(l *linker) (*page, error) {
	source, err := os.ReadFile(filepath.Join(l.root, filepath.FromSlash(l.source)))
	if err != nil {
		return nil, err
	}
	p := &page{source: l.source, address: address(l.source)}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&pageRenderer{page: p, linker: l}, 100))))
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(headingIDs{}))))
	if err := relink(doc, l); err != nil {
		return nil, err
	}
	p.sections = sections(doc, source)
	if len(p.sections) == 0 || p.sections[0].level != 1 {
		return nil, fmt.Errorf("%s must start with a title", l.source)
	}
	p.title = p.sections[0].title
	for n := doc.FirstChild(); n != nil && p.summary == ""; n = n.NextSibling() {
		if n.Kind() == ast.KindParagraph {
			p.summary = plainText(n, source)
		}
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", l.source, err)
	}
	p.body = b.String()
	return p, nil
}

// relink replaces the links of a page by those on the site.
func relink(doc ast.Node, l *linker) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		var to string
		switch n := n.(type) {
		case *ast.Link:
			to, err = l.resolve(string(n.Destination))
			n.Destination = []byte(to)
		case *ast.Image:
			to, err = l.resolve(string(n.Destination))
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, err
	})
}

// sections returns the sections of a page.
func sections(doc ast.Node, source []byte) []section {
	var all []section
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			all = append(all, section{level: h.Level, title: plainText(h, source), name: string(name)})
			continue
		}
		if len(all) > 0 {
			last := &all[len(all)-1]
			last.text = strings.TrimSpace(last.text + " " + plainText(n, source))
		}
	}
	return all
}

// plainText returns the text of a node.
func plainText(n ast.Node, source []byte) string {
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

// headingIDs generates the same heading ids as GitHub, so that links work on both. It implements parser.IDs.
type headingIDs map[string]bool

func (ids headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
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
	for i := 1; ids[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	ids[unique] = true
	return []byte(unique)
}

func (ids headingIDs) Put(value []byte) { ids[string(value)] = true }

// pageRenderer overrides goldmark's renderers: wide blocks can be focused and scrolled with keys, and
// pictures become figures. It implements renderer.NodeRenderer.
type pageRenderer struct {
	page   *page
	linker *linker
}

func (r *pageRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindCodeBlock, r.code)
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(extast.KindTable, r.table)
	reg.Register(ast.KindParagraph, r.paragraph)
	reg.Register(ast.KindHTMLBlock, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) { return ast.WalkSkipChildren, nil })
}

func (r *pageRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprintf(w, "<pre tabindex=\"0\"><code>%s</code></pre>\n", html.EscapeString(string(n.Lines().Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func (r *pageRenderer) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"table\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</tbody>\n</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// paragraph renders a paragraph, as a figure if it consists of a picture.
func (r *pageRenderer) paragraph(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if image, ok := n.FirstChild().(*ast.Image); ok && n.ChildCount() == 1 {
		if !entering {
			return ast.WalkContinue, nil
		}
		figure, err := r.figure(string(image.Destination), plainText(image, source))
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
