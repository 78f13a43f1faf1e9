# make run plays an embedded recording; make test runs the tests. Both need Go and nothing else.

# RECORDINGS is a directory of recordings of real clusters. They are large and not part of the project: targets that read them
# say so when it is missing.
RECORDINGS ?= ../shared/recordings
FROM_RECORDINGS = SCHEDQ_RECORDINGS=$(wildcard $(abspath $(RECORDINGS)))

# All targets compile with the same flags, so that they share one build cache. Four fifths of a first build are kube-scheduler and
# its dependencies; without cgo, debug information and most of the compiler's garbage collection it takes two thirds of the time.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(shell go env GOFLAGS) -gcflags=all=-dwarf=false -ldflags=-w)

.PHONY: run build first test race lint bench fuzz signals hostile kills alerts thorough captures conformance recordings verify decisions e2e e2e-releases e2e-verdicts e2e-record e2e-bench e2e-queue embedded man clean damage platforms accuracy manuals release-check snapshot release reproducible vulnerabilities dependencies site site-check browser terminal

run: build
	@./bin/schedq

build: first
	@GOGC=400 go build -o bin/schedq ./cmd/schedq

# A first build is silent for minutes unless something explains why.
first:
	@[ -e bin/schedq ] || echo 'Compiling schedq and the kube-scheduler inside it. The first build takes about 5 minutes on two cores; later builds take seconds.'

# make lint vets, so the tests do not.
test: first
	go test -short -vet=off ./...

# The race detector, over the packages in which goroutines meet.
RACE = ./cmd/schedq/cli ./cmd/schedq/command ./cmd/schedq/metrics ./queue/classic/... ./queue/cycle ./queue/session ./queue/session/archive \
  ./queue/session/board ./queue/session/history ./queue/session/timeline ./room/... ./sources/disk ./sources/files ./sources/lines \
  ./sources/live/... ./sources/ring/... ./tui
# Long tests of one goroutine, and tests of memory, find no races.
NO_RACE = TestScreensNameOwnKeys|TestLong|TestLiveFreesEverything|TestSessionFreesEverything|TestCommandsFreeEverything|TestBadNamesOnEveryPage|TestTheExactNameIsFoundFirst|TestLongHolds|TestLongExplainedHolds|TestOwnTraces|TestWrappers|TestBombs|TestMemory
race:
	CGO_ENABLED=1 go test -race -short -vet=off -timeout 30m -skip '^($(NO_RACE))$$' $(RACE)

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'gofmt would change these files: run gofmt -w .'; exit 1; }
	go vet ./...
	go tool staticcheck ./...

# Type-check the program and its tests for each operating system and architecture that it is released for.
platforms:
	cd release && go test ./platforms -count 1

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Compare the queue with kube-scheduler's own, one random operation after another, with each feature gate.
OPERATIONS ?= 1000000
conformance:
	go test ./queue/conformance -v -timeout 1h -operations $(OPERATIONS)

# Read each recording of RECORDINGS whole and compare each pod with the recorded truth, and convert each to every format that
# schedq reads again.
recordings:
	$(FROM_RECORDINGS) go test ./queue/session/... ./sources/... ./cmd/schedq -run '^TestFacts$$|^TestRecordings$$|^TestLongRecordings$$|^TestAsAPIServer$$|^TestReopen$$' -v -count 1 -timeout 30m

# How accurate the model is on RECORDINGS, compared with the scheduler's own logs. verify compares moves, decisions the
# verdict of each attempt. Both fail if a figure is not the one in docs/development/accuracy.md; accuracy writes the
# figures there. Each takes some minutes.
UPDATE ?=
accuracy:
	$(MAKE) -k verify decisions UPDATE=-update

verify:
	$(FROM_RECORDINGS) SCHEDQ_VERIFY=1 go test ./queue/session/report ./queue/session -p 1 -run '^TestInspectRecordings$$|^TestAnswers$$|^TestShadowRecordings$$|^TestCutLogs$$|^TestPolicies$$|^TestFromTheMiddle$$|^TestAsLive$$|^TestLateWatches$$|^TestHalfway$$|^TestMoreEvidenceOfClusters$$' -v -count 1 -timeout 30m $(UPDATE)

decisions:
	$(FROM_RECORDINGS) SCHEDQ_DECISIONS=1 go test ./queue/cycle/decisions -v -count 1 $(UPDATE)

# Send signals to the program at many moments: it must end and leave the terminal as it was. SIGNALS=20 sends 780.
SIGNALS ?= 2
signals: build
	SCHEDQ_PROGRAM=$(abspath bin/schedq) go test ./cmd/schedq/hostile -count 1 -timeout 30m -run 'Signal|Terminal|Suspend' -signals $(SIGNALS)

# Run the program on hostile files, arguments and settings, with limits on its time and memory. thorough tries every file with
# every command and sends 780 signals.
hostile: build
	SCHEDQ_PROGRAM=$(abspath bin/schedq) go test ./cmd/schedq/hostile -count 1 -timeout 30m -run 'Recordings|Settings|Keys|Arguments|Places|Documented|RandomDamage'

