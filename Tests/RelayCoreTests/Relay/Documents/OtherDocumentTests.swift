import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("An editor of another version of a document", .heavy) struct OtherDocumentTests {
    private func error(_ body: () async throws -> Void) async -> RelayError? {
        do {
            try await body()
            return nil
        } catch { return error as? RelayError }
    }
    private static let light = SecondMoves.Box(weight: nil, size: 1, label: "a")
    private static let heavy = SecondMoves.Box(weight: 9, size: 1, label: "a")

    @Test("an old editor keeps the service's own fields, and refuses to erase a part that it does not know")
    func oldEditor() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.second(bus.bus)
        let shelf = try service.service.document(SecondMoves.Shelf.self)
        try shelf.set(SecondMoves.Shelf(owner: "me", boxes: [Self.light], note: "n", title: "old"))
        let relay = try EventRelay(following: MovesService.name, on: bus.bus, interfaces: FirstMoves.Moves1.self)
        relay.activate()
        try await relay.ready(within: .seconds(60))
        try await relay.update(FirstMoves.Shelf.self) { $0.title = "new" }
        #expect(shelf.state == SecondMoves.Shelf(owner: "me", boxes: [Self.light], note: "n", title: "new"))
        // Its boxes have no weight that would be lost.
        try await relay.update(FirstMoves.Shelf.self) { $0.boxes.append(FirstMoves.Box(title: "b", size: 2)) }
        #expect(shelf.state.boxes == [Self.light, SecondMoves.Box(weight: nil, size: 2, label: "b")])
        try shelf.set(SecondMoves.Shelf(owner: "me", boxes: [Self.heavy], note: "n", title: "x"))
        try await relay.update(FirstMoves.Shelf.self) { $0.title = "y" }
        #expect(shelf.state == SecondMoves.Shelf(owner: "me", boxes: [Self.heavy], note: "n", title: "y"))
        let refused = await error { _ = try await relay.update(FirstMoves.Shelf.self) { $0.boxes = [] } }
        #expect(refused?.code == .schemaMismatch && refused?.mayHaveRun == false)
        #expect(refused?.message.contains("boxes[].weight") == true, "\(refused?.message ?? "")")
        #expect(shelf.state.boxes == [Self.heavy])
        try await service.stop()
    }
    @Test("a repetition with its key has the first outcome, though its base is gone; a stale base is a conflict")
    func repetition() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.second(bus.bus)
        let shelf = try service.service.document(SecondMoves.Shelf.self)
        try shelf.set(SecondMoves.Shelf(owner: "me", boxes: [], note: "n", title: "old"))
        let relay = try EventRelay(following: MovesService.name, on: bus.bus, interfaces: FirstMoves.Moves1.self)
        relay.activate()
        try await relay.ready(within: .seconds(60))
        let present = try await relay.snapshot(of: FirstMoves.Shelf.self)
        let next = FirstMoves.Shelf(title: "new", boxes: [])
        let version = try await relay.submit(next, basedOn: present.version, idempotencyKey: "k")
        #expect(try await relay.submit(next, basedOn: present.version, idempotencyKey: "k") == version)
        #expect(shelf.version == version && shelf.state.owner == "me")
        let other = FirstMoves.Shelf(title: "other", boxes: [])
        #expect(await relay.outcome(ofSubmitting: other, basedOn: present.version) == .conflict)
        // Another relay does not know the base, nor whether the operation was applied.
        let second = try EventRelay(following: MovesService.name, on: bus.bus, interfaces: FirstMoves.Moves1.self)
        second.activate()
        try await second.ready(within: .seconds(60))
        let outcome = await second.outcome(ofSubmitting: next, basedOn: present.version, idempotencyKey: "k")
        guard case .failed(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.code == .outcomeUnknown && error.mayHaveRun)
        try await service.stop()
    }
    @Test("a newer editor submits to an older service what that knows") func newEditor() async throws {
        let bus = try PrivateBus()
        let service = try await MovesService.first(bus.bus)
        let shelf = try service.service.document(FirstMoves.Shelf.self)
        let relay = try EventRelay(following: MovesService.name, on: bus.bus, interfaces: NewerShelf.Moves1.self)
        relay.activate()
        try await relay.ready(within: .seconds(60))
        try await relay.update(NewerShelf.Shelf.self) { $0.title = "new" }
        #expect(shelf.state == FirstMoves.Shelf(title: "new", boxes: []))
        let refused = await error { _ = try await relay.update(NewerShelf.Shelf.self) { $0.note = "x" } }
        #expect(refused?.code == .schemaMismatch && refused?.mayHaveRun == false)
        #expect(refused?.message.contains("note") == true, "\(refused?.message ?? "")")
        #expect(shelf.state == FirstMoves.Shelf(title: "new", boxes: []))
        try await service.stop()
    }
    @Test("over an upgrade an editor submits to the present version of the service") func upgrade() async throws {
        let bus = try PrivateBus()
        let first = try await MovesService.first(bus.bus)
        let relay = try EventRelay(following: MovesService.name, on: bus.bus, interfaces: FirstMoves.Moves1.self)
        relay.activate()
        try await relay.ready(within: .seconds(60))
        try await relay.update(FirstMoves.Shelf.self) { $0.title = "a" }
        try await first.stop()
        let second = try await MovesService.second(bus.bus)
        let shelf = try second.service.document(SecondMoves.Shelf.self)
        try await relay.ready(within: .seconds(60))
        try await relay.update(FirstMoves.Shelf.self, within: .seconds(60)) { $0.title = "b" }
        #expect(shelf.state == SecondMoves.Shelf(owner: "nobody", boxes: [], note: nil, title: "b"))
        try await second.stop()
        let third = try await MovesService.first(bus.bus)
        try await relay.ready(within: .seconds(60))
        try await relay.update(FirstMoves.Shelf.self, within: .seconds(60)) { $0.title = "c" }
        #expect(try third.service.document(FirstMoves.Shelf.self).state.title == "c")
        try await third.stop()
    }
}

/// The first release's shelf with an optional field more.
private enum NewerShelf {
    enum Moves1: EventInterface {
        static let name = "org.example.Moves1"
        static let durability = Volatile()
        static var contract: Contract<Self> { Shelf.self }
    }
    struct Shelf: EditableDocument, Equatable {
        typealias Interface = Moves1
        var note: String?
        var title: String, boxes: [FirstMoves.Box]
        static let initial = Self(note: nil, title: "", boxes: [])
    }
}
