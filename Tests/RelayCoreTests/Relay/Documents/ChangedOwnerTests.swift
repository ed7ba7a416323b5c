import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// A document as two versions of its service have it: with the same signature.
private enum OldShape1: EventInterface {
    static let name = "org.example.Shape1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Size.self }
    struct Size: DomainDocument, Equatable {
        typealias Interface = OldShape1
        var width: Int32, height: Int32
        static let initial = Self(width: 0, height: 0)
    }
}
private enum NewShape1: EventInterface {
    static let name = OldShape1.name
    static let durability = Volatile()
    static var contract: Contract<Self> { Size.self }
    struct Size: DomainDocument, Equatable {
        typealias Interface = NewShape1
        var height: Int32, width: Int32
        static let initial = Self(height: 0, width: 0)
    }
}

/// One run of the service, by hand. The first one gives its name up as soon as it has replied with its state.
private final class ShapeService: BusHandler {
    private struct State {
        var connection: BusConnection?
        var calls: [String] = []
    }
    private let name: String
    private let schema: EventSchema
    private let fields: [UInt8]
    private let leaves: Bool
    private let state = Mutex(State())
    private let loop: BusLoop

    private init(
        _ name: String, _ schema: EventSchema, _ first: Int32, _ second: Int32, leaves: Bool
    ) throws {
        (self.name, self.schema, self.leaves) = (name, schema, leaves)
        var writer = WireWriter()
        writer.int32(first)
        writer.int32(second)
        fields = writer.bytes
        loop = try BusLoop(name: "shape")
    }
    deinit { loop.stop() }

    /// Takes the name, or waits in line for it.
    static func start(
        _ name: String, on bus: Bus, _ schema: EventSchema, _ first: Int32, _ second: Int32, leaves: Bool = false
    ) async throws -> ShapeService {
        let service = try ShapeService(name, schema, first, second, leaves: leaves)
        let connection = try await BusConnection.connect(to: bus, on: service.loop, handler: service)
        service.state.withLock { $0.connection = connection }
        var body = WireWriter()
        try body.string(name)
        body.uint32(0)
        _ = try await connection.call(.toBus("RequestName", Signature("su"), body: body.bytes))
        return service
    }
    var calls: [String] { state.withLock { $0.calls } }

    func signal(_ message: borrowing ReceivedMessage) {}
    func disconnected(_ reason: RelayError) {}
    func methodCall(_ call: IncomingCall) {
        let connection = state.withLock { state in
            state.calls.append(call.member)
            return state.connection
        }
        var body = WireWriter()
        do {
            switch call.member {
            case "GetDocument":
                let snapshot = DocumentSnapshot(
                    version: DocumentVersion(epoch: 1, sequence: 0), schema: 0, signature: "(ii)", fields: fields)
                try Stream1.write(snapshot, into: &body)
                connection?.reply(to: call, try Signature(Stream1.documentSignature), body: body.bytes)
                if !leaves { return }
                var released = WireWriter()
                try released.string(name)
                connection?.send(.toBus("ReleaseName", try Signature("s"), body: released.bytes)) { _ in }
            case "Schemas":
                try Stream1.write([0: schema], into: &body)
                connection?.reply(to: call, try Signature(Stream1.schemasSignature), body: body.bytes)
            default: connection?.fail(call, ErrorNames.unknownMethod, call.member)
            }
        } catch {
            connection?.fail(call, ErrorNames.name(for: .internalFailure), "\(error)")
        }
    }
}

@Suite("A document whose service is replaced while it is read", .heavy, .tags(.g7)) struct ChangedOwnerTests {
    @Test("the state of one run is never read by the fields of the next") func upgrade() async throws {
        let bus = try PrivateBus()
        let old = EventSchema(event: "Size", fields: try WireCodec(event: OldShape1.Size.self).schema.fields)
        let new = EventSchema(event: "Size", fields: try WireCodec(event: NewShape1.Size.self).schema.fields)
        let expected = NewShape1.Size(height: 2, width: 1)
        // Nearly always in the first round: the name is given up before the next question comes.
        for round in 1...20 {
            let name = "org.example.Shape\(round)"
            let first = try await ShapeService.start(name, on: bus.bus, old, 1, 2, leaves: true)
            let second = try await ShapeService.start(name, on: bus.bus, new, 2, 1)
            let relay = try EventRelay(following: name, on: bus.bus, interfaces: NewShape1.self)
            relay.activate()
            do {
                #expect(try await relay.snapshot(of: NewShape1.Size.self).state == expected)
            } catch .unavailable {}
            #expect(first.calls.first == "GetDocument")
            let wasAsked = second.calls.first == "Schemas"
            if wasAsked {
                #expect(try await relay.snapshot(of: NewShape1.Size.self).state == expected)
                return
            }
        }
        Issue.record("the second run was never asked about the first one's state")
    }
}
