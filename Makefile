# Relay. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build check test one record test-release check-release latencies soak tsan asan figures demo demo-hosts bench bench-docs docs lint format clean dependencies-build dependencies-test dependencies-bench dependencies-packaging dependencies-docs release install uninstall deb test-packaging test-machine dependencies-machine test-desktop dependencies-desktop

# The compiler was seen to hang: what makes no progress for so many seconds is ended, so that nothing waits forever. There is no
# bound on the whole: healthy work may take as long as the machine needs.
swift := scripts/bounded-swift 300
tests := scripts/bounded-swift 600
# Where scripts/install-dependencies unpacks what must not be installed.
export PATH := $(PATH):$(CURDIR)/.build/debian/usr/bin
# Installed by a user, or unpacked: looked up when the step runs, since an earlier one may bring it.
debug_libdbus = $$(ls -d {,"$(CURDIR)/.build/debian"}/usr/lib/dbus-1.0/debug-build/lib 2>/dev/null | head -1)
sources = $(shell git ls-files -co --exclude-standard '*.swift')
# A crash prints the stack of its thread, and waits for no debugger.
# On a busy machine what comes late is no failure.
export RELAY_TEST_LIMIT ?= 300
export SWIFT_BACKTRACE ?= enable=yes,interactive=no,color=no,threads=crashed,images=none,timeout=30s

help:
	@echo "make demo    a service, subscribers and a real inventory on a bus of their own; ends by itself"
	@echo "make demo-hosts   three hosts, of which one mirrors the services of the others; ends by itself"
	@echo "make check   the quick ones: format, warnings, and the tests without buses and processes; under a minute when built"
	@echo "make test    all checks: format, warnings, all tests, and those of the bus against libdbus's debug build"
	@echo "make one     T=OrderTests: builds the tests' target of that suite alone, and runs the suite"
	@echo "make record  writes what the programs print now into Tests/Transcripts/Files"
	@echo "make test-release   RELEASE=trixie: the sources built, and all checks run, in a Debian of that release"
	@echo "make soak    the long forms: thousands of kills, torn writes, a thousand million events; most of an hour"
	@echo "make latencies   what a stopped or hostile subscriber costs the others; wants two processors that do nothing else"
	@echo "make tsan    the tests under ThreadSanitizer; 'make asan' under AddressSanitizer"
	@echo "make figures what the hot paths cost, in instructions and allocations, beside what is recorded"
	@echo "make build   relay-service, relay-cli and relay-bridge, optimised, in .build/release"
	@echo "make release the same without symbols, with manual pages and completions, in .build/dist; prints what they weigh"
	@echo "make install copies these below PREFIX (/usr/local) in DESTDIR; 'make uninstall' removes them"
	@echo "make check-release   all targets but the tests, optimised: what 'swift build -c release' does"
	@echo "make deb     the Debian packages relay-service, relay-cli, relay-bridge and librelay-dev, in .build/deb"
	@echo "make test-packaging   the packages installed, used, upgraded and removed in Debians of their own, 12 and 13; RELEASE=12 takes one"
	@echo "make test-machine     the packages in Debians 12 and 13 with systemd as process 1: users, polkit, upgrade, reboot, power cuts"
	@echo "make test-desktop   the window of Examples/moving-house, by pointer and keyboard under an X server; makes its pictures"
	@echo "make bench   our figures beside those of others, in one run; wants two processors that do nothing else"
	@echo "make docs    the libraries' documentation as web pages, in .build/docs; links checked, the tutorial followed"
	@echo "make lint    what the formatter would change, and whether the documentation is true; 'make format' does it"
	@echo "make clean   removes everything that was built"
	@echo "What is missing from Debian is installed first (scripts/install-dependencies)."

dependencies-build dependencies-hosts dependencies-test dependencies-bench dependencies-packaging dependencies-machine dependencies-docs dependencies-desktop: dependencies-%:
	@scripts/install-dependencies $*

