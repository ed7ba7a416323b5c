@testable import RelayTestKit
import TestTraits
import Testing

import RelayCore
import RelayWire

private enum First {
    enum Shop1: EventInterface {
        static let name = "org.example.Shop1"
        static let durability = Volatile()
        static var contract: Contract<Self> { Opened.self }
    }
    struct Opened: DomainEvent {
        typealias Interface = Shop1
        let at: Int64
    }
}
/// Breaks nothing.
private enum Second {
    enum Shop1: EventInterface {
        static let name = "org.example.Shop1"
        static let durability = Volatile()
        static var contract: Contract<Self> { Opened.self }
    }
    struct Opened: DomainEvent {
        typealias Interface = Shop1
        let at: Int64, by: String?
    }
}
private enum Third {
    enum Shop1: EventInterface {
        static let name = "org.example.Shop1"
        static let durability = Volatile()
        static var contract: Contract<Self> { Opened.self }
    }
    struct Opened: DomainEvent {
        typealias Interface = Shop1
        let at: String
    }
}

@Suite("The file of a contract") struct ContractFileTests {
    private let folder: TestFolder
    private var path: String { "\(folder.path)/Contracts/sub/a.contract" }
    init() throws { folder = try TestFolder() }

    private func check<I: EventInterface>(_ interface: I.Type, _ mode: ContractFile.Mode = .init()) throws {
        try ContractFile.check(ContractText(of: interface), at: path, mode)
    }
    private var content: String { get throws { try SmallTextFile.read(path, atMost: 1 << 20) ?? "" } }
    private func refusal<I: EventInterface>(_ interface: I.Type, _ mode: ContractFile.Mode = .init()) -> RelayError? {
        #expect(throws: RelayError.self) { try check(interface, mode) }
    }

    @Test("a file that is absent is written, with its folder, and read back") func absent() throws {
        try check(First.Shop1.self)
        let content = try content
        #expect(try ContractText(parsing: content) == ContractText(of: First.Shop1.self))
        #expect(content.hasPrefix("# "))
        try check(First.Shop1.self)
        #expect(try self.content == content)
    }
    @Test("on a build machine, a file that is absent is an error") func buildMachine() throws {
        #expect(refusal(First.Shop1.self, .init(begins: false))?.code == .notFound)
        #expect(try content == "")
    }
    @Test("a change that breaks nothing is refused until it is asked for") func safe() throws {
        try check(First.Shop1.self)
        let before = try content
        let error = try #require(refusal(Second.Shop1.self))
        #expect(error.code == .schemaMismatch && error.message.contains("+ field by ?s"))
        #expect(error.message.contains("nothing breaks") && error.message.contains("RELAY_WRITE_CONTRACTS=1"))
        #expect(try content == before)
        try check(Second.Shop1.self, .init(accepts: .whatBreaksNothing))
        try check(Second.Shop1.self, .init(begins: false))
        #expect(try content.contains("field by ?s"))
    }
    @Test("a change that breaks is refused, with the lines, whom it breaks, and what to do") func breaking() throws {
        try check(First.Shop1.self)
        let before = try content
        for mode in [ContractFile.Mode(), .init(accepts: .whatBreaksNothing)] {
            let error = try #require(refusal(Third.Shop1.self, mode))
            #expect(error.code == .schemaMismatch && error.message.contains("a.contract"))
            for text in ["- field at x", "+ field at s", "breaks old front ends", "breaks new front ends", "new name"] {
                #expect(error.message.contains(text), "\(text)")
            }
        }
        #expect(try content == before)
        try check(Third.Shop1.self, .init(accepts: .everything))
        try check(Third.Shop1.self)
    }
    @Test("a file that is no contract, or another interface's, is refused with its path") func unfit() throws {
        try SmallTextFile.write("relay-contract 1\nnonsense", to: path)
        let error = try #require(refusal(First.Shop1.self))
        #expect(error.code == .invalidArgument && error.message.contains("\(path), line 2"))
        try SmallTextFile.write(ContractText(name: "org.example.Other1", isDurable: true).text, to: path)
        #expect(refusal(First.Shop1.self)?.message.contains("org.example.Other1") == true)
        try SmallTextFile.write(String(repeating: "#", count: 2 << 20), to: path)
        #expect(refusal(First.Shop1.self)?.code == .tooLarge)
    }
    @Test(
        "what the environment asks for",
        arguments: [
            ([:], .init()), (["CI": "true"], .init(begins: false)), (["CI": "false"], .init()),
            (["RELAY_WRITE_CONTRACTS": "1"], .init(accepts: .whatBreaksNothing)),
            (["RELAY_WRITE_CONTRACTS": "0"], .init()),
            (["RELAY_WRITE_CONTRACTS": "breaking"], .init(accepts: .everything)),
            (["CI": "true", "RELAY_WRITE_CONTRACTS": "1"], .init(accepts: .whatBreaksNothing)),
        ] as [([String: String], ContractFile.Mode)])
    func environment(variables: [String: String], mode: ContractFile.Mode) {
        #expect(ContractFile.Mode { variables[$0] } == mode)
    }
    @Test("a relative path begins at the package, wherever the test runs") func place() throws {
        let package = folder.path
        try SmallTextFile.write("", to: "\(package)/Package.swift")
        let source = "\(package)/Tests/ShopTests/ContractTests.swift"
        try SmallTextFile.write("", to: source)
        #expect(ContractFile.place(of: "Contracts/a", from: source) == "\(package)/Contracts/a")
        #expect(ContractFile.place(of: "/a", from: source) == "/a")
        #expect(ContractFile.place(of: "a", from: "/nowhere/at/all.swift") == "/nowhere/at/a")
    }
}
