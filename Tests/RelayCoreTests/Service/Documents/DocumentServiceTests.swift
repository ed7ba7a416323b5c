import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// For those of one group only.
private enum Cellar1: EventInterface {
    static let name = "org.example.Cellar1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .group(String(cString: getgrgid(getgid()).pointee.gr_name)) }
    static var contract: Contract<Self> {
        Door.self
        Bolt.self
    }
    struct Door: DomainDocument {
        typealias Interface = Cellar1
        var isOpen: Bool
        static let initial = Self(isOpen: false)
    }
    struct Bolt: EditableDocument {
        typealias Interface = Cellar1
        var isShut: Bool
        static let initial = Self(isShut: true)
        static var submitRequirement: PeerRequirement { .user("no such user") }
    }
}
/// Few signals a second.
private enum Quiet1: EventInterface {
    static let name = "org.example.Quiet1"
    static let durability = Volatile()
    static let signalBudget = SignalBudget.perSecond(50, burst: 20)
    static var contract: Contract<Self> { Level.self }
    struct Level: DomainDocument {
        typealias Interface = Quiet1
        var number: Int64
        static let initial = Self(number: 0)
    }
}

@Suite("Documents at a service", .heavy, .tags(.g1, .g5)) struct DocumentServiceTests {
    private static let standard = "org.freedesktop.DBus.Error."
    private static let ours = "org.eventrelay.Error."

    private func lamp(_ brightness: Int32, _ colour: String? = nil) -> DBusValue {
        .structure([.int32(brightness), .array(.string, colour.map { [.string($0)] } ?? [])])
    }
    private func rules(_ numbers: [String: Int64]) -> DBusValue {
        .structure([
            .dictionary(
                .dictionary(.string, .int64),
                numbers.sorted { $0.key < $1.key }.map {
                    DBusValue.Entry(key: .string($0.key), value: .int64($0.value))
                })
        ])
    }
    private func submission(_ state: DBusValue, _ version: DocumentVersion, _ id: String? = nil) -> [DBusValue] {
        [state, .uint64(version.epoch), .uint64(version.sequence), .array(.string, id.map { [.string($0)] } ?? [])]
    }

    @Test("a volatile document has its initial state; setting it is an entry, and an equal state is none")
    func volatile() async throws {
        let office = try await Office()
        let board = try office.service.document(Board.self)
        #expect(board.state == .initial && board.version.sequence == 0)
        try board.set(.initial)
        #expect(board.version.sequence == 0)
        try board.set(Board(title: "today", lines: ["a"]))
        try office.service.publish(Rang(number: 1))
        try board.set(Board(title: "today", lines: ["a"]))
        #expect(board.version.sequence == 1)
        try board.update { $0.lines.append("b") }
        #expect(board.state == Board(title: "today", lines: ["a", "b"]) && board.version.sequence == 3)
        #expect(await eventually { office.changes().count == 2 })
        let last = DBusValue.structure([.string("today"), .array(.string, [.string("a"), .string("b")])])
        #expect(office.changes().map(\.name) == ["Board", "Board"] && office.changes().last?.state == last)
        #expect(try await office.property("Board", of: Office1.name) == last)
        let members = office.peer.signals.map(\.member).filter { $0 != "NameAcquired" }
        #expect(members == ["Board", "PropertiesChanged", "Rang", "Board", "PropertiesChanged"])
        let snapshot = try await office.snapshot("Board", of: Office1.name)
        #expect(snapshot.version == board.version)
        let next = try await office.restarted()
        #expect(try next.service.document(Board.self).state == .initial, "a volatile one begins anew")
        #expect(try await next.snapshot("Board", of: Office1.name).version.epoch != snapshot.version.epoch)
        try await next.stop()
    }
    @Test("many threads change one document: none of the changes is lost") func concurrent() async throws {
        let office = try await Office()
        let board = try office.service.document(Board.self)
        await withTaskGroup(of: Void.self) { group in
            for writer in 1...8 {
                group.addTask {
                    for number in 1...25 { try? board.update { $0.lines.append("\(writer).\(number)") } }
                }
            }
        }
        #expect(Set(board.state.lines).count == 200 && board.version.sequence == 200)
        try await office.stop()
    }
    @Test("a durable document has its last state after a restart, whatever its interface keeps") func durable()
        async throws
    {
        let office = try await Office()
        let index = try office.service.document(Index.self)
        try await index.set(Index(count: 1, title: "first"))
        try await index.set(Index(count: 1, title: "first"))
        try await office.service.publish(Filed(number: 1))
        #expect(index.version.sequence == 1)
        try await index.update { $0.count += 1 }
        #expect(index.state == Index(count: 2, title: "first") && index.version.sequence == 3)
        await #expect(throws: CancellationError.self) {
            try await index.update { state in
                state.count = 9
                throw CancellationError()
            }
        }
        office.log.storage.prune(Archive1.name, through: 3)
        let next = try await office.restarted()
        let again = try next.service.document(Index.self)
        #expect(again.state == Index(count: 2, title: "first") && again.version.sequence == 3)
        #expect(try await next.property("Index", of: Archive1.name) == .structure([.int64(2), .string("first")]))
        let snapshot = try await next.snapshot("Index", of: Archive1.name)
        #expect(snapshot.version == DocumentVersion(epoch: again.version.epoch, sequence: 3))
        #expect(next.changes().isEmpty, "a restored state is no change")
        try await again.update { $0.count += 1 }
        #expect(again.version.sequence == 4)
        try await next.stop()
    }
    @Test("introspection shows a document as a property that is read, and announces its changes")
    func introspection() async throws {
        let office = try await Office()
        let path = Stream1.path(of: Office1.name)
        let values = try await office.peer.call(
            Office.name, path, "org.freedesktop.DBus.Introspectable", "Introspect")
        guard case .string(let xml)? = values.first else { return }
        #expect(xml.contains("<property name=\"Board\" type=\"(sas)\" access=\"read\">"), "\(xml)")
        #expect(xml.contains("<property name=\"Lamp\" type=\"(ias)\" access=\"read\">"))
        #expect(xml.contains("value=\"(brightness:i,colour:?s)\""))
        #expect(xml.contains("<annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" value=\"true\"/>"))
        #expect(xml.contains("<method name=\"SubmitLamp\">") && !xml.contains("<method name=\"SubmitBoard\">"))
        try await office.stop()
    }
    @Test("Get, GetAll and Set: the state, all states, and a refusal") func properties() async throws {
        let office = try await Office()
        func all(_ interface: String) async throws -> [String] {
            let values = try await office.call(Office.properties, "GetAll", [.string(interface)], of: Office1.name)
            guard case .dictionary(_, let entries)? = values.first else { return [] }
            return entries.map { if case .string(let name) = $0.key { name } else { "?" } }
        }
        #expect(try await all(Office1.name) == ["Board", "Lamp"])
        #expect(try await all("") == ["Epoch", "Durability", "Sequence", "Board", "Lamp"])
        #expect(try await all(Stream1.name) == ["Epoch", "Durability", "Sequence"])
        #expect(try await office.property("Lamp", of: Office1.name) == lamp(1))
        func refused(_ member: String, _ values: [DBusValue]) async -> String? {
            await office.refusal(Office.properties, member, values, of: Office1.name)
        }
        let set: [DBusValue] = [.string(Office1.name), .string("Lamp"), .variant(lamp(5))]
        #expect(await refused("Set", set) == Self.standard + "PropertyReadOnly")
        #expect(await refused("Get", [.string(Office1.name), .string("Lam")]) == Self.standard + "UnknownProperty")
        #expect(await refused("Get", [.string(Stream1.name), .string("Lamp")]) == Self.standard + "UnknownProperty")
        #expect(
            await office.refusal(Stream1.name, "GetDocument", [.string("Rang")], of: Office1.name)
                == Self.ours + "NotFound")
        #expect(try office.service.document(Lamp.self).state == .initial)
        try await office.stop()
    }
    @Test("a state that no message has room for is refused before it is committed, and changes nothing")
    func tooLarge() async throws {
        let office = try await Office()
        let large = String(repeating: "x", count: WireLimits.defaultMessageLength - 4_000)
        let (board, index) = (try office.service.document(Board.self), try office.service.document(Index.self))
        #expect { try board.set(Board(title: large, lines: [])) } throws: { .tooLarge ~= $0 }
        await #expect { try await index.set(Index(count: 1, title: large)) } throws: { .tooLarge ~= $0 }
        #expect(board.version.sequence == 0 && index.version.sequence == 0)
        #expect(office.log.storage.head(of: Archive1.name) == 0)
        // The largest that fits can also be read, announced and submitted from.
        let fitting = String(large.dropLast(200))
        try await index.set(Index(count: 1, title: fitting))
        try board.set(Board(title: fitting, lines: []))
        #expect(
            try await office.snapshot("Index", of: Archive1.name).fields.count > WireLimits.defaultMessageLength - 5_000
        )
        #expect(
            try await office.property("Board", of: Office1.name) == .structure([.string(fitting), .array(.string, [])]))
        #expect(await eventually { office.changes().count == 2 })
        try await office.stop()
    }
    @Test(
        "a submission is set if it is based on the present version; any other is a conflict", arguments: [true, false])
    func submitted(isDurable: Bool) async throws {
        let office = try await Office()
        let (interface, name) = isDurable ? (Archive1.name, "Rules") : (Office1.name, "Lamp")
        func state(_ number: Int64) -> DBusValue { isDurable ? rules(["a": number]) : lamp(Int32(number)) }
        func submit(_ number: Int64, _ version: DocumentVersion, _ id: String? = nil) async throws -> DocumentVersion {
            let reply = try await office.call(
                interface, "Submit\(name)", submission(state(number), version, id), of: interface)
            guard case .uint64(let epoch) = reply[0], case .uint64(let sequence) = reply[1] else {
                return DocumentVersion(epoch: 0, sequence: 0)
            }
            return DocumentVersion(epoch: epoch, sequence: sequence)
        }
        func refused(_ number: Int64, _ version: DocumentVersion, _ id: String? = nil) async -> String? {
            await office.refusal(interface, "Submit\(name)", submission(state(number), version, id), of: interface)
        }
        let first = try await office.snapshot(name, of: interface).version
        #expect(first.sequence == 0)
        let second = try await submit(2, first, "one")
        #expect(second == DocumentVersion(epoch: first.epoch, sequence: 1))
        #expect(try await office.property(name, of: interface) == state(2))
        // An event between does not count: the version is the document's.
        if isDurable {
            try await office.service.publish(Filed(number: 1))
        } else {
            try office.service.publish(Rang(number: 1))
        }
        #expect(try await submit(3, second) == DocumentVersion(epoch: first.epoch, sequence: 3))
        #expect(await refused(4, second) == "\(interface).Error.Conflict")
        #expect(try await submit(2, first, "one") == second, "a repeated operation has its first reply")
        #expect(await refused(5, first, "one") == Self.ours + "KeyReused")
        let third = DocumentVersion(epoch: first.epoch, sequence: 3)
        #expect(try await submit(3, third, "equal") == third, "an equal state is no entry")
        #expect(await refused(4, DocumentVersion(epoch: first.epoch ^ 1, sequence: 3)) == "\(interface).Error.Conflict")
        #expect(await refused(4, third, String(repeating: "x", count: 256)) == Self.ours + "InvalidArgument")
        #expect(try await office.property(name, of: interface) == state(3))
        try await office.stop()
    }
    @Test("a durable document's version and operations hold over a restart") func restarted() async throws {
        let office = try await Office()
        let first = try await office.snapshot("Rules", of: Archive1.name).version
        func submit(_ office: Office, _ number: Int64, _ version: DocumentVersion, _ id: String) async throws
            -> [DBusValue]
        {
            try await office.call(
                Archive1.name, "SubmitRules", submission(rules(["a": number]), version, id), of: Archive1.name)
        }
        let reply = try await submit(office, 1, first, "one")
        let next = try await office.restarted()
        #expect(try await submit(next, 1, first, "one") == reply, "not set twice")
        #expect(try next.service.document(Rules.self).version.sequence == 1)
        // A version of the run before is that of the same entry.
        let changed = try await submit(next, 2, DocumentVersion(epoch: first.epoch, sequence: 1), "two")
        #expect(changed == [.uint64(try next.service.document(Rules.self).version.epoch), .uint64(2)])
        try await next.stop()
    }
    @Test("a handler decides what is set: another state, or a refusal as itself") func handled() async throws {
        let office = try await Office { service in
            service.handleSubmissions(of: Lamp.self) { submission in
                #expect(submission.peer.userID == getuid())
                if submission.state.brightness > 100 { throw Lamp.Refusal.tooBright }
                var state = submission.state
                state.colour = submission.present.colour ?? "white"
                return state
            }
            service.handleSubmissions(of: Rules.self) { submission in
                if submission.state.numbers.isEmpty { throw RelayError(.notPermitted, "a secret") }
                return submission.state
            }
        }
        let version = try await office.snapshot("Lamp", of: Office1.name).version
        let refused = await office.refusal(
            Office1.name, "SubmitLamp", submission(lamp(101), version), of: Office1.name)
        #expect(refused == "\(Office1.name).Error.TooBright")
        _ = try await office.call(Office1.name, "SubmitLamp", submission(lamp(7), version), of: Office1.name)
        #expect(try await office.property("Lamp", of: Office1.name) == lamp(7, "white"))
        let other = await office.refusal(
            Archive1.name, "SubmitRules", submission(rules([:]), version), of: Archive1.name)
        #expect(other == Self.ours + "NotPermitted")
        try await office.stop()
    }
    @Test(
        "a handler is asked only about what is based on the present version: no repetition, and nothing that comes late",
        arguments: [true, false])
    func handledOnce(isDurable: Bool) async throws {
        // Both let a number only rise: by the present state they would refuse what they have accepted before.
        let office = try await Office { service in
            service.handleSubmissions(of: Lamp.self) { submission in
                if submission.state.brightness <= submission.present.brightness { throw Lamp.Refusal.tooBright }
                return submission.state
            }
            service.handleSubmissions(of: Rules.self) { submission in
                if (submission.state.numbers["a"] ?? 0) <= (submission.present.numbers["a"] ?? 0) {
                    throw RelayError(.notPermitted, "it has to rise")
                }
                return submission.state
            }
        }
        let (interface, name) = isDurable ? (Archive1.name, "Rules") : (Office1.name, "Lamp")
        func state(_ number: Int64) -> DBusValue { isDurable ? rules(["a": number]) : lamp(Int32(number)) }
        let first = try await office.snapshot(name, of: interface).version
        let operation = submission(state(5), first, "one")
        let reply = try await office.call(interface, "Submit\(name)", operation, of: interface)
        #expect(reply == [.uint64(first.epoch), .uint64(1)])
        #expect(try await office.call(interface, "Submit\(name)", operation, of: interface) == reply)
        let late = submission(state(3), first, "two")
        #expect(
            await office.refusal(interface, "Submit\(name)", late, of: interface) == "\(interface).Error.Conflict")
        let present = DocumentVersion(epoch: first.epoch, sequence: 1)
        let lower = submission(state(3), present, "three")
        let refusal = await office.refusal(interface, "Submit\(name)", lower, of: interface)
        #expect(refusal == (isDurable ? Self.ours + "NotPermitted" : "\(interface).Error.TooBright"))
        #expect(try await office.property(name, of: interface) == state(5))
        try await office.stop()
    }
    @Test("a read-only document refuses submissions, and another state's fields are refused by name")
    func readOnly() async throws {
        let office = try await Office()
        let version = DocumentVersion(epoch: 0, sequence: 0)
        let state = DBusValue.structure([.string("t"), .array(.string, [])])
        #expect(
            await office.refusal(Office1.name, "SubmitBoard", submission(state, version), of: Office1.name)
                == Self.ours + "NotPermitted")
        #expect(
            await office.refusal(Office1.name, "SubmitLamp", submission(state, version), of: Office1.name)
                == Self.standard + "InvalidArgs")
        #expect(
            await office.refusal(Office1.name, "SubmitRang", submission(state, version), of: Office1.name)
                == Self.standard + "UnknownMethod")
        try await office.stop()
    }

    @Test("G7: a restricted document is announced to the peers that attached, one by one", .tags(.g7))
    func restricted() async throws {
        let office = try await Office(exporting: [Cellar1.self])
        let (path, other) = (Stream1.path(of: Cellar1.name), try await BusStranger.join(office.bus.bus))
        let attach: [DBusValue] = [.uint64(0), .uint64(0), .array(.string, [.string("*")]), AttachOptions().value]
        let door = try office.service.document(Cellar1.Door.self)
        // The bus runs as this user, but the requirement is another one.
        try door.set(Cellar1.Door(isOpen: true))
        _ = try await other.call(Office.name, path, Stream1.name, "Attach", attach)
        try door.set(Cellar1.Door(isOpen: false))
        #expect(await eventually { office.changes(other).count == 1 })
        #expect(office.changes(other).first?.state == .structure([.boolean(false)]))
        try office.service.publish(Rang(number: 1))
        #expect(await eventually { office.peer.signals.contains { $0.member == "Rang" } })
        #expect(office.changes().isEmpty, "whoever has not attached gets nothing")
        #expect(try await office.property("Door", of: Cellar1.name) == .structure([.boolean(false)]))
        let version = try await office.snapshot("Bolt", of: Cellar1.name).version
        #expect(
            await office.refusal(
                Cellar1.name, "SubmitBolt", submission(.structure([.boolean(false)]), version), of: Cellar1.name)
                == Self.ours + "NotPermitted", "a requirement of its own")
        try await office.stop()
    }
    @Test("while signals pause a property is not announced; its last state is, when they go on")
    func paused() async throws {
        let office = try await Office(exporting: [Quiet1.self])
        let level = try office.service.document(Quiet1.Level.self)
        for number in 1...100 as ClosedRange<Int64> { try level.set(Quiet1.Level(number: number)) }
        #expect(await eventually { office.changes().last?.state == .structure([.int64(100)]) })
        #expect(office.changes().count < 100, "the pause left some out")
        #expect(try await office.property("Level", of: Quiet1.name) == .structure([.int64(100)]))
        try await office.stop()
    }
}
