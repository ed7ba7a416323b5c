import RelayTestKit
import Testing

@testable import RelayCore
import RelayWire

/// A service with a volatile and a durable interface that have documents, and peers that are none of ours.
final class Office: Sendable {
    static let name = "org.example.Office"
    static let properties = "org.freedesktop.DBus.Properties"
    let bus: PrivateBus
    let log: MemoryLog
    let service: EventService
    let peer: BusStranger
    private let running: Task<Void, any Error>

    /// - Parameter prepare: sets handlers.
    init(
        _ bus: PrivateBus? = nil, _ log: MemoryLog = MemoryLog(),
        exporting others: [any EventInterface.Type] = [], _ prepare: (EventService) throws -> Void = { _ in }
    ) async throws {
        let bus = try bus ?? PrivateBus()
        (self.bus, self.log) = (bus, log)
        peer = try await BusStranger.join(bus.bus)
        for interface in [Self.properties, Office1.name, Archive1.name] { try await peer.listen(interface) }
        let interfaces: [any EventInterface.Type] = [Office1.self, Archive1.self] + others
        let service = try EventService(Self.name, bus.bus, interfaces, journal: log) { _ in }
        self.service = service
        service.handle(Echoing.self) { _, _ in }
        try prepare(service)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
    }
    func stop() async throws {
        running.cancel()
        try await running.value
    }
    /// The service's next run, with what its log has.
    func restarted() async throws -> Office {
        try await stop()
        return try await Office(bus, log.reopened())
    }

    func call(_ interface: String, _ member: String, _ values: [DBusValue], of object: String) async throws
        -> [DBusValue]
    {
        try await peer.call(Self.name, Stream1.path(of: object), interface, member, values)
    }
    func refusal(
        _ interface: String, _ member: String, _ values: [DBusValue], of object: String, by other: BusStranger? = nil
    ) async -> String? {
        await (other ?? peer).refusal(Self.name, Stream1.path(of: object), interface, member, values)?.name
    }
    func property(_ name: String, of interface: String) async throws -> DBusValue? {
        let values = try await call(Self.properties, "Get", [.string(interface), .string(name)], of: interface)
        if case .variant(let value)? = values.first { return value }
        return nil
    }
    func snapshot(_ name: String, of interface: String) async throws -> DocumentSnapshot {
        let request = MethodCall(
            to: Self.name, path: Stream1.path(of: interface), interface: Stream1.name, member: "GetDocument",
            signature: try Signature("s"), body: try Self.body([.string(name)]))
        return try await peer.connection.call(request).read(Stream1.documentSignature) {
            try Stream1.readDocument(&$0)
        }
    }
    static func body(_ values: [DBusValue]) throws -> [UInt8] {
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        return body.bytes
    }
    /// The states that a peer was notified of, by the document's name, in their order.
    func changes(_ peer: BusStranger? = nil) -> [(name: String, state: DBusValue)] {
        (peer ?? self.peer).signals.filter { $0.member == "PropertiesChanged" }.compactMap { signal in
            guard case .dictionary(_, let entries) = signal.values[1], case .string(let name)? = entries.first?.key,
                case .variant(let state)? = entries.first?.value
            else { return nil }
            return (name, state)
        }
    }
}
