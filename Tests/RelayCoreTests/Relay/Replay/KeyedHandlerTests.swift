import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Two actors, and what is on both of them.
@globalActor private actor Mails { static let shared = Mails() }
@Mails private var mails: [Int64] = []
@globalActor private actor Losses { static let shared = Losses() }

/// A feed that a test fills, and how far its subscription has come.
private final class FilledFeed: Sendable {
    /// Takes its time at every other place: of two that come at the same time, the later one would overtake.
    final class Place: PositionKeeper {
        let start: CursorPlace? = nil
        let isUnwritten = false
        let sequences = Log<UInt64>()
        func advance(_ place: ReplayBuffer.Place) {
            if !place.sequence.isMultiple(of: 2) { usleep(500) }
            sequences.add(place.sequence)
        }
        func learn(_ runs: [StreamRun]) {}
        func end() {}
    }
    let buffer = ReplayBuffer(.bufferingNewest(4_096))
    let place = Place()
    let source: ReplaySource<Said>

    init() throws { source = ReplaySource(buffer, ReplayDecoding(try EventDecoder(Said.self)), place) }
    /// Events of these numbers, which are their sequences.
    func add(_ numbers: ClosedRange<UInt64>) throws {
        for number in numbers {
            let values = FollowingTests.said(Int64(number)) + [.uint64(number), .uint64(number - 1), .uint64(1)]
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            let signature = Array(try DBusValue.signature(of: values).description.utf8)
            body.withUnsafeBytes { body in
                signature.withUnsafeBytes { signature in
                    let stamp = Stamp(
                        epoch: 1, sequence: number, previous: number - 1, publishedAt: Timestamp(microseconds: 1))
                    let raw = RawEvent(.signal, stamp, nil, signature: signature, body: body)
                    buffer.append(live: KeptEvents(raw, token: 0), isDurable: true)
                }
            }
        }
    }
    func addGap(_ numbers: ClosedRange<UInt64>) {
        buffer.append(Gap(numbers, epoch: 1, count: numbers.count, reason: .expired))
    }
    func subscription(
        _ actors: (event: (any Actor)?, gap: (any Actor)?) = (nil, nil), retries: [Duration] = [],
        by key: @escaping @Sendable (Said) -> Int64,
        _ handler: @escaping @Sendable (Int64) async throws -> Void,
        onGap: @escaping @Sendable (Gap) async throws -> Void = { _ in }
    ) -> KeyedHandler<Said> {
        KeyedHandler(
            source, on: actors, retries: retries, by: { key($0) }, .init { try await handler($0.0.number) },
            .init { try await onGap($0) }, { _ in })
    }
}

