public import RelayCore
public import RelayJournal

/// Takes the place of a journal's service, in tests of code that commits units of work, and in tests of the events that
/// a journal keeps.
///
/// A journal accepts only events of its service's interfaces. A stand-in is a service without a bus, handlers and
/// relays.
///
/// ```swift
/// let journal = try EventJournal(directory: folder.path)
/// let standIn = try await JournalStandIn(for: journal, exporting: Printing1.self)
/// try await store(job, in: journal)
/// #expect(try await standIn.events(of: JobPrinted.self).map(\.title) == ["Invitation"])
/// ```
///
/// - Order: that of the journal.
/// - Isolation: from any thread.
/// - Cancellation: the stand-in's release. A journal serves one service, once. Open it again for the next service.
public final class JournalStandIn: Sendable {
    private static let name = "org.eventrelay.StandIn"
    private let harness: TestHarness
    private let service: EventService

    /// Takes the place of a journal's service.
    ///
    /// - Parameter journal: a journal that has not served yet.
    /// - Parameter interfaces: the interfaces whose events may be published.
    /// - Parameter start: the time in the events' stamps, which stands still.
    /// - Throws: what `EventService` throws: `.conflict` for a journal that has served already, `.unsupportedType` for
    ///   what D-Bus cannot carry.
    public convenience init(
        for journal: EventJournal, exporting interfaces: any EventInterface.Type...,
        startingAt start: Timestamp = .now
    ) async throws {
        try await self.init(journal, interfaces, start)
    }
    /// Takes the place of the service of a log in memory.
    ///
    /// - Parameter log: a log that has not served yet.
    /// - Parameter interfaces: the interfaces whose events may be published.
    /// - Parameter start: the time in the events' stamps, which stands still.
    /// - Throws: what `EventService` throws: `.conflict` for a log that has served already, `.unsupportedType` for what
    ///   D-Bus cannot carry.
    public convenience init(
        for log: MemoryLog, exporting interfaces: any EventInterface.Type..., startingAt start: Timestamp = .now
    ) async throws {
        try await self.init(log, interfaces, start)
    }
    private init(_ journal: any EventLog, _ interfaces: [any EventInterface.Type], _ start: Timestamp) async throws {
        harness = TestHarness(startingAt: start)
        service = try EventService(Self.name, harness.bus, interfaces, journal: journal) { _ in }
        for interface in interfaces { Self.refuseCommands(of: interface, service) }
        try await harness.start(service)
    }
    private static func refuseCommands<I: EventInterface>(of interface: I.Type, _ service: EventService) {
        func refuse<C: Command>(_ type: C.Type) {
            let handler: @Sendable (C, CommandContext) async throws -> C.Reply = { _, _ in
                throw RelayError(.notFound, "\(C.name): nobody handles commands here")
            }
            service.handle(type, with: handler)
        }
        for command in interface.contract.commands { refuse(command) }
    }

    /// The events of an interface that the journal keeps, with their stamps, and a gap for the events that retention
    /// has removed.
    ///
    /// - Parameter interface: one of the exported interfaces.
    /// - Returns: the events and gaps, in order.
    /// - Throws: `.unsupportedType`, as any relay of the interface.
    public func deliveries<I: EventInterface>(in interface: I.Type) async throws -> [EventOrGap<any StreamEntry>] {
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: interface)
        let stream = try relay.events(in: interface, from: .beginning)
        relay.activate()
        defer { relay.invalidate() }
        var deliveries: [EventOrGap<any StreamEntry>] = []
        while true {
            try await harness.settle()
            let count = deliveries.count
            while let delivery = stream.poll() { deliveries.append(delivery) }
            // Each access makes room for the next page.
            if deliveries.count == count { return deliveries }
        }
    }
    /// The events of one type that the journal keeps, in order.
    ///
    /// - Parameter type: the type of event.
    /// - Returns: the events.
    /// - Throws: as ``deliveries(in:)``.
    public func events<E: StreamEntry>(of type: E.Type) async throws -> [E] {
        try await deliveries(in: E.Interface.self).compactMap { delivery in
            if case .event(let event, _) = delivery { event as? E } else { nil }
        }
    }
}
