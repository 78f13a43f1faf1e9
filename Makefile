# make run plays the embedded recording; make test passes the tests. Both need Go and nothing else.

# A folder of clusters' own recordings, which are large and no part of the project: a target that reads them
# says so where there are none.
RECORDINGS ?= ../shared/recordings
FROM_RECORDINGS = SCHEDQ_RECORDINGS=$(wildcard $(abspath $(RECORDINGS)))

.PHONY: run build test race lint bench fuzz signals hostile kills alerts thorough captures conformance recordings verify decisions e2e e2e-releases e2e-record e2e-bench e2e-queue embedded man clean damage platforms manuals release-check snapshot release reproducible vulnerabilities dependencies site site-check browser terminal

run: build
	@./bin/schedq

# Of a first build, four fifths are kube-scheduler and what it imports. Without debugging information, cgo
# and most of the compiler's garbage collection it takes two thirds of the time.
build:
	@CGO_ENABLED=0 GOGC=400 go build -gcflags=all=-dwarf=false -ldflags=-w -o bin/schedq ./cmd/schedq

test:
	go test -short ./...

# The same tests whole and under the race detector: more sequences drawn, every fault, the largest files and crowds, each embedded
# recording. It takes ten times as long.
race:
	go test -race -timeout 30m ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'gofmt would change these: run gofmt -w .'; exit 1; }
	go vet ./...
	go tool staticcheck ./...

# For each system that the program is for, that all of it can be compiled there: a minute of processor time for all six.
platforms:
	cd release && go test ./platforms -count 1

bench:
	go test -run '^$$' -bench . -benchmem ./...

# The queue against kube-scheduler's own, operation by operation, with each gate.
OPERATIONS ?= 1000000
conformance:
	go test ./queue/conformance -v -timeout 1h -operations $(OPERATIONS)

# Every recording of RECORDINGS is read whole, and what its logs tell of each pod is what its truth tells.
recordings:
	$(FROM_RECORDINGS) go test ./queue/session/... ./sources/... -run '^TestRecordings$$|^TestLongRecordings$$|^TestAsAPIServer$$' -v -count 1

# The model against the scheduler's own logs of RECORDINGS. Both take long: verify compares the moves that it
# makes of an audit log alone, of one with the scheduler's log cut to -v=2, of both under the fixed policies of clouds, and of
# their last halves, thirds and tenths, seeded and not, and of a session that hears each line of an audit log when it was written, or some milliseconds late, from the start and from half-way on; decisions its verdicts at each attempt.
verify:
	$(FROM_RECORDINGS) SCHEDQ_VERIFY=1 go test ./queue/session/report -run '^TestShadowRecordings$$|^TestCutLogs$$|^TestPolicies$$|^TestFromTheMiddle$$|^TestAsLive$$|^TestLateWatches$$|^TestHalfway$$' -v -count 1

decisions:
	$(FROM_RECORDINGS) SCHEDQ_DECISIONS=1 go test ./queue/cycle/decisions -v -count 1

# The program as a process, with a terminal of its own: a signal at any moment ends it, and the terminal is as it was.
# So many of each kind at each moment: make signals SIGNALS=20 sends 780.
SIGNALS ?= 2
signals: build
	SCHEDQ_PROGRAM=$(abspath bin/schedq) go test ./cmd/schedq/hostile -count 1 -timeout 30m -run 'Signal|Terminal|Suspend' -signals $(SIGNALS)

# The program as a process, with limits on its time and its memory, over files that nobody should give it: a sample of
# them, and each bomb; thorough tries every file with every command, and sends 780 signals.
hostile: build
	SCHEDQ_PROGRAM=$(abspath bin/schedq) go test ./cmd/schedq/hostile -count 1 -timeout 30m -run 'Recordings|Settings|Keys|Arguments|Places|Documented'

thorough: build
	SCHEDQ_PROGRAM=$(abspath bin/schedq) go test ./cmd/schedq/hostile -count 1 -timeout 4h -thorough -signals 20

# The flight recorder, killed KILLS times at random: at most the last second is missing, each time.
KILLS ?= 100
kills:
	go test ./sources/ring -count 1 -timeout 30m -run '^TestKilledProcess$$' -v -kills $(KILLS)

