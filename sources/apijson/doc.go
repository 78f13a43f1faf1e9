// Package apijson decodes JSON of kube-apiserver for the most frequent objects of an audit log: pods, nodes, and Events of
// failed attempts. It takes a fifth of the time of encoding/json, and keeps the fields that sources.Trim keeps. Unusual JSON
// (escapes in a name, a number with an exponent, white space, an unusually long list) is left to encoding/json: each function
// reports whether it could decode all of its text, and if so, its result equals that of encoding/json and sources.Trim. It
// only finds the end of members that are not kept.
//
// It imports nothing of schedq but sources/jsonscan.
package apijson
