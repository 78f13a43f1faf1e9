package sources

import "fmt"

// CheckYAML returns an error if a document has more values in YAML than an object may have in JSON: a decoder of YAML takes up
// to 700 bytes for each.
func CheckYAML(doc []byte) error {
	values := 0
	for _, c := range doc {
		switch c {
		case '\n', ',', ':', '[', '{', '-', '?': // nothing else begins a value
			values++
		}
	}
	if values > maxObjectParts {
		return fmt.Errorf("a document or an item of a list has more than %d values in YAML: use JSON, as from -o json", maxObjectParts)
	}
	return nil
}