# When the alerts of deploy/ fire, by Prometheus' own promtool, which has a module of its own. The first time builds it: a minute or
# two. Its service discoveries are left out, of which one's module can't always be had.
alerts:
	cd deploy/promtool && go build -mod=mod -tags remove_all_sd -o ../../bin/promtool github.com/prometheus/prometheus/cmd/promtool
	bin/promtool check rules deploy/alerts.yaml
	bin/promtool test rules deploy/alerts_test.yaml

# On a real control plane, from a Go module of its own. The first time builds the control plane, which takes
# 4 to 20 minutes on two cores, and keeps it.
e2e:
	cd e2e && go vet ./... && go test ./... -v -count 1 -timeout 60m

# The same trials and those that e2e leaves out for their time: more of a far cluster, and kube-scheduler of each
# release, of which the first time builds six more. Each takes 3 minutes on two cores, and 1 GB in the build cache.
e2e-releases:
	cd e2e && go test . -v -count 1 -timeout 120m -run '^TestAgreement$$|^TestReleases$$' -all

# A recording of a real scheduler, audit.log.gz and sched.log.gz in the folder OUT, as make verify reads them:
#   make e2e-record OUT=/tmp/recordings/v1.33 RELEASE=v1.33.0 SEED=7 WORKLOAD=field LASTING=100s
# Without RELEASE it is the control plane's own. STEPS=0 are 6 a second. What else runs on the machine meanwhile is in it, too.
SEED ?= 1
WORKLOAD ?= random
LASTING ?= 100s
STEPS ?= 0
e2e-record:
	cd e2e && go test -v -count 1 -timeout 60m -run '^TestRecord$$' . -out=$(abspath $(OUT)) -release=$(RELEASE) -seed $(SEED) -workload $(WORKLOAD) -lasting $(LASTING) -steps $(STEPS)

# Figures of a large cluster: 5,000 nodes and 50,000 pods, or PODS=150000, or NODES=15000 PODS=500000.
NODES = 5000
PODS = 50000
e2e-bench:
	cd e2e && go test -v -count 1 -timeout 60m -run '^TestScale$$' . -scale -nodes $(NODES) -pods $(PODS)

# kube-scheduler with schedq's queue in the place of its own: the same moves and end state, and pods per second of both,
# in five workloads that are played ROUNDS times each. It takes four minutes a round.
ROUNDS = 3
e2e-queue:
	cd e2e && go test -v -count 1 -timeout 120m -run '^TestReplacedQueue$$|^TestThroughput$$' . -rounds $(ROUNDS)

# FUZZTIME each, one after the other. What is found is made smaller for a moment only, or that would take most of it.
FUZZTIME ?= 20s
fuzz:
	@for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$p || exit 1; \
	  done; \
	done

# Logs of every format, cut, torn and put together at random: each event that is whole is read. make test does 100 of each.
DAMAGE ?= 1000
damage:
	SCHEDQ_DAMAGE=$(DAMAGE) go test ./sources/files -run '^TestRandom' -v -count 1

# docs/start/screens.md: the real screens, drawn from the embedded recording, and the demo of the README.
captures:
	go test ./tui -run '^TestCaptures$$|^TestEveryLessonByKeys$$' -count 1 -captures

# The embedded recordings. The scheduler's marks are worth showing where a script set them.
embedded: build
	@for n in lively-nopop workshop-nopop workshop; do \
	  d=$(RECORDINGS)/$$n; marks=; case $$n in workshop*) marks=$$d/driver.log;; esac; \
	  ./bin/schedq convert $$d/audit.log.gz $$d/sched.log.gz $$d/metrics.jsonl.gz $$marks \
	    --scheduler-release v1.37.1 --force -o sources/embedded/$$n.jsonl.zst || exit 1; \
	done
	./bin/schedq convert $(RECORDINGS)/field/audit.log.gz $(RECORDINGS)/field/sched.log.gz \
	  --scheduler-release v1.37.1 --force -o bin/crowded.jsonl && zstd -19 -q --rm -f bin/crowded.jsonl -o sources/embedded/crowded.jsonl.zst
	go test ./cmd/schedq/cli -run '^TestGistsOfEmbedded$$' -update

# The project's site, of README and docs/, in bin/site: plain files, for any host or none. A Go module of its own makes it.
site:
	cd site && go run . -o ../bin/site

# That each link of it leads somewhere. Chromium looks at the site in make browser.
site-check:
	cd site && go vet ./... && go test ./... -count 1

