// Package browser tries the page of a room in headless Chromium, with the program as a process: make browser.
package browser

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// The first lesson, and where the second one begins.
const (
	first  = "Pending is three places"
	second = "How backoff grows"
)

// A wrong code is answered with a sentence, and the form stays.
func TestAWrongCode(t *testing.T) {
	p := open(t, "http://"+serve(t)+"/", phone)
	p.comeIn("ada", "saturday-room")
	p.sees("That is not the room's code.")
	p.comeIn("ada", code)
	p.sees(first)
}

// Whose connection is lost, or who loads the page again, is where they were, without a code. Who quits is not.
func TestALostConnectionComesBack(t *testing.T) {
	n := through(t, serve(t))
	p := open(t, "http://"+n.Addr().String()+"/", phone)
	p.comeIn("ada", code)
	p.sees(first)
	p.click("next")
	p.sees("2/7")
	n.set(true)
	p.sees("Connection lost")
	p.picture("lost")
	n.set(false)
	p.sees("2/7")
	p.misses("Connection lost")
	p.sees("ada · ")
	p.do(chromedp.Reload())
	p.sees("2/7")
	p.sees("ada · ")
	p.press("q")
	p.sees("The session has ended.")
	p.picture("over")
	p.do(chromedp.Reload())
	p.sees("Your name in the room")
}

// On each device, in light and in dark, all of a lesson's screen is there, and nothing beside the page.
func TestAllFits(t *testing.T) {
	address := serve(t)
	for _, d := range []device{phone, tablet, laptop} {
		for scheme, paper := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 24)"} {
			d.scheme = scheme
			t.Run(d.name+" "+scheme, func(t *testing.T) {
				p := open(t, "http://"+address+"/", d)
				p.sees("Your name in the room")
				p.picture(d.name + "-" + scheme + "-form")
				p.comeIn(d.name+"-"+scheme, code)
				p.sees(first)
				p.click("next")
				p.sees("Where does web-1 enter the queue?")
				p.picture(d.name + "-" + scheme)
				for what, least := range map[string]int{
					`document.querySelectorAll(".xterm-rows > div").length`:                        20,
					`innerWidth - document.documentElement.scrollWidth`:                            0,
					`innerHeight - document.documentElement.scrollHeight`:                          0,
					`innerHeight - document.querySelector("#keys").getBoundingClientRect().bottom`: 0,
					`Math.round(document.querySelector("#screen").getBoundingClientRect().right - document.querySelector(".xterm-screen").getBoundingClientRect().right)`: 0,
					`Math.min(...[...document.querySelectorAll("#keys button")].map((b) => b.clientWidth - b.scrollWidth))`:                                               0,
				} {
					if n, err := strconv.ParseFloat(p.value(what), 64); err != nil || n < float64(least) {
						t.Errorf("%s is %v, %v", what, n, err)
					}
				}
				if got := p.value(`getComputedStyle(document.body).backgroundColor`); got != paper {
					t.Errorf("the background is %s", got)
				}
			})
		}
	}
}

// A page in a kiosk is a lesson at once.
func TestAKiosk(t *testing.T) {
	p := open(t, "http://"+serve(t, "--kiosk", "--lesson", "2")+"/", tablet)
	if all := p.sees(second); strings.Contains(all, "your own session") {
		t.Error("there is a room's bar")
	}
	p.picture("kiosk")
}

// The teacher's notes are on a second screen, and follow the teacher's step; the room's code does not open them.
func TestNotesOnASecondScreen(t *testing.T) {
	address := serve(t, "--teacher-code", "teach-4-them")
	notes := open(t, "http://"+address+"/notes", tablet)
	say := func(code string) {
		t.Helper()
		notes.do(chromedp.WaitVisible("#login", chromedp.ByID), chromedp.SetValue("#code", code, chromedp.ByID), chromedp.Click("#login button", chromedp.ByQuery))
	}
	say(code)
	notes.sees("That is not the teacher's code.")
	say("teach-4-them")
	notes.sees("The notes appear when the teacher joins the room.")
	teacher := open(t, "http://"+address+"/", laptop)
	teacher.comeIn("tina", "teach-4-them")
	notes.sees("step 1 of 7")
	notes.sees("Ask who has seen a pod Pending for an hour")
	teacher.sees(first)
	teacher.click("next")
	notes.sees("✗ backoff: Backoff is a penalty for a failed attempt")
	notes.picture("notes")
	notes.do(chromedp.Reload())
	notes.sees("step 2 of 7")
}

// Who follows the teacher answers the teacher's question from where they are, by a button, and the teacher sees the count, and
// what most got wrong.
func TestAFollowerAnswersByAClick(t *testing.T) {
	address := serve(t, "--teacher-code", "teach-4-them")
	ada, teacher := open(t, "http://"+address+"/", phone), open(t, "http://"+address+"/", laptop)
	ada.comeIn("ada", code)
	ada.sees("ada · your own session")
	teacher.comeIn("tina", "teach-4-them")
	teacher.sees(first)
	teacher.click("next")
	teacher.sees("1 2 3 answer")
	theRoom := chromedp.KeyEvent("t", chromedp.KeyModifiers(input.ModifierCtrl))
	teacher.do(theRoom)
	teacher.sees("f share screen")
	teacher.press("f")
	teacher.sees("f stop sharing")
	teacher.press("m") // which the room does not see
	teacher.sees("No wrong answers yet.")
	ada.sees("1 2 3 answer")
	ada.click("2")
	ada.sees("you said backoffQ")
	teacher.sees("1 of 1 wrong")
	ada.misses("1 of 1 wrong")
	ada.click("1")
	ada.sees("you said activeQ")
	teacher.sees("No wrong answers yet.")
	ada.click("esc")
	ada.sees("1/7")
}
