import TestTraits
import Testing

@testable import RelayWire

private enum Shop1: EventInterface {
    static let name = "org.example.Shop1"
    static let requirement = PeerRequirement.sameUser || .group("shop \"staff\"") && .systemdUnit("till.service")
    static var contract: Contract<Self> {
        PlaceOrder.self
        OrderPlaced.self
        Stock.self
        Prices.self
        Closed.self
        Audit.self
        Import.self
    }
}
private enum Size: Int32, Codable, CaseIterable { case large = 10, small = -1 }
private enum Kind: String, Codable, CaseIterable { case plain = "a \"b\"\n", gift }
private struct OrderPlaced: DomainEvent, RenamedFields {
    typealias Interface = Shop1
    static let formerNames = ["sum": "total", "amount": "total"]
    struct Item: Codable { var title: String, sizes: [String: Size] }
    let orderID: Int64, total: Double, kind: Kind?, items: [Item]
}
private struct Closed: DomainEvent { typealias Interface = Shop1 }
private struct Stock: EditableDocument {
    typealias Interface = Shop1
    var left: Int32
    static let initial = Self(left: 0)
    static let submitRequirement = PeerRequirement.polkit(action: "org.example.stock")
    enum Refusal: String, CommandRefusal, CaseIterable { case locked = "Locked", empty = "Empty" }
}
private struct Prices: DomainDocument {
    typealias Interface = Shop1
    var of: [String: Double]
    static let initial = Self(of: [:])
}
private struct PlaceOrder: IdempotentCommand {
    typealias Interface = Shop1
    static let isCancellable = true
    let title: String, idempotencyKey: String?
    struct Reply: Codable { let orderID: Int64 }
    struct Progress: Codable { let step: Int32 }
    enum Refusal: String, CommandRefusal, CaseIterable { case tooLong = "TooLong", noPaper = "NoPaper" }
}
private struct Audit: Command {
    typealias Interface = Shop1
    static let requirement = PeerRequirement.anyone
    struct Refusal: CommandRefusal {
        let errorName: String
        init?(errorName: String, message: String) { self.errorName = errorName }
    }
}
private struct Import: IdempotentCommand {
    typealias Interface = Shop1
    let file: String
    var idempotencyKey: String? { file }
}

