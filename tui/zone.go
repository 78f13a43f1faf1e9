package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue/session"
)

// setZone has the session that is shown, and those that come, tell times of day in zone.
func (m *model) setZone(zone session.Zone) {
	m.zone = zone
	m.Session.SetZone(zone)
}

// otherZone is the zone to change to: UTC, and from that the one of the configuration, or else this machine's.
func (m *model) otherZone() session.Zone {
	if !m.zone.IsUTC() {
		return session.Zone{}
	}
	if !m.options.Zone.IsUTC() {
		return m.options.Zone
	}
	here, _ := session.ParseZone("local") // which there is always
	return here
}

// nextZone changes to the other zone.
func (m *model) nextZone() tea.Cmd {
	m.setZone(m.otherZone())
	return m.Answer("times of day are in " + m.zone.Name(m.Frame.Now) + m.Keys.Say("; {time-zone}: the other way"))
}
