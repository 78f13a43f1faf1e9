package objects

import "github.com/schedq/schedq/sources/jsonscan"

// Nominates reports whether a request only sets (one) or clears (none) the nominated node of a pod's status, without a
// condition. kube-scheduler sets it so before a slow binding (NominatedNodeNameForExpectation), not for a failed attempt.
func Nominates(request []byte) (one, none bool) {
	_ = jsonscan.Members(request, func(name, status []byte) bool {
		if string(name) != "status" {
			return true
		}
		_ = jsonscan.Members(status, func(name, value []byte) bool {
			switch string(name) {
			case "nominatedNodeName":
				one = len(value) > len(`""`) && value[0] == '"'
				none = !one
			case "conditions":
				one, none = false, false
				return false
			}
			return true
		})
		return false
	})
	return one, none
}
