package hostile

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// schedulerLog is a log of kube-scheduler.
const schedulerLog = `I1121 12:00:00.000000       1 schedule_one.go:117] "Attempting to schedule pod" pod="default/p1"
I1121 12:00:01.000000       1 active_queue.go:414] "Entity moved to an internal scheduling queue" type="pod" entity="default/p1" event="UnscheduledPodAdd" queue="Active"
I1121 12:00:02.000000       1 active_queue.go:414] "Entity moved to an internal scheduling queue" type="pod" entity="default/p2" event="UnscheduledPodAdd" queue="Active"
`

// damaged returns files that are truncated, joined or corrupted.
func damaged() []file {
	traced := string(trace(smallNode, pod("p1", ""), pod("p2", ""), pod("p3", "")))
	logged := string(auditLine("create", podJSON("p1"))) + string(auditLine("create", podJSON("p2"))) + string(auditLine("create", podJSON("p3")))
	var all []file
	for name, whole := range map[string]string{"trace": traced, "audit": logged, "scheduler": schedulerLog} {
		cut := whole[:len(whole)*2/3]
		lines := strings.SplitAfter(whole, "\n")
		middle := strings.Join(lines[:2], "")
		rest := strings.Join(lines[2:], "")
		for damage, text := range map[string]string{
			"cut":                    cut,
			"cut and joined":         cut + whole,
			"two on one line":        strings.Replace(whole, lines[1], strings.TrimSuffix(lines[1], "\n"), 1),
			"a NUL first":            "\x00" + whole,
			"NULs in the middle":     middle + strings.Repeat("\x00", 4096) + rest,
			"a NUL in a line":        strings.Replace(whole, "default", "def\x00ault", 1),
			"Latin-1":                strings.Replace(whole, "default", "d\xe4fault", 1),
			"half a character":       middle + "\xe2\x82\n" + rest,
			"a byte order mark":      "\ufeff" + whole,
			"UTF-16":                 "\xff\xfe" + strings.Join(strings.Split(whole, ""), "\x00"),
			"carriage returns":       strings.ReplaceAll(whole, "\n", "\r\n"),
			"carriage returns alone": strings.ReplaceAll(whole, "\n", "\r"),
			"garbage after a record": strings.Replace(whole, lines[1], strings.TrimSuffix(lines[1], "\n")+" GARBAGE\n", 1),
			"garbage after it":       whole + "\x1b[2J\x00\xff not a line",
			"an empty line":          middle + "\n\n" + rest,
			"a line of spaces":       middle + strings.Repeat(" ", 1_000_000) + "\n" + rest,
			"an HTML line":           middle + "<html><body>502 Bad Gateway</body></html>\n" + rest,
			"twice":                  whole + whole,
		} {
			all = append(all, file{name: name + " with " + damage, content: []byte(text)})
		}
		for packing, packed := range map[string][]byte{"gzip": gzipped([]byte(whole)), "zstd": zstandard([]byte(whole))} {
			for damage, data := range map[string][]byte{
				"cut": packed[:len(packed)*2/3], "cut in its header": packed[:5], "cut at its end": packed[:len(packed)-2],
				"garbage after it": append(bytes.Clone(packed), strings.Repeat("garbage", 4)...), "zeros after it": append(bytes.Clone(packed), make([]byte, 512)...),
				"twice": append(bytes.Clone(packed), packed...), "a bit flipped": flipped(packed), "packed twice": gzipped(packed),
			} {
				all = append(all, file{name: fmt.Sprintf("%s, %s, %s", name, packing, damage), content: data})
			}
		}
	}
	return append(all,
		file{name: "a seam", content: []byte(traced[:len(traced)-30] + traced)},
		file{name: "empty", want: "refused"},
		file{name: "one NUL", content: []byte{0}, want: "refused"},
		file{name: "10 MB of NULs", content: make([]byte, 10_000_000), want: "refused"},
		file{name: "10 MB of 0xff", content: bytes.Repeat([]byte{0xff}, 10_000_000), want: "refused"},
		file{name: "a header alone", content: []byte(header)},
		file{name: "one fact twice in a record", content: []byte(header + line(0, `"mark":{"text":"one"},"mark":{"text":"two"}`))},
		file{name: "two facts in a record", content: []byte(header + line(0, `"mark":{"text":"one"},`+pod("p1", "")))},
	)
}