private let text = #"""
    relay-contract 1
    interface org.example.Shop1
    durable
    requires same-user or (group "shop \"staff\"" and unit "till.service")

    event Closed

    event OrderPlaced
        field orderID x
        field total|amount|sum d
        field kind ?s
            case plain "a \"b\"\u000a"
            case gift "gift"
        field items a(title:s,sizes:a{si})
            case sizes.large 10
            case sizes.small -1

    document Prices
        field of a{sd}

    document Stock editable
        field left i
        requires polkit "org.example.stock"
        refuses Empty
        refuses Locked

    command Audit
        requires anyone
        refuses *

    command Import
        in file s
        key *

    command PlaceOrder
        cancellable
        in title s
        in idempotencyKey ?s
        key idempotencyKey
        out orderID x
        progress step i
        refuses NoPaper
        refuses TooLong

    """#

@Suite("The text of a contract", .tags(.g8)) struct ContractTextTests {
    @Test("a contract's text shows all that other programs rely on") func derived() throws {
        #expect(try ContractText(of: Shop1.self).text == text)
    }
    @Test("a text is read back as the contract that it is of") func roundTrip() throws {
        let contract = try ContractText(parsing: text)
        #expect(contract.text == text)
        #expect(try contract == ContractText(of: Shop1.self))
        #expect(contract.requirement == Shop1.requirement)
        #expect(contract.events.map(\.name) == ["Closed", "OrderPlaced"])
        #expect(contract.events[1].fields[1].formerNames == ["amount", "sum"])
        #expect(
            contract.events[1].fields[2].cases == [
                WireCase("plain", .text("a \"b\"\n")), WireCase("gift", .text("gift")),
            ])
        #expect(contract.commands.map(\.key) == [.none, .derived, .field("idempotencyKey")])
        #expect(contract.commands[0].refusals.isOpen)
        #expect(contract.calls.map(\.name) == ["Audit", "Import", "PlaceOrder", "SubmitStock"])
    }
    @Test("comments, empty lines and other line ends do not count") func comments() throws {
        let other = "# Of the shop.\n\n" + text.split(separator: "\n").joined(separator: "\r\n") + "\n  # The end."
        #expect(try ContractText(parsing: other).text == text)
    }
    @Test("the command that submits a document has the fields of the one that a program sends") func submission() throws
    {
        let calls = try ContractText(of: Shop1.self).calls
        let command = try #require(calls.first { $0.name == SubmitDocument<Stock>.name })
        #expect(command.arguments == (try WireCodec(SubmitDocument<Stock>.self).schema.fields))
        #expect(command.reply == (try WireCodec(replyOf: SubmitDocument<Stock>.self).schema.fields))
    }
    @Test("what submits a document has the shape of the command that does") func submitting() throws {
        let command = try #require(ContractText(of: Shop1.self).calls.last)
        let type = SubmitDocument<Stock>.self
        #expect(command.name == type.name)
        #expect(try command.arguments == WireSchema(of: type).fields)
        #expect(try command.reply == WireSchema(of: DocumentVersion.self).fields)
        #expect(command.refusals.names == ["Conflict", "Empty", "Forgotten", "Locked"])
    }

    // MARK: Any text

    private func refused(_ text: String) -> String {
        let error = #expect(throws: RelayError.self, "\(text.prefix(200))") { try ContractText(parsing: text) }
        #expect(error?.code == .invalidArgument)
        return error?.message ?? ""
    }
    private static let head = "relay-contract 1\ninterface org.example.A1\ndurable\nrequires anyone\n"
    @Test(
        "a text that is no contract is refused, with its line",
        arguments: [
            ("", "this is no contract"), ("relay-contract 2", "line 1"), ("interface org.example.A1", "line 1"),
            ("relay-contract 1\ninterface A1", "line 2"), ("relay-contract 1\ninterface a.b\nlasting", "line 3"),
            ("relay-contract 1\ninterface a.b\ndurable so", "line 3"),
            ("relay-contract 1\ninterface a.b\ndurable\nrequires", "line 4"),
        ])
    func notOne(text: String, place: String) { #expect(refused(text).hasPrefix(place)) }
    @Test(
        "a line that a contract does not have is refused, with its number",
        arguments: [
            "event", "event 1", "event A\nevent A", "event A fast", "event A\n   field a s",
            "event A\n        field a s",
            "event A\n    field a", "event A\n    field a z", "event A\n    field a  s", "event A\n    in a s",
            "event A\n    field a s\n    field a s", "event A\n    field a|a s", "event A\n    field a s\n        case",
            "event A\n    field a s\n        case b", "event A\n    field a s\n        case b c",
            "event A\n    field a s\n        case b \"c", "event A\n    field a s\n        case b \"\\x\"",
            "event A\n    field a s\n        case b \"\\ud800\"", "event A\n    field a s\n        case b.c 1",
            "event A\n    field a i\n        case b 1\n        case b 2",
            "event A\n    field a i\n        case b 1\n        case c 1", "    field a s", "document A\n    refuses B",
            "document A editable\n    in a s", "document A writable", "command A\n    out", "command A\n    key a",
            "command A\n    refuses a b", "command A\n    refuses B\n    refuses B", "command A\n    cancellable yes",
            "command A\n    requires nobody", "command A\n    requires anyone or", "command A\n    requires (anyone",
            "command A\n    requires anyone and same-user or anyone", "command A x", "signal A", "\u{0}",
            "event A\u{0}",
        ])
    func unfit(rest: String) { #expect(refused(Self.head + rest).hasPrefix("line ")) }
    @Test("length and depth are bounded, whatever the text") func bounded() {
        #expect(refused(String(repeating: "#", count: ContractText.longest + 1)).contains("bytes"))
        _ = refused(Self.head + "event A\n    field a " + String(repeating: "(a:", count: 100_000))
        _ = refused(Self.head + "command A\n    requires " + String(repeating: "(", count: 100_000))
        _ = refused(Self.head + "event A\n    field a i\n" + (0...256).map { "        case c\($0) \($0)\n" }.joined())
    }
    @Test("mutated texts are read or refused, and what is read has one text") func mutations() throws {
        let alphabet = Array("ab:|.,?*\"\\()[]{}_ 9\n\r#\u{0}ä".utf8)
        var random = SeededGenerator(seed: 5)
        let base = Array(text.utf8)
        var read = 0
        for round in 0..<TestForm.rounds(4_000, soak: 100_000) {
            var bytes = base
            for _ in 0...random.below(3) {
                let at = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[at] = alphabet[random.below(alphabet.count)]
                case 1: bytes.remove(at: at)
                case 2: bytes.removeSubrange(at..<min(bytes.count, at + random.below(40)))
                default: bytes.insert(alphabet[random.below(alphabet.count)], at: at)
                }
            }
            guard let contract = try? ContractText(parsing: String(decoding: bytes, as: UTF8.self)) else { continue }
            read += 1
            #expect(try ContractText(parsing: contract.text).text == contract.text, "round \(round)")
        }
        #expect(read > 100)
    }
}

@Suite("Requirements in a contract") struct RequirementTextTests {
    private static let parts: [PeerRequirement] = [
        .anyone, .sameUser, .user("a b"), .group("\"\\\u{1F600}\u{200B}"), .securityLabel("x:y"),
        .systemdUnit("u.service"), .polkit(action: "org.example.a"),
    ]
    @Test("a requirement is read back") func roundTrip() {
        var random = SeededGenerator(seed: 3)
        func made(_ depth: Int) -> PeerRequirement {
            if depth == 0 || random.chance(3) { return Self.parts[random.below(Self.parts.count)] }
            let (a, b) = (made(depth - 1), made(depth - 1))
            return random.chance(2) ? a && b : a || b
        }
        for _ in 0..<500 {
            let requirement = made(4)
            let read = RequirementText.requirement(requirement.contractText[...])
            #expect(read?.contractText == requirement.contractText)
            #expect(read?.admits(all: requirement) == true && requirement.admits(all: read ?? .anyone))
        }
    }
    @Test("which requirement admits all whom another one admits") func admission() {
        let (a, b) = (PeerRequirement.user("a"), PeerRequirement.group("b"))
        #expect(PeerRequirement.anyone.admits(all: a) && !a.admits(all: .anyone))
        #expect((a || b).admits(all: a) && !a.admits(all: a || b))
        #expect(a.admits(all: a && b) && !(a && b).admits(all: a))
        #expect((b || a).admits(all: a || b) && (b && a).admits(all: a && b))
        #expect(!PeerRequirement.user("c").admits(all: a))
    }
}
