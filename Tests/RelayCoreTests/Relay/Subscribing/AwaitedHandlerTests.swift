import Dispatch
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

private struct Jammed: Error {}

extension OrderDesk {
    /// A relay whose handlers are called again at once.
    fileprivate func impatientRelay(
        cursors: String? = nil, pauses: [Duration] = [.milliseconds(1), .milliseconds(1)],
        patience: Duration = .seconds(1), onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws -> EventRelay {
        try EventRelay(
            following: Self.name, on: bus.bus, interfaces: Orders1.self, cursors: cursors,
            timing: RelayTiming {
                $0.handlerRetries = pauses
                $0.handlerPatience = patience
            },
            onNotice: onNotice)
    }
    /// What another relay gets that resumes at the cursor "box", until it has the last one.
    fileprivate func numbersLater(cursors: String, upTo last: Int64) async throws -> [Int64] {
        let relay = try relay(cursors: cursors)
        let numbers = Log<Int64>()
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .resuming("box")) {
            numbers.add($0.number)
        } onGap: {
            Issue.record("\($0)")
        }
        relay.activate()
        #expect(await eventually { numbers.values.last == last })
        withExtendedLifetime(subscription) {}
        return numbers.values
    }
}

/// A door that a handler waits at.
private actor Door {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var arrived = 0
    func pass() async {
        arrived += 1
        if isOpen { return }
        await withCheckedContinuation { waiters.append($0) }
    }
    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

/// An actor whose jobs a test lets wait. It has the order of no queue, as any actor's.
@globalActor private actor LateActor {
    static let shared = LateActor()
    static let executor = HeldExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
}
private final class HeldExecutor: SerialExecutor {
    private struct State {
        var held: [UnownedJob] = []
        var isHolding = false
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "late")
    var count: Int { state.withLock { $0.held.count } }
    func hold() { state.withLock { $0.isHolding = true } }
    func releaseNewestFirst() {
        let held = state.withLock { state in
            defer { state = State() }
            return state.held
        }
        for job in held.reversed() { run(job) }
    }
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            if state.isHolding { state.held.append(job) }
            return state.isHolding
        }
        if !isHeld { run(job) }
    }
    private func run(_ job: UnownedJob) {
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

@Suite("Handlers that wait, and may throw", .heavy, .tags(.g1, .g2)) struct AwaitedHandlerTests {
    @Test("the next event waits until the handler has returned; events and stamps come in order")
    func order() async throws {
        let desk = try await OrderDesk()
        let relay = try desk.relay()
        let (log, sequences) = (Log<Orders1>(), Log<UInt64>())
        let isWithin = Mutex(false)
        let subscription = try relay.subscribe(to: Orders1.self, from: .beginning) { event, stamp in
            #expect(isWithin.withLock { $0 } == false)
            isWithin.withLock { $0 = true }
            await Task.yield()
            isWithin.withLock { $0 = false }
            log.add(event)
            sequences.add(stamp.sequence)
        } onGap: {
            Issue.record("\($0)")
        }
        relay.activate()
        try await desk.publish(1...50)
        #expect(await eventually { log.count == 100 })
        #expect(log.values == OrderDesk.events(1...50) && sequences.values == Array(1...100))
        subscription.cancel()
        try await desk.stop()
    }
    @Test("a handler that throws is called again with the same event, and those behind it wait")
    func again() async throws {
        let desk = try await OrderDesk()
        let notices = Log<Notice>()
        let relay = try desk.impatientRelay { notices.add($0) }
        let calls = Log<Int64>()
        let left = Mutex(2)
        let subscription = try relay.subscribe(to: OrderPlaced.self) { event in
            calls.add(event.number)
            let fails = left.withLock { left in
                if event.number != 2 || left == 0 { return false }
                left -= 1
                return true
            }
            await Task.yield()
            if fails { throw Jammed() }
        } onGap: { _ in
        }
        relay.activate()
        try await relay.ready()
        try await desk.publish(1...3)
        #expect(await eventually { calls.count == 5 })
        #expect(calls.values == [1, 2, 2, 2, 3])
        #expect(subscription.isActive && subscription.failure == nil)
        #expect(await eventually { notices.count == 2 })
        #expect(notices.values.allSatisfy { $0.kind == .handlerFailed && $0.severity == .warning })
        #expect(notices.values.allSatisfy { $0.message.contains("Jammed") && $0.cause is Jammed })
        try await desk.stop()
    }
    @Test("one that throws once too often ends its subscription before that event, and run() throws its error")
    func ends() async throws {
        let desk = try await OrderDesk()
        let folder = try TestFolder()
        try await desk.publish(1...3)
        let notices = Log<Notice>()
        let relay = try desk.impatientRelay(cursors: folder.path) { notices.add($0) }
        let calls = Log<Int64>()
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .resuming("box")) { event in
            await Task.yield()
            calls.add(event.number)
            if event.number == 2 { throw Jammed() }
        } onGap: { _ in
        }
        await #expect(throws: Jammed.self) { try await relay.run() }
        #expect(calls.values == [1, 2, 2, 2])
        #expect(!subscription.isActive && subscription.failure is Jammed)
        #expect(notices.values.last?.severity == .error)
        // The position is before the event that no handler took.
        let later = try await desk.numbersLater(cursors: folder.path, upTo: 3)
        #expect(later == [2, 3])
        try await desk.stop()
    }
    @Test("the position passes an event when its handler has returned, and not before")
    func position() async throws {
        let desk = try await OrderDesk()
        let folder = try TestFolder()
        try await desk.publish(1...2)
        let (door, begun) = (Door(), Log<Int64>())
        let relay = try desk.relay(cursors: folder.path)
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .resuming("box")) { event in
            begun.add(event.number)
            if event.number == 2 { await door.pass() }
            try Task.checkCancellation()
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { await door.arrived == 1 })
        // Its handler is cancelled, and does not count as done.
        subscription.cancel()
        await door.open()
        let later = try await desk.numbersLater(cursors: folder.path, upTo: 2)
        #expect(later == [2] && begun.values == [1, 2])
        try await desk.stop()
    }
    @Test("run() lets the handlers return that run when it is cancelled, and their positions are written")
    func cancelled() async throws {
        let desk = try await OrderDesk()
        let folder = try TestFolder()
        try await desk.publish(1...2)
        let (door, done) = (Door(), Log<Int64>())
        let relay = try desk.impatientRelay(cursors: folder.path)
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .resuming("box")) { event in
            if event.number == 1 { await door.pass() } else { try await Task.sleep(for: .seconds(3_600)) }
            done.add(event.number)
        } onGap: { _ in
        }
        let running = Task { try await relay.run() }
        #expect(await eventually { await door.arrived == 1 })
        running.cancel()
        await door.open()
        try await running.value
        #expect(done.values == [1] && !subscription.isActive)
        let next = try desk.relay(cursors: folder.path)
        let stream = try next.events(of: OrderPlaced.self, from: .resuming("box"))
        next.activate()
        var iterator = stream.makeAsyncIterator()
        guard case .event(let event, _)? = await iterator.next() else {
            Issue.record("a gap")
            return
        }
        #expect(event.number == 2, "the handler of 1 returned")
        try await desk.stop()
    }
    private final class Watcher: Sendable { let seen = Log<String>() }
    private struct Rung: Event {}
    @Test("unsubscribe ends what an object has at the relay and at its publisher") func unsubscribed() async throws {
        let desk = try await OrderDesk()
        let relay = try desk.relay()
        let watcher = Watcher()
        try relay.subscribe(watcher, to: OrderPlaced.self, from: .beginning) { watcher, _ in
            watcher.seen.add("placed")
        } onGap: { _, _ in
        }
        relay.publisher.subscribe(watcher, to: Rung.self) { watcher, _ in
            watcher.seen.add("rung")
        } onGap: { _, _ in
        }
        try await relay.ready()
        try await desk.publish(1...1)
        relay.publisher.publish(Rung())
        #expect(await eventually { watcher.seen.count == 2 })
        relay.unsubscribe(watcher)
        let numbers = Log<Int64>()
        let later = try relay.subscribe(to: OrderPlaced.self, from: .beginning) { event in
            numbers.add(event.number)
        } onGap: { _ in
        }
        relay.publisher.publish(Rung())
        try await desk.publish(2...2)
        #expect(await eventually { numbers.values == [1, 2] })
        #expect(watcher.seen.count == 2)
        later.cancel()
        try await desk.stop()
    }
    @Test("run(keeping:) holds a subscription that nobody else holds, until it returns") func keeping() async throws {
        let desk = try await OrderDesk()
        let relay = try desk.relay()
        let numbers = Log<Int64>()
        let running = Task {
            try await relay.run(
                keeping: relay.subscribe(to: OrderPlaced.self, from: .beginning) { event in
                    numbers.add(event.number)
                } onGap: { _ in
                })
        }
        try await relay.ready()
        try await desk.publish(1...2)
        #expect(await eventually { numbers.values == [1, 2] })
        running.cancel()
        try await running.value
        try await desk.stop()
    }
    @Test("run() does not wait until a handler that threw would be called again", arguments: [true, false])
    func pausedEnd(isKeyed: Bool) async throws {
        let desk = try await OrderDesk()
        try await desk.publish(1...1)
        let notices = Log<Notice>()
        let relay = try desk.impatientRelay(pauses: [.seconds(86_400)], patience: .seconds(86_400)) { notices.add($0) }
        var key: (@Sendable (OrderPlaced) -> any Hashable & Sendable)?
        if isKeyed { key = { event in event.number } }
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .beginning, inOrderOf: key) { _ in
            throw Jammed()
        } onGap: { _ in
        }
        let ends = Log<Bool>()
        let running = Task {
            try await relay.run()
            ends.add(true)
        }
        #expect(await eventually { notices.count == 1 })
        running.cancel()
        #expect(await eventually { ends.count == 1 })
        // It did not end by its error.
        #expect(subscription.failure == nil && !subscription.isActive)
        try await desk.stop()
    }
    @Test("run() ends although a handler ignores its cancellation") func stubborn() async throws {
        let desk = try await OrderDesk()
        try await desk.publish(1...1)
        let door = Door()
        let relay = try desk.impatientRelay()
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .beginning) { _ in
            await door.pass()
        } onGap: { _ in
        }
        let running = Task { try await relay.run() }
        #expect(await eventually { await door.arrived == 1 })
        running.cancel()
        try await running.value
        #expect(!subscription.isActive)
        await door.open()
        try await desk.stop()
    }
    @Test("run() throws why the relay was invalidated, and ends when the relay is ended") func invalidated()
        async throws
    {
        let desk = try await OrderDesk()
        let stranger = try EventRelay(
            following: OrderDesk.name, on: desk.bus.bus, interfaces: Orders1.self,
            requiring: .user("daemon"), onNotice: { _ in })
        let error = await #expect(throws: RelayError.self) { try await stranger.run() }
        #expect(error?.code == .notPermitted)
        let relay = try desk.relay()
        let running = Task { try await relay.run() }
        try await relay.ready()
        relay.invalidate()
        try await running.value
        try await desk.stop()
    }
    @Test(
        "a gap's handler on an actor of its own is not called after cancel() there", .serialized,
        arguments: ["plain", "awaited", "keyed"])
    func cancelledApart(kind: String) async throws {
        let desk = try await OrderDesk()
        let relay = try desk.relay()
        let (calls, holder) = (Log<Gap>(), Holder<Subscription>())
        // A gap first, as the journal does not know the run.
        let start = StreamPosition.after(epoch: 12_345, sequence: 100)
        LateActor.executor.hold()
        let onGap: @isolated(any) @Sendable (Gap) -> Void = { @LateActor gap in calls.add(gap) }
        switch kind {
        case "plain":
            holder.hold(try relay.subscribe(to: OrderPlaced.self, from: start, { @MainActor _ in }, onGap: onGap))
        case "awaited":
            holder.hold(
                try relay.subscribe(to: OrderPlaced.self, from: start) { @MainActor _ in
                    await Task.yield()
                } onGap: { @LateActor gap in
                    calls.add(gap)
                    await Task.yield()
                })
        default:
            holder.hold(
                try relay.subscribe(to: OrderPlaced.self, from: start, inOrderOf: \.number) { @MainActor _ in
                    await Task.yield()
                } onGap: { @LateActor gap in
                    calls.add(gap)
                    await Task.yield()
                })
        }
        relay.activate()
        // The gap waits for its actor, where somebody else is first.
        #expect(await eventually { LateActor.executor.count == 1 })
        let cancelling = Task { @LateActor in holder.value?.cancel() }
        #expect(await eventually { LateActor.executor.count == 2 })
        LateActor.executor.releaseNewestFirst()
        await cancelling.value
        // Behind all that was there for the actor.
        await Task { @LateActor in }.value
        #expect(calls.count == 0 && holder.value?.isActive == false)
        holder.hold(nil)
        try await desk.stop()
    }
    @Test("a gap is given to a handler that may fail, as an event is") func gaps() async throws {
        let desk = try await OrderDesk()
        try await desk.publish(1...1)
        let relay = try desk.impatientRelay()
        let gaps = Log<Gap>()
        let subscription = try relay.subscribe(
            to: Orders1.self, from: .after(epoch: 12_345, sequence: 100)
        ) { _ in
            await Task.yield()
        } onGap: { gap in
            gaps.add(gap)
            throw Jammed()
        }
        relay.activate()
        #expect(await eventually { !subscription.isActive })
        #expect(subscription.failure is Jammed && gaps.count == 3)
        #expect(Set(gaps.values).count == 1)
        try await desk.stop()
    }
    @Test("handlers of one key come in order, those of several keys at the same time") func keys() async throws {
        let desk = try await OrderDesk()
        let relay = try desk.relay()
        let (door, done) = (Door(), Log<Orders1>())
        // An order is shipped after it was placed, whatever becomes of the others.
        let subscription = try relay.subscribe(to: Orders1.self, from: .beginning, inOrderOf: { $0.number }) { event in
            if event.number == 1 { await door.pass() }
            done.add(event)
        } onGap: { _ in
        }
        relay.activate()
        try await desk.publish(1...10)
        #expect(await eventually { done.count == 18 })
        #expect(!done.values.contains { $0.number == 1 })
        for number in Int64(2)...10 {
            #expect(done.values.filter { $0.number == number } == OrderDesk.events(number...number))
        }
        await door.open()
        #expect(await eventually { done.count == 20 })
        #expect(Array(done.values.suffix(2)) == OrderDesk.events(1...1))
        withExtendedLifetime(subscription) {}
        try await desk.stop()
    }
    @Test("with keys, the position is at the lowest event that is not handled") func keyedPosition() async throws {
        let desk = try await OrderDesk()
        let folder = try TestFolder()
        try await desk.publish(1...5)
        let (door, done) = (Door(), Log<Int64>())
        let relay = try desk.relay(cursors: folder.path)
        let subscription = try relay.subscribe(
            to: OrderPlaced.self, from: .resuming("box"), inOrderOf: \.number
        ) { event in
            if event.number == 3 { await door.pass() }
            try Task.checkCancellation()
            done.add(event.number)
        } onGap: { _ in
        }
        relay.activate()
        #expect(await eventually { done.count == 4 })
        subscription.cancel()
        await door.open()
        let later = try await desk.numbersLater(cursors: folder.path, upTo: 5)
        #expect(later == [3, 4, 5] && done.values.sorted() == [1, 2, 4, 5])
        try await desk.stop()
    }
    @Test("a keyed handler that throws once too often ends the subscription") func keyedFailure() async throws {
        let desk = try await OrderDesk()
        let relay = try desk.impatientRelay()
        let subscription = try relay.subscribe(to: OrderPlaced.self, from: .beginning, inOrderOf: \.number) { event in
            if event.number == 2 { throw Jammed() }
        } onGap: { _ in
        }
        try await desk.publish(1...3)
        await #expect(throws: Jammed.self) { try await relay.run() }
        #expect(subscription.failure is Jammed)
        try await desk.stop()
    }
    @Test("an object that is released is reported once, and its subscription ends") func released() async throws {
        let desk = try await OrderDesk()
        let notices = Log<Notice>()
        let relay = try EventRelay(
            following: OrderDesk.name, on: desk.bus.bus, interfaces: Orders1.self, onNotice: { notices.add($0) })
        for _ in 0..<2 {
            try relay.subscribe(Released(), to: Orders1.self) { _, _ in
            } onGap: { _, _ in
            }
            relay.publisher.subscribe(Released(), to: OrderPlaced.self) { _, _ in
            } onGap: { _, _ in
            }
        }
        relay.activate()
        try await relay.ready()
        try await desk.publish(1...2)
        #expect(await eventually { notices.count > 0 })
        try await relay.barrier()
        #expect(notices.values.map(\.kind) == [.subscriberReleased])
        #expect(notices.values[0].message.contains("Released was released"))
        try await desk.stop()
    }
    @Test("what is neither an event nor an interface is refused") func neither() throws {
        struct Odd: Subscribable {}
        let relay = try EventRelay(following: OrderDesk.name, on: .session, interfaces: Orders1.self)
        let error = #expect(throws: RelayError.self) { try relay.events(of: Odd.self) }
        #expect(error?.code == .invalidArgument && error?.message.contains("Odd") == true)
    }
    @Test("a domain event that the relay does not follow is a notice, once") func notFollowed() async throws {
        let notices = Log<Notice>()
        let relay = try EventRelay(
            following: OrderDesk.name, on: .session, interfaces: Orders1.self, onNotice: { notices.add($0) })
        let subscriptions = (0..<3).map { _ in
            relay.publisher.subscribe(to: Booked.self) { _ in
            } onGap: { _ in
            }
        }
        #expect(await eventually { notices.count == 1 })
        #expect(notices.values[0].kind == .notFollowed && notices.values[0].message.contains("Booked"))
        withExtendedLifetime(subscriptions) {}
    }
}

private final class Released: Sendable {}

extension Orders1 {
    fileprivate var number: Int64 {
        switch self {
        case .placed(let order): order.number
        case .shipped(let order): order.number
        }
    }
}
