import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
@testable import RelayJournal
import RelayWire

private enum Press1: EventInterface {
    static let name = "org.example.Press1"
    static var contract: Contract<Self> { Setup.self }
    struct Setup: EditableDocument {
        typealias Interface = Press1
        var tray: Int32
        static let initial = Self(tray: 1)
    }
}

@Suite("Operations that a journal has forgotten", .heavy, .tags(.g5, .g6)) struct ForgottenOperationTests {
    private let folder: TestFolder
    init() throws { folder = try TestFolder() }

    @Test(
        "a repetition whose reply is forgotten is not applied again, and is told apart from a conflict",
        arguments: [false, true])
    func forgotten(hasHandler: Bool) async throws {
        func open() async throws -> (EventJournal, EventService) {
            let journal = try EventJournal(directory: folder.path)
            let service = try EventService(
                "org.example.Press", TestHarness().bus, [Press1.self], journal: journal
            ) { _ in }
            if hasHandler {
                service.handleSubmissions(of: Press1.Setup.self) { submission, _ in submission.state }
            }
            return (journal, service)
        }
        func submit(_ tray: Int32, _ version: DocumentVersion, _ id: String?, to service: EventService) async throws
            -> String
        {
            let command = SubmitDocument(Press1.Setup(tray: tray), basedOn: version, idempotencyKey: id)
            let served = service.commands[ObjectIdentifier(SubmitDocument<Press1.Setup>.self)]
            var body = WireWriter()
            try WireCodec(SubmitDocument<Press1.Setup>.self).encode(command, into: &body)
            switch await served?.answer(body.bytes, CommandContext(peer: Peer(userID: 1_000))) {
            case .reply?: return "set"
            case .error(let name, _)?: return String(name.dropFirst(Press1.name.count + 7))
            default: return "?"
            }
        }
        var (journal, service) = try await open()
        var setup = try service.document(Press1.Setup.self)
        let first = setup.version
        #expect(try await submit(2, first, "one", to: service) == "set")
        let second = setup.version
        #expect(try await submit(2, first, "one", to: service) == "set", "its reply is kept")
        #expect(try await submit(9, first, "late", to: service) == "Conflict", "it was never submitted")
        // The next one pushes it out.
        await journal.storage.call { $0.keptReplies.cost = 0 }
        #expect(try await submit(3, second, "two", to: service) == "set")
        for _ in 1...2 {
            let third = setup.version
            #expect(try await submit(2, first, "one", to: service) == "Forgotten")
            #expect(setup.state.tray == 3 && setup.version == third && third.sequence == second.sequence + 1)
            #expect(try await submit(5, second, "three", to: service) == "Conflict", "none of its time is forgotten")
            #expect(try await submit(2, first, nil, to: service) == "Conflict", "no repetition")
            // And over a restart.
            journal.close()
            (journal, service) = try await open()
            setup = try service.document(Press1.Setup.self)
        }
        journal.close()
    }
}
