import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("What a service remembers of documents", .tags(.g3)) struct DocumentValueTests {
    private func call(_ user: UInt32, _ key: String, _ brightness: Int32 = 0) throws -> KeyedCall {
        let command = SubmitDocument(
            Lamp(brightness: brightness), basedOn: DocumentVersion(epoch: 1, sequence: 0), idempotencyKey: key)
        let context = CommandContext(peer: Peer(userID: user))
        return try #require(try KeyedCall(command, from: context) { try CommandHash() })
    }
    private func version(_ sequence: UInt64) -> DocumentVersion { DocumentVersion(epoch: 1, sequence: sequence) }

    @Test("a call that comes again has its first reply; with other arguments it is refused") func repeated() throws {
        var replies = MemoryReplies()
        func reply(_ call: KeyedCall) throws -> DocumentVersion? {
            try replies.reply(to: call, as: DocumentVersion.self)
        }
        #expect(try reply(call(1, "a")) == nil)
        replies.keep(version(7), to: try call(1, "a"))
        #expect(try reply(call(1, "a")) == version(7))
        #expect { try reply(call(1, "a", 6)) } throws: { .keyReused ~= $0 }
        #expect(try reply(call(2, "a")) == nil, "another user's")
        replies.keep(version(8), to: try call(1, "a", 6))
        #expect(try reply(call(1, "a")) == version(7), "the first one counts")
    }
    @Test("G3: a user who calls much pushes its own replies out, the oldest first") func bounded() throws {
        var replies = MemoryReplies()
        func isKept(_ user: UInt32, _ key: String) throws -> Bool {
            try replies.reply(to: call(user, key), as: DocumentVersion.self) != nil
        }
        replies.keep(version(1), to: try call(2, "quiet"))
        let count = MemoryReplies.limit
        for number in 1...count { replies.keep(version(UInt64(number)), to: try call(1, "\(number)")) }
        let forgotten = replies.forgotten("SubmitLamp", of: Office1.name)
        #expect(replies.total == count / 2 + 1 && forgotten == UInt64(count / 2))
        #expect(replies.forgotten("SubmitOther", of: Office1.name) == 0)
        #expect(try isKept(2, "quiet") && !isKept(1, "\(count / 2)") && isKept(1, "\(count / 2 + 1)"))
        for user in 3...UInt32(count) + 3 { replies.keep(version(1), to: try call(user, "x")) }
        #expect(try replies.total == count && !isKept(2, "quiet"))
    }

    @Test("a document is entered in the order of its entries")
    func entered() {
        var documents = PublishedDocuments()
        documents.begin(1, fields: [1], sequence: 0, state: "initial")
        #expect(!documents.hasUnannounced)
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
