package schedlog

import (
	"bytes"

	"github.com/schedq/schedq/sources"
)

// People redact names before they post a log: mill/pod-A, [REDACTED]. schedq shows redacted names unchanged. A single
// invalid name among valid ones is damage, and its line is skipped.

// maxKey limits the bytes of a pod's name and namespace in a log.
const maxKey = 600

// redacts reports whether pods' names were redacted in a log that begins with head: all are invalid, or several that
// make up a tenth or more.
func redacts(head []byte) bool {
	valid, invalid := 0, 0
	for _, key := range []string{` pod="`, ` entity="`} {
		for rest := head; ; {
			i := bytes.Index(rest, []byte(key))
			if i < 0 {
				break
			}
			rest = rest[i+len(key):]
			end := bytes.IndexByte(rest, '"')
			if end < 0 || end > maxKey || bytes.IndexByte(rest[:end], '\n') >= 0 {
				continue
			}
			if _, err := sources.ParsePod(string(rest[:end])); err == nil {
				valid++
			} else if end > 0 {
				invalid++
			}
		}
	}
	return invalid > 0 && valid == 0 || invalid > 1 && 10*invalid >= valid
}