thorough: build
	SCHEDQ_PROGRAM=$(abspath bin/schedq) go test ./cmd/schedq/hostile -count 1 -timeout 4h -thorough -signals 20

# Kill the flight recorder KILLS times at random moments: it must never lose more than the last second.
KILLS ?= 100
kills:
	go test ./sources/ring -count 1 -timeout 30m -run '^TestKilledProcess$$' -v -kills $(KILLS)

# Test the alert rules of deploy/ with Prometheus' own promtool. The first run builds it, without service discovery, in a minute or
# two.
alerts:
	cd deploy/promtool && go build -mod=mod -tags remove_all_sd -o ../../bin/promtool github.com/prometheus/prometheus/cmd/promtool
	bin/promtool check rules deploy/alerts.yaml
	bin/promtool test rules deploy/alerts_test.yaml

# Test against a real control plane. The first run builds it, which takes 4 to 20 minutes on two cores.
e2e:
	cd e2e && go vet ./... && go test ./... -v -count 1 -timeout 60m

# The same tests and the slow ones: a distant cluster, and kube-scheduler of each release. The first run builds six more
# schedulers; each takes 3 minutes on two cores and 1 GB of build cache.
e2e-releases:
	cd e2e && go test . -v -count 1 -timeout 120m -run '^TestAgreement$$|^TestReleases$$|^TestListAttached$$' -all

# Plant faults in kube-scheduler and expect schedq's verdict on each pod, and none without faults. RELEASE is v1.35.0 or newer. It
# takes an hour, and 4 minutes more to build that scheduler.
e2e-verdicts:
	cd e2e && go test . -v -count 1 -timeout 90m -run '^TestLostPods$$|^TestVerdicts$$|^TestNoVerdicts$$' -all -release=$(RELEASE) -seed $(SEED) -lasting 10m

# Record a real scheduler into audit.log.gz and sched.log.gz in the directory OUT, for make verify:
#   make e2e-record OUT=/tmp/recordings/v1.33 RELEASE=v1.33.0 SEED=7 WORKLOAD=field LASTING=100s
# RELEASE defaults to the control plane's own; STEPS=0 means 6 per second. Other load on the machine affects the recording.
SEED ?= 1
WORKLOAD ?= random
LASTING ?= 100s
STEPS ?= 0
e2e-record:
	cd e2e && go test -v -count 1 -timeout 60m -run '^TestRecord$$' . -out=$(abspath $(OUT)) -release=$(RELEASE) -seed $(SEED) -workload $(WORKLOAD) -lasting $(LASTING) -steps $(STEPS)

# Measure a large cluster: 5,000 nodes and 50,000 pods, or PODS=150000, or NODES=15000 PODS=500000.
NODES = 5000
PODS = 50000
e2e-bench:
	cd e2e && go test -v -count 1 -timeout 60m -run '^TestScale$$' . -scale -nodes $(NODES) -pods $(PODS)

# Run kube-scheduler with schedq's queue instead of its own and compare moves, end state and throughput over five workloads, ROUNDS
# times each. A round takes four minutes.
ROUNDS = 3
e2e-queue:
	cd e2e && go test -v -count 1 -timeout 120m -run '^TestReplacedQueue$$|^TestThroughput$$' . -rounds $(ROUNDS)

# Run each fuzz target for FUZZTIME. Minimizing is kept short, or it would take most of that time.
FUZZTIME ?= 20s
fuzz:
	@for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$p || exit 1; \
	  done; \
	done

# Cut, tear and join logs of every format at random: each intact event must be read. Then play damaged recordings, those of
# RECORDINGS too: no hang, little memory, and no other moves without a message. make test and make hostile do 100 of each.
DAMAGE ?= 2000
PLAYED ?= 200
damage: build
	SCHEDQ_DAMAGE=$(DAMAGE) go test ./sources/files -run '^TestRandom' -v -count 1
	$(FROM_RECORDINGS) SCHEDQ_PROGRAM=$(abspath bin/schedq) SCHEDQ_DAMAGE=$(PLAYED) go test ./cmd/schedq/hostile -run '^TestRandomDamage$$' -v -count 1 -timeout 2h

# Draw the screens of docs/start/screens.md and the README's demo from the embedded recording.
captures:
	go test ./tui -run '^TestCaptures$$|^TestEveryLessonByKeys$$' -count 1 -captures

