package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// timeout is how long a test waits for an expected state.
const timeout = time.Minute

// device is an emulated device.
type device struct {
	name          string
	width, height int64
	scheme        string // light or dark
	touch         bool   // without a keyboard
}

var (
	phone  = device{"phone", 390, 844, "dark", true}
	tablet = device{"tablet", 820, 1180, "light", true}
	laptop = device{"laptop", 1280, 800, "light", false}
)

// page is a browser page.
type page struct {
	*testing.T
	ctx context.Context
}

// start starts a browser.
func start(t *testing.T) context.Context {
	t.Helper()
	name := os.Getenv("SCHEDQ_BROWSER")
	if name == "" {
		t.Skip("SCHEDQ_BROWSER is not set: use make browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(name), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(timeout))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	return ctx
}

// open opens an address in a new browser. Exceptions and CSP violations fail the test.
func open(t *testing.T, url string, d device) *page {
	t.Helper()
	return openIn(t, start(t), url, d)
}

// openBeside opens an address in the browser of p with a separate browser context.
func (p *page) openBeside(url string, d device) *page {
	p.Helper()
	browser := cdp.WithExecutor(p.ctx, chromedp.FromContext(p.ctx).Browser)
	person, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(browser)
	if err != nil {
		p.Fatal(err)
	}
	window, err := target.CreateTarget("about:blank").WithBrowserContextID(person).WithNewWindow(true).Do(browser)
	if err != nil {
		p.Fatal(err)
	}
	return openIn(p.T, p.ctx, url, d, chromedp.WithTargetID(window))
}

// openIn opens an address in a running browser.
func openIn(t *testing.T, browser context.Context, url string, d device, as ...chromedp.ContextOption) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, as...)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("exception on the page: %s", e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Source == log.SourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
				t.Errorf("security error: %s", e.Entry.Text)
			}
		}
	})
	p := &page{T: t, ctx: ctx}
	if err := chromedp.Run(ctx); err != nil { // without a timeout: the browser ends with the context of the first call
		t.Fatal(err)
	}
	var by []chromedp.EmulateViewportOption
	if d.touch {
		by = append(by, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	p.do(log.Enable(), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: d.scheme}}),
		chromedp.EmulateViewport(d.width, d.height, by...), chromedp.Navigate(url))
	return p
}

// do runs actions in the browser.
func (p *page) do(what ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	if err := chromedp.Run(ctx, what...); err != nil {
		p.Fatalf("%v; the page shows %q", err, p.text())
	}
}

// logIn fills in the form.
func (p *page) logIn(name, code string) {
	p.Helper()
	p.do(chromedp.WaitVisible("#login", chromedp.ByID), chromedp.SetValue("#name", name, chromedp.ByID), chromedp.SetValue("#code", code, chromedp.ByID),
		chromedp.Click("#login button", chromedp.ByQuery))
}

// value returns the value of a JavaScript expression, or "" if it fails.
func (p *page) value(script string) (result string) {
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate("String("+script+")", &result))
	return result
}

// text returns the text of the terminal and the page.
func (p *page) text() string {
	return p.value(`[...document.querySelectorAll(".xterm-rows > div")].map((row) => row.textContent.replaceAll("\u00a0", " ")).concat(document.body.innerText).join("\n")`)
}

// sees waits until the page contains text, and returns the text of the page.
func (p *page) sees(text string) string {
	p.Helper()
	for late := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		all := p.text()
		if strings.Contains(all, text) {
			return all
		}
		if time.Now().After(late) {
			p.Fatalf("%q is not on the page:\n%s", text, all)
		}
	}
}

// misses waits until the page no longer contains text.
func (p *page) misses(text string) {
	p.Helper()
	for late := time.Now().Add(timeout); strings.Contains(p.text(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			p.Fatalf("%q is still on the page", text)
		}
	}
}

// click clicks a key button.
func (p *page) click(key string) {
	p.Helper()
	p.do(chromedp.Click(fmt.Sprintf(`//nav[@id="keys"]//button[text()=%q]`, key), chromedp.BySearch))
}

// press presses a key on the keyboard.
func (p *page) press(key string) {
	p.Helper()
	if key == "hint" {
		key = "h"
	}
	name, text, number := key, key, int64(strings.ToUpper(key)[0])
	if key == "next" {
		name, text, number = "Enter", "\r", 13
	}
	// Without a separate char event, like a keyboard.
	p.do(input.DispatchKeyEvent(input.KeyDown).WithKey(name).WithCode(name).WithText(text).WithWindowsVirtualKeyCode(number),
		input.DispatchKeyEvent(input.KeyUp).WithKey(name).WithCode(name).WithWindowsVirtualKeyCode(number))
}

// picture saves a screenshot in the directory SCHEDQ_PICTURES, if that is set.
func (p *page) picture(name string) {
	p.Helper()
	folder := os.Getenv("SCHEDQ_PICTURES")
	if folder == "" {
		return
	}
	var png []byte
	p.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600); err != nil {
		p.Fatal(err)
	}
}
