import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// A service whose contracts are texts, as a mirror's are.
private struct UntypedOffice {
    static let reason = "this is a mirror of org.example.Office of the host kitchen: call it there"
    let service: EventService

    init(
        _ bus: PrivateBus, _ texts: [String], log: MemoryLog? = nil, mirroring runs: [String: MirroredRun] = [:]
    ) async throws {
        let interfaces = try texts.map { UntypedInterface(try ContractText(parsing: $0)) }
        service = try EventService(
            Office.name, bus.bus, untyped: interfaces, journal: log, mirroring: runs, readOnly: Self.reason
        ) { _ in }
        try await service.start()
    }
}

@Suite("A service without Swift types", .heavy, .tags(.g1, .g5, .g8)) struct UntypedServiceTests {
    private static let ours = "org.eventrelay.Error."
    private let bus: PrivateBus
    private let peer: BusStranger
    init() async throws {
        bus = try PrivateBus()
        peer = try await BusStranger.join(bus.bus)
    }
    private static func text<I: EventInterface>(_ type: I.Type) throws -> String { try ContractText(of: type).text }

    private func call(
        _ interface: String, _ member: String, _ values: [DBusValue] = [], of object: String
    ) async throws -> [DBusValue] {
        try await peer.call(Office.name, Stream1.path(of: object), interface, member, values)
    }
    private func refusal(
        _ interface: String, _ member: String, _ values: [DBusValue] = [], of object: String
    ) async -> RemoteError? {
        await peer.refusal(Office.name, Stream1.path(of: object), interface, member, values)
    }
    /// What does not depend on the order of declaration, and is not for people alone.
    private static func shown(_ description: InterfaceDescription) -> Set<String> {
        func text(_ arguments: [InterfaceDescription.Argument]) -> String {
            arguments.map { "\($0.name):\($0.shape ?? $0.signature) \($0.annotations)" }.joined(separator: ",")
        }
        let failures = InterfaceDescription.Annotation.failures
        return Set(
            description.methods.map { method in
                let notes = method.annotations.filter { $0.name != failures }
                return "method \(method.name) \(text(method.inputs)) -> \(text(method.outputs)) \(notes)"
            } + description.signals.map { "signal \($0.name) \(text($0.arguments)) \($0.annotations)" }
                + description.properties.map { "property \($0.argument.name) \(text([$0.argument]))" })
    }

    @Test("it has the contract, the schemas and the introspection data of the typed service")
    func sameContract() async throws {
        let office = try await Office(bus)
        func answers() async throws -> [[DBusValue]] {
            var all: [[DBusValue]] = []
            for interface in [Office1.name, Archive1.name] {
                all.append(try await call(Stream1.name, "Contract", of: interface))
            }
            return all
        }
        let typed = try await answers()
        try await office.stop()
        let texts = try [Self.text(Office1.self), Self.text(Archive1.self)]
        let untyped = try await UntypedOffice(bus, texts, log: office.log.reopened())
        #expect(try await answers() == typed)
        for (a, b) in zip(office.service.interfaces, untyped.service.interfaces) {
            #expect(Self.shown(a.description) == Self.shown(b.description))
            #expect(a.contract.text == b.contract.text)
            func schemas(_ interface: ExportedInterface) -> Set<String> {
                Set(interface.schemas.values.map { "\($0.event) \($0.fields.map(\.contractText))" })
            }
            #expect(schemas(a) == schemas(b))
        }
        try await untyped.service.stop()
    }

    @Test("a typed relay follows it, and its calls are refused as read only, which cannot have run")
    func typedRelay() async throws {
        let untyped = try await UntypedOffice(bus, [Self.text(Office1.self)])
        let relay = try EventRelay(following: Office.name, on: bus.bus, interfaces: Office1.self)
        let events = relay.publisher.events(of: Rang.self)
        relay.activate()
        try await relay.ready()
        try untyped.service.publish("Rang", of: Office1.name, ["number": .int64(7)])
        var seen: [Int64] = []
        for await case .event(let rang, let stamp) in events {
            seen.append(rang.number)
            #expect(stamp.sequence == 1)
            break
        }
        #expect(seen == [7])
        let error = await #expect(throws: RelayError.self) { try await relay.call(Echoing(text: "a")) }
        #expect(error?.code == .readOnly && error?.mayHaveRun == false)
        #expect(error?.message.contains(UntypedOffice.reason) == true)
        relay.invalidate()
        try await untyped.service.stop()
    }

    @Test("commands and submissions are refused, other arguments as such, at both objects of the interface")
    func refusals() async throws {
        let untyped = try await UntypedOffice(bus, [Self.text(Office1.self)])
        let state = DBusValue.structure([.int32(1), .array(.string, [])])
        let submission: [DBusValue] = [state, .uint64(0), .uint64(0), .array(.string, [])]
        let refused = await refusal(Office1.name, "Echoing", [.string("a")], of: Office1.name)
        #expect(refused?.name == Self.ours + "ReadOnly")
        #expect(refused?.message == "Echoing is refused: \(UntypedOffice.reason)")
        #expect(await refusal(Office1.name, "SubmitLamp", submission, of: Office1.name)?.name == Self.ours + "ReadOnly")
        // As at the typed service: its service alone sets it.
        #expect(await refusal(Office1.name, "SubmitBoard", of: Office1.name)?.name == Self.ours + "NotPermitted")
        #expect(
            await refusal(Office1.name, "Echoing", [.int32(1)], of: Office1.name)?.name
                == "org.freedesktop.DBus.Error.InvalidArgs")
        let path = untyped.service.core.contract.id.path(of: Stream1.path(of: Office1.name))
        #expect(
            await peer.refusal(Office.name, path, Office1.name, "Echoing", [.string("a")])?.name
                == Self.ours + "ReadOnly")
        try await untyped.service.stop()
    }

    @Test("a document is unavailable before its first state, and has every state from then on")
    func documents() async throws {
        let untyped = try await UntypedOffice(bus, [Self.text(Office1.self)])
        let properties = Office.properties
        func names() async throws -> [DBusValue] {
            guard
                case .dictionary(_, let all)? = try await call(
                    properties, "GetAll", [.string(Office1.name)], of: Office1.name
                ).first
            else { return [] }
            return all.map(\.key)
        }
        #expect(
            await refusal(Stream1.name, "GetDocument", [.string("Board")], of: Office1.name)?.name
                == Self.ours + "Unavailable")
        let get: [DBusValue] = [.string(Office1.name), .string("Board")]
        #expect(await refusal(properties, "Get", get, of: Office1.name)?.name == Self.ours + "Unavailable")
        #expect(try await names().isEmpty)
        let lines = DBusValue.array(.string, [.string("a")])
        for _ in 1...2 {
            try untyped.service.publish("Board", of: Office1.name, ["title": .string("x"), "lines": lines])
        }
        let state = DBusValue.structure([.string("x"), lines])
        #expect(try await call(properties, "Get", get, of: Office1.name) == [.variant(state)])
        #expect(try await names() == [.string("Board")])
        // The second one was equal.
        let stream = try #require(untyped.service.interfaces.first?.stream)
        #expect(stream.sequence == 1)
        stream.skipped(2...3)
        #expect(
            await refusal(Stream1.name, "GetDocument", [.string("Board")], of: Office1.name)?.name
                == Self.ours + "Unavailable")
        try untyped.service.publish("Board", of: Office1.name, ["title": .string("y"), "lines": lines])
        #expect(try await call(properties, "Get", get, of: Office1.name) != [.variant(state)])
        try await untyped.service.stop()
    }

    @Test("it serves a typed service's log under the origin's run: events, documents, schemas")
    func log() async throws {
        let office = try await Office(bus)
        for number in 1...3 { try await office.service.publish(Filed(number: Int64(number))) }
        try await office.service.document(Index.self).set(Index(count: 3, title: "three"))
        let typed = try await office.snapshot("Index", of: Archive1.name)
        try await office.stop()
        let runs = [Archive1.name: MirroredRun(epoch: 77, isOpen: true)]
        let untyped = try await UntypedOffice(
            bus, [Self.text(Archive1.self)], log: office.log.reopened(), mirroring: runs)
        let mirrored = try await office.snapshot("Index", of: Archive1.name)
        #expect(mirrored.version == DocumentVersion(epoch: 77, sequence: typed.version.sequence))
        #expect(mirrored.fields == typed.fields && mirrored.schema == typed.schema)
        // Never set, and a contract has no initial states.
        #expect(
            await refusal(Stream1.name, "GetDocument", [.string("Rules")], of: Archive1.name)?.name
                == Self.ours + "Unavailable")
        let relay = try EventRelay(following: Office.name, on: bus.bus, interfaces: Archive1.self)
        let events = try relay.events(of: Filed.self, from: .beginning)
        relay.activate()
        try await untyped.service.commit("Filed", of: Archive1.name, ["number": .int64(4)])
        var seen: [String] = []
        for await delivery in events {
            if case .event(let filed, let stamp) = delivery { seen.append("\(filed.number) at \(stamp.sequence)") }
            if seen.count == 4 { break }
        }
        #expect(seen == ["1 at 1", "2 at 2", "3 at 3", "4 at 5"])
        relay.invalidate()
        try await untyped.service.stop()
    }

    @Test("values that the contract does not have are refused with the field, and publish nothing")
    func hostileValues() async throws {
        let text = """
            relay-contract 1
            interface org.example.Hostile1
            volatile
            requires same-user

            event Sent
                field kind s
                    case gift "Gift"
                field note ?s
                field state [idle,printing(page:i)]
            """
        let untyped = try await UntypedOffice(bus, [text])
        let idle = DBusValue.structure([.string("idle"), .variant(.byte(0))])
        let printing = DBusValue.structure([.string("printing"), .variant(.structure([.int32(1)]))])
        let good: [String: DBusValue] = ["kind": .string("Gift"), "state": printing]
        let bad: [(String, DBusValue?, String)] = [
            ("kind", nil, "needs its field 'kind'"), ("kind", .string("Fish"), "value of no case"),
            ("kind", .int32(1), "value of no case"), ("kind", .string("a\u{0}b"), "field 'kind'"),
            ("note", .array(.string, [.string("a"), .string("b")]), "0 or 1 elements"),
            ("state", .structure([.string("lost"), .variant(.byte(0))]), "is no case"),
            ("state", .structure([.string("printing"), .variant(.byte(0))]), "payload of 'printing'"),
            ("state", .structure([.string("idle"), .variant(.string(""))]), "holds a byte 0"),
            ("state", .string("idle"), "belongs"), ("other", idle, "has no field 'other'"),
        ]
        for (field, value, reason) in bad {
            var values = good
            values[field] = value
            let error = #expect(throws: RelayError.self) {
                try untyped.service.publish("Sent", of: "org.example.Hostile1", values)
            }
            #expect(
                error?.code == .invalidArgument && error?.message.contains(reason) == true,
                "\(field): \(String(describing: error))")
        }
        for (name, interface) in [("Lost", "org.example.Hostile1"), ("Sent", "org.example.Other1")] {
            let error = #expect(throws: RelayError.self) { try untyped.service.publish(name, of: interface, good) }
            #expect(error?.code == .notFound)
        }
        let large = good.merging(["note": .array(.string, [.string(String(repeating: "x", count: 1 << 20))])]) { $1 }
        let error = #expect(throws: RelayError.self) {
            try untyped.service.publish("Sent", of: "org.example.Hostile1", large)
        }
        #expect(error?.code == .tooLarge && untyped.service.interfaces[0].stream.sequence == 0)
        for state in [idle, printing] {
            try untyped.service.publish(
                "Sent", of: "org.example.Hostile1", ["kind": .string("Gift"), "state": state])
        }
        #expect(untyped.service.interfaces[0].stream.sequence == 2)
        try await untyped.service.stop()
    }

    @Test(
        "a contract that no service can have is refused",
        arguments: [
            ("event A\n    field a h", RelayError.Code.unsupportedType),
            ("event A\n    field sequence t", .unsupportedType),
            ("document A editable\n    field a i\ncommand SubmitA\n    in a i", .invalidArgument),
            ("document A", .invalidArgument),
        ])
    func hostileContracts(_ members: String, _ code: RelayError.Code) async throws {
        let head = "relay-contract 1\ninterface org.example.A1\nvolatile\nrequires same-user\n"
        let error = await #expect(throws: RelayError.self) { _ = try await UntypedOffice(bus, [head + members]) }
        #expect(error?.code == code, "\(String(describing: error))")
    }
    @Test("what another host's contract requires of units and labels admits nobody here")
    func otherHosts() throws {
        let text = """
            relay-contract 1
            interface org.example.A1
            volatile
            requires unit "a.service" or group "staff"
            """
        func requirement(isMirrored: Bool, own: PeerRequirement? = nil) throws -> PeerRequirement {
            try InterfacePlan(
                UntypedInterface(ContractText(parsing: text), requirement: own), admitting: .anyone,
                isMirrored: isMirrored, readOnly: ""
            ).requirement
        }
        #expect(try requirement(isMirrored: false) == (.systemdUnit("a.service") || .group("staff")))
        let mirrored = try requirement(isMirrored: true)
        #expect(!mirrored.needsUnit && mirrored.leaves == [.nobody, .group("staff")])
        #expect(try requirement(isMirrored: true, own: .sameUser) == .sameUser)
    }
}
