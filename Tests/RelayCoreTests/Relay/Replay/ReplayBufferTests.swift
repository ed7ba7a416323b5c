import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Subscribers that are slower than the stream.
@Suite("The buffer of a slow subscriber", .heavy, .tags(.g3)) struct ReplayBufferTests {
    private static func publish(_ numbers: ClosedRange<Int64>, _ desk: DurableDesk) async throws {
        try await desk.service.publish(contentsOf: numbers.map { Booked(number: $0, text: "") })
    }
    private static func source(
        _ relay: EventRelay, from start: StreamPosition, _ buffer: EventBuffer = .standard
    ) throws -> ReplaySource<Booked> {
        let source = try relay.follower.source(
            Ledger1.name, names: ["Booked"], from: start, buffer, ReplayDecoding(EventDecoder(Booked.self)))
        source.begin()
        return source.source
    }
    /// Takes what there is until so many events came; nil when something else did.
    private static func take(_ count: Int, of source: ReplaySource<Booked>) async -> [Int64]? {
        var numbers: [Int64] = []
        let isWhole = await eventually {
            while numbers.count < count, let taken = source.next() {
                switch taken {
                case .event(let event, _): numbers.append(event.number)
                case .gap: return true
                case .caughtUp: continue
                }
            }
            return numbers.count == count
        }
        return isWhole && numbers.count == count ? numbers : nil
    }

    @Test("a buffer that is full costs no event of a durable interface, and bounds what is held", arguments: [1, 8])
    func overflow(_ limit: Int) async throws {
        let desk = try await DurableDesk()
        let relay = try PositionedTests.relay(desk.bus)
        let states = relay.states
        let source = try Self.source(relay, from: .now, .bufferingNewest(limit))
        relay.activate()
        for await state in states { if case .active = state { break } }
        var next: Int64 = 1
        for round in 0..<4 {
            // Nobody takes them.
            for _ in 0..<50 {
                try await Self.publish(next...next, desk)
                next += 1
            }
            #expect(await eventually { source.feed.held.signals + source.feed.held.pages > 0 })
            #expect(source.feed.held.signals <= limit && source.feed.held.pages <= 2)
            let numbers = await Self.take(50, of: source)
            #expect(numbers == Array(Int64(round * 50 + 1)...Int64(round * 50 + 50)))
        }
        #expect(source.feed.missed == 0)
        source.cancel()
        try await desk.stop()
    }
    @Test("on a volatile interface the buffer's rule holds") func volatile() async throws {
        let bus = try PrivateBus()
        let service = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus.bus, epoch: 7, schemas: HoleTests.schemas)
        let relay = try PositionedTests.relay(bus)
        let states = relay.states
        let buffers: [EventBuffer] = [.bufferingNewest(3), .bufferingOldest(3), .ending(after: 3)]
        let sources = try buffers.map { try Self.source(relay, from: .now, $0) }
        relay.activate()
        for await state in states { if case .active = state { break } }
        for number in Int64(1)...8 { try service.publish("Booked", HoleTests.booked(number)) }
        func lines(_ source: ReplaySource<Booked>) -> [String] {
            var lines: [String] = []
            while let taken = source.next() {
                switch taken {
                case .event(let event, _): lines.append("\(event.number)")
                case .gap(let gap): lines.append(text(gap))
                case .caughtUp: break
                }
            }
            return lines
        }
        #expect(await eventually { sources[0].feed.missed == 5 && sources[1].feed.missed == 5 })
        #expect(lines(sources[0]) == ["gap 1...5 (5, overflow)", "6", "7", "8"])
        #expect(lines(sources[1]) == ["1", "2", "3", "gap 4...8 (5, overflow)"])
        #expect(lines(sources[2]) == ["1", "2", "3", "gap 4...4 (1, overflow)"] && sources[2].feed.isOver)
        service.vanish()
    }
    @Test("a long replay holds two pages, however slow its taker is") func slow() async throws {
        let bus = try PrivateBus()
        let service = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus.bus, epoch: 7, schemas: HoleTests.schemas, isDurable: true)
        for number in Int64(1)...10_000 { try service.publish("Booked", HoleTests.booked(number)) }
        let relay = try PositionedTests.relay(bus)
        let source = try Self.source(relay, from: .beginning)
        relay.activate()
        #expect(await eventually { source.feed.held.pages == 1 })
        // The fake one gives 1,000 a page. Nobody has taken any: no second one is asked for.
        #expect(service.reads.filter { $0.after != .max }.count == 1)
        var most = 0
        for number in Int64(1)...10_000 {
            guard let numbers = await Self.take(1, of: source), numbers == [number] else {
                Issue.record("not \(number)")
                break
            }
            most = max(most, source.feed.held.pages)
            // Each page is asked for when the one before it is begun.
            if number % 1_000 == 500 {
                let pages = service.reads.filter { $0.after != .max }
                #expect(pages.count <= Int(number) / 1_000 + 2)
            }
        }
        #expect(most <= 2 && service.unproved == 0 && source.feed.missed == 0)
        source.cancel()
        service.vanish()
    }
    @Test("two that replay at once take turns, with one request under way and every token given back") func turns()
        async throws
    {
        let bus = try PrivateBus()
        let service = try await FakeService.start(
            DurableDesk.name, Ledger1.name, on: bus.bus, epoch: 7, schemas: HoleTests.schemas, isDurable: true)
        for number in Int64(1)...5_000 { try service.publish("Booked", HoleTests.booked(number)) }
        service.refuseReads(1)
        let relay = try PositionedTests.relay(bus)
        let streams = try (0..<3).map { _ in try relay.events(of: Booked.self, from: .beginning) }
        relay.activate()
        await withTaskGroup { group in
            for stream in streams {
                group.addTask {
                    var next: Int64 = 1
                    for await delivery in stream {
                        guard case .event(let event, _) = delivery, event.number == next else {
                            Issue.record("\(delivery) instead of \(next)")
                            break
                        }
                        next += 1
                        if next > 5_000 { break }
                    }
                }
            }
        }
        #expect(service.unproved == 0)
        service.vanish()
    }
    @Test("a tool takes what it wants when it wants, is told of news, and learns where the past ends") func tool()
        async throws
    {
        let desk = try await DurableDesk()
        try await Self.publish(1...3, desk)
        let follower = try ServiceFollower(service: DurableDesk.name, on: desk.bus.bus) { _ in }
        let news = Atomic<Int>(0)
        let stream = try follower.envelopes(of: Ledger1.name, from: .beginning) { news.add(1, ordering: .relaxed) }
        follower.activate()
        var lines: [String] = []
        func take() -> Bool {
            while let delivery = stream.poll() {
                switch delivery {
                case .event(let event, let stamp): lines.append("\(event.name) \(stamp.sequence) \(event.fields ?? [])")
                case .gap(let gap): lines.append(text(gap))
                }
            }
            return stream.isCaughtUp
        }
        #expect(await eventually { take() })
        let expected = (1...3).map { "Booked \($0) [number:x, text:s]" }
        #expect(lines == expected && news.load(ordering: .relaxed) >= 1)
        try await desk.service.publish(Struck(number: 4))
        #expect(
            await eventually {
                _ = take(); return lines.last == "Struck 4 [number:x]"
            })
        follower.invalidate()
        #expect(await eventually { stream.isOver })
        try await desk.stop()
    }
}
