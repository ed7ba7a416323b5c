import TestTraits
import Testing

@testable import RelayCore

@Suite("Which connection is polkit", .tags(.g7)) struct PolkitOwnerTests {
    private static let polkit = ":1.5"
    private static let other = ":1.9"
    private static func bus(_ name: String) -> RelayError {
        ErrorNames.relayError(
            RemoteError(name: "org.freedesktop.DBus.Error.\(name)", message: "no"), calling: "CheckAuthorization")
    }
    /// A `PolkitOwner` that `#expect` can change.
    private final class Subject {
        var owner: PolkitOwner
        init(_ owner: PolkitOwner = PolkitOwner()) { self.owner = owner }
        var present: String? { owner.present }
        func heard(from sender: String) -> PolkitOwner.Consequence { owner.heard(from: sender) }
        func answered(_ result: Result<String, RelayError>) -> Bool { owner.answered(result) }
        func announced(_ name: String?) -> Bool { owner.announced(name) }
        func failed(_ error: RelayError, asking name: String) { owner.failed(error, asking: name) }
        func rested() -> Bool { owner.rested() }
    }
    private func known() -> Subject {
        let owner = Subject()
        #expect(!owner.answered(.success(Self.polkit)) && owner.present == Self.polkit)
        return owner
    }

    @Test(
        "a question to one that has gone, or does not answer, makes the next one ask the bus",
        arguments: [
            Self.bus("ServiceUnknown"), Self.bus("NameHasNoOwner"), Self.bus("NoReply"),
            RelayError(.timedOut, "CheckAuthorization: no answer within 10 seconds"),
        ])
    func forgotten(error: RelayError) {
        let owner = known()
        owner.failed(error, asking: Self.other)
        #expect(owner.present == Self.polkit)
        owner.failed(error, asking: Self.polkit)
        #expect(owner.present == nil && owner.owner.last == Self.polkit)
        let same = Subject(owner.owner)
        #expect(!same.answered(.success(Self.polkit)) && same.present == Self.polkit)
        #expect(owner.answered(.success(Self.other)) && owner.present == Self.other)
    }
    @Test("an answer that is an error of polkit's own leaves it known") func refused() {
        let owner = known()
        owner.failed(Self.bus("LimitsExceeded"), asking: Self.polkit)
        owner.failed(RelayError(.schemaMismatch, "nonsense"), asking: Self.polkit)
        #expect(owner.present == Self.polkit)
    }
    @Test("what the known owner sends calls for a recheck, and nobody's word before there was one") func honest() {
        #expect(Subject().heard(from: Self.polkit) == .nothing)
        #expect(known().heard(from: Self.polkit) == .recheck)
    }
    @Test("a stranger's signals make the bus be asked once in a while, and its answer alone counts") func stranger() {
        let owner = known()
        #expect(owner.heard(from: Self.other) == .ask)
        for _ in 0..<1_000 { #expect(owner.heard(from: Self.other) == .nothing) }
        #expect(!owner.answered(.success(Self.polkit)) && owner.present == Self.polkit)
        // What came since is answered by one more question.
        #expect(owner.rested())
        #expect(owner.heard(from: Self.polkit) == .recheck)
        #expect(!owner.answered(.success(Self.polkit)))
        #expect(!owner.rested())
        #expect(owner.heard(from: Self.other) == .ask)
        #expect(owner.answered(.success(Self.other)))
    }
    @Test("a bus that does not answer is asked again; one that knows nobody is not") func silent() {
        let owner = known()
        #expect(owner.heard(from: Self.other) == .ask)
        #expect(!owner.answered(.failure(RelayError(.timedOut, "GetNameOwner"))) && owner.present == Self.polkit)
        #expect(owner.rested())
        #expect(!owner.answered(.failure(Self.bus("NameHasNoOwner"))) && owner.present == nil)
        #expect(!owner.rested())
    }
    @Test("the word of an owner that is in doubt counts as soon as the bus confirms it") func doubtful() {
        let owner = known()
        owner.failed(RelayError(.timedOut, "CheckAuthorization"), asking: Self.polkit)
        #expect(owner.heard(from: Self.polkit) == .ask)
        let gone = Subject(owner.owner)
        #expect(owner.answered(.success(Self.polkit)))
        #expect(gone.answered(.success(Self.other)) && gone.heard(from: Self.polkit) == .nothing)
    }
    @Test("each owner that the bus announces calls for a recheck; its departure does not") func announced() {
        let owner = Subject()
        #expect(owner.announced(Self.polkit) && owner.present == Self.polkit)
        #expect(!owner.announced(nil) && owner.present == nil)
        #expect(owner.announced(Self.other) && owner.present == Self.other)
    }
}
