import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Subscriptions that start anywhere, at a service with a durable interface.
@Suite("Positioned subscriptions", .heavy, .tags(.g1, .g2)) struct PositionedTests {
    static func relay(_ bus: PrivateBus, cursors: String? = nil) throws -> EventRelay {
        try EventRelay(
            following: DurableDesk.name, on: bus.bus, interfaces: Ledger1.self, Plain1.self, cursors: cursors)
    }
    private static func publish(_ numbers: ClosedRange<Int64>, _ desk: DurableDesk) async throws {
        try await desk.service.publish(contentsOf: numbers.map { Booked(number: $0, text: "text \($0)") })
    }
    /// What a stream gives until so many events came.
    private static func numbers(_ stream: EventStream<Booked>, _ count: Int) async -> [String] {
        var lines: [String] = []
        for await delivery in stream {
            switch delivery {
            case .event(let event, _): lines.append("\(event.number)")
            case .gap(let gap): lines.append(text(gap))
            }
            if lines.count == count { break }
        }
        return lines
    }

    @Test("from the beginning, from a stamp, from a sequence, from now: over runs, and on live") func starts()
        async throws
    {
        var desk = try await DurableDesk()
        try await Self.publish(1...5, desk)
        desk = try await desk.restarted()
        try await Self.publish(6...9, desk)
        let relay = try Self.relay(desk.bus)
        let all = try relay.events(of: Booked.self, from: .beginning)
        let now = try relay.events(of: Booked.self, from: .now)
        relay.activate()
        var stamps: [Stamp] = []
        for await delivery in all {
            guard case .event(let event, let stamp) = delivery else {
                Issue.record("\(delivery)")
                break
            }
            #expect(event == Booked(number: Int64(stamp.sequence), text: "text \(stamp.sequence)"))
            stamps.append(stamp)
            if stamps.count == 9 { break }
        }
        #expect(stamps.map(\.sequence) == Array(1...9) && stamps.map(\.previous) == Array(0...8))
        // Events of the first run have its epoch.
        #expect(Set(stamps[..<5].map(\.epoch)).count == 1 && Set(stamps[5...].map(\.epoch)).count == 1)
        #expect(stamps[4].epoch != stamps[5].epoch)
        let after = try relay.events(of: Booked.self, from: .after(stamps[2]))
        let fromSix = try relay.events(of: Booked.self, from: StreamPosition(.at(6)))
        #expect(await Self.numbers(after, 6) == ["4", "5", "6", "7", "8", "9"])
        #expect(await Self.numbers(fromSix, 4) == ["6", "7", "8", "9"])
        try await Self.publish(10...11, desk)
        for stream in [all, now, after, fromSix] { #expect(await Self.numbers(stream, 2) == ["10", "11"]) }
        relay.invalidate()
        #expect(await Self.numbers(all, 1) == [], "the relay's end is the stream's")
        try await desk.stop()
    }
    @Test("an interface's stream has all its events in one order; a handler runs on its actor") func interface()
        async throws
    {
        let desk = try await DurableDesk()
        for number in Int64(1)...3 {
            try await desk.service.publish(Booked(number: number, text: ""))
            try await desk.service.publish(Struck(number: number))
        }
        let relay = try Self.relay(desk.bus)
        let stream = try relay.events(in: Ledger1.self, from: .beginning)
        let struck = Log<Int64>()
        let subscription = try await MainActor.run {
            try relay.subscribe(to: Struck.self, from: .beginning) { event in
                MainActor.assertIsolated()
                struck.add(event.number)
            } onGap: { _ in
            }
        }
        let background = Log<Int64>()
        let second = try relay.subscribe(to: Booked.self, from: .beginning) {
            background.add($0.number)
        } onGap: { _ in
        }
        relay.activate()
        var lines: [String] = []
        for await delivery in stream {
            switch delivery {
            case .event(let event as Booked, let stamp): lines.append("b\(event.number) \(stamp.sequence)")
            case .event(let event as Struck, let stamp): lines.append("s\(event.number) \(stamp.sequence)")
            default: lines.append("\(delivery)")
            }
            if lines.count == 6 { break }
        }
        #expect(lines == ["b1 1", "s1 2", "b2 3", "s2 4", "b3 5", "s3 6"])
        #expect(await eventually { struck.count == 3 && background.count == 3 })
        #expect(struck.values == [1, 2, 3] && background.values == [1, 2, 3])
        await MainActor.run { subscription.cancel() }
        second.cancel()
        try await desk.service.publish(Struck(number: 4))
        var iterator = stream.makeAsyncIterator()
        guard case .event? = await iterator.next() else {
            Issue.record("nothing came")
            return
        }
        #expect(struck.count == 3 && !subscription.isActive && subscription.missed == 0)
        try await desk.stop()
    }
    @Test("on a queue, a foreign loop, at once and on an actor: in order, and not after cancel()") func places()
        async throws
    {
        actor Keeper {
            var numbers: [Int64] = []
            func follow(_ relay: EventRelay) throws -> Subscription {
                try relay.subscribe(to: Booked.self, from: .beginning) { event in
                    self.numbers.append(event.number)
                } onGap: { _ in
                }
            }
        }
        let desk = try await DurableDesk()
        try await Self.publish(1...1_000, desk)
        let target = try PollableTarget()
        let deliveries: [DeliveryTarget] = [
            .immediate, .queue(.init(label: "test")), .queue(.global()), .pollable(target), .background,
        ]
        for delivery in deliveries {
            let relay = try EventRelay(
                following: DurableDesk.name, on: desk.bus.bus, interfaces: Ledger1.self, delivery: delivery)
            let (log, holder) = (Log<Int64>(), Holder<Subscription>())
            let held = Atomic<Bool>(false)
            holder.hold(
                try relay.subscribe(to: Booked.self, from: .beginning) { event in
                    while !held.load(ordering: .acquiring) { usleep(100) }
                    log.add(event.number)
                    if event.number == 700 { holder.value?.cancel() }
                } onGap: { _ in
                })
            held.store(true, ordering: .releasing)
            relay.activate()
            #expect(
                await eventually {
                    target.drain()
                    return holder.value?.isActive == false
                })
            #expect(log.values == Array(1...700), "\(delivery)")
        }
        let relay = try Self.relay(desk.bus)
        let keeper = Keeper()
        let subscription = try await keeper.follow(relay)
        relay.activate()
        #expect(await eventually { await keeper.numbers.count == 1_000 })
        #expect(await keeper.numbers == Array(1...1_000))
        subscription.cancel()
        try await desk.stop()
    }
    @Test("since a time: the first event at or after it, and what follows") func since() async throws {
        let desk = try await DurableDesk()
        try await Self.publish(1...50, desk)
        let relay = try Self.relay(desk.bus)
        // Before there is anybody to ask.
        let early = try relay.events(of: Booked.self, from: .since(Timestamp(microseconds: 0)))
        relay.activate()
        #expect(await Self.numbers(early, 50) == (1...50).map { "\($0)" })
        let middle = Timestamp.now
        #expect(await eventually { Timestamp.now > middle })
        try await Self.publish(51...60, desk)
        let late = try relay.events(of: Booked.self, from: .since(middle))
        let never = try relay.events(of: Booked.self, from: .since(Timestamp(microseconds: .max)))
        #expect(await Self.numbers(late, 10) == (51...60).map { "\($0)" })
        try await Self.publish(61...61, desk)
        #expect(await Self.numbers(late, 1) == ["61"])
        // It was asked for before, and its place was found before: requests are answered in order.
        try await desk.service.publish(Struck(number: 0))
        try await Self.publish(62...62, desk)
        let last = await Self.numbers(never, 1)
        #expect(last == ["61"] || last == ["62"])
        try await desk.stop()
    }
    @Test("what retention removed is a gap, except before the beginning") func expired() async throws {
        let desk = try await DurableDesk()
        try await Self.publish(1...10, desk)
        let relay = try Self.relay(desk.bus)
        let first = try relay.events(of: Booked.self, from: .beginning)
        relay.activate()
        var iterator = first.makeAsyncIterator()
        guard case .event(_, let stamp)? = await iterator.next() else {
            Issue.record("nothing came")
            return
        }
        desk.log.storage.prune(Ledger1.name, through: 4)
        let after = try relay.events(of: Booked.self, from: .after(stamp))
        #expect(await Self.numbers(after, 3) == ["gap 2...4 (?, expired)", "5", "6"])
        let oldest = try relay.events(of: Booked.self, from: .beginning)
        #expect(await Self.numbers(oldest, 2) == ["5", "6"])
        let unknown = try relay.events(
            of: Booked.self,
            from: .after(Stamp(epoch: 99, sequence: 3, previous: 0, publishedAt: Timestamp(microseconds: 0))))
        let lines = await Self.numbers(unknown, 2)
        #expect(lines.first?.hasSuffix("(?, historyReplaced)") == true, "\(lines)")
        try await desk.stop()
    }
    @Test("a volatile interface has no past: a stamp's rest is a gap, all else begins now") func volatile()
        async throws
    {
        let bus = try PrivateBus()
        let service = try EventService(name: Desk.name, on: bus.bus, exporting: Plain1.self)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let running = Task { try await service.run { isReady.finish() } }
        for await _ in ready {}
        for number in Int64(1)...3 { try service.publish(Said(thread: 0, number: number)) }
        let relay = try EventRelay(following: Desk.name, on: bus.bus, interfaces: Plain1.self)
        let starts: [StreamPosition] = [.now, .beginning, .since(Timestamp(microseconds: 0))]
        let streams = try starts.map { try relay.events(of: Said.self, from: $0) }
        let states = relay.states
        relay.activate()
        for await state in states { if case .active = state { break } }
        try service.publish(Said(thread: 0, number: 4))
        for stream in streams.prefix(2) {
            var iterator = stream.makeAsyncIterator()
            guard case .event(let event, _)? = await iterator.next() else {
                Issue.record("a gap, or nothing")
                continue
            }
            #expect(event.number == 4)
        }
        // `active` does not wait for its search; what is published once it is in step comes.
        let number = Mutex(Int64(4))
        let last = Task { await Self.said(streams[2]) }
        let seen = Atomic<Bool>(false)
        let watch = Task {
            let value = await last.value
            seen.store(true, ordering: .releasing)
            return value
        }
        #expect(
            await eventually {
                let next = number.withLock { number in
                    number += 1
                    return number
                }
                try? service.publish(Said(thread: 0, number: next))
                return seen.load(ordering: .acquiring)
            })
        #expect(await watch.value.map { $0 >= 4 } ?? false)
        running.cancel()
        try await running.value
    }
    private static func said(_ stream: EventStream<Said>) async -> Int64? {
        var iterator = stream.makeAsyncIterator()
        guard case .event(let event, _)? = await iterator.next() else { return nil }
        return event.number
    }
    @Test("an event of no interface of the relay's is refused") func foreign() throws {
        let relay = try EventRelay(following: Desk.name, on: .address("unix:path=/nowhere"), interfaces: Plain1.self)
        #expect(throws: RelayError.self) { try relay.events(of: Booked.self, from: .now) }
        #expect(throws: RelayError.self) { try relay.events(in: Ledger1.self, from: .now) }
        do {
            _ = try relay.subscribe(to: Booked.self, from: .now) { _ in
            } onGap: { _ in
            }
            Issue.record("no error")
        } catch { #expect((error as? RelayError)?.code == .notFound) }
    }
    @Test("a subscription that is let go leaves no rule, no request and nothing in memory") func release() async throws
    {
        let desk = try await DurableDesk()
        try await Self.publish(1...10, desk)
        let relay = try Self.relay(desk.bus)
        relay.activate()
        weak var feed: ReplayBuffer?
        do {
            let source = try relay.follower.source(
                Ledger1.name, names: ["Booked"], from: .beginning, .standard,
                ReplayDecoding(EventDecoder(Booked.self)))
            feed = source.source.feed
            source.begin()
            let stream = EventStream(ReplayStream(source.source))
            #expect(await Self.numbers(stream, 10).count == 10)
        }
        #expect(await eventually { feed == nil })
        let handled = Log<Int64>()
        do {
            let subscription = try relay.subscribe(to: Booked.self, from: .beginning) {
                handled.add($0.number)
            } onGap: { _ in
            }
            #expect(await eventually { handled.count == 10 })
            withExtendedLifetime(subscription) {}
        }
        #expect(
            await eventually {
                let rules = try? await desk.peer.call(
                    "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                    "GetAllMatchRules")
                guard case .dictionary(_, let entries)? = rules?.first else { return false }
                return !entries.contains { entry in
                    guard case .array(_, let rules) = entry.value else { return false }
                    return rules.contains { rule in
                        guard case .string(let text) = rule else { return false }
                        return text.contains("sender='\(DurableDesk.name)'")
                    }
                }
            })
        try await desk.stop()
    }
}