@Suite("Handlers of several keys", .heavy, .tags(.g1, .g2)) struct KeyedHandlerTests {
    @Test("a position never goes back, though handlers return at the same time") func position() async throws {
        for _ in 0..<TestForm.rounds(3, soak: 100) {
            let feed = try FilledFeed()
            try feed.add(1...400)
            let subscription = feed.subscription(by: \.number) { _ in }
            subscription.begin()
            #expect(await eventually { feed.place.sequences.values.contains(400) })
            let sequences = feed.place.sequences.values
            #expect(sequences == sequences.sorted())
            subscription.cancel()
        }
    }
    @Test("what a relay holds that has ended by itself is still handled, with the last gap") func ownEnd() async throws
    {
        let feed = try FilledFeed()
        try feed.add(1...200)
        feed.addGap(201...203)
        let (numbers, gaps) = (Log<Int64>(), Log<Gap>())
        let subscription = feed.subscription(by: { $0.number % 3 }) { number in
            await Task.yield()
            numbers.add(number)
        } onGap: {
            gaps.add($0)
        }
        feed.buffer.finish()
        subscription.begin()
        #expect(await eventually { !subscription.isActive && subscription.source.feed.isCancelled })
        #expect(numbers.values.sorted() == Array(1...200) && gaps.values.map(\.sequences) == [201...203])
        #expect(feed.place.sequences.values.last == 203)
    }
    @Test(
        "the end lets handlers return that run: no other of a key begins, and one that throws holds nobody up",
        arguments: [1, 2])
    func end(keys: Int64) async throws {
        struct Jammed: Error {}
        let feed = try FilledFeed()
        // More than are handled at the same time.
        try feed.add(1...100)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let door = Task { for await _ in released {} }
        let (begun, ends) = (Log<Int64>(), Log<Bool>())
        let subscription = feed.subscription(retries: [.seconds(86_400)], by: { $0.number % keys }) { number in
            begun.add(number)
            await door.value
            if number == keys { throw Jammed() }
        }
        subscription.begin()
        #expect(await eventually { begun.count == Int(keys) })
        // 64 are handled or wait, and the next one was taken.
        #expect(await eventually { feed.buffer.held.signals == 35 })
        let ending = Task {
            await subscription.finish()
            ends.add(true)
        }
        #expect(await eventually { feed.buffer.isFinished })
        release.finish()
        #expect(await eventually { ends.count == 1 })
        #expect(begun.values.sorted() == Array(1...keys))
        // The last one has thrown.
        #expect(feed.place.sequences.values == Array(1..<UInt64(keys)))
        subscription.cancel()
        await ending.value
    }
    @Test("events of a key come in order, and a gap between what was before it and what is behind it, on two actors")
    func order() async throws {
        for actors in [(Mails.shared, Losses.shared), (MainActor.shared, nil), (nil, MainActor.shared)]
            as [((any Actor)?, (any Actor)?)]
        {
            let feed = try FilledFeed()
            try feed.add(1...90)
            feed.addGap(91...92)
            try feed.add(93...180)
            let log = Log<Int64>()
            let subscription = feed.subscription(actors, by: { $0.number % 7 }) { number in
                for _ in 0..<Int.random(in: 0...3) { await Task.yield() }
                log.add(number)
            } onGap: { _ in
                log.add(-1)
                for _ in 0..<5 { await Task.yield() }
                log.add(-2)
            }
            subscription.begin()
            #expect(await eventually { feed.place.sequences.values.last == 180 })
            let values = log.values
            #expect(values.count == 180)
            #expect(values[90] == -1 && values[91] == -2)
            #expect(values[..<90].sorted() == Array(1...90) && values[92...].sorted() == Array(93...180))
            for key in Int64(0)..<7 {
                let ofKey = values.filter { $0 > 0 && $0 % 7 == key }
                #expect(ofKey == ofKey.sorted())
            }
            let sequences = feed.place.sequences.values
            #expect(sequences == sequences.sorted())
            subscription.cancel()
        }
    }
    @Test("handlers are on their actors: the events' on one, the gap's on another, or one of them on none")
    func isolation() async throws {
        let desk = try await OrderDesk()
        try await desk.publish(1...20)
        let relay = try desk.relay()
        let (gaps, mains) = (Log<Gap>(), Log<Int64>())
        // A gap first: it resumes behind a run that the journal does not know.
        let start = StreamPosition.after(epoch: 12_345, sequence: 100)
        await Task { @Mails in mails = [] }.value
        let apart = try relay.subscribe(to: OrderPlaced.self, from: start, inOrderOf: { $0.number % 4 }) {
            @Mails event in
            Mails.shared.assertIsolated()
            await Task.yield()
            Mails.shared.assertIsolated()
            mails.append(event.number)
        } onGap: { @Losses gap in
            Losses.shared.assertIsolated()
            gaps.add(gap)
        }
        let main = try relay.subscribe(to: OrderPlaced.self, from: start, inOrderOf: { $0.number % 4 }) {
            @MainActor event in
            MainActor.assertIsolated()
            await Task.yield()
            mains.add(event.number)
        } onGap: { gap in
            gaps.add(gap)
        }
        let none = try relay.subscribe(to: OrderPlaced.self, from: start, inOrderOf: { $0.number % 4 }) { event in
            mains.add(-event.number)
        } onGap: { @MainActor gap in
            MainActor.assertIsolated()
            gaps.add(gap)
        }
        relay.activate()
        #expect(await eventually { await mails.count == 20 && mains.count == 40 })
        #expect(gaps.count == 3 && Set(gaps.values).count == 1)
        let mailed = await mails
        for key in Int64(0)..<4 {
            for numbers in [mailed, mains.values.filter { $0 > 0 }, mains.values.filter { $0 < 0 }.map { -$0 }] {
                let ofKey = numbers.filter { $0 % 4 == key }
                #expect(ofKey == ofKey.sorted() && ofKey.count == 5)
            }
        }
        withExtendedLifetime((apart, main, none)) {}
        try await desk.stop()
    }
    @Test("after cancel() on the handler's own actor none is called again, whatever key waits") func cancelled()
        async throws
    {
        let desk = try await OrderDesk()
        try await desk.publish(1...100)
        for _ in 0..<TestForm.rounds(5, soak: 200) {
            let relay = try desk.relay()
            let (holder, log) = (Holder<Subscription>(), Log<Int64>())
            holder.hold(
                try relay.subscribe(to: OrderPlaced.self, from: .beginning, inOrderOf: \.number) { @Mails event in
                    log.add(event.number)
                    if log.count == 20 {
                        holder.value?.cancel()
                        log.add(-1)
                    }
                } onGap: { @Losses _ in
                })
            relay.activate()
            #expect(await eventually { log.values.contains(-1) })
            // Behind those that waited for the actor.
            for _ in 1...3 { await Task { @Mails in }.value }
            relay.invalidate()
            #expect(log.count == 21 && log.values.last == -1)
            holder.hold(nil)
        }
        try await desk.stop()
    }
}
