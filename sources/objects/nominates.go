package objects

import "github.com/schedq/schedq/sources/jsonscan"

// Nominates reports whether a request writes a nominated node into a pod's status and no condition: one, as
// kube-scheduler does before a binding that takes its time (NominatedNodeNameForExpectation), and not for a failed attempt, or none.
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
