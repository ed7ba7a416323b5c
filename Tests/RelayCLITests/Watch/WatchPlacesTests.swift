import Glibc
import RelayCore
import RelayTool
import Synchronization
import Testing

@testable import relay_cli
import RelayWire

@Suite("watch from a place in the journal")
struct WatchPlacesTests {
    private func envelope(_ sequence: UInt64, transport: Envelope.Transport = .journal, fields: [WireField]? = nil)
        throws
        -> Envelope
    {
        let event = try Samples.boxProvisioned(sequence)
        return Envelope(
            interface: event.interface, name: event.name, signature: event.signature, body: event.body,
            stamp: event.stamp, fields: fields, transport: transport)
    }
    private func deliveries(_ range: ClosedRange<UInt64>) throws -> [PulledDelivery] {
        try range.map { .event(try envelope($0)) }
    }

    /// Runs a command line until its end, or until it notes `lastNote`.
    private func run(
        _ arguments: String..., pulled: FakePulled, durability: String = "durable", output: Int32,
        endsAt lastNote: String? = nil, endsWhenAcknowledged: Bool = false,
        events: [Envelope] = [], positions: (@Sendable (String, Set<String>?, StreamPosition) -> Void)? = nil,
        refusal: CLIFailure? = nil
    ) async -> (code: ExitCode, notes: [String]) {
        let notes = Notes()
        let journal = FakeJournal([])
        journal.change { $0.durability = durability }
        let code = await WaitingThread.run {
            guard let wakeup = try? Wakeup() else { return ExitCode.software }
            if endsWhenAcknowledged { pulled.onAcknowledgement.withLock { $0 = { wakeup.wake() } } }
            let tool = Tool.tested(output: output, notes, wakeup: wakeup, endsAt: lastNote) { _, _, _, _, deliver in
                FakeFollowed(
                    FakeService(answer: journal.answer), events: events,
                    subscribing: { interface, names, start throws(CLIFailure) in
                        if let refusal { throw refusal }
                        positions?(interface, names, start)
                        return pulled
                    }, deliver: deliver)
            }
            return tool.run(arguments)
        }.value
        return (code, notes.lines.withLock { $0 })
    }