# Make the embedded recordings anew from RECORDINGS.
embedded: build
	@for n in lively-nopop workshop-nopop workshop; do \
	  d=$(RECORDINGS)/$$n; marks=; case $$n in workshop*) marks=$$d/driver.log;; esac; \
	  ./bin/schedq convert $$d/audit.log.gz $$d/sched.log.gz $$d/metrics.jsonl.gz $$marks \
	    --scheduler-release v1.37.1 --force -o sources/embedded/$$n.jsonl.zst || exit 1; \
	done
	./bin/schedq convert $(RECORDINGS)/field/audit.log.gz $(RECORDINGS)/field/sched.log.gz \
	  --scheduler-release v1.37.1 --force -o bin/crowded.jsonl && zstd -19 -q --rm -f bin/crowded.jsonl -o sources/embedded/crowded.jsonl.zst
	go test ./cmd/schedq/cli -run '^TestGistsOfEmbedded$$' -update

# Build the project's site from README and docs/ into bin/site: plain files for any host.
site:
	cd site && go run . -o ../bin/site

# Check the site's links. make browser looks at it in Chromium.
site-check:
	cd site && go vet ./... && go test ./... -count 1

# axe-core checks accessibility. It comes from the npm registry; without it that check is skipped.
AXE = 4.14.1
AXE_SUM = 29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
bin/axe-$(AXE).js:
	@mkdir -p bin; d=$$(mktemp -d); trap 'rm -rf $$d' EXIT; \
	(cd $$d && npm pack --silent axe-core@$(AXE) >/dev/null && tar xzf axe-core-$(AXE).tgz package/axe.min.js && \
	  echo '$(AXE_SUM)  package/axe.min.js' | sha256sum -c --quiet) && mv $$d/package/axe.min.js $@

# Test a room's page and the site in headless Chromium. BROWSER names another browser.
BROWSER ?=
browser: build site
	@b=$(BROWSER); for n in chromium chromium-browser google-chrome; do [ -n "$$b" ] || b=$$(command -v $$n || true); done; \
	if [ -z "$$b" ]; then echo 'make browser: skipped, Chromium is not installed'; exit 0; fi; \
	axe=$(abspath bin/axe-$(AXE).js); $(MAKE) -s bin/axe-$(AXE).js || { echo 'make browser: axe-core is not available, accessibility is not checked'; axe=; }; \
	cd e2e/browser && go vet ./... && SCHEDQ_PROGRAM=$(abspath bin/schedq) SCHEDQ_SITE=$(abspath bin/site) SCHEDQ_AXE=$$axe SCHEDQ_BROWSER=$$b go test ./... -v -count 1 -timeout 15m

# Update the terminal in a room's page from the npm registry. room/web/static/VERSIONS has its versions and checksums; XTERM and FIT
# choose others.
XTERM ?= 6.0.0
FIT ?= 0.11.0
terminal:
	./room/web/vendor.sh $(XTERM) $(FIT)

# Write the man pages, for packages.
man: build
	./bin/schedq man bin/man --force

# Write what packages contain beside the program: man pages and shell completions.
manuals: man
	@mkdir -p bin/completions
	@for s in bash zsh fish; do ./bin/schedq completion $$s > bin/completions/schedq.$$s || exit 1; done

# GoReleaser and krew, in the versions of release/go.mod. The first build takes some minutes.
TOOLS = bin/tools/goreleaser bin/tools/krew bin/tools/validate-krew-manifest bin/tools/govulncheck
$(TOOLS) &: release/go.mod
	@mkdir -p bin/tools
	cd release && GOBIN=$(abspath bin/tools) go install tool
	@touch $(TOOLS)

# Check .goreleaser.yaml and install the archives that it makes.
release-check:
	@$(MAKE) $(TOOLS) || { echo 'make release-check: skipped, GoReleaser and krew are not available'; exit 0; }; \
	set -ex; bin/tools/goreleaser check; cd release; SCHEDQ_TOOLS=$(abspath bin/tools) go test ./archives -count 1

# What is released is compiled without the flags above.
release snapshot reproducible: export GOFLAGS := $(shell go env GOFLAGS)

# Make a local release in dist/: unsigned, without an image.
snapshot: $(TOOLS)
	bin/tools/goreleaser release --snapshot --clean --skip=sign,sbom,docker

# Publish a release. .github/workflows/release.yml runs this for a tag.
release: $(TOOLS)
	bin/tools/goreleaser release --clean

# Build the program in two clones and compare: it must contain no path of the machine.
reproducible:
	@set -e; there=$$(mktemp -d); trap 'rm -rf '$$there EXIT; \
	for folder in one another/deeper; do \
	  git clone -q . $$there/$$folder; \
	  (cd $$there/$$folder && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o $$there/$$(basename $$folder).out ./cmd/schedq); \
	done; \
	cmp $$there/one.out $$there/deeper.out && sha256sum $$there/one.out

# List known vulnerabilities of the program's modules.
vulnerabilities: $(TOOLS)
	bin/tools/govulncheck ./cmd/schedq

# List the program's modules by release date, oldest first.
dependencies:
	@go list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./cmd/schedq | sort -u | xargs go list -m -f '{{with .Time}}{{.Format "2006-01-02"}}{{end}} {{.Path}} {{.Version}}' | sort

clean:
	rm -rf bin
