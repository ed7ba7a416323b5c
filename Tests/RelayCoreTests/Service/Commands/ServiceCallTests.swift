import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("Calls at a service", .heavy) struct ServiceCallTests {
    private static let standard = "org.freedesktop.DBus.Error."

    @Test("what is unknown is refused by the standard names") func unknown() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        func name(_ path: String, _ interface: String, _ member: String, _ values: [DBusValue] = []) async -> String? {
            await peer.refusal(Desk.name, path, interface, member, values)?.name
        }
        #expect(await name("/nowhere", "org.example.Desk1", "Echo") == Self.standard + "UnknownObject")
        #expect(await name(Desk.path, "org.example.Desk2", "Echo") == Self.standard + "UnknownInterface")
        #expect(await name(Desk.path, "org.example.Desk1", "Ech") == Self.standard + "UnknownMethod")
        #expect(await name("/org/example", "org.example.Desk1", "Echo") == Self.standard + "UnknownInterface")
        let properties = "org.freedesktop.DBus.Properties"
        let stream = DBusValue.string(Stream1.name)
        func get(_ interface: DBusValue, _ property: String) async -> String? {
            await name(Desk.path, properties, "Get", [interface, .string(property)])
        }
        #expect(await get(stream, "Epoch") == nil)
        #expect(await get(.string(""), "Epoch") == nil)
        #expect(await get(stream, "Epich") == Self.standard + "UnknownProperty")
        #expect(await get(.string("a.b"), "Epoch") == Self.standard + "UnknownInterface")
        let set = [stream, .string("Epoch"), .variant(.uint64(1))]
        #expect(await name(Desk.path, properties, "Set", set) == Self.standard + "PropertyReadOnly")
        #expect(await name(Desk.path, properties, "Get", [stream]) == Self.standard + "InvalidArgs")
        let long = [DBusValue.string(String(repeating: "x", count: 1_000_000)), .string("y")]
        let error = await peer.refusal(Desk.name, Desk.path, properties, "Get", long)
        #expect(error?.name == Self.standard + "UnknownInterface")
        #expect((error?.message.utf8.count ?? .max) < 4_096, "an answer is not as long as who asks likes")
        try await desk.stop()
    }
    @Test("arguments of the wrong types are refused by the name of the field") func wrongSignature() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        let error = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Wait", [.string("1"), .boolean(true)])
        #expect(error?.name == Self.standard + "InvalidArgs")
        #expect(error?.message == "Wait takes (number: x); field 'number' came as 's' instead of 'x'")
        #expect(desk.notes == [])
        try await desk.stop()
    }
    @Test("a call that names no interface, or wants no answer, is carried out") func loose() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        var body = WireWriter()
        try body.string("quiet")
        let header = MessageHeader.methodCall(
            path: Desk.path, interface: nil, member: "Echo", destination: Desk.name, signature: try Signature("s"),
            flags: .noReplyExpected)
        try peer.connection.send(header, body: body.bytes)
        #expect(await eventually { desk.notes == ["echo quiet"] })
        #expect(try await peer.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("loud")]) == [.string("loud")])
        #expect(peer.connection.strayReplies == 0)
        try await desk.stop()
    }
    @Test("a handler's errors reach the caller by name, and nothing of what lies beneath") func handlerErrors()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        func error(_ how: String) async -> RemoteError? {
            await peer.refusal(Desk.name, Desk.path, Desk1.name, "Fail", [.string(how)])
        }
        #expect(await error("declared") == RemoteError(name: "org.example.Desk1.Error.Declared", message: "as agreed"))
        #expect(await error("bad name")?.name == "org.eventrelay.Error.Internal")
        #expect(await error("bad text")?.name == "org.example.Desk1.Error.Declared")
        #expect(await error("long text")?.name == "org.example.Desk1.Error.Declared")
        #expect(await error("relay")?.name == "org.eventrelay.Error.Conflict")
        #expect(await error("relay")?.message.contains("secret") == false)
        #expect(await error("cancelled")?.name == "org.eventrelay.Error.Internal")
        #expect(await error("other")?.name == "org.eventrelay.Error.Internal")
        let restricted = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Restricted")
        #expect(restricted?.name == "org.eventrelay.Error.NotPermitted")
        #expect(restricted?.message.contains("user 'no such user'") == true)
        try await desk.stop()
    }
    @Test("an error that a command does not declare is reported by its kind, and handed to the service's program whole")
    func failures() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        for how in ["declared", "relay", "other", "bad name"] {
            _ = await peer.refusal(Desk.name, Desk.path, Desk1.name, "Fail", [.string(how)])
        }
        #expect(await eventually { desk.notices.all(of: .commandFailed).count == 3 })
        try await desk.stop()
        let notices = desk.notices.all(of: .commandFailed)
        let name = peer.connection.uniqueName
        #expect(
            notices.map(\.message) == [
                "Fail of \(name) failed in the service: Conflict",
                "Fail of \(name) failed in the service: SystemError 5",
                "Fail of \(name) failed in the service: Refusal",
            ])
        #expect(notices.map(\.subject.code) == [.conflict, .internalFailure, .internalFailure])
        #expect(notices.allSatisfy { $0.subject.peer == name && $0.subject.interface == Desk1.name })
        #expect((notices.first?.cause as? RelayError)?.message == "a secret path")
    }
    @Test("the kinds of an error and its causes have no text of theirs, and an end") func kinds() {
        var error = RelayError(.conflict, "secret", cause: SystemError(28))
        #expect(RelayError.kinds(of: error) == "Conflict, caused by SystemError 28")
        for _ in 0..<100 { error = RelayError(.unavailable, "secret", cause: error) }
        #expect(RelayError.kinds(of: error).split(separator: ",").count == 8)
    }
    @Test("a reply that cannot be sent is an error that says so, and that the command ran") func unsendable()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        for (count, code) in [(Int32(1 << 20), RelayError.Code.tooLarge), (-1, .internalFailure)] {
            do {
                _ = try await peer.call(Desk.name, Desk.path, Desk1.name, "Fill", [.int32(count)])
                Issue.record("was answered")
            } catch let error as RelayError {
                #expect(error.code == code && error.mayHaveRun, "\(error)")
            }
        }
        #expect(try await peer.call(Desk.name, Desk.path, Desk1.name, "Fill", [.int32(1_000_000)]).count == 2)
        try await desk.stop()
    }
    @Test("commands of one peer run in order, those of others meanwhile") func order() async throws {
        let desk = try await Desk()
        let (first, second) = (try await BusStranger.join(desk.bus.bus), try await BusStranger.join(desk.bus.bus))
        let waits = try first.begin(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)])
        let follows = try first.begin(Desk.name, Desk.path, Desk1.name, "Echo", [.string("behind")])
        #expect(await eventually { desk.notes == ["wait 1"] })
        // The service has the one behind when it has answered what came later on that connection.
        _ = try await first.call(Desk.name, Desk.path, "org.freedesktop.DBus.Peer", "Ping")
        _ = try await second.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("aside")])
        #expect(desk.notes == ["wait 1", "echo aside"])
        await desk.open(1)
        for call in [waits, follows] { _ = try await call.value }
        #expect(desk.notes == ["wait 1", "echo aside", "done 1", "echo behind"])
        try await desk.stop()
    }
    @Test("a peer that floods is refused, and others are answered") func flood() async throws {
        let desk = try await Desk()
        let (loud, other) = (try await BusStranger.join(desk.bus.bus), try await BusStranger.join(desk.bus.bus))
        let limit = PeerResource.queuedCalls.bounds.peer
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { await loud.refusal(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(0)])?.name }
            #expect(await eventually { desk.notes == ["wait 0"] })
            for number in 1...limit + 20 {
                group.addTask {
                    await loud.refusal(Desk.name, Desk.path, Desk1.name, "Echo", [.string("\(number)")])?.name
                }
            }
            var refused = 0
            while refused < 20, let name = try await group.next() {
                #expect(name == "org.eventrelay.Error.LimitsExceeded")
                refused += 1
            }
            _ = try await other.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("other")])
            #expect(desk.notes == ["wait 0", "echo other"])
            await desk.open(0)
            for try await name in group { #expect(name == nil) }
        }
        #expect(desk.notes.count == 3 + limit)
        try await desk.stop()
    }
    @Test("a peer that leaves takes its waiting calls along, and holds up nobody's end") func departure() async throws {
        let desk = try await Desk()
        let (peer, other) = (try await BusStranger.join(desk.bus.bus), try await BusStranger.join(desk.bus.bus))
        let calls = [
            try peer.begin(Desk.name, Desk.path, Desk1.name, "Wait", [.int64(1)]),
            try peer.begin(Desk.name, Desk.path, Desk1.name, "Echo", [.string("too late")]),
        ]
        // The service has both when it has answered what came behind them.
        _ = try await peer.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(await eventually { desk.notes == ["wait 1"] })
        let name = peer.connection.uniqueName
        peer.connection.close()
        for call in calls { _ = await call.result }
        // The bus sees the end of a connection in its own time, and tells the service of it before it brings what is sent
        // from then on.
        #expect(try await eventually { try await !other.hasOwner(name) })
        _ = try await other.call(Desk.name, "/", "org.freedesktop.DBus.Peer", "Ping")
        desk.cancel()
        await desk.open(1)
        try await desk.end()
        #expect(desk.notes == ["wait 1", "done 1"])
    }
    @Test("every object is introspectable, with all arguments named, and every path is a peer") func introspection()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        var texts: [String: String] = [:]
        for path in ["/", "/org", "/org/example", Desk.path] {
            let answer = try await peer.call(Desk.name, path, "org.freedesktop.DBus.Introspectable", "Introspect")
            if case .string(let text)? = answer.first { texts[path] = text }
        }
        #expect(texts["/"]?.contains("<node name=\"org\"/>") == true)
        #expect(texts["/org"]?.contains("<node name=\"example\"/>") == true)
        #expect(texts["/org/example"]?.contains("<node name=\"Desk1\"/>") == true)
        let text = texts[Desk.path] ?? ""
        for name in ["org.example.Desk1", Stream1.name, "Noted", "Torn", "Echo", "Attach", "Head", "End", "Epoch"] {
            #expect(text.contains("name=\"\(name)\""), "\(name)")
        }
        let arguments = text.split(separator: "<").filter { $0.hasPrefix("arg") }
        #expect(
            arguments.count > 20 && arguments.allSatisfy { $0.hasPrefix("arg name=\"") && !$0.contains("name=\"\"") })
        for path in ["/", "/any/where", Desk.path] {
            #expect(try await peer.call(Desk.name, path, "org.freedesktop.DBus.Peer", "Ping").isEmpty)
        }
        let all = try await peer.call(
            Desk.name, Desk.path, "org.freedesktop.DBus.Properties", "GetAll", [.string(Stream1.name)])
        guard case .dictionary(_, let entries)? = all.first else {
            Issue.record("no properties")
            return
        }
        #expect(Set(entries.map(\.key)) == [.string("Epoch"), .string("Durability"), .string("Sequence")])
        try await desk.stop()
    }
}
