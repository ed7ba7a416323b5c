import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore
import RelayWire

enum Ledger1: EventInterface {
    static let name = "org.example.Ledger1"
    static var contract: Contract<Self> {
        Booked.self
        Struck.self
        Book.self
        Broken.self
    }
}
struct Booked: DomainEvent, Equatable {
    typealias Interface = Ledger1
    var number: Int64, text: String
}
struct Struck: DomainEvent, Equatable {
    typealias Interface = Ledger1
    var number: Int64
}
/// Publishes, and answers what that threw.
struct Book: Command {
    typealias Interface = Ledger1
    var number: Int64
}
/// Fails with the code that it is given.
struct Broken: Command {
    typealias Interface = Ledger1
    var code: String
}

/// A service with a durable interface, and a peer that is none of ours.
final class DurableDesk: Sendable {
    static let name = "org.example.Ledger"
    static let path = Stream1.path(of: Ledger1.name)
    let bus: PrivateBus
    let log: MemoryLog
    let service: EventService
    let peer: BusStranger
    let notices = NoticeRecorder()
    private let running: Task<Void, any Error>

    init(_ bus: PrivateBus? = nil, _ log: MemoryLog = MemoryLog()) async throws {
        let bus = try bus ?? PrivateBus()
        (self.bus, self.log) = (bus, log)
        peer = try await BusStranger.join(bus.bus)
        for interface in [Ledger1.name, Stream1.name] { try await peer.listen(interface) }
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Ledger1.self, Plain1.self, journal: log, onNotice: notices.record)
        self.service = service
        service.handle(Book.self) { command, _ in try await service.publish(Booked(number: command.number, text: "")) }
        service.handle(Broken.self) { command, _ in throw RelayError(.init(rawValue: command.code), "as told") }
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
    }
    func end() async throws { try await running.value }
    func cancel() { running.cancel() }
    func stop() async throws {
        cancel()
        try await end()
    }
    /// The service's next run, with what its log has.
    func restarted() async throws -> DurableDesk {
        try await stop()
        return try await DurableDesk(bus, log.reopened())
    }

    func stream(_ member: String, _ values: [DBusValue] = []) async throws -> [DBusValue] {
        try await peer.call(Self.name, Self.path, Stream1.name, member, values)
    }
    func attach(
        _ epoch: UInt64 = 0, after: UInt64 = 0, _ names: [String] = ["*"], options: DBusValue = AttachOptions().value
    ) async throws -> RelayCore.Attachment {
        let names = DBusValue.array(.string, names.map { .string($0) })
        return try Self.attachment(await stream("Attach", [.uint64(epoch), .uint64(after), names, options]))
    }
    static func attachment(_ values: [DBusValue]) throws -> RelayCore.Attachment {
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        return try body.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try Stream1.readAttachment(&reader)
        }
    }
    func read(
        after: UInt64, limit: UInt32 = 0, _ names: [String] = ["*"], by peer: BusStranger? = nil
    ) async throws -> ReadPage {
        try await ReadPage((peer ?? self.peer).connection.call(Self.request(after: after, limit: limit, names)))
    }
    static func request(
        after: UInt64, limit: UInt32 = 0, _ names: [String] = ["*"], of interface: String = Ledger1.name
    ) throws -> MethodCall {
        var body = WireWriter()
        try Stream1.write(StreamRead(names: names, after: after, limit: limit), into: &body)
        var call = MethodCall(
            to: name, path: Stream1.path(of: interface), interface: Stream1.name, member: "Read",
            signature: try Signature(Stream1.readSignature), body: body.bytes)
        call.isConfirmed = true
        return call
    }
    /// The sequences of the events that the peer has heard, in the order in which they came.
    var heard: [UInt64] {
        peer.signals.filter { ["Booked", "Struck"].contains($0.member) }.map { signal in
            guard case .uint64(let sequence) = signal.values[signal.values.count - 3] else { return 0 }
            return sequence
        }
    }
}

/// An answer of `Read`, taken apart.
struct ReadPage {
    struct Event: Equatable {
        let name: String
        let schema: UInt32
        let values: [DBusValue]
    }
    let page: StreamPage
    let events: [Event]
    /// The bytes of the answer.
    let count: Int

    init(_ reply: BusReply) throws {
        var events: [Event] = []
        page = try reply.read(Stream1.pageSignature) { reader in
            try Stream1.readPage(&reader) { event in
                let values = try DBusValue.decode(
                    signature: try Signature(event.signature), body: Array(reply.body[event.body]))
                events.append(Event(name: event.name, schema: event.schema, values: values))
            }
        }
        (self.events, count) = (events, reply.body.count)
    }
    var sequences: [UInt64] {
        events.map { if case .uint64(let sequence) = $0.values[$0.values.count - 3] { sequence } else { 0 } }
    }
}

extension Stream1 {
    /// Reads a single page, and calls `event` for each event in it.
    static func readPage(
        _ reader: inout WireReader, event: (StreamPage.Event) throws -> Void
    ) throws -> StreamPage {
        var pages = PageReader()
        return try pages.read(&reader, began: { _ in }, event: event)
    }
}
