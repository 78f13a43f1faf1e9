// Package tui is the screen: it draws a session's frames and turns keys into its commands.
//
// There is one tea.Model, the frame around the pages: it takes messages, puts what is open into its room, and draws it.
// What is drawn and done is in the packages below, which import each other downwards only:
//
//	tui                                  the program: messages, layout, mouse, recordings, help
//	lesson  play                         a lesson below the board; a cluster to play with
//	whatif  travel                       what-ifs and their comparison; going through time
//	board   chart  header                the lowest page; timeline, lanes and plots; the lines above the page
//	story                                one pod: name, moves, lane, why it waits
//	widget                               lists, prompts, the bar, periods of time
//	page                                 Page, Overlay, Action, and the UI that all work with
//	theme   format  memory  canvas       colours and glyphs; text; how sources were looked at; cells
//
// A key goes to the overlay on top, or else to the page on top, or else to the board: package keymap says which binding
// it is there, and UI.Actions what that does, or why it can't be done now. Update draws, too, and View costs nothing.
// Nothing in here blocks on a file or on the network, and only running on a terminal knows the machine.
package tui
