package browser

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	requests "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// site returns the directory of the website, built by make site.
func site(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SCHEDQ_SITE")
	if dir == "" {
		t.Skip("SCHEDQ_SITE is not set: use make browser")
	}
	return dir
}

// addresses returns two addresses of the site, both ending in /: a local directory, and a path of a file server.
func addresses(t *testing.T, dir string) map[string]string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/deep/below/", http.StripPrefix("/deep/below/", http.FileServer(http.Dir(dir))))
	host := httptest.NewServer(mux)
	t.Cleanup(host.Close)
	return map[string]string{"folder": "file://" + filepath.ToSlash(dir) + "/", "host": host.URL + "/deep/below/"}
}

// onlyLoads fails the test for every request outside of address.
func (p *page) onlyLoads(address string) {
	p.Helper()
	var mu sync.Mutex
	chromedp.ListenTarget(p.ctx, func(event any) {
		if e, ok := event.(*requests.EventRequestWillBeSent); ok && !strings.HasPrefix(e.Request.URL, address) {
			mu.Lock()
			defer mu.Unlock()
			p.Errorf("the page requests %s", e.Request.URL)
		}
	})
	p.do(requests.Enable())
}

// violation is a result of axe.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// awaited waits for the promise of a script.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// accessible fails the test for serious and critical violations that axe finds, if axe is available.
func (p *page) accessible(where string) {
	p.Helper()
	name := os.Getenv("SCHEDQ_AXE")
	if name == "" {
		p.Log("SCHEDQ_AXE is not set: skipping accessibility checks")
		return
	}
	script, err := os.ReadFile(name)
	if err != nil {
		p.Fatal(err)
	}
	var found string
	p.do(chromedp.Evaluate(string(script)+"; null", nil))
	p.do(chromedp.Evaluate(`axe.run(document).then((r) => JSON.stringify(r.violations))`, &found, awaited))
	var all []violation
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		p.Fatal(err)
	}
	for _, c := range all {
		if c.Impact == "serious" || c.Impact == "critical" {
			p.Errorf("%s: %s (%s): %+v", where, c.Help, c.Impact, c.Nodes[:min(len(c.Nodes), 3)])
		}
	}
}

// Every page fits a phone in dark mode and a laptop in light mode, loads nothing from other hosts, and has
// no serious accessibility violation.
func TestSite(t *testing.T) {
	dir := site(t)
	var pages []string
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".html" {
			name, err = filepath.Rel(dir, name)
			pages = append(pages, filepath.ToSlash(name))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(pages) < 25 {
		t.Fatalf("the site has the pages %q", pages)
	}
	places := addresses(t, dir)
	for where, d := range map[string]device{"folder": phone, "host": laptop} {
		t.Run(d.name+" "+d.scheme, func(t *testing.T) {
			p := open(t, places[where]+"index.html", d)
			p.onlyLoads(places[where])
			for _, name := range pages {
				p.do(chromedp.Navigate(places[where]+name), chromedp.WaitVisible("#site-search", chromedp.ByID))
				if wide := p.value(`document.documentElement.scrollWidth - innerWidth`); wide != "0" && !strings.HasPrefix(wide, "-") {
					t.Errorf("%s is %s px wider than the window", name, wide)
				}
				p.accessible(name)
				p.picture(fmt.Sprintf("site-%s-%s-%s", strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-"), d.name, d.scheme))
			}
		})
	}
}

// The search works without a server, and with the keyboard alone.
func TestSiteSearch(t *testing.T) {
	for where, address := range addresses(t, site(t)) {
		t.Run(where, func(t *testing.T) {
			p := open(t, address+"use/platforms.html", laptop)
			p.onlyLoads(address)
			p.do(chromedp.WaitVisible("#site-search", chromedp.ByID))
			p.press("/")
			p.do(chromedp.SendKeys("#site-words", "no scheduler", chromedp.ByID))
			p.sees("When no scheduler is there")
			p.accessible("the search")
			p.picture("site-search-" + where)
			p.do(chromedp.KeyEvent("\r"))
			p.sees("NO SIGN OF A SCHEDULER since")
			if at := p.value("location.href"); !strings.HasSuffix(at, "/live.html#when-no-scheduler-is-there") {
				t.Errorf("the first result is %s", at)
			}
			p.do(chromedp.SendKeys("#site-words", "xyzzy", chromedp.ByID))
			p.sees("No section contains all of these words.")
			p.do(chromedp.KeyEvent("\x1b"))
			p.misses("No section contains all of these words.")
		})
	}
}

// A session can be played, stopped, and stepped by key and slider, on each device.
func TestSessions(t *testing.T) {
	for where, address := range addresses(t, site(t)) {
		for _, d := range []device{phone, laptop} {
			t.Run(where+" "+d.name, func(t *testing.T) {
				p := open(t, address+"start/tour.html", d)
				p.onlyLoads(address)
				p.do(chromedp.Click("figure.session .play", chromedp.ByQuery))
				p.sees("A recording of a real cluster plays")
				p.sees("Time stops.") // it plays on
				p.do(chromedp.Click(`//button[text()="Stop"]`, chromedp.BySearch))
				stopped := p.value(`document.querySelector(".controls input").value`)
				p.do(chromedp.Click(`//button[text()="Key ›"]`, chromedp.BySearch))
				p.sees("On to the next move")
				p.accessible("a session")
				p.picture("site-session-" + where + "-" + d.name)
				p.do(chromedp.Click(`//button[text()="‹ Key"]`, chromedp.BySearch))
				if at := p.value(`document.querySelector(".controls input").value`); at != stopped {
					t.Errorf("one key forward and one back from %s leads to %s", stopped, at)
				}
				p.do(chromedp.Evaluate(`(() => { const s = document.querySelector(".controls input"); s.value = s.max; s.dispatchEvent(new Event("input")); })()`, nil))
				p.sees("How many wait for what")
				last := p.value(`document.querySelector(".screen").innerText`)
				p.do(chromedp.Evaluate(`(() => { const s = document.querySelector(".controls input"); s.value = 0; s.dispatchEvent(new Event("input")); s.value = s.max; s.dispatchEvent(new Event("input")); })()`, nil))
				if again := p.value(`document.querySelector(".screen").innerText`); again != last || strings.Count(again, "\n") < 20 {
					t.Errorf("the second time, the session ends with\n%s\nthe first time with\n%s", again, last)
				}
				if wide := p.value(`document.documentElement.scrollWidth - innerWidth`); wide != "0" && !strings.HasPrefix(wide, "-") {
					t.Errorf("the page is %s px wider than the window", wide)
				}
			})
		}
	}
}

// Every session can be played.
func TestEverySession(t *testing.T) {
	dir := site(t)
	p := open(t, addresses(t, dir)["folder"]+"start/tour.html", laptop)
	p.do(chromedp.Evaluate(`document.querySelectorAll("figure.session .play").forEach((b) => b.click())`, nil))
	p.do(chromedp.Poll(`document.querySelectorAll("figure.session").length === document.querySelectorAll("figure.session .screen").length`, nil))
	if n := p.value(`document.querySelectorAll(".screen").length`); n < "5" {
		t.Errorf("%s sessions were opened", n)
	}
	p.do(chromedp.Evaluate(`document.querySelectorAll(".controls input").forEach((s) => { for (let i = 0; i <= s.max; i++) { s.value = i; s.dispatchEvent(new Event("input")); } })`, nil))
	p.accessible("all sessions at their ends")
	p.picture("site-sessions")
}
