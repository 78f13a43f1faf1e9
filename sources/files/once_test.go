package files

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// onceLogs are files of every format whose lines have times, a second apart. Each line has one event.
func onceLogs() map[string][]string {
	logs := map[string][]string{}
	for n := range 40 {
		name := fmt.Sprintf("p%02d", n)
		add := func(format, header, line string) {
			if n == 0 && header != "" {
				logs[format] = append(logs[format], header)
			}
			logs[format] = append(logs[format], strings.TrimSuffix(line, "\n")+"\n")
		}
		klog := tried(name, n)
		add("audit", "", created(name, n))
		add("schedlog", "", klog)
		add("schedlog in CRI's format", "", fmt.Sprintf("2026-11-21T10:00:%02d.000000001Z stderr F %s", n, klog))
		add("schedlog in JSON", "", fmt.Sprintf(`{"timestamp":"2026-11-21T10:00:%02dZ","log":%s}`, n, quoted(klog)))
		add("trace", traceHeader, fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ","move":{"pod":"default/%s","to":"inflight"}}`, n, name))
		add("metrics", "", counted(n, n))
		add("watched", "", fmt.Sprintf(`{"time":"2026-11-21T10:00:%02dZ","event":"Add","resource":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","namespace":"default","uid":"%s","creationTimestamp":"2026-11-21T10:00:%02dZ"}}}`, n, name, name, n))
	}
	return logs
}

// readOnce reads files and returns how many events there are of each line, and the notices.
func readOnce(t *testing.T, strict bool, texts ...string) (events map[string]int, first, last string, notices string, err error) {
	t.Helper()
	var named []string
	for i, text := range texts {
		named = append(named, fmt.Sprintf("f%d", i), text)
	}
	rec, err := Open(context.Background(), in(t, named...), Options{Strict: strict})
	if err != nil {
		return nil, "", "", "", err
	}
	events = map[string]int{}
	for _, ev := range rec.Events {
		if i := id(ev); i != "" {
			events[strings.Replace(i, "p0", "p", 1)]++
			last = ev.Time.Format("15:04:05")
			if first == "" {
				first = last
			}
		}
	}
	return events, first, last, strings.Join(rec.Notices, "\n"), nil
}

// TestOnce: lines, blocks and files that are repeated are played once in every format, and reported.
func TestOnce(t *testing.T) {
	for format, lines := range onceLogs() {
		header, text := "", strings.Join(lines, "")
		if strings.HasPrefix(lines[0], traceHeader) {
			header = traceHeader
		}
		join := func(lines ...[]string) (all string) {
			for _, l := range lines {
				all += strings.Join(l, "")
			}
			return all
		}
		want, _, _, _, err := readOnce(t, true, text)
		if err != nil || len(want) < 40 {
			t.Fatalf("%s: %d events, %v", format, len(want), err)
		}
		for what, texts := range map[string][]string{
			"a line":             {join(lines[:21], lines[20:])},
			"a block":            {join(lines[:30], lines[10:])},
			"the file":           {text + text},
			"another file":       {text, text},
			"files that overlap": {join(lines[:30]), header + join(lines[10:])},
		} {
			if format == "watched" && len(texts) > 1 || format == "metrics" && len(texts) > 1 {
				continue // nobody exports these in parts
			}
			t.Run(format+", "+what, func(t *testing.T) {
				got, _, _, notices, err := readOnce(t, false, texts...)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("got %v\nwant %v", got, want)
				}
				if !strings.Contains(notices, "once") {
					t.Errorf("nothing is reported: %s", notices)
				}
				if _, _, _, _, err := readOnce(t, true, texts...); err == nil {
					t.Error("--strict takes it")
				}
			})
		}
	}
}

// TestTimesOfLines: a damaged time costs one line in every format, and is reported with its line.
func TestTimesOfLines(t *testing.T) {
	for format, lines := range onceLogs() {
		text := strings.Join(lines, "")
		want, first, last, _, err := readOnce(t, true, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, damage := range [][2]string{{"2026-", "2027-"}, {"2026-", "2261-"}, {"2026-", "2263-"}, {"2026-", "3026-"}, {"2026-", "1970-"}, {"2026-", "0026-"},
			{"-11-21T", "-12-21T"}, {"I1121 ", "I1221 "}, {"T10:00:", "T20:00:"}, {"T10:00:", "T00:00:"}, {" 10:00:", " 11:00:"}, {"T10:00:", "T10:50:"}} {
			const n = 20
			bad := strings.ReplaceAll(lines[n], damage[0], damage[1])
			if format == "audit" || format == "watched" { // one digit, in the line's own time
				bad = strings.Replace(lines[n], damage[0], damage[1], 1)
			}
			if bad == lines[n] || strings.HasPrefix(format, "schedlog in") && damage[0] != "I1121 " && damage[0] != " 10:00:" {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s%s", format, damage[0], damage[1]), func(t *testing.T) {
				got, from, to, notices, err := readOnce(t, false, strings.Join(lines[:n], "")+bad+strings.Join(lines[n+1:], ""))
				if err != nil {
					t.Fatal(err)
				}
				missing := 0
				for i := range want {
					missing += want[i] - got[i]
				}
				if missing > 1 || from != first || to != last {
					t.Errorf("%d events are missing, %s to %s, want %s to %s; %s", missing, from, to, first, last, notices)
				}
				if !strings.Contains(notices, fmt.Sprintf("line %d", n+1)) {
					t.Errorf("not reported: %s", notices)
				}
			})
		}
	}
}
