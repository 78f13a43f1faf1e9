package lines

import "io"

// filter selects the lines that Next returns, for a file with lines of two kinds, each with its own Reader.
type filter struct {
	match   func(line []byte) bool // reports whether a line is one of the second kind
	only    bool                   // Next returns the second kind instead of the first
	skipped bool                   // Next skipped a line
	last    int                    // the number of the last line that was returned
}

// Except makes Next skip the lines for which match returns true. It must be called before Next.
func (r *Reader) Except(match func(line []byte) bool) { r.filter = &filter{match: match} }

// Only makes Next skip all other lines. The Reader of those reports damage of the file itself. It must be called
// before Next.
func (r *Reader) Only(match func(line []byte) bool) { r.filter = &filter{match: match, only: true} }

// Rename changes the file's name in messages.
func (r *Reader) Rename(name string) { r.name = name }

// Skipped reports whether Next skipped lines of another kind.
func (r *Reader) Skipped() bool { return r.filter != nil && r.filter.skipped }

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
		case f.match(line) == f.only:
			f.last = r.line
			return line, nil
		}
		f.skipped = true
	}
}