func flipped(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 4
	return data
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data) // a buffer does not fail
	z.Close()
	return b.Bytes()
}

func zstandard(data []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // invalid options
	}
	return z.EncodeAll(data, nil)
}

// maxFile is the maximum size of a test file, in bytes.
const maxFile = 10_000_000

// bombs returns small compressed files that expand to a lot: a compressed block is repeated, as
// both formats allow.
func bombs() []file {
	const block = 16 << 20 // uncompressed, in bytes
	filled := func(lines ...string) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < block; i++ {
			b.WriteString(lines[i%len(lines)])
		}
		return b.Bytes()
	}
	letters := strings.Repeat("a", 4096)
	audit := string(auditLine("update", podJSON("p1")))
	kinds := []struct {
		name, head string
		block      []byte
		times      int
	}{
		{"one pod, over and over", header, filled(line(1, pod("p1", ""))), 30},
		{"pods that differ", header, manyPodLines(block), 30},
		{"moves with a long event", header, filled(line(1, `"move":{"pod":"default/p1","to":"active","event":"`+letters+`"}`)), 120},
		{"moves with a long message", header, filled(line(1, `"move":{"pod":"default/p1","to":"unschedulable","message":"`+letters+`"}`)), 120},
		{"long marks", header, filled(line(1, `"mark":{"text":"`+letters+`"}`)), 120},
		{"short marks", header, filled(line(1, `"mark":{"text":"a"}`)), 15},
		{"counts", header, filled(line(1, `"counts":{"active":1,"backoff":0,"unschedulable":0,"gated":0}`)), 15},
		{"unknown records", header, filled(line(1, `"unknown":{"text":"`+letters+`"}`)), 120},
		{"empty lines", header, filled("\n"), 190},
		{"zeros", "", make([]byte, block), 128},
		{"zeros after a header", header, make([]byte, block), 128},
		{"one line", header + `{"time":"`, filled("a"), 4},
		{"an audit log", "", filled(audit), 40},
		{"a log of a failed request", "", filled(strings.Replace(audit, `"code":201`, `"code":404`, 1)), 40},
		{"a scheduler's log", "", filled(strings.SplitAfter(schedulerLog, "\n")[:3]...), 60},
		{"a scheduler's log of many pods", "", manyMoves(block), 40},
		{"a scenario", "schedq: scenario\nversion: 1\n", filled("# " + letters + "\n"), 60},
		{"the scheduler's counts", "", filled(`{"t":"2026-11-21T12:00:00Z","active":1,"backoff":0,"unschedulable":0,"gated":0}` + "\n"), 30},
	}
	var all []file
	for _, k := range kinds {
		for packing, pack := range map[string]func([]byte) []byte{"zstd": zstandard, "gzip": gzipped} {
			if packing == "gzip" && !*thorough && k.times > 30 {
				continue // gzip compresses 1,000 to 1 at most: the shorter ones are enough
			}
			one := pack(k.block)
			packed := append(pack([]byte(k.head)), bytes.Repeat(one, min(k.times, maxFile/len(one)))...)
			all = append(all, file{name: "bomb in " + packing + ", " + k.name, content: packed, memory: bombMemory})
		}
	}
	return all
}

// manyPodLines returns a block of pods with different names.
func manyPodLines(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		b.WriteString(line(1, pod(fmt.Sprintf("p-%d", i), "")))
	}
	return b.Bytes()
}

// manyMoves returns a block of a scheduler's log, each line about another pod.
func manyMoves(size int) []byte {
	var b bytes.Buffer
	one := strings.SplitAfter(schedulerLog, "\n")[1]
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.Replace(one, "/p1", fmt.Sprintf("/p-%d", i), 1))
	}
	return b.Bytes()
}
