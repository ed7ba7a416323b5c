import RelayCore
import RelayTestKit
import Synchronization
import Telemetry
import Testing

@testable import TelemetryDomain

@Suite("Sampling this host") struct SamplerTests {
    /// Keeps what is published.
    final class Record: TelemetryOutput {
        private let kept = Mutex<[any TelemetryEvent]>([])
        private let failure: RelayError?
        private let tried = Counter()
        var attempts: Int { tried.value }
        init(failure: RelayError? = nil) { self.failure = failure }
        var events: [any TelemetryEvent] { kept.withLock { $0 } }
        func publish<E: TelemetryEvent>(_ event: E) throws {
            tried.add()
            if let failure { throw failure }
            kept.withLock { $0.append(event) }
        }
        func of<E: TelemetryEvent>(_ type: E.Type) -> [E] { events.compactMap { $0 as? E } }
    }
    final class Lines: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func append(_ line: String) { kept.withLock { $0.append(line) } }
    }
    struct Broken: TelemetrySource {
        let name = "what is broken"
        mutating func sample(to output: any TelemetryOutput) throws -> Int {
            throw ProcFault(what: "a number").relayError("/proc/broken")
        }
    }
    struct Idle: TelemetrySource {
        let name = "nothing"
        let asked: Counter
        mutating func sample(to output: any TelemetryOutput) throws -> Int {
            asked.add()
            return 0
        }
    }
    final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }
    static func all() throws -> [any TelemetrySource] {
        [try CPUSource(), try MemorySource(), try LoadSource(), try NetworkSource()]
    }

    @Test("each kind is read, and says what this host is like") func real() throws {
        let record = Record()
        var sources = try Self.all()
        for _ in 0..<2 {
            for index in sources.indices {
                #expect(try sources[index].sample(to: record) > 0, "\(sources[index].name)")
            }
        }
        let processors = record.of(CPUSampled.self)
        #expect(processors.count % 2 == 0 && processors.allSatisfy { Int($0.cpus) == processors.count / 2 })
        #expect(Set(processors.map(\.cpu)).count == processors.count / 2)
        for (first, second) in zip(processors, processors.dropFirst(processors.count / 2)) {
            #expect(second.uptime > first.uptime && second.user >= first.user && second.system >= first.system)
            // It cannot have worked longer than the host is up.
            #expect(second.user + second.system <= second.uptime + 1_000_000)
        }
        for memory in record.of(MemorySampled.self) {
            #expect(memory.total > 64 << 20 && memory.free <= memory.total && memory.available <= memory.total)
        }
        for load in record.of(LoadSampled.self) { #expect(load.running >= 1 && load.threads > load.running) }
        let loopback = try #require(NetworkLinks.all().first { $0.name == "lo" })
        #expect(record.of(NetworkSampled.self).filter { $0.link == loopback.link }.count == 2)
    }
    @Test("all kinds come in turn at the rate asked for, until it is stopped") func rate() async throws {
        let (record, lines) = (Record(), Lines())
        let sampler = TelemetrySampler(
            rate: 1_000, sources: try Self.all(), output: record, log: { lines.append($0) })
        let start = MonotonicClock.now
        try sampler.start()
        #expect(await eventually { record.events.count >= 300 })
        sampler.stop()
        let (seconds, count) = (Double(MonotonicClock.now - start) / 1e9, record.events.count)
        // A machine that is busy takes fewer; nothing takes more than a reading ahead of its time.
        #expect(Double(count) <= seconds * 1_000 + 16)
        let kinds: [any TelemetryEvent.Type] = [
            CPUSampled.self, MemorySampled.self, LoadSampled.self, NetworkSampled.self,
        ]
        for kind in kinds {
            #expect(record.events.count { type(of: $0) == kind } > 10, "\(kind)")
        }
        #expect(record.events.count == count, "it went on after stop()")
        #expect(lines.all.allSatisfy { $0.contains("cannot keep up") }, "\(lines.all)")
    }
    @Test("a sleep of ten seconds ends when it is stopped") func stopped() async throws {
        var isPrompt = false
        // A busy machine may take long for another reason, but not each time.
        for _ in 1...5 where !isPrompt {
            let record = Record()
            let sampler = TelemetrySampler(rate: 0.1, sources: [try MemorySource()], output: record, log: { _ in })
            try sampler.start()
            #expect(await eventually { record.events.count >= 1 })
            let before = MonotonicClock.now
            sampler.stop()
            isPrompt = MonotonicClock.now - before < 5_000_000_000
            let count = record.events.count
            await Task.yield()
            #expect(record.events.count == count, "nothing is published after stop()")
        }
        #expect(isPrompt)
    }
    @Test("another rate counts at once, though the next sample was seconds away") func anotherRate() async throws {
        let record = Record()
        let sampler = TelemetrySampler(rate: 0.1, sources: [try MemorySource()], output: record, log: { _ in })
        try sampler.start()
        // On a busy machine ten seconds may have passed already.
        #expect(await eventually { record.events.count >= 1 })
        sampler.setRate(1_000)
        let start = MonotonicClock.now
        #expect(await eventually { record.events.count >= 40 })
        sampler.stop()
        // At the old rate they would take minutes.
        #expect(MonotonicClock.now - start < 300_000_000_000)
    }
    @Test("a kind that cannot be read is told once and left out, the others go on") func broken() async throws {
        let (record, lines) = (Record(), Lines())
        let sampler = TelemetrySampler(
            rate: 10_000, sources: [Broken(), try LoadSource()], output: record, log: { lines.append($0) })
        try sampler.start()
        #expect(await eventually { record.events.count > 20 })
        sampler.stop()
        #expect(lines.all.count { $0.contains("what is broken") && $0.contains("/proc/broken") } == 1, "\(lines.all)")
    }
    @Test("what has nothing to tell has its turn, and does not spin") func idle() async throws {
        let asked = Counter()
        let sampler = TelemetrySampler(rate: 100, sources: [Idle(asked: asked)], output: Record(), log: { _ in })
        let start = MonotonicClock.now
        try sampler.start()
        #expect(await eventually { asked.value >= 10 })
        sampler.stop()
        #expect(Double(asked.value) <= Double(MonotonicClock.now - start) / 1e7 + 2)
    }
    @Test("a service that has ended ends it in silence, another error is told", arguments: [true, false])
    func refused(_ hasEnded: Bool) async throws {
        let (asked, lines) = (Counter(), Lines())
        let failure = RelayError(hasEnded ? .unavailable : .tooLarge, "no")
        let record = Record(failure: failure)
        let sampler = TelemetrySampler(
            rate: 10_000, sources: [try LoadSource(), Idle(asked: asked)], output: record, log: { lines.append($0) })
        try sampler.start()
        #expect(await eventually { record.attempts == 1 && (hasEnded || lines.all.count == 1) })
        sampler.stop()
        #expect(record.attempts == 1 && asked.value == 0)
        #expect(lines.all.count == (hasEnded ? 0 : 1), "\(lines.all)")
    }
    @Test("a file that is not there is refused by its path; one that is too long, too") func files() throws {
        let error = #expect(throws: RelayError.self) { _ = try LoadSource("/proc/none") }
        #expect(error?.code == .unavailable && error?.message.contains("/proc/none") == true)
        let folder = try TestFolder()
        try folder.write(String(repeating: "x", count: 40_000), to: "long")
        let file = try ProcFile(folder.path + "/long")
        #expect(try file.read().count == 40_000)
        #expect(try ProcFile("/proc/self/stat").read().count > 50)
        #expect(throws: RelayError.self) { _ = try ProcFile("/dev/zero").read() }
    }
}
