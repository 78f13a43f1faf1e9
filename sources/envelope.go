package sources

import (
	"bytes"

	"github.com/schedq/schedq/sources/jsonscan"
)

// Envelope is what the text of an object begins to tell, its parts not yet decoded. Texts are as they are written: not
// sanitised, their escapes as they are.
type Envelope struct {
	APIVersion, Kind string
	// Metadata, Spec and Details (of a Status) are nil if the object has none.
	Metadata, Spec, Details []byte
	// DeletionTimestamp, DeletionGracePeriodSeconds and Finalizers are of the metadata, and nil if it has none.
	DeletionTimestamp, DeletionGracePeriodSeconds, Finalizers []byte

	raw, status []byte
	uid         []byte
	managed     [][]byte // managedFields: half of the object, and dropped anyway
	twice       bool     // has a part twice, which encoding/json makes one of
	torn        bool     // has metadata that are no JSON
}

// Open splits the text of an object. The error is jsonscan.ErrNotJSON.
func Open(raw []byte) (*Envelope, error) {
	e := &Envelope{}
	if e.Over(raw, len(raw)-len(bytes.TrimLeft(raw, " \t\r\n"))) < 0 {
		return e, jsonscan.ErrNotJSON
	}
	e.raw = raw
	return e, nil
}

// Over is Open for the object that begins at raw[i]. It replaces e, and returns the index after the object, or -1 if it is
// invalid.
func (e *Envelope) Over(raw []byte, i int) (end int) {
	*e = Envelope{managed: e.managed[:0]}
	end = jsonscan.Object(raw, i, func(name []byte, i int) int {
		if string(name) == "metadata" {
			return e.overMetadata(raw, i)
		}
		end := jsonscan.End(raw, i)
		if end >= 0 {
			e.member(name, raw[i:end])
		}
		return end
	})
	if end < 0 || e.torn {
		return -1
	}
	e.raw = raw[i:end]
	return end
}

func (e *Envelope) member(name, value []byte) {
	switch string(name) {
	case "apiVersion":
		e.APIVersion = known(jsonscan.Text(value))
	case "kind":
		e.Kind = known(jsonscan.Text(value))
	case "spec":
		e.twice = e.twice || e.Spec != nil
		e.Spec = value
	case "status":
		e.twice = e.twice || e.status != nil
		e.status = value
	case "details":
		e.Details = value
	}
}

// known is what text says. Most objects are of few kinds.
func known(text []byte) string {
	switch string(text) {
	case "v1":
		return "v1"
	case "Pod":
		return "Pod"
	case "Node":
		return "Node"
	case "Event":
		return "Event"
	}
	return string(text)
}

// overMetadata goes over the metadata that begin at raw[i]. Of two it is the latter that count.
func (e *Envelope) overMetadata(raw []byte, i int) (end int) {
	e.twice = e.twice || e.Metadata != nil
	e.uid, e.managed, e.DeletionTimestamp, e.DeletionGracePeriodSeconds, e.Finalizers = nil, e.managed[:0], nil, nil, nil
	end = jsonscan.Object(raw, i, func(name []byte, i int) int {
		end := jsonscan.End(raw, i)
		if end >= 0 {
			e.ofMetadata(name, raw[i:end])
		}
		return end
	})
	if e.torn = end < 0 && i < len(raw) && raw[i] == '{'; end < 0 {
		end = jsonscan.End(raw, i)
	}
	if end >= 0 {
		e.Metadata = raw[i:end]
	}
	return end
}

func (e *Envelope) ofMetadata(name, value []byte) {
	switch string(name) {
	case "managedFields":
		e.managed = append(e.managed, value)
	case "uid":
		e.uid = jsonscan.Text(value)
	case "deletionTimestamp":
		e.DeletionTimestamp = value
	case "deletionGracePeriodSeconds":
		e.DeletionGracePeriodSeconds = value
	case "finalizers":
		e.Finalizers = value
	}
}
