import TestTraits
import Testing

@testable import RelayCore

@Suite("What a service remembers of documents", .tags(.g3)) struct DocumentValueTests {
    private typealias Operation = RecentOperations.Operation
    private func version(_ sequence: UInt64) -> DocumentVersion { DocumentVersion(epoch: 1, sequence: sequence) }

    @Test("an operation that comes again has its first reply; with another submission it is refused")
    func repeated() {
        var recent = RecentOperations()
        let operation = Operation(user: 1, id: "a")
        #expect(recent.answer(operation, 5) == nil)
        recent.add(operation, 5, version(7))
        #expect(recent.answer(operation, 5) == .done(version(7)))
        #expect(recent.answer(operation, 6) == .reused)
        #expect(recent.answer(Operation(user: 2, id: "a"), 5) == nil, "another user's")
        recent.add(operation, 6, version(8))
        #expect(recent.answer(operation, 5) == .done(version(7)), "the first one counts")
    }
    @Test("G3: a user who submits much pushes its own operations out, the oldest first") func bounded() {
        var recent = RecentOperations()
        recent.add(Operation(user: 2, id: "quiet"), 0, version(1))
        let count = RecentOperations.limit
        for number in 1...count { recent.add(Operation(user: 1, id: "\(number)"), 0, version(UInt64(number))) }
        #expect(recent.total == count / 2 + 1 && recent.forgotten == UInt64(count / 2))
        #expect(recent.answer(Operation(user: 2, id: "quiet"), 0) == .done(version(1)))
        #expect(recent.answer(Operation(user: 1, id: "\(count / 2)"), 0) == nil)
        #expect(recent.answer(Operation(user: 1, id: "\(count / 2 + 1)"), 0) != nil)
        for user in 3...UInt32(count) + 3 { recent.add(Operation(user: user, id: ""), 0, version(1)) }
        #expect(recent.total == count)
        #expect(recent.answer(Operation(user: 2, id: "quiet"), 0) == nil)
    }

    @Test("a document is entered in the order of its entries, and what is no document changes nothing")
    func entered() {
        var documents = PublishedDocuments()
        documents.begin(1, fields: [1], sequence: 0, state: "initial")
        documents.enter(0, fields: [9], sequence: 1)
        #expect(documents[0] == nil && !documents.hasUnannounced)
        documents.enter(1, fields: [2], sequence: 2)
        #expect(documents[1]?.fields == [2] && documents[1]?.sequence == 2)
        #expect(documents[1]?.state == nil, "the one before does not stay")
        documents.know(1, "first", of: 1)
        #expect(documents[1]?.state == nil, "a state of another entry")
        documents.know(1, "second", of: 2)
        #expect(documents[1]?.state as? String == "second")
    }
    @Test("what cannot be announced is announced later: the last state of each, in the order of the entries")
    func announced() {
        var documents = PublishedDocuments()
        for number in 1...3 { documents.begin(number, fields: [], sequence: 0, state: 0) }
        var announced: [UInt64] = []
        documents.announce {
            announced.append($1.sequence); return true
        }
        #expect(announced.isEmpty, "an initial state is no change")
        for (number, sequence) in [(3, 1), (1, 2), (3, 4), (2, 5)] as [(Int, UInt64)] {
            documents.enter(number, fields: [], sequence: sequence)
        }
        documents.announce {
            announced.append($1.sequence); return announced.count < 2
        }
        #expect(announced == [2, 4])
        #expect(documents.hasUnannounced)
        documents.announce {
            announced.append($1.sequence); return true
        }
        #expect(announced == [2, 4, 4, 5], "what was refused comes again, the rest once")
        #expect(!documents.hasUnannounced)
    }
}
