package sources

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/jsonscan"
)

// Envelope is what the text of an object begins to tell, its parts not yet decoded. Texts are as they are written: not
// sanitised, their escapes as they are.
type Envelope struct {
	APIVersion, Kind string
	UID              types.UID
	// Metadata, Spec and Details (of a Status) are nil if the object has none.
	Metadata, Spec, Details []byte
	// DeletionTimestamp, DeletionGracePeriodSeconds and Finalizers are of the metadata, and nil if it has none.
	DeletionTimestamp, DeletionGracePeriodSeconds, Finalizers []byte

	raw, status []byte
	managed     [][]byte // managedFields: half of the object, and dropped anyway
	twice       bool     // has a part twice, which encoding/json makes one of
}

// Open takes an object's text apart. The error is jsonscan.ErrNotJSON.
func Open(raw []byte) (*Envelope, error) {
	e := &Envelope{raw: raw}
	err := jsonscan.Members(raw, func(name, value []byte) bool {
		switch string(name) {
		case "apiVersion":
			e.APIVersion = string(jsonscan.Text(value))
		case "kind":
			e.Kind = string(jsonscan.Text(value))
		case "metadata":
			e.twice = e.twice || e.Metadata != nil
			e.Metadata = value
		case "spec":
			e.twice = e.twice || e.Spec != nil
			e.Spec = value
		case "status":
			e.twice = e.twice || e.status != nil
			e.status = value
		case "details":
			e.Details = value
		}
		return true
	})
	if err != nil || e.Metadata == nil || e.Metadata[0] != '{' {
		return e, err
	}
	return e, jsonscan.Members(e.Metadata, e.ofMetadata)
}

func (e *Envelope) ofMetadata(name, value []byte) bool {
	switch string(name) {
	case "managedFields":
		e.managed = append(e.managed, value)
	case "uid":
		e.UID = types.UID(jsonscan.Text(value))
	case "deletionTimestamp":
		e.DeletionTimestamp = value
	case "deletionGracePeriodSeconds":
		e.DeletionGracePeriodSeconds = value
	case "finalizers":
		e.Finalizers = value
	}
	return true
}
