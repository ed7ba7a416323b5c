import CDBus
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// What the daemons tell of what they hold: each in its own way, and both exactly enough.
@Suite("The figures that bus daemons report", .heavy) struct BusFiguresTests {
    enum Kind: CaseIterable {
        case daemon, broker
        func bus() throws -> PrivateBus {
            switch self {
            case .daemon: try PrivateBus(limits: .builtIn)
            case .broker: try PrivateBus(brokerWith: 64 << 20)
            }
        }
        var source: BacklogEstimator.Source { self == .daemon ? .sender : .users }
    }
    private static let signal = MessageHeader.signal(path: "/x", interface: "org.example.Flood1", member: "Poured")

    private func figures(_ sender: BusStranger, _ source: BacklogEstimator.Source) async throws -> BusFigures {
        let question = try BusFigures.question(to: source, by: sender.connection.uniqueName)
        return try BusFigures(try await sender.connection.call(question), from: source)
    }

    @Test("the bytes that one subscriber does not take are told, until it has taken them", arguments: Kind.allCases)
    func held(_ kind: Kind) async throws {
        let bus = try kind.bus()
        let sender = try await BusStranger.join(bus.bus)
        // Blocks on its own, so that nobody reads what comes for it.
        let stopped = try RawPeer(bus.address)
        dbus_bus_add_match(stopped.pointer, "interface='org.example.Flood1'", nil)
        dbus_connection_flush(stopped.pointer)
        let before = try await figures(sender, kind.source)
        let payload = DBusValue.bytes([UInt8](repeating: 7, count: 100_000))
        for _ in 0..<100 { try sender.send(signal: Self.signal, [payload]) }
        let full = try await figures(sender, kind.source)
        // Less what the sockets hold; more by what each message costs.
        #expect(9_000_000..<10_500_000 ~= full.held - before.held)
        #expect(full.room == (kind == .broker ? 64 << 20 : nil))
        var taken = 0
        while taken < 100, dbus_connection_read_write(stopped.pointer, 10_000) != 0 {
            while let message = dbus_connection_pop_message(stopped.pointer) {
                if dbus_message_is_signal(message, "org.example.Flood1", "Poured") != 0 { taken += 1 }
                dbus_message_unref(message)
            }
        }
        #expect(taken == 100)
        #expect(try await eventually { try await figures(sender, kind.source).held < before.held + 10_000 })
    }
    @Test("what does not tell, or not this, is a mismatch or a refusal, and no figure", arguments: Kind.allCases)
    func silent(_ kind: Kind) async throws {
        let bus = try kind.bus()
        let sender = try await BusStranger.join(bus.bus)
        let other: BacklogEstimator.Source = kind == .daemon ? .users : .sender
        await #expect(throws: RelayError.self) { try await figures(sender, other) }
        for source in BacklogEstimator.Source.allCases {
            let bodies: [(String, [UInt8])] = [("", []), ("a{sv}", [0, 0, 0, 0, 0, 0, 0, 0]), ("u", [1, 0, 0, 0])]
            for (signature, body) in bodies {
                let reply = BusReply(sender: ":1.0", signature: signature, body: body)
                let error = #expect(throws: RelayError.self) { try BusFigures(reply, from: source) }
                #expect(error?.code == .schemaMismatch)
            }
        }
    }
    @Test("of several users the one with most waiting counts, and the least room") func users() throws {
        func user(_ id: UInt32, free: UInt32, of room: UInt32) -> DBusValue {
            let slots: [DBusValue] = [("Objects", 1, 2), ("Bytes", free, room)].map {
                .structure([.string($0.0), .uint32($0.1), .uint32($0.2)])
            }
            return .structure([.uint32(id), .array(slots[0].type, slots), .array(.uint32, [])])
        }
        let users = [user(0, free: 90, of: 100), user(1, free: 30, of: 100), user(2, free: 70, of: 80)]
        let answer = DBusValue.dictionary(
            .dictionary(.string, .variant),
            [
                DBusValue.Entry(
                    key: .string("org.bus1.DBus.Debug.Stats.UserAccounting"),
                    value: .variant(.array(users[0].type, users)))
            ])
        var body = WireWriter()
        try DBusValue.encode([answer], into: &body)
        let reply = BusReply(sender: "org.freedesktop.DBus", signature: "a{sv}", body: body.bytes)
        let figures = try BusFigures(reply, from: .users)
        #expect(figures.held == 70 && figures.room == 80)
    }
}
