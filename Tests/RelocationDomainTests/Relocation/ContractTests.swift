import RelayCore
import RelayTestKit
import Relocation
import Testing
import RelayWire

@Suite("The relocation contract")
struct ContractTests {
    static let events: [String: (names: [String], signature: String)] = [
        "BoxProvisioned": (["boxID", "capacity", "title"], "xis"),
        "BoxRemoved": (["boxID"], "x"),
        "BoxRemovalFailed": (["boxID", "reason"], "xs"),
        "BoxItemsRedistributionFailed": (["boxID"], "x"),
        "ItemProvisioned": (["itemID", "boxID", "title"], "xxs"),
        "ItemMoved": (["itemID", "fromBoxID", "toBoxID"], "xxx"),
        "ItemDistributionFailed": (["itemTitle"], "s"),
        "ItemRemoved": (["itemID"], "x"),
        "ItemRemovalFailed": (["itemID", "boxID"], "xx"),
    ]
    static let commands: [String: (arguments: [String], signature: String, reply: String)] = [
        "OrderBox": (["label", "capacity"], "si", "x"),
        "DistributeItem": (["title"], "s", "xx"),
        "RemoveBox": (["boxID"], "x", ""),
        "RemoveItem": (["itemID", "boxID"], "xx", ""),
        "Contents": (["after", "limit"], "a(xx)au", "tta(xis)a(xxs)a(xx)"),
    ]

    @Test("is as it was released") func files() throws {
        try ContractFile.check(Relocation1.self, at: "Contracts/org.eventrelay.Relocation1.contract")
        try ContractFile.check(Inventory1.self, at: "Contracts/org.eventrelay.Inventory1.contract")
    }
    @Test("has every event, with the fields and the D-Bus signature that other languages see")
    func eventForms() throws {
        #expect(Set(Relocation1.contract.events.map { $0.name }) == Set(Self.events.keys))
        #expect(Relocation1.contract.events.count == Self.events.count)
        func check<E: StreamEntry>(_ type: E.Type) throws {
            let schema = try WireSchema(event: type)
            #expect(schema.fields.map(\.name) == Self.events[E.name]?.names, "\(E.name)")
            #expect(schema.signature == Self.events[E.name]?.signature, "\(E.name)")
        }
        for type in Relocation1.contract.events { try check(type) }
    }

    @Test("has every command, with the arguments and the signatures of request and reply")
    func commandForms() throws {
        #expect(Set(Relocation1.contract.commands.map { $0.name }) == Set(Self.commands.keys))
        #expect(Relocation1.contract.commands.count == Self.commands.count)
        func check<C: Command>(_ type: C.Type) throws {
            let schema = try WireSchema(of: type, allowsNoFields: true)
            #expect(schema.fields.map(\.name) == Self.commands[C.name]?.arguments, "\(C.name)")
            #expect(schema.signature == Self.commands[C.name]?.signature, "\(C.name)")
            let reply = try WireSchema(of: C.Reply.self, allowsNoFields: true)
            #expect(reply.signature == Self.commands[C.name]?.reply, "\(C.name)")
        }
        for type in Relocation1.contract.commands { try check(type) }
    }

    @Test("names the interface with its version, and is durable")
    func interface() {
        #expect(Relocation1.name == "org.eventrelay.Relocation1")
        #expect(type(of: Relocation1.durability) == Durable.self)
    }

    @Test("says about every member what it is, for the users of tools")
    func about() {
        #expect(!Relocation1.about.text.isEmpty)
        for type in Relocation1.contract.events { #expect(!type.about.text.isEmpty, "\(type)") }
        for type in Relocation1.contract.commands { #expect(!type.about.text.isEmpty, "\(type)") }
        #expect(OrderBox.about.fields["capacity"] == .unit("items", "5, 10 or 20"))
    }

    @Test("gives every refusal a name that D-Bus allows and a message for people, and finds it again by its name")
    func failures() {
        func check<F: CommandRefusal & CaseIterable & Equatable>(_ type: F.Type) {
            for failure in F.allCases {
                #expect(failure.errorName.allSatisfy { $0.isASCII && $0.isLetter })
                #expect(failure.message.contains(" "), "\(failure) has no message of its own")
                #expect(F(errorName: failure.errorName, message: "") == failure)
            }
            #expect(Set(F.allCases.map(\.errorName)).count == F.allCases.count)
            #expect(F(errorName: "NoSuchFailure", message: "") == nil)
        }
        check(OrderBox.Refusal.self)
        check(DistributeItem.Refusal.self)
        check(RemoveBox.Refusal.self)
        check(RemoveItem.Refusal.self)
    }
}
