// Package browser tests the page of a room and the website in headless Chromium; see make browser.
package browser

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// The titles of the first two lessons.
const (
	first  = "Pending is three places"
	second = "How backoff grows"
)

// After a wrong code, the form stays.
func TestWrongCode(t *testing.T) {
	p := open(t, "http://"+serve(t)+"/", phone)
	p.logIn("ada", "saturday-room")
	p.sees("That is not the room's code.")
	p.logIn("ada", code)
	p.sees(first)
}

// A lost connection or a reload returns to the same step without a code. Quitting does not.
func TestReconnect(t *testing.T) {
	n := through(t, serve(t))
	p := open(t, "http://"+n.Addr().String()+"/", phone)
	p.logIn("ada", code)
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

// The lesson fits the page on each device, in light and dark.
func TestLayout(t *testing.T) {
	address := serve(t)
	for _, d := range []device{phone, tablet, laptop} {
		for scheme, paper := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(16, 20, 24)"} {
			d.scheme = scheme
			t.Run(d.name+" "+scheme, func(t *testing.T) {
				p := open(t, "http://"+address+"/", d)
				p.sees("Your name in the room")
				p.picture(d.name + "-" + scheme + "-form")
				p.logIn(d.name+"-"+scheme, code)
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

// A kiosk shows the lesson without a login.
func TestKiosk(t *testing.T) {
	p := open(t, "http://"+serve(t, "--kiosk", "--lesson", "2")+"/", tablet)
	if all := p.sees(second); strings.Contains(all, "your own session") {
		t.Error("the page has a bar")
	}
	p.picture("kiosk")
}

// The notes page needs the teacher's code, and follows the teacher's step.
func TestNotesPage(t *testing.T) {
	address := serve(t, "--teacher-code", "teach-4-them")
	notes := open(t, "http://"+address+"/notes", tablet)
	enterCode := func(code string) {
		t.Helper()
		notes.do(chromedp.WaitVisible("#login", chromedp.ByID), chromedp.SetValue("#code", code, chromedp.ByID), chromedp.Click("#login button", chromedp.ByQuery))
	}
	enterCode(code)
	notes.sees("That is not the teacher's code.")
	enterCode("teach-4-them")
	notes.sees("The notes appear when the teacher joins the room.")
	teacher := open(t, "http://"+address+"/", laptop)
	teacher.logIn("tina", "teach-4-them")
	notes.sees("step 1 of 7")
	notes.sees("Ask who has seen a pod Pending for an hour")
	teacher.sees(first)
	teacher.click("next")
	notes.sees("✗ backoff: Backoff is a penalty for a failed attempt")
	notes.picture("notes")
	notes.do(chromedp.Reload())
	notes.sees("step 2 of 7")
}

// A follower answers the teacher's question with a button. The teacher sees the count and the wrong answers.
func TestFollowerAnswers(t *testing.T) {
	address := serve(t, "--teacher-code", "teach-4-them")
	ada, teacher := open(t, "http://"+address+"/", phone), open(t, "http://"+address+"/", laptop)
	ada.logIn("ada", code)
	ada.sees("ada · your own session")
	teacher.logIn("tina", "teach-4-them")
	teacher.sees(first)
	teacher.click("next")
	teacher.sees("1 2 3 answer")
	roomPage := chromedp.KeyEvent("t", chromedp.KeyModifiers(input.ModifierCtrl))
	teacher.do(roomPage)
	teacher.sees("f share screen")
	teacher.press("f")
	teacher.sees("f stop sharing")
	teacher.press("m") // not shared
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
