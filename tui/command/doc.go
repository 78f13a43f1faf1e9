// Package command has the person's own commands: what is run about the selected pod, and the page of what it wrote.
//
// A command is words, and no shell reads them. It is run where the program is a person's own, and never for a visitor.
package command
