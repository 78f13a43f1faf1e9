// Package apijson decodes JSON as kube-apiserver writes it, of what there is most of in an audit log: pods, nodes, and
// the Events of failed attempts. It takes a fifth of the time of encoding/json, and keeps what sources.Trim keeps of an object.
// What is not so written (escapes in a name, a number with an exponent, white space, a list as long as no object has one)
// is left to encoding/json: each function says whether it could decode all of its text, and what it then returns
// is what encoding/json and sources.Trim make of it. Of members that are not kept it looks for the end only.
//
// It imports nothing of schedq but sources/jsonscan.
package apijson
