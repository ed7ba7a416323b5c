import Glibc
public import RelayCore
import Synchronization

/// Runs services and relays in one process, without a bus, for tests of the code on both sides.
///
/// Make services and relays as in a program, but pass the harness's ``bus`` as `on:`. Everything else works as in a
/// program: encoding, comparison of schemas, order, requirements, journal, commands and their errors.
///
/// ```swift
/// let harness = TestHarness()
/// let service = try EventService(
///     name: "org.example.Printer", on: harness.bus, exporting: Printing1.self, journal: MemoryLog())
/// service.handle(PrintJob.self) { job, _ in try await desk.print(job) }
/// try await harness.start(service)
///
/// let relay = try EventRelay(following: "org.example.Printer", on: harness.bus, interfaces: Printing1.self)
/// let recorder = EventRecorder(relay.publisher, of: Printing1.self)
/// relay.activate()
/// _ = try await relay.call(PrintJob(title: "Invitation", pages: 2))
/// try await harness.settle()
/// #expect(recorder.events(of: JobPrinted.self).map(\.title) == ["Invitation"])
/// ```
///
/// - Order: as on a bus. A reply comes after the events that were published before it.
/// - Isolation: from any thread. Harnesses share nothing, so tests can run in parallel.
/// - Loss: none, except by ``loseEvents(_:of:)``. Every event travels as a signal, and a harness has no budget for
///   signals and no rings.
/// - Cancellation: releasing the harness stops its services and ends its relays' connections.
public final class TestHarness: Sendable {
    private struct Run {
        let service: EventService
        let task: Task<Void, any Error>
    }
    private let link: InProcessBus
    private let runs = Mutex<[Run]>([])
    /// How long ``settle(within:)`` and ``advance(by:)`` wait before they fail.
    private let limit: Duration

    /// A harness without services and relays.
    ///
    /// - Parameter start: the harness's time at the beginning: 2026-01-01, 00:00 UTC, unless given.
    /// - Parameter limit: how long to wait for what does not come, before the test fails: 30 seconds, or as many as
    ///   `RELAY_TEST_LIMIT` says, unless given.
    public init(
        startingAt start: Timestamp = Timestamp(microseconds: 1_767_225_600_000_000), limit: Duration = .testLimit
    ) {
        link = InProcessBus(ManualClock(startingAt: start))
        self.limit = limit
    }
    deinit {
        for run in runs.withLock({ $0 }) { run.task.cancel() }
        link.end()
    }

    /// The bus for `on:` of services and relays.
    ///
    /// For requirements, peers that connect to it have the test's own user.
    public var bus: Bus { bus(user: getuid()) }
    /// The same bus for a peer of another user, for tests of requirements.
    ///
    /// - Parameter user: the user that a peer made with it runs as.
    /// - Parameter groups: the peer's groups.
    public func bus(user: UInt32, groups: [UInt32] = []) -> Bus {
        .link(LinkedBus(link, userID: user, groupIDs: groups))
    }

    /// Answers in polkit's place, for requirements with `.polkit(action:)`. Without this, calls with such a requirement
    /// fail with `.unavailable`. Calling this again acts as a change of polkit's rules: peers that are no longer
    /// permitted receive no more events.
    ///
    /// ```swift
    /// harness.polkit { action, user in action == "org.example.printer.follow" || user == 0 }
    /// ```
    ///
    /// - Parameter permits: returns whether a user may perform an action. It is called for each question, on any
    ///   thread.
    public func polkit(_ permits: @escaping @Sendable (_ action: String, _ user: UInt32) -> Bool) {
        link.permit(permits)
    }

    // MARK: Services

    /// Runs a service until ``stop(_:)``, or the harness's release. Returns when the service owns its name.
    ///
    /// - Parameter service: the service, made `on:` ``bus``.
    /// - Throws: what `EventService.run` throws before it is ready: `.notFound` for a command without a handler,
    ///   `.conflict` for a name that another service of this harness owns. `.invalidArgument` for a service of another
    ///   bus.
    public func start(_ service: EventService) async throws {
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let wasReady = Mutex(false)
        let task = Task {
            defer { isReady.finish() }
            try await service.run {
                wasReady.withLock { $0 = true }
                isReady.finish()
            }
        }
        for await _ in ready {}
        guard wasReady.withLock({ $0 }) else {
            task.cancel()
            return try await task.value
        }
        if link.owner(of: service.name) == nil {
            task.cancel()
            try await task.value
            throw RelayError(.invalidArgument, "\(service.name) is on another bus: make it with `on: harness.bus`")
        }
        runs.withLock { $0.append(Run(service: service, task: task)) }
    }
    /// Ends a service as a program does: the service finishes running commands, announces `End`, and releases the name.
    ///
    /// - Parameter service: a service that this harness started; any other is ignored.
    /// - Throws: what `EventService.run` throws at the end.
    public func stop(_ service: EventService) async throws {
        let run = runs.withLock { runs in
            runs.firstIndex { $0.service === service }.map { runs.remove(at: $0) }
        }
        run?.task.cancel()
        try await run?.task.value
    }

