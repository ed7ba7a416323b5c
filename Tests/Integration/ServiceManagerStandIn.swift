import RelayCore
import RelayTestKit
import Synchronization
import RelayWire

/// What answers in systemd's place on a bus: one unit, in the state that a test says.
final class ServiceManagerStandIn: BusHandler {
    static let name = "org.freedesktop.systemd1"
    private let unit: String
    private let properties: Mutex<[String: DBusValue]>
    private let connections = Mutex<BusConnection?>(nil)
    private let asked = Mutex<[String]>([])
    private let loop: BusLoop

    private init(_ unit: String, _ properties: [String: DBusValue]) throws {
        self.unit = unit
        self.properties = Mutex(properties)
        loop = try BusLoop(name: "manager")
    }
    /// Takes systemd's name on a bus.
    static func join(_ bus: Bus, unit: String, _ properties: [String: DBusValue]) async throws -> ServiceManagerStandIn
    {
        let manager = try ServiceManagerStandIn(unit, properties)
        let connection = try await BusConnection.connect(to: bus, on: manager.loop, handler: manager)
        manager.connections.withLock { $0 = connection }
        var body = WireWriter()
        try body.string(name)
        body.uint32(4)
        _ = try await connection.call(.toBus("RequestName", try Signature("su"), body: body.bytes))
        return manager
    }
    deinit { loop.stop() }

    /// The methods that were called.
    var calls: [String] { asked.withLock { $0 } }
    func set(_ properties: [String: DBusValue]) { self.properties.withLock { $0 = properties } }

    func methodCall(_ call: IncomingCall) {
        guard let connection = connections.withLock({ $0 }) else { return }
        asked.withLock { $0.append(call.member) }
        var body = WireWriter()
        switch call.member {
        case "GetUnit" where String(decoding: call.body, as: UTF8.self).contains(unit):
            guard (try? body.objectPath("/org/freedesktop/systemd1/unit/it")) != nil,
                let signature = try? Signature("o")
            else { return }
            connection.reply(to: call, signature, body: body.bytes)
        case "GetAll":
            let entries = properties.withLock { properties in
                properties.map { DBusValue.Entry(key: .string($0.key), value: .variant($0.value)) }
            }
            let value = DBusValue.dictionary(.dictionary(.string, .variant), entries)
            guard (try? DBusValue.encode([value], into: &body)) != nil, let signature = try? Signature("a{sv}") else {
                return
            }
            connection.reply(to: call, signature, body: body.bytes)
        default: connection.fail(call, "\(Self.name).NoSuchUnit", "Unit not loaded.")
        }
    }
    func signal(_ message: borrowing ReceivedMessage) {}
    func disconnected(_ reason: RelayError) {}
}