# With Swift's library in them: they run where there is no toolchain. Their 38,000 relative relocations take 10 kB in place of 900 kB
# of the file and of the memory of each process, where the C library knows that form (DT_RELR, from 2.36 on). gold cannot write it.
packed = $(shell [ "$$(printf '%s\n' 2.36 "$$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -V | head -1)" = 2.36 ] && \
	echo -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs)
build: dependencies-build
	$(swift) build -c release --static-swift-stdlib $(packed) --product relay-service
	$(swift) build -c release --static-swift-stdlib $(packed) --product relay-cli
	$(swift) build -c release --static-swift-stdlib $(packed) --product relay-bridge

# What people type who have no make: each target has to compile without -enable-testing. In a folder of its own: `make build` has other
# flags for the same one, with which not all targets build.
as_used = -c release --scratch-path .build/check-release
check-release: dependencies-build
	$(swift) build $(as_used)
	swift run $(as_used) --skip-build relay-cli --help >/dev/null

release: export RELAY_COMMIT = $(shell git rev-parse --short=12 HEAD)$(if $(shell git status --porcelain --untracked-files=no),+changes)
release: export RELAY_TOOLCHAIN = $(shell swift --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/Swift \1/p')
release: build
	scripts/release

# Only copies: what is copied was made by `make release`.
export DESTDIR PREFIX SYSCONFDIR POLKITDIR
install:
	scripts/install-files
uninstall:
	scripts/install-files --uninstall

deb: dependencies-packaging release
	scripts/build-deb

test-packaging: deb
	scripts/test-packaging $(RELEASE)
	scripts/check-new-service .build/release/relay-cli

test-machine: dependencies-machine deb
	scripts/check-new-service --deb .build/release/relay-cli
	scripts/test-machine $(addprefix --release ,$(RELEASE)) $(addprefix --by ,$(BY))

demo: dependencies-build
	@scripts/demo
demo-hosts: dependencies-hosts
	@scripts/demo-hosts

lint:
	scripts/lint-format
	scripts/check-docs
	scripts/check-rooms
	scripts/check-imports

format:
	swift format -i $(sources)
	scripts/check-rooms --update

# The compiler's warnings are refused by scripts/check-warnings, not by Package.swift: its flags are those of who depends on the package.
# The event stream names the clause of README's promise that each test tries. `swift test` alone does not need it.
events = .build/tests.jsonl
recorded = --event-stream-output-path $(events) --event-stream-version 0
# Code in comments and pages, and what is public. No tests: they work on the text of all sources, and one also writes its lists.
code_checks = check-doc-code public-api
test: export SWT_EXPERIMENTAL_EVENT_STREAM_FIELDS_ENABLED = 1
# The examples are built with the rest, and the shop's tests run with the others.
test: export RELAY_WITH_EXAMPLES = 1
test: dependencies-test lint
	$(swift) build --build-tests
	scripts/check-warnings
	printf 'scripts/%s\n' $(code_checks) | xargs -P "$$(nproc)" -n 1 sh -c 'exec "$$0"'
	@echo "== what calls libdbus, against its debug build"
	@# Its memory pools count in a global that has no lock, and abort when two threads use any of them at once: that build only.
	LD_LIBRARY_PATH="$(debug_libdbus)" DBUS_FATAL_WARNINGS=1 DBUS_DISABLE_MEM_POOLS=1 $(tests) test --skip-build --disable-xctest --filter '(RelayCoreTests|RelayWireTests)\.($(libdbus_tests))'
	@echo "== the journal, with the SQLite of Debian's other release"
	[ ! -e .build/other-debian ] || BOUNDED_COMMAND="scripts/other-debian run $(bundle) --testing-library swift-testing" $(tests) test --filter '$(sqlite_tests)'
	@echo "== all tests"
	@rm -f $(events)
	status=0; $(tests) test --skip-build --disable-xctest $(recorded) || status=$$?; scripts/clause-table $(events) || status=$$(($$status ? $$status : 1)); exit $$status
# Those that send, receive, parse or compose by libdbus, each kind of it once: together they call every one of its functions that
# we use (LD_DEBUG=bindings shows which).
empty :=
libdbus_tests := $(subst $(empty) ,|,$(strip CallTests ConnectionLifeTests MatchRuleTests ReceivingTests SendingTests LibDBusAgreementTests \
	SignatureTests BusNamesTests MessageHeaderTests EndToEndTests RelayCallTests ServiceCallTests WithoutDescriptorsTests \
	RingTransportTests))

# One suite: what the other test targets cost is not paid.
one: dependencies-test
	scripts/one-suite "$(T)"

# The transcripts of what the programs print. `git diff` then shows what people will see.
record: export RELAY_TRANSCRIPTS = $(CURDIR)/Tests/Transcripts/Files
record: export RELAY_TESTS = TranscriptTests
record: dependencies-test
	$(swift) build --build-tests
	$(tests) test --skip-build --disable-xctest --filter '^TranscriptTests\.TranscriptTests/'

# The same checks in another release of Debian than this machine's: made by debootstrap, with this machine's toolchain. Needs root.
test-release: dependencies-packaging
	scripts/test-release $(or $(RELEASE),trixie)

# Those for which it matters how SQLite does what it does, without processes of their own: these get this machine's SQLite.
bundle = $(CURDIR)/.build/debug/relayPackageTests.xctest
sqlite_tests := (RelayJournalTests|RelocationDomainTests)\.($(subst $(empty) ,|,$(strip DomainSQLTests MigrationTests SnapshotTests \
	OpeningTests RefusedFileTests HostileFileTests CheckTests InspectionTests CommittingTests FailureTests StorageTroubleTests \
	RetentionTests EvolutionTests JournalStoreTests)))

# The inner loop: format, build, and the tests without processes, buses and rings.
check: export RELAY_QUICK = 1
check: dependencies-test lint
	$(swift) build --build-tests
	scripts/check-warnings
	@# Without a line for each test that is left out.
	$(tests) test --skip-build --disable-xctest | grep -v 'skipped: "heavy:'

# Times, one test after the other: on a machine that does nothing else. Ratios, never a bound in seconds alone.
latencies: export RELAY_LATENCIES = 1
latencies: dependencies-test
	$(swift) build --build-tests $(optimised)
	$(tests) test --skip-build $(optimised) --disable-xctest --no-parallel --filter 'AttackTests/latency|StoppedClientTests|StoppedWatcherTests|HostilePeerTests'

# What is repeated thousands of times, and what is enumerated more deeply: optimised, in a folder of its own, since enumerations and
# rings take ten times as long otherwise. One test of a thousand million events is silent for long.
optimised := -c release -Xswiftc -enable-testing --scratch-path .build/soak
soak: export RELAY_SOAK = 1
soak: dependencies-test dependencies-machine deb
	$(swift) build --build-tests $(optimised)
	@echo "== enumerations, and random inputs"
	$(tests) test --skip-build $(optimised) --disable-xctest --filter 'StreamMachineTests|DurableStreamTests|StreamReadingTests|RelayCoreTests|RelayWireTests|RelayCLITests|RelocationDomainTests|RelayMirrorsTests'
	@echo "== the ring; then with a thousand million events"
	$(tests) test --skip-build $(optimised) --disable-xctest --filter RingTests --skip StressTests
	scripts/bounded-swift 3600 test --skip-build $(optimised) --disable-xctest --filter StressTests
	@echo "== the examples, as a package of their own"
	$(swift) build --package-path Examples
	@echo "== kills"
	scripts/bounded-swift 1200 test --skip-build $(optimised) --disable-xctest --filter 'EnduranceTests|RelayJournalTests|ActivationTests'
	@echo "== 200 power cuts, 100 in each Debian"
	scripts/test-machine --by qemu --cuts 100

# The tests under a sanitizer, each built in a folder of its own. SUITES=RingTests takes those alone. A report fails the run.
#
# Left out: what starts many processes, of which each one has a sanitizer's memory and start; nothing in those tests is shared memory
# or a thread that others do not try, too.
sanitized_tests = $(tests) test --skip-build --sanitize=$(1) --scratch-path .build/$(1) --disable-xctest \
	$(if $(SUITES),--filter '$(SUITES)',--skip 'EnduranceTests|IntegrationTests|TranscriptTests')
# Swift's library does not give all back at the end, so that leaks are not looked for. Its handler of crashes stands aside for the
# sanitizer's.
asan: dependencies-test
	$(swift) build --build-tests --sanitize=address --scratch-path .build/address
	SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 $(call sanitized_tests,address)
# Races. scripts/tsan-suppressions names what is none, with the reason.
tsan: dependencies-test
	$(swift) build --build-tests --sanitize=thread --scratch-path .build/thread
	SWIFT_BACKTRACE=enable=no TSAN_OPTIONS=suppressions=$(CURDIR)/scripts/tsan-suppressions:second_deadlock_stack=1 $(call sanitized_tests,thread)

# The window of Examples/moving-house: without a screen, a GPU and a session. Its tests alone, since nothing else needs GTK.
test-desktop: export RELAY_WITH_DESKTOP = 1
test-desktop: export RELAY_TESTS = DesktopTests,MovingHouseTests
test-desktop: export RELAY_PICTURES = $(CURDIR)/.build/desktop
test-desktop: dependencies-desktop
	@mkdir -p $(RELAY_PICTURES)
	for product in relay-service relay-cli moving-house order-list order-service relayPackageTests; do $(swift) build --product $$product; done
	scripts/check-warnings
	$(tests) test --skip-build --disable-xctest
	scripts/desktop-pictures

bench: dependencies-bench
	$(swift) build -c release --package-path Benchmarks
	@# All, whatever the first ones say. Each fails when it misses a goal.
	status=0; for bench in publish-bench service-bench signal-bench command-bench journal-bench replay-bench relay-bench transport-bench; do Benchmarks/.build/release/$$bench || status=1; done; exit $$status

# What a commit may not worsen: no times, so a busy machine does not matter. scripts/figures --update records them.
figures: dependencies-bench
	scripts/figures

# The pages of docc, of the libraries' comments and catalogues (Sources/*/*.docc): any warning and any dead link fails. The tutorial is
# followed to the letter, so that what it shows is what its reader sees.
docs: export RELAY_WITH_EXAMPLES = 1
docs: dependencies-docs
	$(swift) build
	scripts/make-docs
	scripts/check-tutorial --run
	scripts/check-site
	@echo "To read them: python3 -m http.server --directory .build/docs, then http://localhost:8000/relay/documentation/"

# The last results of transport-bench, put into the documentation.
bench-docs:
	Benchmarks/.build/release/transport-bench --render Benchmarks/results/transports.json docs/internals/BENCHMARKS.md docs/internals/benchmarks.svg

clean:
	rm -rf .build Examples/.build Benchmarks/.build Benchmarks/results