    // MARK: Time

    /// The harness's time. `publishedAt`, timeouts and all delays of services and relays follow it.
    ///
    /// The time stands still until ``advance(by:)``. It does not control the system's clock or `Task.sleep`.
    public var now: Timestamp { link.clock.timestamp }
    /// Advances the time, from one due moment to the next, and returns when all due work has been done.
    ///
    /// It does not wait for a handler that does not return, so a call can time out:
    ///
    /// ```swift
    /// let call = Task { try await relay.call(Ponder(), timeout: .seconds(5)) }
    /// #expect(await eventually { await harness.isCalling })
    /// try await harness.advance(by: .seconds(5))
    /// ```
    ///
    /// - Parameter duration: how far to advance.
    /// - Throws: `.cancelled` if the task is cancelled.
    public func advance(by duration: Duration) async throws {
        let clock = link.clock
        let end = MonotonicClock.deadline(after: duration, from: clock.now)
        repeat {
            try await wait(within: limit, for: "due work") { clock.isIdle ? nil : "a thread is busy" }
        } while clock.step(to: end)
        try await wait(within: limit, for: "due work") { clock.isIdle ? nil : "a thread is busy" }
    }

    // MARK: Waiting, and faults

    /// Waits until nothing is under way: everything that was published, called or committed has arrived, and the
    /// handlers that received it have returned.
    ///
    /// So a test can assert that nothing arrives:
    ///
    /// ```swift
    /// try service.publish(Heartbeat())
    /// try await harness.settle()
    /// #expect(alarms.isEmpty)
    /// ```
    ///
    /// It waits for the services and relays on this harness, and for their subscribers: closures, objects and actors of
    /// the relay's publisher, handlers of positioned subscriptions, and loops over streams: each has to ask for the next
    /// event, or to end. It also waits until the queries of followed states (`EventRelay.follow`) have succeeded or failed.
    /// It does not wait for tasks that the tested code starts, or for a pollable target. An iterator that you hold counts as
    /// a loop.
    ///
    /// - Parameter limit: how long to wait; the harness's limit unless given.
    /// - Throws: `.timedOut` with what is still under way. `.cancelled` if the task is cancelled.
    public func settle(within limit: Duration? = nil) async throws {
        try await wait(within: limit ?? self.limit, for: "quiet") { unsettled }
    }
    /// Whether a call waits for its handler, and nothing else is under way.
    ///
    /// Wait for this before you advance the time, because the call's timeout has begun by then.
    public var isCalling: Bool {
        get async { link.clock.isIdle && link.connections.contains { $0.isCalling } && link.clock.isIdle }
    }
    private var unsettled: String? {
        if !link.clock.isIdle { return "a thread is busy" }
        for connection in link.connections {
            if let reason = connection.unsettled { return reason }
        }
        return nil
    }
    /// Until there is no reason to wait at two looks, between which nothing was done.
    private func wait(
        within limit: Duration, for what: String, _ reason: () -> String?
    ) async throws {
        let deadline = ContinuousClock.now + limit
        var pause = Duration.microseconds(20)
        var quiet: UInt64?
        while true {
            // Tasks that the caller has just made come first.
            await Task.yield()
            let activity = link.clock.activity
            let rest = reason()
            if rest == nil, quiet == activity, link.clock.activity == activity { return }
            quiet = rest == nil ? activity : nil
            if Task.isCancelled { throw RelayError(.cancelled, "the task was cancelled while it waited for \(what)") }
            if let rest, ContinuousClock.now >= deadline {
                throw RelayError(.timedOut, "no \(what) within \(limit): \(rest)")
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(5))
        }
    }
    /// Drops the next events of an interface on their way to the relays, as a transport might.
    ///
    /// A relay detects the loss when the next event arrives, or when the time is advanced by 2 s. It then reads the
    /// missing events from the journal. On a volatile interface they are a gap.
    ///
    /// - Parameter count: how many.
    /// - Parameter interface: the interface.
    public func loseEvents<I: EventInterface>(_ count: Int, of interface: I.Type) {
        link.lose(count, of: I.name)
    }
    /// Ends the connections of all services and relays, as when a bus goes away. Services end; relays reconnect after a
    /// delay, for which you call ``advance(by:)``.
    public func breakConnections() { link.end() }
}
