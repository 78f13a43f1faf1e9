package lines

import "io"

// filter selects the lines that Next returns: a file may contain lines of two kinds, each with a Reader of its own.
type filter struct {
	is   func(line []byte) bool // reports whether a line is one of the second kind
	only bool                   // Next returns the second kind instead of the first
	met  bool                   // a line was left out
	last int                    // the number of the last line that was returned
}

// Except makes Next skip the lines for which is returns true. It must be called before Next.
func (r *Reader) Except(is func(line []byte) bool) { r.filter = &filter{is: is} }

// Only makes Next skip all other lines, whose Reader counts damage of the file itself. It must be called before Next.
func (r *Reader) Only(is func(line []byte) bool) { r.filter = &filter{is: is, only: true} }

// Rename gives the file another name.
func (r *Reader) Rename(name string) { r.name = name }

// Skipped reports whether Next skipped lines of another kind.
func (r *Reader) Skipped() bool { return r.filter != nil && r.filter.met }

// next is Next for a Reader with a filter.
func (f *filter) next(r *Reader) ([]byte, error) {
	for {
		var before losses
		if f.only {
			before = r.losses
		}
		line, err := r.nextLine()
		if f.only {
			r.losses = before
		}
		switch {
		case err == io.EOF && f.only:
			r.line = f.last
			return nil, err
		case err != nil:
			return nil, err
		case f.is(line) == f.only:
			f.last = r.line
			return line, nil
		}
		f.met = true
	}
}
