package browser

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Fifty browsers answer the teacher's question at once. Each shows its answer, and the teacher's page shows
// all. Then each continues alone.
func TestFiftyPages(t *testing.T) {
	const people = 50
	address := "http://" + serve(t, "--teacher-code", "teach-4-them") + "/"
	teacher := open(t, address, laptop)
	teacher.logIn("tina", "teach-4-them")
	teacher.sees(first)
	teacher.click("next")
	teacher.sees("1 2 3 answer")
	roomPage := chromedp.KeyEvent("t", chromedp.KeyModifiers(input.ModifierCtrl))
	teacher.do(roomPage)
	teacher.sees("f share screen")

	one := open(t, address, phone)
	pages := []*page{one}
	for i := 1; i < people; i++ {
		pages = append(pages, one.openBeside(address, []device{phone, tablet, laptop}[i%3]))
	}
	// each calls do for all pages in parallel.
	each := func(do func(i int, p *page)) {
		t.Helper()
		var all sync.WaitGroup
		for i, p := range pages {
			all.Go(func() { do(i, p) })
		}
		if all.Wait(); t.Failed() {
			t.FailNow()
		}
	}
	each(func(i int, p *page) {
		p.logIn(fmt.Sprintf("ada-%d", i), code)
		p.sees(fmt.Sprintf("ada-%d · your own session", i))
	})
	teacher.press("f")
	teacher.sees("f stop sharing")
	teacher.do(roomPage) // back to the lesson, which is shared
	each(func(_ int, p *page) { p.sees("1 2 3 answer") })
	each(func(i int, p *page) {
		p.click([]string{"1", "2"}[i%2])
		p.sees([]string{"you said activeQ", "you said backoffQ"}[i%2])
	})
	teacher.do(roomPage)
	teacher.sees(fmt.Sprintf("%d of %d answered", people, people))
	each(func(_ int, p *page) {
		p.click("esc")
		p.sees("1/7")
		p.click("next")
		p.sees("2/7")
	})
}
