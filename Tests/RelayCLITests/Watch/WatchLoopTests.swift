import Glibc
import RelayCore
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("The loop of watch", .serialized, .heavy, .tags(.g3))
struct WatchLoopTests {
    /// A loop on a thread of its own, with pipes for all that it waits for.
    private final class Running: Sendable {
        let queue: WatchQueue
        let done: Task<CLIFailure?, Never>

        init(
            _ options: Watch, output: Int32, stop: Int32, limit: Int = 65_536,
            linesPerSecond: UInt64? = nil, clock: Clock = Clock(),
            onDiscover: @escaping @Sendable (WatchQueue) -> Void = { queue in
                let catalogue = try? Samples.catalogue()
                queue.post(.discovered(catalogue.map { .found($0) } ?? .failed(CLIFailure(.software, "no catalogue"))))
            }
        ) throws {
            let wakeup = try Wakeup()
            let queue = WatchQueue(limit: limit, wakeup: wakeup)
            self.queue = queue
            done = WaitingThread.run {
                var loop = WatchLoop(
                    WatchMachine(
                        options, service: "a.b", printer: Samples.printer(), linesPerSecond: linesPerSecond),
                    output: OutputChannel(descriptor: output, isTerminal: false), queue: queue, wakeup: wakeup,
                    stop: stop,
                    duration: options.duration, now: { clock.now },
                    perform: { action in
                        if action == .discover { onDiscover(queue) }
                    })
                return loop.run()
            }
        }
    }
    /// In microseconds.
    private final class Clock: Sendable {
        private let time = Mutex<UInt64>(0)
        var now: UInt64 { time.withLock { $0 } }
        func set(_ value: UInt64) { time.withLock { $0 = value } }
    }
    private func event(_ sequence: UInt64, title: String = "Kitchen") throws -> WatchInput {
        .event(try Samples.boxProvisioned(sequence, title: title))
    }

    /// At the end: until then nothing else would keep their descriptors open.
    private func close(_ pipes: TestPipe...) {
        for pipe in pipes {
            pipe.closeReading()
            pipe.closeWriting()
        }
    }

