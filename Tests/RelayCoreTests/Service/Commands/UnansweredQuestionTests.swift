import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

/// Calls that want no reply, and of which nothing but the reply would come.
@Suite("Questions that want no answer", .heavy, .tags(.g4)) struct UnansweredQuestionTests {
    private func question(_ interface: String, _ member: String, _ values: [DBusValue] = []) throws -> MethodCall {
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        return MethodCall(
            to: Desk.name, path: Desk.path, interface: interface, member: member,
            signature: try DBusValue.signature(of: values), body: body.bytes, flags: .noReplyExpected)
    }

    @Test("G4: they are dropped before any work, and take no place from calls that are answered") func dropped()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        let standing = try peer.begin(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)])
        #expect(await eventually { desk.notes == ["wait 1"] })
        // More than may wait behind the command that runs.
        for _ in 1...100 {
            peer.connection.send(try question(Stream1.name, "Status")) { _ in }
            peer.connection.send(try question(Stream1.name, "Contract")) { _ in }
            peer.connection.send(try question("org.freedesktop.DBus.Introspectable", "Introspect")) { _ in }
            peer.connection.send(try question("org.freedesktop.DBus.Peer", "Ping")) { _ in }
        }
        let echo = try peer.begin(Desk.name, Desk.path, Desk1.name, "Echo", [.string("x")])
        await desk.open(1)
        #expect(try await echo.value == [.string("x")])
        _ = try await standing.value
        #expect(desk.service.metrics.streams.map(\.limitsExceeded) == [0])
        // A command runs all the same.
        peer.connection.send(
            try question(Desk1.name, "Echo", [.string("unanswered")])
        ) { _ in }
        #expect(await eventually { desk.notes.contains("echo unanswered") })
        try await desk.stop()
    }
    @Test("G4: what Introspect answers is made once for each path, folders included") func rendered() throws {
        let interface = try ExportedInterface(InterfacePlan(Desk1.self), number: 0, logIndex: nil)
        let contract = try ExportedContract([interface]).id
        let tree = ObjectTree([interface], contract)
        for path in ["/", "/org", "/org/example", Desk.path, contract.path(of: Desk.path)] {
            let bodies = (1...2).compactMap { _ in tree.place(at: path)?.introspection }
            try #require(bodies.count == 2, "\(path)")
            let places = bodies.map { $0.withUnsafeBytes { $0.baseAddress } }
            #expect(places[0] == places[1])
        }
        for path in ["/or", "/org/", "/org/example/Desk1/x", "/org/example/Desk2"] {
            #expect(tree.place(at: path) == nil)
        }
    }
    @Test("G4: a question that waits counts for its caller's user") func counted() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        _ = try await peer.call(Desk.name, Desk.path, Stream1.name, "Status")
        let core = desk.service.core
        let user = core.loop.withTurn { core.directory.state.onLoop.known[peer.connection.uniqueName]?.userID }
        #expect(user == geteuid())
        try await desk.stop()
    }
}
