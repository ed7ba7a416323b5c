import Glibc
import RelayCore
import RelayTestKit
import RelayTool
import Synchronization
import Testing

@testable import relay_cli
import RelayWire

@Suite("watch --confirm") struct WatchConfirmTests {
    /// `watch` on a thread of its own, with a pipe for its lines and one for their confirmations.
    private struct Running {
        let output = TestPipe(), input = TestPipe()
        let pulled: FakePulled
        let notes = Notes()
        let done: Task<ExitCode, Never>

        init(_ deliveries: [PulledDelivery], _ more: String...) throws {
            let (pulled, notes, journal) = (FakePulled(deliveries), self.notes, FakeJournal([]))
            let (writing, reading) = (output.writing, input.reading)
            self.pulled = pulled
            done = WaitingThread.run {
                guard let wakeup = try? Wakeup() else { return .software }
                var tool = Tool.tested(output: writing, notes, wakeup: wakeup) { _, _, _, _, _ in
                    FakeFollowed(
                        FakeService(answer: journal.answer),
                        subscribing: { (_, _, _) throws(CLIFailure) in pulled })
                }
                tool.input = reading
                return tool.run(["watch", "--resume", "a", "--confirm"] + more)
            }
        }
        /// Waits for as many lines.
        func lines(_ count: Int) async -> [String] {
            var bytes: [UInt8] = []
            while bytes.count(where: { $0 == UInt8(ascii: "\n") }) < count {
                let some = await output.readSome()
                if some.isEmpty { break }
                bytes += some
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        func confirm(_ lines: Int) {
            let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: lines)
            #expect(write(input.writing, bytes, bytes.count) == bytes.count)
        }
        var acknowledged: [UInt64] { pulled.acknowledged.withLock { $0 } }
    }
    private func event(_ sequence: UInt64, _ title: String = "Kitchen") throws -> PulledDelivery {
        .event(try Samples.boxProvisioned(sequence, title: title))
    }

    @Test("what waits for room in the pipe is not confirmed, however many lines come back") func unwritten()
        async throws
    {
        let count: UInt64 = 60
        // Longer together than the pipe.
        let title = String(repeating: "k", count: 4_000)
        let running = try Running((1...count).map { try event($0, title) } + [.caughtUp])
        // What comes before the first line is written counts for none.
        #expect(
            await eventually {
                running.confirm(100)
                return !running.acknowledged.isEmpty
            })
        #expect(running.acknowledged.allSatisfy { $0 < count })
        #expect(await running.lines(Int(count)).count == Int(count))
        // Again, now that all of them can have been read.
        running.confirm(100)
        #expect(await eventually { running.acknowledged.last == count })
        running.input.closeWriting()
        #expect(await running.done.value == .ok)
    }
    @Test("an event counts as seen when its line is confirmed, and not when it was written")
    func confirmed() async throws {
        let running = try Running((1...4).map { try event($0) } + [.caughtUp])
        #expect(await running.lines(4).count == 4)
        running.confirm(1)
        #expect(await eventually { running.acknowledged == [1] })
        running.confirm(2)
        #expect(await eventually { running.acknowledged == [1, 2, 3] })
        // The reader goes away, with one line unconfirmed.
        running.input.closeWriting()
        #expect(await running.done.value == .ok)
        #expect(running.acknowledged == [1, 2, 3] && running.pulled.isCancelled.withLock { $0 })
    }
    @Test("with --count the end waits for the last confirmation") func counted() async throws {
        let running = try Running([event(1), event(2), event(3)], "--count", "2")
        #expect(await running.lines(2).count == 2)
        running.confirm(2)
        #expect(await running.done.value == .ok)
        #expect(running.acknowledged == [1, 2])
    }
    @Test("events that are not shown are seen with the line before them") func filtered() async throws {
        let hidden = try (2...5).map { try event($0, "Hall") }
        let running = try Running(
            [event(1)] + hidden + [event(6), event(7, "Hall")], "--where", "title == \"Kitchen\"", "--format",
            "{sequence}")
        #expect(await running.lines(2) == ["1", "6"])
        running.confirm(1)
        #expect(await eventually { running.acknowledged == [5] })
        running.confirm(1)
        #expect(await eventually { running.acknowledged == [5, 7] })
        running.input.closeWriting()
        #expect(await running.done.value == .ok)
    }
    @Test("an event of two lines takes two confirmations") func twoLines() async throws {
        let running = try Running([event(1), event(2)], "--format", #"{sequence}\n{title}"#)
        #expect(await running.lines(4) == ["1", "Kitchen", "2", "Kitchen"])
        running.confirm(3)
        #expect(await eventually { running.acknowledged == [1] })
        running.input.closeWriting()
        #expect(await running.done.value == .ok)
        #expect(running.acknowledged == [1])
    }
    @Test("what the reader confirmed before it went away counts") func lastWord() async throws {
        let running = try Running([event(1), event(2)])
        #expect(await running.lines(2).count == 2)
        running.confirm(1)
        running.output.closeReading()
        running.input.closeWriting()
        #expect(await running.done.value == .ok)
        #expect(running.acknowledged == [1])
    }
    @Test("a reader that writes without end confirms nothing by that, and is read a part at a time") func flood() {
        let endless = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        defer { close(endless) }
        var confirmations = LineConfirmations(descriptor: endless)
        confirmations.take(of: 9)
        #expect(confirmations.count == 0 && !confirmations.hasEnded)
    }
    @Test("what is confirmed beyond the lines that there are counts for none that comes later") func surplus() {
        let pipe = TestPipe()
        var confirmations = LineConfirmations(descriptor: pipe.reading)
        #expect(write(pipe.writing, "ready\n", 6) == 6)
        confirmations.take(of: 0)
        #expect(confirmations.count == 0 && confirmations.isComplete(0))
        #expect(write(pipe.writing, "1\n1\n1\n", 6) == 6)
        confirmations.take(of: 1)
        #expect(confirmations.count == 1 && confirmations.isComplete(1))
        confirmations.take(of: 4)
        #expect(confirmations.count == 1 && !confirmations.isComplete(4))
        #expect(write(pipe.writing, "2\n", 2) == 2)
        confirmations.take(of: 4)
        #expect(confirmations.count == 2)
    }
    @Test("without --resume there is nothing to confirm") func alone() async throws {
        let notes = Notes()
        let tool = Tool.tested(output: -1, notes) { (_, _, _, _, _) throws(CLIFailure) in
            throw CLIFailure(.software, "not to be reached")
        }
        #expect(tool.run(["watch", "--confirm"]) == .usage)
        #expect(notes.lines.withLock { $0.first?.contains("'--resume NAME'") } == true)
    }
    @Test("of a source there is one mark for each place of the output, whatever comes between") func marks() throws {
        let (first, second) = (
            FakePulled(try (1...200).map { try event($0) }), FakePulled(try (1...100).map { try event($0) })
        )
        var sources = WatchSources(marksEach: true)
        sources.add([WatchSource(interface: "a.b", events: first), WatchSource(interface: "a.c", events: second)])
        var lines: UInt64 = 0
        _ = sources.take { _, delivery in
            if case .event(let event) = delivery, event.stamp.sequence == 90 { lines += 1 }
            return (lines, true)
        }
        sources.written(0)
        #expect(first.acknowledged.withLock { $0 } == [89] && second.acknowledged.withLock { $0 } == [64])
        sources.written(1)
        sources.written(2)
        #expect(first.acknowledged.withLock { $0.last } == 200 && second.acknowledged.withLock { $0.last } == 100)
    }
}
