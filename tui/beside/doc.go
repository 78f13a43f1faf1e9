// Package beside has two sessions stand beside each other on one screen: where each is drawn, and which moment of the one
// belongs to a moment of the other. It is pure: it draws nothing and moves no session.
package beside
