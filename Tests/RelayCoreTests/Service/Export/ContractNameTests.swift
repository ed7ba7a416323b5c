import Testing

@testable import RelayCore

enum Doubled {
    enum Events1: EventInterface {
        static let name = "org.example.Doubled1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Happened.self
            Other.self
        }
    }
    struct Happened: DomainEvent {
        typealias Interface = Events1
        var number: Int32
    }
    struct Other: DomainEvent {
        typealias Interface = Events1
        static let name = "Happened"
        var text: String
    }
    enum Commands1: EventInterface {
        static let name = "org.example.Doubled1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Ask.self
            Demand.self
        }
    }
    struct Ask: Command {
        typealias Interface = Commands1
    }
    struct Demand: Command {
        typealias Interface = Commands1
        static let name = "Ask"
    }
    enum Both1: EventInterface {
        static let name = "org.example.Doubled1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Event.self
            Request.self
        }
    }
    struct Event: DomainEvent {
        typealias Interface = Both1
        static let name = "Same"
    }
    struct Request: Command {
        typealias Interface = Both1
        static let name = "Same"
    }
}

@Suite("Members with the same name") struct ContractNameTests {
    @Test(
        "two members of one name are refused on both sides, with both types",
        arguments: [
            (Doubled.Events1.self as any EventInterface.Type, ["Doubled.Happened", "Doubled.Other"]),
            (Doubled.Commands1.self, ["Doubled.Ask", "Doubled.Demand"]),
            (Doubled.Both1.self, ["Doubled.Event", "Doubled.Request"]),
        ])
    func doubled(interface: any EventInterface.Type, types: [String]) {
        func check(_ make: () throws -> Void) {
            do {
                try make()
                Issue.record("was accepted")
            } catch let error as RelayError {
                #expect(error.code == .invalidArgument)
                for type in types { #expect(error.message.contains(type), "\(error)") }
            } catch { Issue.record("\(error)") }
        }
        let bus = Bus.address("unix:path=/nowhere")
        check { _ = try EventService(name: "org.example.Doubled", on: bus, exporting: interface) }
        check { _ = try EventRelay(following: "org.example.Doubled", on: bus, interfaces: interface) }
    }
}