# axe, which looks for what keeps people from reading a page, from the npm registry; without it, nothing is looked for.
AXE = 4.14.1
AXE_SUM = 29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
bin/axe-$(AXE).js:
	@mkdir -p bin; d=$$(mktemp -d); trap 'rm -rf $$d' EXIT; \
	(cd $$d && npm pack --silent axe-core@$(AXE) >/dev/null && tar xzf axe-core-$(AXE).tgz package/axe.min.js && \
	  echo '$(AXE_SUM)  package/axe.min.js' | sha256sum -c --quiet) && mv $$d/package/axe.min.js $@

# A room's page and the site in headless Chromium, from a Go module of its own. BROWSER is another one than the machine's chromium.
BROWSER ?=
browser: build site
	@b=$(BROWSER); for n in chromium chromium-browser google-chrome; do [ -n "$$b" ] || b=$$(command -v $$n || true); done; \
	if [ -z "$$b" ]; then echo 'make browser: there is no Chromium on this machine, so no page is tried in a browser.'; exit 0; fi; \
	axe=$(abspath bin/axe-$(AXE).js); $(MAKE) -s bin/axe-$(AXE).js || { echo 'make browser: axe-core is not to be had from the npm registry, so nothing looks for what it would find.'; axe=; }; \
	cd e2e/browser && go vet ./... && SCHEDQ_PROGRAM=$(abspath bin/schedq) SCHEDQ_SITE=$(abspath bin/site) SCHEDQ_AXE=$$axe SCHEDQ_BROWSER=$$b go test ./... -v -count 1 -timeout 15m

# The terminal in a room's page, from the npm registry, as room/web/static/VERSIONS says: its versions and the checksums of the
# files that are kept. XTERM and FIT take others.
XTERM ?= 6.0.0
FIT ?= 0.11.0
terminal:
	./room/web/vendor.sh $(XTERM) $(FIT)

# The man pages, for packages. Shells' completions: schedq completion --help.
man: build
	./bin/schedq man bin/man --force

# What packages hold beside the program: the man pages, and completions for three shells.
manuals: man
	@mkdir -p bin/completions
	@for s in bash zsh fish; do ./bin/schedq completion $$s > bin/completions/schedq.$$s || exit 1; done

# GoReleaser, which makes releases, and krew, in the versions of release/go.mod: the first time takes some minutes.
TOOLS = bin/tools/goreleaser bin/tools/krew bin/tools/validate-krew-manifest bin/tools/govulncheck
$(TOOLS) &: release/go.mod
	@mkdir -p bin/tools
	cd release && GOBIN=$(abspath bin/tools) go install tool
	@touch $(TOOLS)

# That .goreleaser.yaml is one, and that what is released can be installed: release/.
release-check:
	@$(MAKE) $(TOOLS) || { echo 'make release-check: GoReleaser and krew are not to be had on this machine, so what is released is not checked.'; exit 0; }; \
	set -ex; bin/tools/goreleaser check; cd release; SCHEDQ_TOOLS=$(abspath bin/tools) go test ./archives -count 1

# A release of what is here, in dist/, which nobody sees: unsigned, without an image.
snapshot: $(TOOLS)
	bin/tools/goreleaser release --snapshot --clean --skip=sign,sbom,docker

# What .github/workflows/release.yml does with a tag. It publishes.
release: $(TOOLS)
	bin/tools/goreleaser release --clean

# The program from two clones of what is committed, in two folders: no path of a machine is in it.
reproducible:
	@set -e; there=$$(mktemp -d); trap 'rm -rf '$$there EXIT; \
	for folder in one another/deeper; do \
	  git clone -q . $$there/$$folder; \
	  (cd $$there/$$folder && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o $$there/$$(basename $$folder).out ./cmd/schedq); \
	done; \
	cmp $$there/one.out $$there/deeper.out && sha256sum $$there/one.out

# What is known against the modules that the program is made of. It asks the database of golang.org/x/vuln.
vulnerabilities: $(TOOLS)
	bin/tools/govulncheck ./cmd/schedq

# The modules that the program is made of, with the days of their releases, the oldest first.
dependencies:
	@go list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./cmd/schedq | sort -u | xargs go list -m -f '{{with .Time}}{{.Format "2006-01-02"}}{{end}} {{.Path}} {{.Version}}' | sort

clean:
	rm -rf bin