    @Test("what was kept comes first, says when that is over, and is acknowledged when it was written")
    func shown() async throws {
        let pipe = TestPipe()
        let gap = Gap(3...5, epoch: 1, count: 3, reason: .expired)
        let pulled = FakePulled(try deliveries(1...2) + [.gap(gap), .caughtUp] + deliveries(6...6))
        let asked = Mutex<[StreamPosition]>([])
        let result = await run(
            "watch", "--since", "1", "--json", "--count", "3", pulled: pulled, output: pipe.writing,
            positions: { interface, names, start in
                #expect(interface == FakeJournal.interface && names == nil)
                asked.withLock { $0.append(start) }
            })
        pipe.closeWriting()
        let lines = String(decoding: await pipe.readAll(), as: UTF8.self).split(separator: "\n")
        #expect(result.code == .ok && lines.count == 4)
        #expect(
            lines[2]
                == #"{"gap":{"interface":"org.eventrelay.Relocation1","first":3,"last":5,"count":3,"reason":"expired"}}"#
        )
        #expect(lines[0].contains(#""transport":"journal""#) && lines[3].contains(#""sequence":6,"#))
        #expect(result.notes == ["watching org.eventrelay.Service1", "up to date with org.eventrelay.Relocation1"])
        #expect(asked.withLock { $0 } == [StreamPosition(.at(1))])
        #expect(pulled.acknowledged.withLock { $0.last } == 6)
        #expect(pulled.isCancelled.withLock { $0 })
    }

    @Test("that it is up to date is said behind the lines of all that was kept")
    func upToDateAtTheEnd() async throws {
        // One file for both, as a terminal is: the order in it is that of writing.
        let pipe = TestPipe()
        let output = pipe.writing
        let pulled = FakePulled(try deliveries(1...200) + [.caughtUp] + deliveries(201...201))
        let notes = Notes()
        let code = await WaitingThread.run {
            guard let wakeup = try? Wakeup() else { return ExitCode.software }
            let journal = FakeJournal([])
            var tool = Tool.tested(output: output, notes, wakeup: wakeup) { _, _, _, _, _ in
                FakeFollowed(
                    FakeService(answer: journal.answer),
                    subscribing: { (_, _, _) throws(CLIFailure) in pulled })
            }
            tool.note = { text in
                _ = Array((text + "\n").utf8).withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            }
            return tool.run(["watch", "--since", "start", "--count", "201"])
        }.value
        pipe.closeWriting()
        #expect(code == .ok)
        let lines = String(decoding: await pipe.readAll(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 203 && lines.first == "watching org.eventrelay.Service1")
        let place = lines.firstIndex(of: "up to date with org.eventrelay.Relocation1")
        // All that is there at once goes out in one piece; nothing of what was kept comes behind it.
        #expect(place.map { $0 >= 201 } == true, "\(place ?? -1)")
    }

    @Test("the last event is acknowledged, whatever comes right behind it that has no place of its own")
    func lastAcknowledged() async throws {
        let unknown = Gap(4...UInt64.max, epoch: 1, count: nil, reason: .epochChanged)
        for behind in [[.caughtUp], [.gap(unknown), .caughtUp]] as [[PulledDelivery]] {
            let pipe = TestPipe()
            let pulled = FakePulled(try deliveries(1...3) + behind)
            let result = await run(
                "watch", "--resume", "a", pulled: pulled, output: pipe.writing, endsWhenAcknowledged: true)
            #expect(result.code == .ok)
            #expect(pulled.acknowledged.withLock { $0 } == [3])
        }
    }

    @Test("a place that cannot be written at the end is an error, and not a success") func unwritten() async throws {
        let pipe = TestPipe()
        let pulled = FakePulled(try deliveries(1...3), isLost: true)
        let result = await run(
            "watch", "--resume", "a", pulled: pulled, output: pipe.writing, endsWhenAcknowledged: true)
        #expect(result.code == .outputFailed && pulled.isCancelled.withLock { $0 })
        #expect(
            result.notes.last
                == "the place of --resume could not be written: a watch of this name shows the last events again")
    }

    @Test("what a reader has not taken is not acknowledged, and not taken ahead without end")
    func unread() async throws {
        let pipe = TestPipe()
        let pulled = FakePulled(try deliveries(1...20_000))
        // The end comes though nobody reads: the pipe is full after the first lines.
        let result = await run(
            "watch", "--resume", "a", pulled: pulled, output: pipe.writing, endsWhenAcknowledged: true)
        #expect(result.code == .ok)
        pipe.closeWriting()
        let text = String(decoding: await pipe.readAll(), as: UTF8.self)
        let whole = UInt64(text.count { $0 == "\n" })
        let last = pulled.acknowledged.withLock { $0.last } ?? 0
        #expect(last > 0 && last <= whole, "acknowledged \(last) of \(whole) lines that were read")
        #expect(pulled.waiting.withLock { $0.count } > 10_000)
        #expect(pulled.isCancelled.withLock { $0 })
    }

    @Test("each start becomes its position")
    func positions() async throws {
        let hour = Timestamp(microseconds: Samples.time.now.microseconds - 3_600_000_000)
        for (arguments, position) in [
            (["--since", "start"], StreamPosition.beginning), (["--since", "7"], StreamPosition(.at(7))),
            (["--since", "1h"], .since(hour)), (["--resume", "me"], .resuming("me")),
        ] {
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { close(null) }
            let asked = Mutex<[StreamPosition]>([])
            let result = await run(
                "watch", "Ping", arguments[0], arguments[1], pulled: FakePulled([.caughtUp]), output: null,
                endsAt: "up to date with org.eventrelay.Relocation1",
                positions: { _, names, start in
                    #expect(names == ["Ping"])
                    asked.withLock { $0.append(start) }
                })
            #expect(result.code == .ok)
            #expect(asked.withLock { $0 } == [position], "\(arguments)")
        }
    }

    @Test("without a place, what a durable interface publishes from now on is taken from its journal, too")
    func now() async throws {
        let pipe = TestPipe()
        let asked = Mutex<[StreamPosition]>([])
        let result = await run(
            "watch", "--count", "2", pulled: FakePulled(try [.caughtUp] + deliveries(1...2)), output: pipe.writing,
            positions: { _, _, start in asked.withLock { $0.append(start) } })
        pipe.closeWriting()
        #expect(result.code == .ok && result.notes == ["watching org.eventrelay.Service1"])
        #expect(await pipe.readAll().count { $0 == UInt8(ascii: "\n") } == 2)
        #expect(asked.withLock { $0 } == [.after(epoch: FakeJournal.epoch, sequence: 0)])
    }
    @Test("a volatile interface, and one that refuses a place, are followed as they publish", arguments: [true, false])
    func nowWithoutJournal(_ isVolatile: Bool) async throws {
        let pipe = TestPipe()
        let result = await run(
            "watch", "--count", "1", pulled: FakePulled([]), durability: isVolatile ? "volatile" : "durable",
            output: pipe.writing, events: [try envelope(8, transport: .signal)],
            refusal: isVolatile ? nil : CLIFailure(.software, "no"))
        pipe.closeWriting()
        #expect(result.code == .ok, "\(result.notes)")
        #expect(String(decoding: await pipe.readAll(), as: UTF8.self).contains(" #8 "))
    }

    @Test("a cursor that cannot be had ends the watch with its words and its code")
    func refused() async throws {
        for failure in [
            CLIFailure(.timedOut, "cursor 'a' is in use"), CLIFailure(.badValue, "/x/a.cursor is no cursor file"),
        ] {
            let result = await run("watch", "--resume", "a", pulled: FakePulled([]), output: -1, refusal: failure)
            #expect(result.code == failure.code && result.notes == [failure.message])
        }
    }

    @Test("a sequence that is far from being reached is reported with the last one")
    func beyond() async throws {
        for (since, notes) in [
            ("1", []),
            (
                "99",
                [
                    "--since 99 is beyond the end: org.eventrelay.Relocation1 has no event yet; events are shown from now on"
                ]
            ),
        ] as [(String, [String])] {
            let pulled = FakePulled([.caughtUp])
            let result = await run(
                "watch", "--since", since, pulled: pulled, output: -1,
                endsAt: notes.last ?? "up to date with org.eventrelay.Relocation1")
            #expect(result.code == .ok, "\(result)")
            #expect(result.notes.filter { $0.hasPrefix("--since") } == notes)
        }
    }

    @Test("of a volatile interface nothing is kept: alone it is refused")
    func volatileInterface() async throws {
        let since = await run("watch", "--since", "1h", pulled: FakePulled([]), durability: "volatile", output: -1)
        #expect(since.code == .badValue)
        #expect(
            since.notes == [
                "org.eventrelay.Service1 keeps none of these events: leave --since out to see them from now on"
            ])
        let resume = await run("watch", "--resume", "a", pulled: FakePulled([]), durability: "volatile", output: -1)
        #expect(resume.code == .badValue)
        #expect(
            resume.notes == [
                "org.eventrelay.Service1 keeps none of these events: leave --resume out to see them from now on"
            ])
        // It has no beginning that could be left out.
        let tail = await run("tail", pulled: FakePulled([]), durability: "volatile", output: -1)
        #expect(tail.code == .badValue)
        #expect(
            tail.notes == ["org.eventrelay.Service1 keeps none of these events: 'watch' shows them from now on"])
    }

    @Test("errors of cursors have codes that scripts can tell apart")
    func codes() {
        for (code, exit) in [
            (RelayError.Code.conflict, ExitCode.timedOut), (.invalidArgument, .badValue), (.unavailable, .cannotCreate),
            (.storageFull, .cannotCreate), (.notPermitted, .notPermitted), (.internalFailure, .software),
        ] {
            #expect(
                FailureMapping.failure(ofCursor: RelayError(code, "why"))
                    == CLIFailure(exit, "why", kind: code == .conflict ? "conflict" : nil))
        }
    }

    @Test("a row is printed with the names that it was written with, whatever its event is now")
    func versions() throws {
        var printer = Samples.printer()
        printer.learn([try Samples.relocation()])
        var output = ByteBuffer()
        let old = try ["boxID:x", "size:i", "label:s"].map { try WireField(parsing: $0) }
        let wrong = try ["boxID:x"].map { try WireField(parsing: $0) }
        for fields in [old, nil, old, old, wrong] {
            #expect(printer.append(try envelope(1, fields: fields), to: &output) == nil)
        }
        let lines = output.text.split(separator: "\n").map { $0.split(separator: " ")[4] }
        #expect(lines == ["size=10", "capacity=10", "size=10", "size=10", "capacity=10"])
    }

    @Test("sources have their turns, and their own acknowledgements in order")
    func turns() throws {
        let first = FakePulled(try deliveries(1...200))
        let second = FakePulled(try deliveries(1...3))
        var sources = WatchSources()
        sources.add([WatchSource(interface: "a.b", events: first), WatchSource(interface: "a.c", events: second)])
        var shown: [String] = []
        let hasMore = sources.take { source, _ in
            shown.append(source.interface)
            return (UInt64(shown.count) * 10, shown.count < 100)
        }
        #expect(hasMore && shown.count == 100)
        #expect(shown.firstIndex(of: "a.c") == 64, "the second does not wait for the whole first")
        sources.written(639)
        #expect(first.acknowledged.withLock { $0 }.isEmpty)
        sources.written(640)
        #expect(first.acknowledged.withLock { $0 } == [64])
        sources.written(1_000)
        #expect(first.acknowledged.withLock { $0 } == [64, 97] && second.acknowledged.withLock { $0 } == [3])
        let isLeft = sources.take { _, _ in (0, true) }
        #expect(!isLeft && first.next() == nil)
    }
}