    @Test("each line is there at once, before anything else happens")
    func flushed() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(), output: output.writing, stop: stop.reading)
        for sequence: UInt64 in 1...3 {
            running.queue.append(try event(sequence))
            let line = String(decoding: await output.readSome(), as: UTF8.self)
            #expect(line == "09:15:04.123 #\(sequence) BoxProvisioned boxID=3 capacity=10 title=\"Kitchen\"\n")
        }
        stop.closeWriting()
        #expect(await running.done.value == nil)
    }

    @Test("--count ends after its last event, with all lines written to a slow reader")
    func count() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(count: 5_000), output: output.writing, stop: stop.reading)
        // More than a pipe takes: the loop has to wait for the reader.
        for sequence: UInt64 in 1...6_000 { running.queue.append(try event(sequence)) }
        var lines = 0
        var last: [UInt8] = []
        while lines < 5_000 {
            let some = await output.readSome(1_000)
            lines += some.count { $0 == UInt8(ascii: "\n") }
            last = some
        }
        #expect(await running.done.value == nil)
        #expect(String(decoding: last, as: UTF8.self).contains("#5000 "))
        output.closeWriting()
        #expect(await output.readAll().isEmpty)
    }

    @Test("a reader that stands still costs a bounded memory and a counted gap, and the end still comes")
    func stalled() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(), output: output.writing, stop: stop.reading, limit: 1_000)
        let total: UInt64 = 200_000
        for sequence in 1...total { running.queue.append(try event(sequence)) }
        // Nothing was read. Now everything, then the end.
        var text: [UInt8] = []
        while !String(decoding: text.suffix(200), as: UTF8.self).contains("#\(total)") {
            text += await output.readSome()
        }
        stop.closeWriting()
        #expect(await running.done.value == nil)
        output.closeWriting()
        text += await output.readAll()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        var next: UInt64 = 1
        for line in lines {
            if let gap = line.firstMatch(of: /gap: #(\d+) (?:to #(\d+) )?of/) {
                #expect(UInt64(gap.1) == next)
                next = try #require(UInt64(gap.2 ?? gap.1)) + 1
                #expect(line.contains("overflow"))
            } else {
                let found = try #require(line.firstMatch(of: /\ #(\d+) BoxProvisioned/))
                #expect(UInt64(found.1) == next)
                next += 1
            }
        }
        #expect(next == total + 1, "every event is a line or in a gap")
        #expect(lines.contains { $0.contains("gap:") })
    }

    @Test("with a number of lines a second the rest is counted, told after a second, and at the end at once")
    func sampled() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let clock = Clock()
        let running = try Running(
            Watch(), output: output.writing, stop: stop.reading, linesPerSecond: 10, clock: clock)
        for sequence: UInt64 in 1...10_000 { running.queue.append(try event(sequence)) }
        let body = Samples.body { for stamp: UInt64 in [10_001, 0, 0] { $0.uint64(stamp) } }
        running.queue.append(
            .event(
                Envelope(
                    interface: "org.eventrelay.Relocation1", name: "Ping", signature: "ttt", body: body,
                    stamp: Samples.stamp(10_001))))
        var text: [UInt8] = []
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < 41 { text += await output.readSome() }
        // Without another event: its time has come.
        clock.set(2_000_000)
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < 42 { text += await output.readSome() }
        for sequence: UInt64 in 10_002...11_001 { running.queue.append(try event(sequence)) }
        stop.closeWriting()
        #expect(await running.done.value == nil)
        output.closeWriting()
        text += await output.readAll()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        #expect(lines[40].hasSuffix("#10001 Ping"))
        #expect(lines[41] == "00:00:02.000 … 9,960 skipped of org.eventrelay.Relocation1")
        #expect(lines.count { $0.contains("BoxProvisioned") } == 80)
        #expect(lines.last == "00:00:02.000 … 960 skipped of org.eventrelay.Relocation1")
    }

    @Test("the end comes though nobody reads")
    func stopWhileStalled() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(), output: output.writing, stop: stop.reading)
        for sequence: UInt64 in 1...20_000 { running.queue.append(try event(sequence)) }
        stop.closeWriting()
        #expect(await running.done.value == nil)
    }

    @Test("the end comes though events come faster than they are shown")
    func stopWhileBusy() async throws {
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let stop = TestPipe()
        defer {
            Glibc.close(null)
            close(stop)
        }
        let running = try Running(Watch(), output: null, stop: stop.reading)
        let event = try event(1)
        let isOver = Atomic<Bool>(false)
        let producer = WaitingThread.run {
            while !isOver.load(ordering: .relaxed) { running.queue.append(event) }
        }
        stop.closeWriting()
        #expect(await running.done.value == nil)
        isOver.store(true, ordering: .relaxed)
        await producer.value
    }

    @Test("what arrived before the signal is shown")
    func drainedAtEnd() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(), output: output.writing, stop: stop.reading)
        for sequence: UInt64 in 1...100 { running.queue.append(try event(sequence)) }
        _ = await output.readSome(1)  // The service is known.
        stop.closeWriting()
        #expect(await running.done.value == nil)
        output.closeWriting()
        #expect(await output.readAll().count { $0 == UInt8(ascii: "\n") } == 100)
    }

    @Test("a reader that goes away ends the watch quietly, without another event")
    func closedReader() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(), output: output.writing, stop: stop.reading)
        running.queue.append(try event(1))
        _ = await output.readSome()
        output.closeReading()
        #expect(await running.done.value == nil)
    }

    @Test("--for ends a watch that sees nothing, and one whose service never comes")
    func duration() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        var options = Watch()
        options.duration = .milliseconds(20)
        let running = try Running(options, output: output.writing, stop: stop.reading) { $0.post(.discovered(.absent)) }
        #expect(await running.done.value == nil)
    }

    @Test("a failure is what the watch ends with")
    func failure() async throws {
        let output = TestPipe()
        let stop = TestPipe()
        defer { close(output, stop) }
        let running = try Running(Watch(events: ["Nope"]), output: output.writing, stop: stop.reading)
        #expect(await running.done.value?.code == .usage)
    }

    @Test("a disk that is full is an output failure")
    func fullDisk() async throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { Glibc.close(full) }
        let stop = TestPipe()
        defer { close(stop) }
        let running = try Running(Watch(), output: full, stop: stop.reading)
        running.queue.append(try event(1))
        let failure = await running.done.value
        #expect(failure?.code == .outputFailed)
        #expect(failure?.message.contains("No space left") == true)
    }
}
