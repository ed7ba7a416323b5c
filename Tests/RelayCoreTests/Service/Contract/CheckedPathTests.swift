import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire
import RelayInspection

@Suite("Calls for one contract, at a service", .heavy) struct CheckedPathTests {
    private static func id(_ desk: Desk, _ peer: BusStranger, at path: String = Desk.path) async throws -> ContractID {
        let values = try await peer.call(Desk.name, path, Stream1.name, "Contract")
        guard case .string(let text)? = values.first, let id = ContractID(text) else {
            throw RelayError(.schemaMismatch, "\(values)")
        }
        #expect(id == desk.service.core.contract.id)
        return id
    }

    @Test("a call at the path of the service's contract runs; one at another's is no object, and runs nothing")
    func checked() async throws {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        let id = try await Self.id(desk, peer)
        let path = id.path(of: Desk.path)
        #expect(try await peer.call(Desk.name, path, Desk1.name, "Echo", [.string("a")]) == [.string("a")])
        let digits = id.description
        let flipped = (digits.first == "0" ? "1" : "0") + digits.dropFirst()
        for other in ["\(Desk.path)/c\(flipped)", "\(Desk.path)/c\(digits)0", "\(Desk.path)/\(digits)", "/c\(digits)"] {
            let refusal = await peer.refusal(Desk.name, other, Desk1.name, "Echo", [.string("b")])
            #expect(refusal?.name == ErrorNames.unknownObject, "\(other)")
        }
        let refusal = await peer.refusal(Desk.name, "\(Desk.path)/c\(flipped)", Desk1.name, "Echo", [.string("b")])
        #expect(refusal?.message.contains(digits) == true, "\(refusal?.message ?? "")")
        #expect(desk.notes == ["echo a"])
        #expect(desk.service.metrics.commands.replied == 1 && desk.service.metrics.commands.unreadable == 0)
        try await desk.stop()
    }
    @Test("a refused path is answered before the gate: nothing waits, and no person is asked") func beforeTheGate()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        // A requirement that nobody meets would be refused as not permitted.
        let other = "\(Desk.path)/c0000000000000000"
        let refusal = await peer.refusal(Desk.name, other, Desk1.name, "Restricted")
        #expect(refusal?.name == ErrorNames.unknownObject)
        #expect(
            await peer.refusal(Desk.name, Desk.path, Desk1.name, "Restricted")?.name.hasSuffix("NotPermitted") == true)
        #expect(desk.service.metrics.streams.map(\.notPermitted) == [1])
        try await desk.stop()
    }
    @Test("Contract is answered at every path, also before it is known which objects there are") func everywhere()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        for path in ["/", "/org/example", Desk.path, "/no/object"] { _ = try await Self.id(desk, peer, at: path) }
        #expect(
            await peer.refusal(Desk.name, Desk.path, Stream1.name, "Contract", [.string("")])?.name
                == ErrorNames.invalidArgs)
        try await desk.stop()
    }
    @Test("at the path of a contract there are the commands and their introspection, and nothing else") func narrow()
        async throws
    {
        let desk = try await Desk()
        let peer = try await BusStranger.join(desk.bus.bus)
        let path = try await Self.id(desk, peer).path(of: Desk.path)
        let values = try await peer.call(Desk.name, path, StandardInterfaces.introspectable.name, "Introspect")
        guard case .string(let text)? = values.first else { return }
        #expect(text.contains("<method name=\"Echo\"") && !text.contains("<signal") && !text.contains(Stream1.name))
        _ = try await peer.call(Desk.name, path, StandardInterfaces.peer.name, "Ping")
        for (interface, member) in [
            (Stream1.name, "Barrier"), (Stream1.name, "Schemas"), (StandardInterfaces.properties.name, "GetAll"),
        ] {
            let values: [DBusValue] = member == "GetAll" ? [.string("")] : []
            #expect(await peer.refusal(Desk.name, path, interface, member, values)?.name == ErrorNames.unknownInterface)
        }
        #expect(await peer.refusal(Desk.name, path, Desk1.name, "Nothing")?.name == ErrorNames.unknownMethod)
        let above = try await peer.call(Desk.name, Desk.path, StandardInterfaces.introspectable.name, "Introspect")
        #expect(!"\(above)".contains("<node name"))
        try await desk.stop()
    }
    @Test("interfaces whose contracts have no room in a message are refused when the service is made") func tooLarge()
        throws
    {
        let text = String(repeating: "x", count: 500 << 10)
        let id = ContractID([])
        #expect(try ExportedContract(id, ["org.example.A1": text, "org.example.B1": text]).body.count > 1_000_000)
        do {
            _ = try ExportedContract(id, ["org.example.A1": text, "org.example.B1": text + text])
            Issue.record("not refused")
        } catch {
            #expect(error.code == .tooLarge && error.message.contains("export some of the interfaces"))
        }
    }
}
